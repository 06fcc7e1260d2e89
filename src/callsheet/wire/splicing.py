"""Several responses that the client sees as one, by format: between them calls were answered that it does not see.

What a hidden call's client must not see is the call itself and the thoughts that led to it alone. Everything else goes
on in one message: what the first response says of itself holds for all, figures are added, and the end is the last's.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from callsheet.wire.anthropic import splice as anthropic_splice
from callsheet.wire.gemini import splice as gemini_splice
from callsheet.wire.names import Wire
from callsheet.wire.openai_chat import splice as openai_splice
from callsheet.wire.openai_responses import splice as responses_splice
from callsheet.wire.reading import Fields
from callsheet.wire.sse import Event

__all__ = ["Splice", "asks_only", "merged", "splice"]


class Splice(Protocol):
    """Makes one stream of several. Each format has one.

    Where nothing is hidden, the bytes of a single stream are what they were.
    """

    def feed(self, given: Event) -> bytes:
        """What the client gets of the next event, now. The end of the response is kept, and thoughts are until it is
        known that they do not lead to a hidden call alone.
        """
        ...

    def begin(self) -> None:
        """The response is over, its end is not for the client, and the next one begins."""
        ...

    def end(self) -> bytes:
        """The end of the last response, as that of the whole."""
        ...


_SPLICES: Final[Mapping[Wire, Callable[[str], Splice]]] = {
    Wire.OPENAI: openai_splice.Splice,
    Wire.OPENAI_RESPONSES: responses_splice.Splice,
    Wire.ANTHROPIC: anthropic_splice.Splice,
    Wire.GEMINI: gemini_splice.Splice,
}
_ASKS_ONLY: Final[Mapping[Wire, Callable[[Fields, str], bool]]] = {
    Wire.OPENAI: openai_splice.asks_only,
    Wire.OPENAI_RESPONSES: responses_splice.asks_only,
    Wire.ANTHROPIC: anthropic_splice.asks_only,
    Wire.GEMINI: gemini_splice.asks_only,
}
_MERGED: Final[Mapping[Wire, Callable[[Sequence[Fields], str], Fields]]] = {
    Wire.OPENAI: openai_splice.merged,
    Wire.OPENAI_RESPONSES: responses_splice.merged,
    Wire.ANTHROPIC: anthropic_splice.merged,
    Wire.GEMINI: gemini_splice.merged,
}


def splice(wire: Wire, name: str) -> Splice:
    """For streams in which the calls of the tool of this name are hidden."""
    return _SPLICES[wire](name)


def asks_only(response: Fields, wire: Wire, name: str) -> bool:
    """Whether a whole response waits for results of the tool of this name, and for nothing else."""
    return _ASKS_ONLY[wire](response, name)


def merged(responses: Sequence[Fields], wire: Wire, name: str) -> Fields:
    """Whole responses as the client sees them: as one, without the calls of the tool of this name.

    What a spliced stream adds up to.
    """
    return _MERGED[wire](responses, name)
