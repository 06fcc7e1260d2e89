"""Searching over everything that a view may see: exact entities and BM25, over the visible records alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from callsheet.assemble.compose import INSTRUCTING
from callsheet.derive import entities, terms
from callsheet.errors import BodyErased
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index
from callsheet.graph.nodes import Boundary, Message, ToolArtifact
from callsheet.graph.record import Record
from callsheet.graph.values import Text
from callsheet.recall.exact import WINDOW, fold, search
from callsheet.recall.finding import find
from callsheet.recall.serving import Source
from callsheet.recall.slices import fitting, header_count, header_text
from callsheet.runtime.seeing import Admit, Sight, sight, source
from callsheet.runtime.session import Session, View

MOST_FOUND = 10
"""Records that one search gives."""

_SCANNED = 32_000_000
"""Bytes of artifacts with more entities than their index holds that one search reads for an exact match."""


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

    Counts and scores come from what the view may see and read, and from nothing else.
    """
    return search_seen(sight(session, view, boundary=boundary, admit=admit), query, limit)


def search_seen(seen: Sight, query: str, limit: int = MOST_FOUND) -> list[Finding]:
    """See `search_all`."""
    records = {record.id: record for record in seen.records() if _searchable(record) and seen.refused(record) is None}
    indexes = _indexes(seen, list(records.values()))
    named = [entity.value for entity in entities.find(query)]
    wanted = tuple(dict.fromkeys([*entities.entities(query), entities.normal(query.strip())]))
    unsaid = [(id, index) for id, index in indexes if not frozenset(wanted).intersection(index.entities)]
    known = tuple(_scanned(seen, records, unsaid, named)) if named else ()
    ranked = find(wanted, terms.query_terms(query), indexes, limit, known=known)
    words = sorted({*named, *query.split()}, key=lambda word: (-len(word), word))
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


def _searchable(record: Record) -> bool:
    """Instructions always stand in the request; the answers of recalls only repeat others."""
    body = record.body
    if isinstance(body, Message):
        return body.role not in INSTRUCTING
    return isinstance(body, ToolArtifact) and body.recalls is None


def _indexes(seen: Sight, records: Sequence[Record]) -> list[tuple[RecordId, Index]]:
    """The stored index of each record; made now where none is stored."""
    session = seen.session
    stored = session.ledger.indexed(session.conversation.key, [record.position for record in records])
    return [(record.id, stored.get(record.position) or _made(_text(seen, record))) for record in records]


def _made(text: str) -> Index:
    return Index(entities=entities.entities(text), terms=terms.counted(text))


def _text(seen: Sight, record: Record) -> str:
    read = _source(seen, record)
    return read.text or "" if read is not None else ""


def _source(seen: Sight, record: Record) -> Source | None:
    try:
        return source(seen, record)
    except BodyErased:
        return None


def _scanned(
    seen: Sight, records: dict[RecordId, Record], indexes: Sequence[tuple[RecordId, Index]], named: Sequence[str]
) -> Iterator[RecordId]:
    """Records with more entities than an index holds that hold one of these to the letter; newest are read first."""
    room = _SCANNED
    folded = [fold(name) for name in named]
    for id, index in reversed(indexes):
        if len(index.entities) < entities.LIMIT or _size(records[id]) > room:
            continue
        room -= _size(records[id])
        text = fold(_text(seen, records[id]))
        if any(name in text for name in folded):
            yield id


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
