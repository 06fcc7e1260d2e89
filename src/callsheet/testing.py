"""For tests of programs that use Callsheet: time that stands still, ids in sequence, a store in memory, a script.

Everything here is real: the in-memory store passes the same conformance suite as the others, and the scripted provider
refuses what a provider would refuse.
"""

import itertools
from collections.abc import Iterable, Mapping

from callsheet.errors import InvalidMessage, InvalidOption
from callsheet.graph.ids import RecordId, StreamId
from callsheet.graph.record import NONCE_BYTES
from callsheet.graph.times import Instant, instant
from callsheet.runtime.opening import MEMORY
from callsheet.runtime.opening import open as open_store
from callsheet.runtime.options import Time
from callsheet.runtime.runtime import Runtime
from callsheet.wire.formats import wire_of
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems

START = "2026-01-01T00:00:00Z"
"""When a `FixedClock` stands unless it is told otherwise."""


class FixedClock:
    """A clock that stands still until it is moved."""

    def __init__(self, start: Time = START) -> None:
        self._now = instant(start)

    def now(self) -> Instant:
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock on."""
        self._now = Instant(self._now + round(seconds * 1_000_000))


class SequenceIds:
    """Ids and nonces in sequence: the same calls give the same ids, so whole stores can be compared."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def record(self, kind: str) -> RecordId:
        return RecordId(f"{kind}_{next(self._numbers)}")

    def stream(self) -> StreamId:
        return StreamId(f"stream_{next(self._numbers)}")

    def nonce(self) -> bytes:
        return next(self._numbers).to_bytes(NONCE_BYTES, "big")


class ScriptedProvider:
    """Stands for a provider's client: checks every request by the provider's rules and gives the next scripted reply.

    A reply is a response in the provider's shape, or a text, which becomes one.
    """

    def __init__(self, replies: Iterable[Mapping[str, object] | str], *, provider: str = "openai") -> None:
        self._replies = iter(replies)
        self._wire = wire_of(provider)
        #: The requests so far, as they were sent.
        self.requests: list[dict[str, object]] = []

    def create(self, **request: object) -> dict[str, object]:
        """Answer a request.

        Raises `InvalidMessage` with every rule that it breaks, and `InvalidOption` when the script is at its end.
        """
        found = problems(request, self._wire)
        if found:
            raise InvalidMessage("; ".join(map(str, found)), where="request")
        reply = next(self._replies, None)
        if reply is None:
            raise InvalidOption(f"the script has no reply to request {len(self.requests) + 1}")
        self.requests.append(request)
        return self._response(reply) if isinstance(reply, str) else dict(reply)

    def _response(self, text: str) -> dict[str, object]:
        id = f"reply-{len(self.requests)}"
        if self._wire is Wire.ANTHROPIC:
            content = [{"type": "text", "text": text}]
            return {"id": id, "type": "message", "role": "assistant", "model": "scripted", "content": content}
        if self._wire is Wire.GEMINI:
            turn = {"role": "model", "parts": [{"text": text}]}
            candidate = {"index": 0, "finishReason": "STOP", "content": turn}
            return {"candidates": [candidate], "modelVersion": "scripted", "responseId": id}
        if self._wire is Wire.OPENAI_RESPONSES:
            part = {"type": "output_text", "text": text, "annotations": []}
            said = {"type": "message", "id": f"msg-{id}", "role": "assistant", "status": "completed", "content": [part]}
            return {"id": id, "object": "response", "model": "scripted", "status": "completed", "output": [said]}
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return {"id": id, "object": "chat.completion", "model": "scripted", "choices": [choice]}


def memory_runtime(*, tenant: str = "local", clock: FixedClock | None = None) -> Runtime:
    """A runtime over an in-memory store, with ids in sequence and a clock that stands still."""
    return open_store(MEMORY, tenant=tenant, ids=SequenceIds(), clock=clock or FixedClock())
