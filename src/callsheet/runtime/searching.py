"""Searching over everything that a view may see: exact entities and BM25, over the visible records alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from callsheet.assemble.compose import INSTRUCTING
from callsheet.derive import entities, terms
from callsheet.errors import BodyErased
from callsheet.graph.enums import Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, Message, ToolArtifact
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.values import CallRef, Text
from callsheet.recall.exact import WINDOW, fold, search
from callsheet.recall.finding import Ranked, find
from callsheet.recall.serving import Source
from callsheet.recall.slices import fitting, header_count, header_text
from callsheet.runtime.candidates import Candidates
from callsheet.runtime.seeing import Admit, Sight, sight, source
from callsheet.runtime.session import Session, View

MOST_FOUND = 10
"""Records that one search gives."""

_SCANNED = 32_000_000
"""Bytes of artifacts with more entities than their index holds that one search reads for an exact match."""


_MESSAGES = 32
"""Messages that are read at once on the way back to the newest of a user."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """A record that was found."""

    reference: RecordId
    #: The tool of a result, the role of a message.
    origin: str
    #: Bytes of content.
    size: int
    #: Whether it holds what was asked for to the letter.
    exact: bool
    #: BM25; compares within one search only.
    score: float
    #: A piece of its content around what was asked for, on one line.
    snippet: str


def search_all(
    session: Session,
    view: View,
    query: str,
    *,
    boundary: Boundary | None = None,
    admit: Admit | None = None,
    limit: int = MOST_FOUND,
) -> list[Finding]:
    """Find messages and artifacts by words and identifiers: exact matches first, then the best by BM25.

    Of the best, results come before messages, among exact matches and among the others. What was said in a turn that
    waits for its answer is not found: it is what is asked, and stands in the request. Its results are.
    Looked at are the newest 64 records that hold each identifier and each word, and of the newest 256 those results
    that hold more identifiers than are kept of them. Counts and scores come from these alone, and so from nothing that
    the view may not see and read.
    """
    return search_seen(sight(session, view, boundary=boundary, admit=admit), query, limit)


def search_seen(seen: Sight, query: str, limit: int = MOST_FOUND) -> list[Finding]:
    """See `search_all`."""
    named = [entity.value for entity in entities.find(query)]
    wanted = tuple(dict.fromkeys([*entities.entities(query), entities.normal(query.strip())]))
    asked = terms.query_terms(query)
    candidates = Candidates(seen=seen, present=_present(seen))
    candidates.collect(wanted, asked)
    known = tuple(_scanned(seen, candidates, wanted, named)) if named else ()
    ranked = find(wanted, asked, candidates.indexes(), limit, known=known)
    words = sorted({*named, *query.split()}, key=lambda word: (-len(word), word))
    records = candidates.records
    ranked = sorted(ranked, key=lambda one: _place(one, records[one.id]))
    return [
        Finding(
            reference=one.id,
            origin=_origin(records[one.id]),
            size=_size(records[one.id]),
            exact=one.exact > 0,
            score=one.score,
            snippet=_snippet(_source(seen, records[one.id]), [query.strip(), *words]),
        )
        for one in ranked
    ]


def _place(found: Ranked, record: Record) -> tuple[bool, bool, bool]:
    """What only asks a tool, such as an earlier search for the same, comes behind what says something."""
    return not _size(record), not found.exact, isinstance(record.body, Message)


def _present(seen: Sight) -> int | None:
    """The position of the newest turn of a user that waits for its answer; None: the newest turn is over."""
    before: int | None = None
    key, newest = seen.session.conversation.key, True
    while True:
        query = NodeQuery(kinds=("message",), lineage=seen.lineage, newest=True, limit=_MESSAGES, before=before)
        found = seen.session.ledger.nodes(key, query)
        for record in reversed(found):
            body = record.body
            if not isinstance(body, Message) or body.role in INSTRUCTING or not seen.shows(record):
                continue
            if body.role is Role.USER:
                return record.position
            if newest and not any(isinstance(part, CallRef) for part in body.parts):
                return None
            newest = False
        if len(found) < _MESSAGES:
            return None
        before = found[0].position


def _text(seen: Sight, record: Record) -> str:
    read = _source(seen, record)
    return read.text or "" if read is not None else ""


def _source(seen: Sight, record: Record) -> Source | None:
    try:
        return source(seen, record)
    except BodyErased:
        return None


def _scanned(seen: Sight, candidates: Candidates, wanted: Sequence[str], named: Sequence[str]) -> Iterator[RecordId]:
    """Results with more entities than an index holds that hold one of these to the letter; newest are read first."""
    room = _SCANNED
    folded = [fold(name) for name in named]
    said = frozenset(wanted)
    indexes = dict(candidates.indexes())
    for record in candidates.beyond():
        index = indexes.get(record.id)
        if _size(record) > room or (index is not None and said.intersection(index.entities)):
            continue
        room -= _size(record)
        text = fold(_text(seen, record))
        if any(name in text for name in folded):
            yield record.id


def _origin(record: Record) -> str:
    body = record.body
    if isinstance(body, ToolArtifact):
        return body.tool or "tool result"
    return body.role.value if isinstance(body, Message) else record.header.kind


def _size(record: Record) -> int:
    body = record.body
    if isinstance(body, ToolArtifact):
        return body.size
    parts = body.parts if isinstance(body, Message) else ()
    return sum(part.text.size for part in parts if isinstance(part, Text))


def _snippet(read: Source | None, wanted: Sequence[str]) -> str:
    if read is None or not read.text:
        return ""
    for word in wanted:
        hits = search(read.text, word, 1).hits if word else ()
        if hits:
            hit = hits[0]
            header = _header(read, read.text, hit.start)
            return header + " ".join(f"{'…' if hit.cut_before else ''}{hit.text}{'…' if hit.cut_after else ''}".split())
    start = " ".join(read.text[: 4 * WINDOW].split())
    return start if len(start) <= WINDOW else start[:WINDOW] + "…"


def _header(read: Source, text: str, at: int) -> str:
    """The header of the table that a row stands in: without it a row cannot be read."""
    outlined = read.outline(False)
    count = header_count(outlined) if outlined is not None else 0
    if outlined is None or not count or at < outlined.segments[count - 1].end:
        return ""
    return f"(header) {' '.join(header_text(text, outlined, WINDOW).split())} (row) "


def found_text(query: str, found: Sequence[Finding], limit: int) -> str:
    """The findings for a model: a line each, within `limit` bytes."""
    short = query if len(query) <= 80 else query[:80] + "…"
    if not found:
        return f'(query "{short}": nothing found)'
    lines = [f"{one.reference} ({one.origin}, {one.size:,} bytes): {one.snippet}" for one in found]
    body = "\n".join(lines)
    return f'(query "{short}": {len(found)} found, the best first)\n{body[: fitting(body, 0, len(body), limit)]}'
