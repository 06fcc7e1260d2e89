"""What changed from one request to another: what came in, what went out, what stands in another detail or place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from callsheet.assemble.delta import common_prefix
from callsheet.explain.absence import WhyNot
from callsheet.explain.facts import Known
from callsheet.explain.sentences import about
from callsheet.explain.words import LEVELS, REWRITES
from callsheet.graph.enums import Level, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ContextAssembly, Selection
from callsheet.graph.values import Count, Value
from callsheet.policy.verdict import DETAIL


class Change(Value):
    """One record that stands otherwise in the other request. `Level.NONE`: it does not stand there."""

    record: RecordId
    before: Level
    after: Level
    #: 0: in its own place.
    note_before: Count = 0
    note_after: Count = 0
    what: str
    #: Why it stands so in the other request, or does not.
    reason: Reason | None = None
    because: str = ""
    #: Why it left when a request was written anew, as a code of `callsheet.assemble.paging.PageOut` or a reason, and
    #: in which; empty and None: it did not, or stood by itself.
    paged_out: str = ""
    since: RecordId | None = None


class Difference(Value):
    """What changed. Holds ids, classes, counts and codes."""

    one: RecordId
    other: RecordId
    #: Records that both show.
    same: Count
    came: tuple[Change, ...]
    went: tuple[Change, ...]
    changed: tuple[Change, ...]
    #: Messages of the request that are the same from its beginning on, byte for byte; the envelope is not counted.
    common_messages: Count
    #: Whether the envelopes, tools among them, are the same.
    same_envelope: bool
    tokens: tuple[Count, Count]
    tokens_billed: tuple[Count, Count]
    #: Why the other one was written anew, as a code; empty: it was appended to.
    rewritten: str


class Shown(Value):
    """One request with all its selections and block addresses."""

    id: RecordId
    assembly: ContextAssembly
    selections: tuple[Selection, ...]
    blocks: tuple[str, ...]


def difference(
    one: Shown,
    other: Shown,
    known: Mapping[RecordId, Known],
    reasons: Mapping[RecordId, WhyNot] | None = None,
    paged_out: Mapping[RecordId, tuple[str, RecordId]] | None = None,
) -> Difference:
    """What changed from `one` to `other`, records in the order of the request that shows them.

    `reasons` say what became of a record in the other one, `paged_out` why and in which request it left.
    """
    before, after = where_most(one.selections), where_most(other.selections)
    prefix = common_prefix(one.blocks[1:], other.blocks[1:])
    telling = _Telling(known=known, reasons=reasons or {}, paged_out=paged_out or {})
    return Difference(
        one=one.id,
        other=other.id,
        same=sum(_place(after[id]) == _place(place) for id, place in before.items() if id in after),
        came=tuple(telling.change(id, None, place) for id, place in after.items() if id not in before),
        went=tuple(telling.change(id, place, None) for id, place in before.items() if id not in after),
        changed=tuple(
            telling.change(id, before[id], place)
            for id, place in after.items()
            if id in before and _place(before[id]) != _place(place)
        ),
        common_messages=prefix,
        same_envelope=one.blocks[:1] == other.blocks[:1],
        tokens=(one.assembly.tokens.total, other.assembly.tokens.total),
        tokens_billed=(one.assembly.tokens_billed, other.assembly.tokens_billed),
        rewritten=other.assembly.rewritten,
    )


def where_most(selections: Sequence[Selection]) -> dict[RecordId, Selection]:
    """Each record where it says most: what was brought back stands in a note too."""
    found: dict[RecordId, Selection] = {}
    for selection in selections:
        kept = found.get(selection.record)
        if kept is None or DETAIL[selection.level] < DETAIL[kept.level]:
            found[selection.record] = selection
    return found


def _place(selection: Selection) -> tuple[Level, int, tuple[int, ...]]:
    return selection.level, selection.note, selection.segments


@dataclass(frozen=True, kw_only=True, slots=True)
class _Telling:
    """Tells of one record after another."""

    known: Mapping[RecordId, Known]
    reasons: Mapping[RecordId, WhyNot]
    paged_out: Mapping[RecordId, tuple[str, RecordId]]

    def change(self, id: RecordId, before: Selection | None, after: Selection | None) -> Change:
        why = self.reasons.get(id)
        code, since = self.paged_out.get(id, ("", None)) if after is None else ("", None)
        return Change(
            record=id,
            before=before.level if before is not None else Level.NONE,
            after=after.level if after is not None else Level.NONE,
            note_before=before.note if before is not None else 0,
            note_after=after.note if after is not None else 0,
            what=about(self.known[id]) if id in self.known else f"record {id}",
            reason=why.reason if why is not None else None,
            because=why.because if why is not None else "",
            paged_out=code,
            since=since,
        )


def text(found: Difference) -> str:
    """The difference for people, a line for each record that changed."""
    return "\n".join(_lines(found))


def _lines(found: Difference) -> Iterator[str]:
    yield f"From sheet {found.one} to sheet {found.other}: {REWRITES.get(found.rewritten, found.rewritten)}."
    envelope = "the same" if found.same_envelope else "another"
    yield (
        f"Tokens {found.tokens[0]:,} to {found.tokens[1]:,}, billed-equivalent {found.tokens_billed[0]:,} to "
        f"{found.tokens_billed[1]:,}; the first {found.common_messages:,} messages are the same, "
        f"under {envelope} envelope."
    )
    yield (
        f"{len(found.came):,} records came in, {len(found.went):,} went out, {len(found.changed):,} stand otherwise, "
        f"{found.same:,} as before."
    )
    for change in found.came:
        yield f"+ {change.what}: {_where(change.after, change.note_after)}{_why(change)}"
    for change in found.went:
        yield f"- {change.what}: was {_where(change.before, change.note_before)}{_why(change)}"
    for change in found.changed:
        after = _where(change.after, change.note_after)
        yield f"~ {change.what}: {_where(change.before, change.note_before)}, now {after}{_why(change)}"


def _why(change: Change) -> str:
    left = f"; it left sheet {change.since} ({change.paged_out.replace('_', ' ')})" if change.paged_out else ""
    return f"{left}; {change.because}" if change.because else left


def _where(level: Level, note: int) -> str:
    return f"{LEVELS[level]} in note {note}" if note else f"{LEVELS[level]} in its place"
