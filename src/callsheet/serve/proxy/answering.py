"""One answer on its way to the client: passed on byte for byte as it comes, and put together beside.

This is the one place that knows what of a provider's answer the client gets, and when: where the proxy answers calls of
a tool of its own, it asks again from here and the client sees one answer.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import anyio

from callsheet.serve.proxy.bodies import decoded
from callsheet.serve.proxy.concluding import read
from callsheet.serve.proxy.journal import Outcome
from callsheet.serve.proxy.packing import unpacked
from callsheet.serve.proxy.turned import Turned
from callsheet.serve.proxy.upstream import Answer, Broke
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields
from callsheet.wire.streaming import Gatherer, gathering

LARGEST = 64 * 1024 * 1024
"""Bytes of an answer that are put together. One that is longer is passed on all the same, and not recorded."""

LINGER = 5.0
"""Seconds for which a stream is still read behind the end of the answer: figures follow there, and its last event."""

_EVENTS = "text/event-stream"
_LAST = (b"}", b"]")


@dataclass(kw_only=True, slots=True)
class Answering:
    """Passes one answer on."""

    wire: Wire
    answer: Answer
    #: What broke, without content; empty: nothing.
    problem: str = ""
    #: What of ours failed at it; None: nothing.
    failure: Exception | None = None
    _gatherer: Gatherer | None = field(init=False, default=None)
    _listed: bool = field(init=False, default=False)
    _kept: list[bytes] = field(init=False, default_factory=list)
    _size: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        if self.events and not self._packing:
            self._gatherer = Gatherer(self.wire)

    @property
    def status(self) -> int:
        """The status that the client gets."""
        return self.answer.status

    @property
    def streams(self) -> bool:
        """Whether it is a stream: of events, or Gemini's as one JSON list, which shows once it has begun."""
        return self.events or self._listed

    @property
    def events(self) -> bool:
        """Whether it is a stream of events."""
        return self.answer.header(b"content-type").split(";")[0].strip().lower() == _EVENTS

    @property
    def _packing(self) -> str:
        said = self.answer.header(b"content-encoding").strip().lower()
        return "" if said == "identity" else said

    async def pieces(self) -> AsyncIterator[tuple[bytes, bool]]:
        """Bytes for the client, as they come, and whether the answer may be over with them.

        Raises `Broke` where the provider's answer ends before its end; `gathered` still gives what came.
        """
        held = b""
        try:
            async for piece in self._coming():
                self._take(piece)
                if self._gatherer is not None:
                    yield piece, self._gatherer.ended
                    continue
                # Whether more comes is known only when it comes; what cannot be the end of JSON need not wait for it.
                if held:
                    yield held, False
                held = piece if piece.rstrip().endswith(_LAST) else b""
                if not held:
                    yield piece, False
        except Broke as broke:
            self.problem = broke.problem
            if held:
                yield held, False
            raise
        finally:
            if self._gatherer is not None:
                self._gatherer.close()
        if held:
            yield held, True

    async def _coming(self) -> AsyncIterator[bytes]:
        """The provider's bytes. Once it has said that nothing follows, what follows all the same is not waited for."""
        pieces = aiter(self.answer.pieces)
        while not self._over:
            piece = await anext(pieces, None)
            if piece is None:
                return
            yield piece
        while True:
            piece = None
            with anyio.move_on_after(LINGER):
                try:
                    piece = await anext(pieces, None)
                except Broke:
                    if self._listed:  # no client can read a list without its end
                        raise
            if piece is None:
                return
            yield piece

    @property
    def _over(self) -> bool:
        """Whether the provider has said that nothing follows."""
        return self._gatherer is not None and self._gatherer.ended

    def _take(self, piece: bytes) -> None:
        """Put a piece to what came. Never raises: the client gets its answer whatever becomes of this."""
        if not self._size and self._begins_list(piece):
            self._listed, self._gatherer = True, Gatherer(self.wire, listed=True)
        self._size += len(piece)
        if self._size > LARGEST:
            self._gatherer = None
            self._kept.clear()
        elif self._gatherer is None:
            self._kept.append(piece)
        else:
            try:
                self._gatherer.feed(piece)
            except Exception as error:  # noqa: BLE001 - what cannot be put together is passed on all the same
                self.failure, self._size, self._gatherer = error, LARGEST, None

    def _begins_list(self, piece: bytes) -> bool:
        """Whether an answer that begins so is Gemini's stream where the client did not ask for events."""
        lists = self.wire is Wire.GEMINI and not self.events and not self._packing
        return lists and piece.lstrip().startswith(b"[")

    @property
    def ended(self) -> bool:
        """Whether the provider said that the stream is over, or its whole answer came."""
        return not self.problem if self._gatherer is None else self._gatherer.ended

    @property
    def good(self) -> bool:
        """Whether the provider did what it was asked, as far as it came."""
        return self.answer.good and (self._gatherer is None or self._gatherer.failure is None)

    def instead(self, response: Fields | None, *, awaited: bool = False) -> Outcome | None:
        """What came in place of a whole answer, though the status is good, where that can be told; None: the answer.

        `response`: what was `gathered`. `awaited`: the proxy is to go on with it, so what nobody can read is none.
        """
        if self.events or self._listed or self._size > LARGEST or self.problem:
            return None
        if response is None:
            try:
                content = unpacked(b"".join(self._kept), self._packing, LARGEST)
            except Turned:
                return Outcome.BROKEN if awaited else None
            # The beginning of an answer was paid for; a page of some gateway was not.
            return Outcome.BROKEN if content.lstrip().startswith(b"{") else Outcome.REFUSED
        if read(response, self.wire) is not None:
            return None
        if response.get("error") or not response:
            return Outcome.REFUSED
        return Outcome.BROKEN if awaited else None

    def gathered(self) -> Fields | None:
        """The response as the provider gives it whole; None: none that can be read came."""
        if self._gatherer is not None:
            return self._gatherer.response()
        if self._size > LARGEST:
            return None
        try:
            content = unpacked(b"".join(self._kept), self._packing, LARGEST)
            return self._streamed(content) if self.events else self._whole(decoded(content))
        except Turned:
            return None

    def _streamed(self, content: bytes) -> Fields | None:
        gatherer = Gatherer(self.wire)
        gatherer.feed(content)
        gatherer.close()
        return gatherer.response()

    def _whole(self, found: object) -> Fields | None:
        if isinstance(found, dict):
            return found
        if isinstance(found, list):  # Gemini's stream as a list, packed
            parts = gathering(self.wire)
            for part in found:
                if isinstance(part, dict):
                    parts.feed(part)
            return parts.response()
        return None
