"""What every kind of content offers once it has been read: its segments, and forms of it that take fewer tokens."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol


class ContentKind(StrEnum):
    """What a piece of content is, as far as its form tells."""

    JSON = "json"
    JSON_LINES = "json_lines"
    TABLE = "table"
    LOG = "log"
    TRACE = "trace"
    DIFF = "diff"
    SOURCE = "source"
    HTML = "html"
    SEARCH = "search"
    TEXT = "text"
    BINARY = "binary"
    EMPTY = "empty"


class Segment(NamedTuple):
    """A piece of the text that is shown or left out as one: a row, an item, a line, a key, a hunk."""

    #: Characters of the text, from and up to but without.
    start: int
    end: int
    #: How people name the place, such as ``/items/3``, ``row 12`` or ``line 40``.
    name: str
    #: A header, total, error or exit status: never left out while anything is shown.
    always: bool = False


class Document(Protocol):
    """Content that has been read. Reading never fails: what cannot be read as anything better is text."""

    @property
    def kind(self) -> ContentKind: ...

    @property
    def text(self) -> str:
        """The content as text, in full."""
        ...

    @property
    def unit(self) -> str:
        """What the content is counted in, in the plural: ``rows``, ``items``, ``lines``."""
        ...

    @property
    def total(self) -> int:
        """How many units there are; headers are not counted."""
        ...

    @property
    def segments(self) -> Sequence[Segment]:
        """In order, not overlapping."""
        ...

    def dense(self) -> str:
        """The same information in fewer characters; the text itself where nothing is gained."""
        ...

    def excerpt(self, chosen: Sequence[int]) -> str:
        """The segments with these indices (ascending) and those that always stand, in their order.

        Pieces that were not adjacent are joined by a mark that says how many units stood between them, and the whole
        says how many of the total are shown. A header that the pieces need stands once, first.
        """
        ...

    def outline(self) -> str:
        """The shape in a few words, such as ``34 rows: sku, bay, on_hand``."""
        ...
