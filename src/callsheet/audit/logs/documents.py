"""JSON documents of a log: one a line, or each over many lines as printers indent them."""

from collections.abc import Iterator

from callsheet.audit.logs.files import LONGEST_LINE, LogFile, Place, Rereading
from callsheet.audit.logs.jsonlines import decoded
from callsheet.audit.logs.values import Notes

ITEMS = "items"
"""The key under which a list of documents comes."""

_OPENING, _CLOSING = (b"{", b"["), (b"}", b"]")


def documents(log: LogFile, notes: Notes) -> Iterator[tuple[Place, dict[str, object]]]:
    """Every document that is a JSON object, with its place; the others are refused, each with the reason.

    A document over many lines begins and ends with a line that holds nothing but its brace.
    """
    begun: Place | None = None
    with log.reading() as file:
        for place, line in log.lines(notes):
            if begun is None and line.strip() in _OPENING:
                begun = place
                continue
            if begun is not None:
                length = place.offset + place.length - begun.offset
                if length > LONGEST_LINE:
                    notes.refuse(f"the document is longer than {LONGEST_LINE:,} bytes", begun.number)
                    begun = None
                    continue
                if line.rstrip() not in _CLOSING:
                    continue
                place, begun = Place(begun.number, begun.offset, length), None  # noqa: PLW2901 - the whole document
                line = file.line(place)  # noqa: PLW2901
            try:
                found = decoded(line)
            except ValueError as problem:
                notes.refuse(str(problem), place.number)
                continue
            if isinstance(found, list):
                yield place, {ITEMS: found}
            elif isinstance(found, dict):
                yield place, found
            else:
                notes.refuse("not a JSON object", place.number)
    if begun is not None:
        notes.refuse("the file ends before the document does", begun.number)


def document_at(file: Rereading, place: Place) -> dict[str, object]:
    """A document that was read before; of one that is none any more, nothing."""
    try:
        found = decoded(file.line(place))
    except ValueError:
        return {}
    return {ITEMS: found} if isinstance(found, list) else found if isinstance(found, dict) else {}
