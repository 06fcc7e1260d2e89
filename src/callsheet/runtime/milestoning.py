"""Drafts what outlives every episode: milestones of a span, and facts once the episode that holds them leaves view."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from callsheet.assemble.stated import Stated, encoded
from callsheet.assemble.stated import stated as content_of
from callsheet.derive.milestones import Kind, milestones
from callsheet.graph.canonical import content_digest
from callsheet.graph.enums import ArtifactStatus, ConfidenceSource, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Episode, Fact, Message, Milestone, ToolArtifact
from callsheet.graph.record import Record
from callsheet.graph.values import Locator, Scope, Text
from callsheet.runtime.checking import parts_of
from callsheet.runtime.drafting import Drafting, text_bytes
from callsheet.runtime.seeing import Sight
from callsheet.runtime.spans import Span, texts
from callsheet.runtime.stating import located, sought, stated
from callsheet.wire.cleaning import clean

SPECIFIC = 8
"""Entities of a result above which it is a table or a listing, not a finding."""

_LOCATED = 8
"""Values of a finding that are located."""

_PREDICATES = {
    Kind.CONSTRAINT: "laid down",
    Kind.DECISION: "decided",
    Kind.VALUES: "said",
    Kind.FOUND: "returned",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Milestoning:
    """Drafts for one compaction."""

    seen: Sight
    span: Span
    drafting: Drafting
    scope: Scope

    def of(self, records: Sequence[Record]) -> tuple[RecordId, ...]:
        """Draft the milestones of some records, in order; each has the class, freshness and taint of its own record."""
        return tuple(self._drafted(record, made) for record in records for made in self._made(record))

    def _drafted(self, record: Record, made: Milestone) -> RecordId:
        return self.drafting.add(made, kind="milestone", scope=self.scope, privacy=self.span.privacy[record.id])

    def _made(self, record: Record) -> Iterator[Milestone]:
        body = record.body
        if isinstance(body, ToolArtifact):
            found = self._found(record, body)
            if found is not None:
                yield found
        elif isinstance(body, Message):
            own = record.header.scope.owner in (None, self.seen.view.participant)
            lays_down = body.role is Role.USER and own
            for place, said in texts(self.seen, record):
                for one in milestones(said, lays_down=lays_down):
                    excerpt = said[one.start : one.end]
                    part = body.parts[place]
                    raw = self.seen.session.read(part.text) if isinstance(part, Text) else b""
                    nowhere = Locator(source=record.id, part=place, byte_range=(0, 0), digest="")
                    where = _where(nowhere, raw, said[: one.start], excerpt)
                    yield self._milestone(record, one.kind, excerpt, one.values, where)

    def _found(self, record: Record, body: ToolArtifact) -> Milestone | None:
        """What a result found, where it is specific: its line, with the places of the values in it."""
        index, derived = self.span.voices.indexes.get(record.position), self.span.voices.derived(record)
        if index is None or derived is None or derived.failed or body.status is not ArtifactStatus.OK:
            return None
        if not 0 < len(index.entities) <= SPECIFIC or not derived.gist or body.call in self.span.voices.withheld:
            return None
        values = stated(derived.gist, None)[:_LOCATED]
        found = located(values, parts_of(self.seen.session, record))
        if not found:
            return None
        named = tuple(text_of_bytes(value.text) for value, _ in found)
        return self._milestone(record, Kind.FOUND, derived.gist, named, tuple(locator for _, locator in found))

    def _milestone(
        self, record: Record, kind: Kind, text: str, values: tuple[str, ...], where: tuple[Locator, ...]
    ) -> Milestone:
        session = self.seen.session
        written = encoded(
            Stated(by=self.span.voices.speaker(record), text=clean(text), values=tuple(map(clean, values)))
        )
        return Milestone(
            kind=kind.value,
            value=session.ledger.stash(session.owner, written),
            sources=(record.id,),
            locators=where,
            observed=record.header.at,
            freshness=self.span.freshness[record.id],
            tainted=isinstance(record.body, ToolArtifact),
        )


def _where(of: Locator, raw: bytes, before: str, excerpt: str) -> tuple[Locator, ...]:
    """Where an excerpt stands in the recorded bytes of a part; nowhere where it holds the marker of a secret."""
    content, first = text_bytes(excerpt), len(text_bytes(before))
    at = (first, first + len(content))
    locator = replace(of, byte_range=at, digest=content_digest(content))
    if raw[at[0] : at[1]] == content:
        return (locator,)
    moved = sought(locator, raw, content)
    return (moved,) if moved is not None else ()


def text_of_bytes(value: bytes) -> str:
    """A stated value as text."""
    return value.decode("utf-8", "surrogatepass")


def promoted(seen: Sight, drafting: Drafting, leaving: Sequence[Episode], scope: Scope) -> tuple[RecordId, ...]:
    """Draft facts of the milestones of episodes that requests will not show any more. Returns their ids.

    A fact keeps class, freshness, taint, time and source of its evidence, so only what lasts is told without its time.
    """
    session = seen.session
    own = {draft.id: (draft.body, draft.privacy) for draft in drafting.drafts}
    # A fact says what its milestone does, so it is found by the same.
    indexes = {draft.id: draft.index for draft in drafting.drafts}
    wanted = [id for episode in leaving for id in episode.milestones]
    stored = session.ledger.get(session.conversation.key, [id for id in wanted if id not in own])
    known = {record.id: (record.body, record.header.privacy) for record in stored} | own
    facts: list[RecordId] = []
    for id in wanted:
        body, privacy = known.get(id, (None, None))
        if not isinstance(body, Milestone) or privacy is None:
            continue
        content = content_of(session.read(body.value))
        fact = Fact(
            subject=content.by,
            predicate=_PREDICATES.get(Kind(body.kind), "said") if body.kind in set(Kind) else "said",
            value=body.value,
            sources=body.sources,
            locators=body.locators,
            confidence_source=ConfidenceSource.RULE if body.tainted else ConfidenceSource.EXACT_VALUE,
            observed=body.observed,
            freshness=body.freshness,
            tainted=body.tainted,
        )
        facts.append(drafting.add(fact, kind="fact", scope=scope, privacy=privacy, index=indexes.get(id)))
    return tuple(facts)
