"""The four APIs of the service, by the path of a request."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from tests.upstream import chat, gemini, messages, responses
from tests.upstream.caches import Cache, tokens
from tests.upstream.scripts import Counted, Json, Reply
from tests.upstream.threads import Threads

_GEMINI = re.compile(r"/v1(?:beta|alpha)?/models/(?P<model>[^/:]+):(?P<method>\w+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Api:
    """How one API is spoken."""

    #: The name of its format in `callsheet.wire`.
    wire: str
    refuse: Callable[[Mapping[str, object], Mapping[str, str]], str | None]
    error: Callable[[int, str], Json]
    error_event: Callable[[str], bytes]
    whole: Callable[[Reply, Mapping[str, object], Counted, int], Json]
    events: Callable[[Json, Mapping[str, object]], Iterator[bytes]]
    #: The tokens of a request, and how many of them a cache had.
    counted: Callable[[Json, int], Counted]
    #: Called with every response that went out.
    keep: Callable[[Mapping[str, object], Json], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What a path asks for."""

    api: Api
    #: Whether the answer is a stream, where the path says so; None: the body says.
    stream: bool | None = None
    #: Counts tokens instead of answering; the key of the number.
    counts: str = ""
    #: The model, where the path names it.
    model: str = ""
    #: The media type of the stream.
    as_list: bool = False


class Apis:
    """The APIs with what they remember."""

    def __init__(self) -> None:
        self.cache = Cache()
        self.kept = responses.Kept()
        self.threads = Threads()
        kept, cache, threads = self.kept, self.cache, self.threads
        self.chat = Api(
            wire="openai",
            refuse=chat.refuse,
            error=chat.error,
            error_event=chat.error_event,
            whole=chat.whole,
            events=chat.events,
            counted=lambda body, output: cache.automatic(chat.counted_parts(body), output),
            keep=_nothing,
        )
        self.responses = Api(
            wire="openai-responses",
            refuse=lambda body, headers: responses.refuse(body, headers, kept),
            error=chat.error,
            error_event=responses.error_event,
            whole=responses.whole,
            events=responses.events,
            counted=lambda body, output: cache.automatic(responses.counted_parts(body, kept), output),
            keep=kept.keep,
        )
        self.messages = Api(
            wire="anthropic",
            refuse=threads.refuse,
            error=messages.error,
            error_event=messages.error_event,
            whole=messages.whole,
            events=messages.events,
            counted=lambda body, output: cache.marked(threads.whole(body), output),
            keep=threads.keep,
        )
        self.gemini = Api(
            wire="gemini",
            refuse=gemini.refuse,
            error=gemini.error,
            error_event=gemini.error_event,
            whole=gemini.whole,
            events=gemini.events,
            counted=lambda body, output: cache.automatic(gemini.counted_parts(body), output),
            keep=_nothing,
        )

    def asked(self, path: str, query: Mapping[str, str]) -> Asked | None:
        """What a POST to this path asks for; None: nothing that is answered here."""
        if path.endswith("/chat/completions"):
            return Asked(api=self.chat)
        if path.endswith("/responses"):
            return Asked(api=self.responses)
        if path.endswith("/messages"):
            return Asked(api=self.messages)
        if path.endswith("/messages/count_tokens"):
            return Asked(api=self._counting(), counts="input_tokens")
        found = _GEMINI.fullmatch(path)
        if found is None:
            return None
        model = found["model"]
        match found["method"]:
            case "generateContent":
                return Asked(api=self.gemini, stream=False, model=model)
            case "streamGenerateContent":
                return Asked(api=self.gemini, stream=True, model=model, as_list=query.get("alt") != "sse")
            case "countTokens":
                return Asked(api=self.gemini, counts="totalTokens", model=model)
        return None

    def _counting(self) -> Api:
        return Api(
            wire="anthropic",
            refuse=partial(messages.refuse, counting=True),
            error=messages.error,
            error_event=messages.error_event,
            whole=messages.whole,
            events=messages.events,
            counted=lambda body, output: Counted(input=tokens(body), read=0, written=0, output=0),
            keep=_nothing,
        )


def _nothing(body: Mapping[str, object], response: Json) -> None:
    """Most APIs keep nothing."""


def output_of(reply: Reply) -> int:
    """The tokens of a reply."""
    said = reply.thinking + reply.text + reply.refusal
    called = "".join(call.name + json.dumps(call.arguments) for call in reply.calls)
    return reply.output if reply.output is not None else max(1, -(-len(said + called) // 4))
