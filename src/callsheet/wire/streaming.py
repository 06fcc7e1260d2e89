"""Streamed responses: gathered to the whole response, and a whole response as a stream, by format."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Protocol

from callsheet.wire.anthropic import stream as anthropic_stream
from callsheet.wire.gemini import stream as gemini_stream
from callsheet.wire.gemini.array import Elements
from callsheet.wire.names import Wire
from callsheet.wire.openai_chat import stream as openai_stream
from callsheet.wire.openai_responses import stream as responses_stream
from callsheet.wire.reading import Fields
from callsheet.wire.sse import DONE, Event, Lines, event

__all__ = ["Event", "Gatherer", "Gathering", "Lines", "event", "events", "gathering"]


class Gathering(Protocol):
    """Puts the events of one streamed response together. Each format has one."""

    @property
    def ended(self) -> bool:
        """Whether the reply is whole, as its events say, or broken off by an error; figures may follow."""
        ...

    @property
    def failure(self) -> Fields | None:
        """The error inside the stream, as the provider's error body has it; None: there was none."""
        ...

    def feed(self, data: Fields) -> None:
        """Take the data of the next event. What is not of the format's shape is passed over; nothing is raised."""
        ...

    def response(self) -> Fields | None:
        """The response so far as the API would have given it whole; None while nothing of one came.

        It can be read by `formats.parse_reply`. Before the end it lacks what has not come: it names no reason for an
        end, and the input of a call that was cut off is the text that came (Anthropic's).
        """
        ...


_GATHERINGS: Final[Mapping[Wire, Callable[[], Gathering]]] = {
    Wire.OPENAI: openai_stream.Gathering,
    Wire.OPENAI_RESPONSES: responses_stream.Gathering,
    Wire.ANTHROPIC: anthropic_stream.Gathering,
    Wire.GEMINI: gemini_stream.Gathering,
}
_EVENTS: Final[Mapping[Wire, Callable[[Fields], Iterator[bytes]]]] = {
    Wire.OPENAI: openai_stream.events,
    Wire.OPENAI_RESPONSES: responses_stream.events,
    Wire.ANTHROPIC: anthropic_stream.events,
    Wire.GEMINI: gemini_stream.events,
}


def gathering(wire: Wire) -> Gathering:
    """An empty one of this format."""
    return _GATHERINGS[wire]()


def events(response: Fields, wire: Wire) -> Iterator[bytes]:
    """The events, as bytes, in which the provider would stream this whole response. Gathered, they give it again."""
    return _EVENTS[wire](response)


class Gatherer:
    """Gathers a stream of server-sent events from its bytes, in whatever pieces they come.

    `listed`: the events are the elements of one JSON list, as Gemini streams without ``alt=sse``.
    """

    def __init__(self, wire: Wire, *, listed: bool = False) -> None:
        self._gathering = gathering(wire)
        self._lines: Lines | Elements = Elements() if listed else Lines()
        #: How many events could not be read.
        self.broken = 0
        self._done = False

    @property
    def ended(self) -> bool:
        """Whether the reply is whole, or broken off by an error; see `Gathering`."""
        return self._done or self._gathering.ended

    @property
    def failure(self) -> Fields | None:
        """The error inside the stream; see `Gathering`."""
        return self._gathering.failure

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        self._take(self._lines.feed(piece))

    def close(self) -> None:
        """The stream is over: take what still waits."""
        self._take(self._lines.close())

    def response(self) -> Fields | None:
        """The response so far; see `Gathering`."""
        return self._gathering.response()

    def _take(self, found: list[Event]) -> None:
        for each in found:
            data = each.fields
            if data is not None:
                self._gathering.feed(data)
            elif each.data == DONE:
                self._done = True
            elif each.broken or each.data:
                self.broken += 1
