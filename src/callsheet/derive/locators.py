"""Points at places inside a source so that a stated fact can be checked, and finds them again when they have moved.

Bytes are counted from 0, up to and without the end. Lines are counted from 1, both ends included. Rows are records of
a table from 0, both ends included; a line break inside quotes does not end a row, and row 0 is the header if there is
one. Pointers are JSON Pointers (RFC 6901); of equal keys the last counts, as readers of JSON have it.
"""

import hashlib
import re
from collections.abc import Iterator

from msgspec.structs import replace

from callsheet.derive.jsonspans import find_pointer, values
from callsheet.graph.canonical import content_digest
from callsheet.graph.ids import RecordId
from callsheet.graph.values import Locator

ATTEMPTS = 3
"""How often a broken locator is looked for before its memory is stale."""

_MOST_HASHED = 64_000_000

_WITHIN = 1_000


def locate(
    content: bytes,
    *,
    source: RecordId,
    part: int = 0,
    pointer: str | None = None,
    byte_range: tuple[int, int] | None = None,
    line_range: tuple[int, int] | None = None,
    row_range: tuple[int, int] | None = None,
) -> Locator | None:
    """A locator for the one place that is given, with the SHA-256 of what stands there; None when nothing does."""
    locator = Locator(
        source=source,
        part=part,
        pointer=pointer,
        byte_range=byte_range,
        line_range=line_range,
        row_range=row_range,
        digest="",
    )
    span = _span(locator, content)
    return None if span is None else replace(locator, digest=content_digest(content[slice(*span)]))


def first_place(content: bytes, value: bytes, *, source: RecordId, part: int = 0) -> Locator | None:
    """A locator for the first place where the bytes of a text stand whole, however often they do; None: nowhere.

    A value that stands only within longer words or numbers, in more than `_WITHIN` of them, is not looked for further,
    so that time stays linear.
    """
    places = _occurrences(content, value, within=_WITHIN) if value else iter(())
    for at in places:
        return Locator(source=source, part=part, byte_range=(at, at + len(value)), digest=content_digest(value))
    return None


def resolve(locator: Locator, content: bytes) -> bytes | None:
    """What the locator points at, or None when that is no longer what stood there."""
    span = _span(locator, content)
    if span is None:
        return None
    found = content[slice(*span)]
    return found if content_digest(found) == locator.digest else None


def repair(locator: Locator, content: bytes, was: bytes | None, attempts_left: int = ATTEMPTS) -> Locator | None:
    """The locator for the same value in the same source, or None where it is gone or stands in several places.

    First the value is looked for in places of the same kind: under the same key, or as many whole lines or rows. Then,
    if it is known what stood there, as bytes that do not continue a longer word or number. The digest never changes,
    so what the result points at is what was recorded.
    """
    if attempts_left <= 0:
        return None
    if was is not None and content_digest(was) != locator.digest:
        was = None
    if resolve(locator, content) is not None:
        return locator
    if locator.pointer is not None:
        return _moved_pointer(locator, content, was)
    if locator.byte_range is not None:
        return _moved_bytes(locator, content, was)
    return _moved_lines(locator, content) or _moved_bytes(locator, content, was)


def _span(locator: Locator, content: bytes) -> tuple[int, int] | None:
    if locator.pointer is not None:
        return find_pointer(content, locator.pointer)
    if locator.byte_range is not None:
        start, end = locator.byte_range
        return (start, end) if 0 <= start < end <= len(content) else None
    if locator.line_range is not None:
        first, last = locator.line_range
        return _stretch(_lines(content), first - 1, last - 1)
    if locator.row_range is not None:
        return _stretch(_rows(content), *locator.row_range)
    return None


def _stretch(spans: Iterator[tuple[int, int]], first: int, last: int) -> tuple[int, int] | None:
    if not 0 <= first <= last:
        return None
    start: int | None = None
    for at, (begin, end) in enumerate(spans):
        if at == first:
            start = begin
        if at == last and start is not None:
            return start, end
    return None


def _lines(content: bytes) -> Iterator[tuple[int, int]]:
    """Spans of the lines without their ends."""
    start = 0
    while start < len(content):
        end = content.find(b"\n", start)
        stop = len(content) if end < 0 else end
        yield start, stop - 1 if end > start and content[end - 1] == 13 else stop
        start = stop + 1


def _rows(content: bytes) -> Iterator[tuple[int, int]]:
    start: int | None = None
    quotes = 0
    for begin, end in _lines(content):
        start = begin if start is None else start
        quotes += content.count(b'"', begin, end)
        if quotes % 2 == 0:
            yield start, end
            start, quotes = None, 0
    if start is not None:
        yield start, len(content)


def _moved_pointer(locator: Locator, content: bytes, was: bytes | None) -> Locator | None:
    """The one value with the same content under the same name: of a member its key, of an item that of its array."""
    wanted = _name(locator.pointer or "")
    found: str | None = None
    hashed = 0
    for value in values(content):
        size = value.end - value.start
        if value.name != wanted or (was is not None and size != len(was)):
            continue
        hashed += size
        if hashed > _MOST_HASHED + len(content):
            return None
        if content_digest(content[value.start : value.end]) != locator.digest:
            continue
        if found is not None:
            return None
        found = value.pointer()
    if found is None:
        return None
    moved = replace(locator, pointer=found)
    return moved if resolve(moved, content) is not None else None


def _name(pointer: str) -> str | None:
    names = [token for token in pointer.split("/")[1:] if not token.isdigit()]
    return names[-1] if names else None


def _moved_bytes(locator: Locator, content: bytes, was: bytes | None) -> Locator | None:
    if not was:
        return None
    found: int | None = None
    for at in _occurrences(content, was):
        if found is not None:
            return None
        found = at
    if found is None:
        return None
    return Locator(
        source=locator.source, part=locator.part, byte_range=(found, found + len(was)), digest=locator.digest
    )


def _occurrences(content: bytes, was: bytes, *, within: int | None = None) -> Iterator[int]:
    """Where the bytes stand whole: a number is not found inside a longer one. Ends where more than `within` are not."""
    text = was.decode("utf-8", "replace")
    at = content.find(was)
    while at >= 0:
        end = at + len(was)
        # Twice the longest character, so that at least one on each side is whole, and two behind.
        before = content[max(0, at - 8) : at].decode("utf-8", "replace")
        behind = content[end : end + 8].decode("utf-8", "replace")
        if not (_continues(text, behind) or _is_continued(before, text)):
            yield at
        elif within is not None:
            within -= 1
            if within < 0:
                return
        at = content.find(was, at + 1)


def _continues(text: str, behind: str) -> bool:
    """Whether a word or number goes on behind: a point or hyphen does so only before more of it."""
    if _WORD.match(behind):
        return _WORD.match(text[-1]) is not None or text[-1] in _JOINTS
    return behind[:1] in _JOINTS and _WORD.match(text[-1]) is not None and _WORD.match(behind, 1) is not None


def _is_continued(before: str, text: str) -> bool:
    """Whether a word or number began before; a point or hyphen before a number belongs to it: it may be its sign."""
    if not before:
        return False
    if _WORD.match(before[-1]):
        return _WORD.match(text[0]) is not None or text[0] in _JOINTS
    if before[-1] not in _JOINTS or _WORD.match(text[0]) is None:
        return False
    return text[0].isdigit() or (len(before) > 1 and _WORD.match(before[-2]) is not None)


_JOINTS = (".", "-")

_WORD = re.compile(
    r"[^\W\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    r"\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]"
)
"""A character of a word or number; not of scripts without spaces between words, or with particles put on them."""


def _moved_lines(locator: Locator, content: bytes) -> Locator | None:
    """The one run of as many lines, or rows, with the same content."""
    by_line = locator.line_range is not None
    first, last = locator.line_range or locator.row_range or (0, -1)
    count = last - first + 1
    if count < 1 or count * len(content) > _MOST_HASHED:
        return None
    spans = list(_lines(content) if by_line else _rows(content))
    digest = locator.digest.removeprefix("sha256:")
    found = [
        at
        for at in range(len(spans) - count + 1)
        if hashlib.sha256(content[spans[at][0] : spans[at + count - 1][1]]).hexdigest() == digest
    ]
    if len(found) != 1:
        return None
    start = found[0] + (1 if by_line else 0)
    moved = (start, start + count - 1)
    return replace(locator, line_range=moved) if by_line else replace(locator, row_range=moved)
