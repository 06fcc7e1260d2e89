"""A streamed Chat Completions response: gathered from its chunks, and written as chunks."""

from collections.abc import Iterator, Mapping
from typing import Final

from callsheet.wire.openai_chat.deltas import Calls, add, settled
from callsheet.wire.reading import Fields
from callsheet.wire.sse import DONE, event

_CHUNK: Final = "chat.completion.chunk"
_WHOLE: Final = "chat.completion"

_NOISE: Final = frozenset({"obfuscation"})
"""Keys that say nothing: they hide the length of what a chunk says."""

_CALLS, _LEGACY = "tool_calls", "function_call"


class Gathering:
    """Puts chunks together. What other services than OpenAI add to a chunk is kept too."""

    def __init__(self) -> None:
        self._top: Fields = {}
        self._choices: dict[int, _Choice] = {}
        #: The error inside the stream, as the body of an error has it.
        self.failure: Fields | None = None

    @property
    def ended(self) -> bool:
        """Whether every choice said why it ended; figures may follow."""
        finished = bool(self._choices) and all(choice.finish is not None for choice in self._choices.values())
        return finished or self.failure is not None

    def feed(self, data: Fields) -> None:
        """Take the next chunk."""
        if data.get("error"):
            self.failure = {"error": data["error"]}
            return
        _take_last(self._top, data, but=_NOISE | {"choices"})
        listed = data.get("choices")
        for choice in listed if isinstance(listed, list) else ():
            if isinstance(choice, dict):
                index = choice.get("index")
                self._choices.setdefault(index if isinstance(index, int) else 0, _Choice()).feed(choice)

    def response(self) -> Fields | None:
        """The response so far; None before the first chunk of one."""
        if not self._top and not self._choices:
            return None
        choices = [self._choices[index].whole(index) for index in sorted(self._choices)]
        return {**self._top, "object": _WHOLE, "choices": settled(choices)}


class _Choice:
    """One choice so far."""

    def __init__(self) -> None:
        self.finish: str | None = None
        self._message: Fields = {"role": "assistant"}
        self._calls = Calls()
        self._logprobs: Fields = {}
        self._left: Fields = {}

    def feed(self, choice: Fields) -> None:
        """Take what a chunk says of it."""
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            self.finish = finish
        logprobs = choice.get("logprobs")
        if isinstance(logprobs, dict):
            add(self._logprobs, logprobs)
        _take_last(self._left, choice, but=frozenset({"index", "delta", "message", "finish_reason"}))
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, dict):
            return
        add(self._message, delta, but=frozenset({_CALLS}))
        pieces = delta.get(_CALLS)
        if isinstance(pieces, list):
            self._calls.feed(pieces)
            self._message[_CALLS] = self._calls.made
        elif _CALLS in delta:
            self._message.setdefault(_CALLS, None)

    def whole(self, index: int) -> Fields:
        """The choice as a whole response has it, not put together."""
        left = dict(self._left)
        if self._logprobs:
            left["logprobs"] = self._logprobs
        return {"index": index, "message": self._message, "finish_reason": self.finish, **left}


def _take_last(known: Fields, said: Mapping[str, object], *, but: frozenset[str]) -> None:
    """Take what stands in every chunk: null, or empty, where it is not known yet or no more."""
    for key, value in said.items():
        if key not in but and (value not in (None, "") or key not in known):
            known[key] = value


def events(response: Fields) -> Iterator[bytes]:
    """The chunks of a whole response as events, and the event behind them.

    Its usage comes in a chunk without choices, as it does where the client asks for it; without the key it does not.
    """
    top = {key: value for key, value in response.items() if key not in ("choices", "usage")} | {"object": _CHUNK}
    listed = response.get("choices")
    for choice in listed if isinstance(listed, list) else ():
        for said in _chunks_of(choice):
            yield event({**top, "choices": [said]})
    if "usage" in response:
        yield event({**top, "choices": [], "usage": response["usage"]})
    yield event(DONE)


def _chunks_of(choice: Fields) -> Iterator[Fields]:
    index = choice.get("index", 0)
    message = choice["message"]
    assert isinstance(message, dict), "a whole response"
    for delta in _deltas(message):
        yield {"index": index, "delta": delta, "finish_reason": None}
    left = {key: value for key, value in choice.items() if key not in ("index", "message")}
    yield {"index": index, "delta": {}, "finish_reason": None, **left}


def _deltas(message: Fields) -> Iterator[Fields]:
    """The message in pieces: first what is said at once, then each text, then each call."""
    later = {key: message[key] for key in ("content", "refusal", _LEGACY, _CALLS) if message.get(key)}
    yield {key: value for key, value in message.items() if key not in later}
    for key, value in later.items():
        if key == _CALLS and isinstance(value, list):
            for at, call in enumerate(value):
                for piece in _pieces(call):
                    yield {_CALLS: [{"index": at, **piece}]}
        elif key == _LEGACY and isinstance(value, dict):
            for piece in _split(value, "arguments"):
                yield {_LEGACY: piece}
        else:
            yield {key: value}


def _pieces(call: Fields) -> Iterator[Fields]:
    """A call in pieces: first all but its arguments, then these."""
    inside, text = ("custom", "input") if isinstance(call.get("custom"), dict) else ("function", "arguments")
    called = call.get(inside)
    if not isinstance(called, dict):
        yield call
        return
    first, *others = _split(called, text)
    yield {**call, inside: first}
    for piece in others:
        yield {inside: piece}


def _split(called: Fields, text: str) -> list[Fields]:
    return [{**called, text: ""}, {text: called[text]}] if called.get(text) else [called]
