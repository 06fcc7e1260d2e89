"""Documents that have no parts: content that is not text, and content that is nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from callsheet.derive.document import ContentKind, Segment
from callsheet.derive.text import binary_standin


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """Content for which one text stands wherever it is shown. A `Document`."""

    kind: ContentKind
    text: str
    unit: str
    total: int
    shown: str
    segments: tuple[Segment, ...] = ()

    def dense(self) -> str:
        """What stands for the content, or the content itself where that is shorter."""
        return min(self.text, self.shown, key=len)

    def excerpt(self, chosen: Sequence[int]) -> str:
        """The text that stands for the content."""
        return self.shown

    def outline(self) -> str:
        """The text that stands for the content."""
        return self.shown


def binary(mime: str, size: int) -> Fixed:
    """Content that is shown by its type and size in bytes alone; its text is that too."""
    shown = binary_standin(mime, size)
    return Fixed(kind=ContentKind.BINARY, text=shown, unit="bytes", total=size, shown=shown)


def empty(text: str) -> Fixed:
    """Content without anything to read."""
    shown = f"(only white space, {len(text):,} characters)" if text else "(empty)"
    return Fixed(kind=ContentKind.EMPTY, text=text, unit="characters", total=len(text), shown=shown)
