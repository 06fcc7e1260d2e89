"""Results of a search: each is a title, an address and some text, and is shown or left out as one."""

import re
from dataclasses import replace
from itertools import accumulate

from callsheet.derive.document import ContentKind, Segment
from callsheet.derive.prose.blobs import blobs, masked
from callsheet.derive.prose.important import viewed
from callsheet.derive.prose.marks import lowered
from callsheet.derive.prose.pieces import Span, line_span, within
from callsheet.derive.prose.written import Written, written

_ADDRESS = re.compile(
    r"^[ \t>*-]{0,8}(?:(?:url|link|source|href|address)[ \t]*:[ \t]*)?<?(?:https?://|www\.)[^\s<>]{3,2000}"
    r"(?:[ \t]+[›>/»][^\n]{0,200})?>?[ \t]*\r?$",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(
    r"^[ \t]{0,4}(?:#{1,4} )?(?:\[\d{1,3}\]|\*{0,2}\d{1,3}[.)]|Result \d{1,3}\b)[ \t]*\S", re.MULTILINE
)
_MOST = 2000
_LEAST = 3
_BUDGET = 600


def read_search(text: str) -> Written | None:
    """A list of at least three results with addresses, or None."""
    if text.count("://") + lowered(text).count("www.") < _LEAST:
        return None
    addresses = [match.start() for match in _ADDRESS.finditer(text)]
    if not _LEAST <= len(addresses) <= _MOST:
        return None
    starts = _starts(text, addresses)
    if len(starts) < _LEAST or len(text) > len(starts) * 3000:
        return None
    always = within(viewed(text), _BUDGET)
    document = written(ContentKind.SEARCH, text, starts, always=always, longest=4000)
    return _counted(document, set(starts))


def _starts(text: str, addresses: list[int]) -> list[int]:
    """Where results begin: at their number, or at the title line before their address."""
    starts: list[int] = []
    done = 0
    for address in addresses:
        numbers = [match.start() for match in _NUMBER.finditer(text, max(done, address - 400), address)]
        start = numbers[-1] if numbers else _title(text, max(done, address - 600), address)
        if not starts or start > starts[-1]:
            starts.append(start)
        done = line_span(text, address).end
    return starts


def _title(text: str, least: int, address: int) -> int:
    before = line_span(text, address - 1) if address > least else Span(address, address)
    titled = before.start >= least and text[before.start : before.end].strip()
    return before.start if titled else address


def _counted(document: Written, starts: set[int]) -> Written:
    """The document counted in results; what stands before the first is none."""
    ones = [1 if segment.start in starts else 0 for segment in document.segments]
    before = [0, *accumulate(ones)]
    segments = tuple(
        Segment(
            segment.start, segment.end, f"result {before[index + 1]}" if ones[index] else segment.name, segment.always
        )
        for index, segment in enumerate(document.segments)
    )
    titles = [_first_words(document.text, segment) for segment, one in zip(segments, ones, strict=True) if one]
    return replace(
        document, unit="results", total=before[-1], before=before, segments=segments, shape="; ".join(titles[:6])
    )


def _first_words(text: str, segment: Segment) -> str:
    head = text[segment.start : min(segment.end, segment.start + 400)].strip().split("\n", 1)[0]
    return masked(head, blobs(head))[:80]
