"""JSON and JSON Lines as documents: divided by items or keys, shown in the dense notation."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from callsheet.derive.document import ContentKind, Segment
from callsheet.derive.structured.crowds import JSON_SIGNS, WRITTEN, crowded, parts
from callsheet.derive.structured.excerpts import excerpt
from callsheet.derive.structured.inline import write
from callsheet.derive.structured.notation import notation
from callsheet.derive.structured.outlines import outline
from callsheet.derive.structured.places import Layout, layout
from callsheet.derive.structured.reading import blank_end, parse, parse_object, spans_in, value_at
from callsheet.derive.structured.spans import Spans
from callsheet.derive.structured.values import Json

_CLEARLY = 0.95
"""Where the notation is this much shorter than the text, no other form is tried."""

_LARGEST = 20_000_000
"""Characters of a text beyond which it takes too much memory to write it anew."""


@dataclass(frozen=True)
class JsonDocument:
    """A JSON text that was read in full, or the records of JSON Lines as one array."""

    kind: ContentKind
    text: str
    value: Json
    layout: Layout

    @property
    def unit(self) -> str:
        """``items`` of the array that holds most of the text, ``records`` of JSON Lines, else ``keys``."""
        return self.layout.unit

    @property
    def total(self) -> int:
        """How many of them there are."""
        return self.layout.total

    @property
    def segments(self) -> Sequence[Segment]:
        """One per item or key, big ones divided, named by JSON Pointer; scalars beside the main array stand always."""
        return self.layout.segments

    @cached_property
    def _dense(self) -> str:
        if len(self.text) > _LARGEST or parts(self.text, JSON_SIGNS) > WRITTEN:
            return self.text
        written = notation(self.value)
        if len(written) < _CLEARLY * len(self.text):
            return written
        forms = [written, self.text]
        if self.kind is ContentKind.JSON:
            forms.append(write(self.value))
        return min(forms, key=len)

    def dense(self) -> str:
        """The dense notation, minified JSON or the text itself, whichever is shortest; of a huge text itself."""
        return self._dense

    def excerpt(self, chosen: Sequence[int]) -> str:
        """The chosen parts in the dense notation, under a line that says that it is an excerpt and of how many."""
        return excerpt(self.value, self.layout, chosen)

    def outline(self) -> str:
        """The shape in a few words."""
        return outline(self.value, self.layout)


def read_json(text: str) -> JsonDocument | None:
    """The document of a text that is one whole JSON object or array; None for any other text, and for one with so many
    parts that its value would take too much memory.
    """
    start = blank_end(text, 0)
    if text[start : start + 1] not in ("{", "[") or crowded(text, JSON_SIGNS):
        return None
    try:
        value, spans = parse_object(text, start) if text[start] == "{" else (parse(text), None)
    except ValueError:
        return None
    return JsonDocument(ContentKind.JSON, text, value, layout(text, value, spans or spans_in(text, start, value)))


def crowded_kind(text: str) -> ContentKind | None:
    """What kind of JSON it is that has too many parts to be read; None for any other text."""
    start = blank_end(text, 0)
    if text[start : start + 1] not in ("{", "[") or not crowded(text, JSON_SIGNS):
        return None
    if _is_json(text):
        return ContentKind.JSON
    return ContentKind.JSON_LINES if all(map(_is_json, _lines(text))) else None


def _lines(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if text[at:end].strip():
            yield text[at:end]
        at = end + 1


def _is_json(text: str) -> bool:
    """Whether it is one JSON value, in the strict sense: looked at without making the value."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False
    return True


def read_json_lines(text: str) -> JsonDocument | None:
    """The document of a text with an object or array on each of at least two lines; None for any other text, and for
    one with too many parts.
    """
    start = blank_end(text, 0)
    if text[start : start + 1] not in ("{", "[") or "\n" not in text or crowded(text, JSON_SIGNS):
        return None
    return _records(text)


def _records(text: str) -> JsonDocument | None:
    values: list[Json] = []
    starts, ends = array("q"), array("q")
    at = 0
    numbers = array("q")
    for number, line in enumerate(text.split("\n"), 1):
        start, at = at, at + len(line) + 1
        bare = line.strip(" \t\r")
        if not bare:
            continue
        if bare[0] not in "{[":
            return None
        try:
            value, end = value_at(bare, 0)
        except ValueError:
            return None
        if end != len(bare):
            return None
        values.append(value)
        starts.append(start)
        ends.append(start + len(line))
        numbers.append(number)
    if len(values) < 2:
        return None
    spans = Spans((), starts, ends, lambda at: f"line {numbers[at]}")
    return JsonDocument(
        ContentKind.JSON_LINES, text, values, Layout("records", len(values), spans, (), "", items=len(values))
    )
