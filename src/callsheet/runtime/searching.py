"""Searching over everything that a view may see: by identifiers, words and meaning, over the visible records alone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from callsheet.derive import calling, entities, terms
from callsheet.errors import BodyErased
from callsheet.graph.counting import Asked
from callsheet.graph.enums import INSTRUCTING, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, Message, ToolArtifact
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.values import CallRef, Text
from callsheet.recall.around import Around, blended, neighbours, smoothed
from callsheet.recall.bm25 import Scored, TermDocument, rank
from callsheet.recall.exact import WINDOW, fold, search
from callsheet.recall.finding import Question, Ranked, ranked
from callsheet.recall.fusing import ARMS, DEPTH, MEANING, WORDS
from callsheet.recall.request import LONGEST_SEARCH, beginning
from callsheet.recall.serving import Source
from callsheet.recall.slices import fitting, header_count, header_text
from callsheet.runtime.candidates import MOST_OCCURRENCES, OCCURRENCES, TOGETHER, Candidates, said
from callsheet.runtime.consulting import origin_of, passage_source
from callsheet.runtime.consulting import passages as found_passages
from callsheet.runtime.documenting.finding import Passage
from callsheet.runtime.heading import call_of
from callsheet.runtime.originals import source
from callsheet.runtime.outdated import behind, replaced
from callsheet.runtime.reranking import Reranking, depth
from callsheet.runtime.seeing import Admit, Sight, sight
from callsheet.runtime.session import Session, View
from callsheet.runtime.surrounding import rows

MOST_FOUND = 10
"""Records that one search gives."""

_SCANNED = 32_000_000
"""Bytes of artifacts with more entities than their index holds that one search reads for an exact match."""

_MESSAGES = 8
"""Messages that are read at once on the way back to the newest of a user."""

MOST_WORDS = 64
"""Words of a query that are looked for, the first."""

_SHORT_NUMBER = 4
"""Digits of a number that does not identify anything."""

_LONGEST_LITERAL = 256
"""Characters of a query that is looked for to the letter."""

_LONGEST_READ = 65_536
"""Bytes of a record that is read for that."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """A record that was found."""

    reference: RecordId
    #: The tool of a result, the role of a message, a document with its version.
    origin: str
    #: Bytes of content.
    size: int
    #: Whether it holds what was asked for to the letter.
    exact: bool
    #: Compares within one search only.
    score: float
    #: A piece of its content around what was asked for, on one line.
    snippet: str
    #: What found it: "identifiers", "words", "meaning".
    arms: tuple[str, ...] = ()
    #: What says now what it said; empty: nothing replaced it, as far as may be seen.
    replaced_by: tuple[RecordId, ...] = ()
    #: Of a result the call that it answers, in one line, as far as its arguments may be read; empty: none is known.
    call: str = ""


def search_all(
    session: Session,
    view: View,
    query: str,
    *,
    boundary: Boundary | None = None,
    admit: Admit | None = None,
    limit: int = MOST_FOUND,
    arms: Sequence[str] = ARMS,
) -> list[Finding]:
    """Find messages, artifacts and passages by identifiers, words and meaning: exact matches first, then the best.

    Of the best, results come before messages, among exact matches and among the others. What was said in a turn that
    waits for its answer is not found: it is what is asked, and stands in the request. Its results are.
    Looked at are the newest 64 records that hold each identifier, the newest 10 (or `limit`) that hold each word, those
    32 that hold most of the words together, the messages around the best of them, and, where the store was opened with
    an embedder, those that mean the like. Counts and scores come from these alone, and so from nothing that the view
    may not see and read. A query that is an identifier finds what holds it to the letter, if anything does, and nothing
    else.

    Of a query of more than 1,000 characters the beginning is looked for.
    """
    return search_seen(sight(session, view, boundary=boundary, admit=admit), query, limit, arms)


def search_seen(seen: Sight, query: str, limit: int = MOST_FOUND, arms: Sequence[str] = ARMS) -> list[Finding]:
    """See `search_all`."""
    query = beginning(query)
    reranking = seen.session.reranking
    wanted = depth(limit) if reranking is not None else limit
    candidates = Candidates(seen=seen, present=_present(seen), most=min(max(OCCURRENCES, wanted), MOST_OCCURRENCES))
    literal = query.strip()
    ranked = _ranked(candidates, literal, wanted, arms)
    words = sorted({*(entity.value for entity in entities.find(query)), *query.split()}, key=lambda w: (-len(w), w))
    records = candidates.records
    since = replaced(seen, [one.id for one in ranked])
    ranked = behind(sorted(ranked, key=lambda one: _place(one, records[one.id])), lambda one: one.id, since)
    found = [
        Finding(
            reference=one.id,
            origin=_origin(records[one.id]),
            size=_size(records[one.id]),
            exact=one.exact > 0,
            score=one.score,
            snippet=_snippet(_source(seen, records[one.id]), [literal, *words]),
            arms=one.arms,
            replaced_by=since.get(one.id, ()),
            call=call_of(seen, records[one.id]),
        )
        for one in ranked
    ]
    passages = {one.reference: one for one in found_passages(seen, query, wanted)}
    merged = _together(found, _as_findings(passages.values(), [literal, *words]))
    if reranking is not None:
        merged = _reranked(reranking, candidates, merged, {id: one.text for id, one in passages.items()}, literal)
    return merged[:limit]


def _reranked(
    reranking: Reranking,
    candidates: Candidates,
    found: Sequence[Finding],
    passages: Mapping[RecordId, str],
    query: str,
) -> list[Finding]:
    """What holds an identifier to the letter as it was, the others in the better order, then what is replaced."""

    def text(id: RecordId) -> str:
        return passages[id] if id in passages else _said(candidates, id)

    exact = [one for one in found if one.exact]
    rest = [one for one in found if not one.exact]
    tenant = candidates.seen.session.owner.tenant
    order = reranking.order(tenant, query, [one.reference for one in rest], text)
    return [*exact, *sorted((rest[place] for place in order), key=lambda one: bool(one.replaced_by))]


def _ranked(candidates: Candidates, query: str, limit: int, arms: Sequence[str]) -> list[Ranked]:
    """The records that answer best, in order."""
    whole = entities.normal(query)
    named = [entity.value for entity in entities.find(query) if _identifies(entity.value) or entity.value == query]
    wanted = tuple(dict.fromkeys([*map(entities.normal, named), whole]))
    candidates.collect(wanted)
    known = list(_scanned(candidates, wanted, named)) if named else []
    identifier = named == [query]
    if identifier and candidates.records:
        # There is what holds it: words that only resemble its parts are not asked for.
        return ranked(Question(entities=wanted), list(candidates.made().values()), limit, lexical=(), known=known)
    words = terms.query_words(query)[:MOST_WORDS] if WORDS in arms else ()
    candidates.collect((), tuple(dict.fromkeys(term for word in words for term in word)))
    # A result is also found by what it was asked for, of which its call tells.
    calls = calling.Said(query).terms[:MOST_WORDS] if WORDS in arms else ()
    candidates.collect((), calls)
    candidates.collect_together([(*word, *calling.marked(word)) for word in words])
    if WORDS in arms and not candidates.records:
        words = terms.query_characters(query)[:MOST_WORDS]
        candidates.collect((), tuple(term for word in words for term in word))
        candidates.collect_together(words)
    words = _with_calls(candidates, words, calls)
    near = _near(candidates, query, limit) if MEANING in arms and not identifier else []
    asked = Asked(term for word in words for term in word)
    own = candidates.documents(asked)
    first = rank(words, list(own.values()))[: min(limit * DEPTH, TOGETHER)]
    best = dict.fromkeys((*(one.id for one in first), *(id for id, _ in near)))
    around = neighbours(rows(candidates, [record for id in best if said(record := candidates.records[id])]))
    lexical = _lexical(words, candidates.documents(asked), around)
    question = Question(entities=wanted, words=words)
    known += _literal(candidates, query, [one.id for one in lexical[: limit * DEPTH]])
    return ranked(
        question,
        list(candidates.made().values()),
        limit,
        lexical=lexical,
        known=known,
        meaning=_meaning(candidates, query, near, around),
        text=partial(_said, candidates),
        plain=terms.compared,
    )


def _with_calls(
    candidates: Candidates, words: Sequence[tuple[str, ...]], pairs: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """The words with what they say of the calls among the candidates: of calls that are not there they say nothing."""
    meant: list[tuple[str, ...]] = []
    for word in words:
        marked = calling.marked(word)
        ends = tuple(f" {mark[1:]}" for mark in marked)
        meant.append((*marked, *(pair for pair in pairs if " " in pair and pair.endswith(ends))))
    asked = Asked(term for each in meant for term in each)
    there = {term for one in candidates.made().values() for term in one.terms.among(asked)}
    return tuple((*word, *(term for term in each if term in there)) for word, each in zip(words, meant, strict=True))


def _identifies(name: str) -> bool:
    """Whether a name in a longer query is an identifier: a short number is a year or how many, and counts as a word."""
    return not (name.isdecimal() and len(name) <= _SHORT_NUMBER)


def _lexical(words: Sequence[tuple[str, ...]], own: Mapping[RecordId, TermDocument], around: Around) -> list[Scored]:
    """The candidates by their words; messages also by what was said around them."""
    blend = blended(own, around)
    return rank(words, [blend.get(id, document) for id, document in own.items()], list(own.values()))


def _near(candidates: Candidates, query: str, limit: int) -> list[tuple[RecordId, float]]:
    """The records that mean what is asked, nearest first; none where the store was opened without an embedder."""
    session, seen = candidates.seen.session, candidates.seen
    if session.meaning is None or not query:
        return []
    found = session.meaning.nearest(
        session.conversation.key,
        query,
        upto=seen.lineage.upto,
        those=candidates.those,
        limit=limit * DEPTH,
    )
    return [(one.record, one.score) for one in found]


def _meaning(
    candidates: Candidates, query: str, near: Sequence[tuple[RecordId, float]], around: Around
) -> list[tuple[RecordId, float]]:
    """The nearest and those around them, messages by what was said around them too; the best first."""
    session, seen = candidates.seen.session, candidates.seen
    if session.meaning is None or not near:
        return []
    places = {candidates.records[id].position: id for id in (*dict(near), *around)}
    known = session.meaning.scores(session.conversation.key, query, list(places), upto=seen.lineage.upto)
    scores = smoothed({places[position]: score for position, score in known.items()}, around)
    return sorted(scores.items(), key=lambda one: (-one[1], -candidates.records[one[0]].position))


def _literal(candidates: Candidates, query: str, found: Sequence[RecordId]) -> Iterator[RecordId]:
    """Which of these hold the query to the letter, where it is more than words."""
    wanted = fold(query)
    if (
        not wanted
        or len(wanted) > _LONGEST_LITERAL
        or all(one.isalpha() or one.isspace() for one in wanted.strip("?!.,"))
    ):
        return
    for id in found:
        record = candidates.records[id]
        if _size(record) > _LONGEST_READ:
            continue
        if _holds(fold(_said(candidates, id)), wanted) or _holds(fold(call_of(candidates.seen, record)), wanted):
            yield id


def _holds(text: str, wanted: str) -> bool:
    """Whether a text stands in another on its own: not within a longer word or number."""
    at = text.find(wanted)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(wanted) : at + len(wanted) + 1]
        if not (before.isalnum() and wanted[0].isalnum()) and not (after.isalnum() and wanted[-1].isalnum()):
            return True
        at = text.find(wanted, at + 1)
    return False


def _said(candidates: Candidates, id: RecordId) -> str:
    return _text(candidates.seen, candidates.records[id])


def _as_findings(passages: Iterable[Passage], wanted: Sequence[str]) -> list[Finding]:
    """What the documents of the workspace say about it."""
    return [
        Finding(
            reference=passage.reference,
            origin=origin_of(passage),
            size=len(passage.text.encode()),
            exact=passage.exact,
            score=passage.score,
            snippet=_snippet(passage_source(passage), wanted),
            arms=passage.arms,
        )
        for passage in passages
    ]


def _together(found: Sequence[Finding], others: Sequence[Finding]) -> list[Finding]:
    """Both lists as one, each in its order: exact matches before the others, then what more speaks for.

    Scores of both say the same: see `callsheet.recall.fusing`.
    """
    merged: list[Finding] = []
    first, second = list(found), list(others)
    while first and second:
        one, other = first[0], second[0]
        merged.append((first if (not one.exact, -one.score) <= (not other.exact, -other.score) else second).pop(0))
    return [*merged, *first, *second]


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


def _scanned(candidates: Candidates, wanted: Sequence[str], named: Sequence[str]) -> Iterator[RecordId]:
    """Results with more entities than an index holds that hold one of these to the letter; newest are read first."""
    room = _SCANNED
    folded = [fold(name) for name in named]
    said = frozenset(wanted)
    for record in candidates.beyond():
        if _size(record) > room or said.intersection(candidates.made()[record.id].entities):
            continue
        room -= _size(record)
        text = fold(_text(candidates.seen, record))
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


def found_text(query: str, found: Sequence[Finding], limit: int, turns: Mapping[RecordId, int]) -> str:
    """The findings for a model: a line each, within `limit` bytes. `turns` are those of messages."""
    short = query if len(query) <= 80 else query[:80] + "…"
    if len(query) > LONGEST_SEARCH:
        short += f" (of it the first {LONGEST_SEARCH:,} characters are looked for)"
    if not found:
        return f'(query "{short}": nothing found)'
    lines = [f"{one.reference} ({_heading(one, turns.get(one.reference))}): {one.snippet}" for one in found]
    body = "\n".join(lines)
    return f'(query "{short}": {len(found)} found, the best first)\n{body[: fitting(body, 0, len(body), limit)]}'


def _heading(found: Finding, turn: int | None) -> str:
    told = f", turn {turn}" if turn is not None else ""
    return f"{found.call or found.origin}{told}, {found.size:,} bytes{_since(found)}"


def _since(found: Finding) -> str:
    return f", replaced since by {', '.join(found.replaced_by)}" if found.replaced_by else ""
