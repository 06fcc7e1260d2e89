"""Gathers what explanations need from the store: a stored request, the records behind it, and it made again."""

from collections.abc import Container, Iterable, Sequence

from callsheet.assemble.delta import common_prefix
from callsheet.assemble.paging import codes
from callsheet.errors import NotFound, PolicyError
from callsheet.explain import absence, sheet
from callsheet.explain import difference as differing
from callsheet.explain.absence import Evidence, WhyNot
from callsheet.explain.difference import Difference, Shown
from callsheet.explain.facts import KEPT, SHOWN, Worth
from callsheet.explain.sheet import Explained
from callsheet.graph.enums import INSTRUCTING, Level, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Episode, Message, Selection, ToolCall, ToolMemory, UserMemory
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.values import Count, Value
from callsheet.policy.verdict import Decision
from callsheet.policy.visibility import refusal
from callsheet.runtime.knowing import LOOKED_BACK, facts, plain, rules_of, wanted_exactly
from callsheet.runtime.revisiting import Revisited, revisit
from callsheet.runtime.session import Session
from callsheet.runtime.tracing import worth_of

_KINDS = tuple(sorted(SHOWN))


class Rebuilt(Value):
    """A past request made again and held against what was stored."""

    sheet: RecordId
    #: The same records in the same places at the same levels.
    same_selections: bool
    #: The same cause of a rewrite, or none.
    same_step: bool
    #: The same counter, calibration and table of needs as were pinned; those that differ.
    pins: tuple[str, ...] = ()
    #: Records at which the two differ.
    differ: tuple[RecordId, ...] = ()
    #: Leading blocks that are the same, of how many that were sent; with the same selections a rest is formatting.
    same_blocks: Count = 0
    blocks: Count = 0

    @property
    def same(self) -> bool:
        """Whether the same was selected; the rendering may have changed."""
        return self.same_selections and self.same_step and not self.pins

    @property
    def formatting(self) -> bool:
        """Whether the same selections render to other bytes than were sent."""
        return self.same_selections and self.same_blocks < self.blocks


def explain(session: Session, id: RecordId) -> Explained:
    """What a stored request holds and why. Raises `NotFound`.

    Where its policy set is not known any more, it tells what is stored, without the rules and figures behind it.
    """
    seen = revisit(session.place, id)
    try:
        policy = str(seen.policy)
    except PolicyError:
        stand = seen.whole.selected
        return sheet.explain(id, seen.sheet, stand, known=plain(seen, (one.record for one in stand)))
    return _explained(seen, policy)


def _explained(seen: Revisited, policy: str) -> Explained:
    selections = seen.whole.selected
    turns = {selection.record: selection.turn for selection in selections}
    aside, children = _aside(seen)
    return sheet.explain(
        seen.record.id,
        seen.sheet,
        selections,
        policy=policy,
        known=facts(seen, turns),
        decisions=seen.decisions(turns, turns, wanted_exactly(seen, selections)),
        worths=_worths(seen, selections),
        rules=rules_of(seen),
        other_branches=aside,
        of_sub_agents=children,
    )


def why_not(session: Session, id: RecordId, record: str) -> WhyNot:
    """What became of a record in a request: decided again as of the stored cut, under the same pins.

    `record` is an id, or a beginning of one that only one record has; a call stands and falls with its message.
    Raises `NotFound` for a sheet that is not there or a beginning of several, `PolicyError` for a policy set that is
    not known any more.
    """
    seen = revisit(session.place, id)
    found = _resolved(seen, record)
    evidence = _evidence(seen, found) if found is not None else Evidence(record=RecordId(record), known=None)
    return absence.why_not(id, seen.boundary, str(seen.policy), evidence, rules_of(seen))


def difference(session: Session, one: RecordId, other: RecordId) -> Difference:
    """What changed from one request to another, and why. Raises `NotFound`.

    Where a policy set is not known any more, it tells what changed without the reasons behind it.
    """
    before, after = revisit(session.place, one), revisit(session.place, other)
    shows = [{selection.record for selection in seen.whole.selected} for seen in (before, after)]
    try:
        seen = {**facts(before, shows[0]), **facts(after, shows[1])}
        reasons = _reasons(after, [id for id in seen if _moved(before, after, id)])
    except PolicyError:
        seen, reasons = {**plain(before, shows[0]), **plain(after, shows[1])}, {}
    return differing.difference(_shown(before), _shown(after), seen, reasons, _paged_out(before, after, shows))


def _paged_out(
    before: Revisited, after: Revisited, shows: Sequence[Container[RecordId]]
) -> dict[RecordId, tuple[str, RecordId]]:
    """Of what only the earlier one shows, why and in which of the requests between it left last."""
    left = {one.record for one in before.whole.selected if one.record not in shows[1]}
    found: dict[RecordId, tuple[str, RecordId]] = {}
    current: Revisited | None = after
    for _ in range(LOOKED_BACK):
        if current is None or current.record.position <= before.record.position or found.keys() >= left:
            break
        here = codes(current.sheet.paged_out)
        found = {id: (here[id], current.record.id) for id in left & here.keys()} | found
        current = current.earlier
    return found


def _moved(before: Revisited, after: Revisited, id: RecordId) -> bool:
    """Whether a record may stand otherwise in the one than in the other."""
    return [one for one in before.whole.selected if one.record == id] != [
        one for one in after.whole.selected if one.record == id
    ]


def _reasons(seen: Revisited, ids: Iterable[RecordId]) -> dict[RecordId, WhyNot]:
    wanted = tuple(ids)
    found = [*seen.place.ledger.get(seen.place.conversation.key, wanted), *seen.personal.records(wanted)]
    policy, rules = str(seen.policy), rules_of(seen)
    return {
        record.id: absence.why_not(seen.record.id, seen.boundary, policy, _evidence(seen, record), rules)
        for record in found
    }


def rebuild(session: Session, id: RecordId) -> Rebuilt:
    """Make a past request again from the records as of its cut, and compare. Timings have no part in it.

    Raises `NotFound`, `PolicyError` for a policy set that is not known any more, and what assembling raises.
    """
    seen = revisit(session.place, id)
    made, stored = seen.made, seen.whole
    chosen = made.plan.selections
    prefix = common_prefix(chosen, stored.selected)
    rest = (*chosen[prefix:], *stored.selected[prefix:])
    pins = seen.sheet.pins
    compared = (
        ("counter", made.counter, pins.counter),
        ("calibration", made.calibration, pins.calibration),
        ("needed", (made.needed,), pins.analysers),
    )
    step = made.plan.rewrite.value if made.plan.rewrite is not None else ""
    return Rebuilt(
        sheet=id,
        same_selections=chosen == stored.selected,
        same_step=step == seen.sheet.rewritten,
        pins=tuple(name for name, now, then in compared if now != then),
        differ=tuple(dict.fromkeys(selection.record for selection in rest)),
        same_blocks=common_prefix(made.blocks, stored.blocks),
        blocks=len(stored.blocks),
    )


# ---------------------------------------------------------------------------------------------- records


def _resolved(seen: Revisited, wanted: str) -> Record | None:
    """The record that is meant; of a call the message that holds it."""
    ledger, key = seen.place.ledger, seen.place.conversation.key
    found = ledger.get(key, (RecordId(wanted),))
    if not found:
        ids = [record for record in ledger.nodes(key, NodeQuery(kinds=_KINDS)) if _begins(record.id, wanted)]
        if len(ids) > 1:
            named = ", ".join(record.id for record in ids[:5])
            raise NotFound(f"{len(ids)} records begin with {wanted!r}: {named}{', ...' if len(ids) > 5 else ''}")
        found = ids or seen.personal.records((RecordId(wanted),)) or seen.personal.meant(wanted)[:1]
    if found and isinstance(found[0].body, ToolCall):
        return next(iter(ledger.get(key, (found[0].body.message,))), found[0])
    return found[0] if found else None


def _begins(id: RecordId, wanted: str) -> bool:
    """Whether this is a beginning of the id, or of what stands in it behind its kind, as requests refer to it."""
    return bool(wanted) and (id.startswith(wanted) or id.partition("_")[2].startswith(wanted))


def _aside(seen: Revisited) -> tuple[int, int]:
    """Messages and results up to the cut that the branch does not inherit, and those of them that are sub-agents'."""
    query = NodeQuery(kinds=("message", "artifact"), before=seen.cut + 1)
    everything = seen.place.ledger.nodes(seen.place.conversation.key, query)
    aside = [record for record in everything if not seen.lineage.sees(record.branch, record.position)]
    shown = {selection.record for selection in seen.whole.selected}
    aside = [record for record in aside if record.id not in shown]
    return len(aside), sum(record.header.scope.sub_agent is not None for record in aside)


def _shown(seen: Revisited) -> Shown:
    return Shown(id=seen.record.id, assembly=seen.sheet, selections=seen.whole.selected, blocks=seen.whole.blocks)


# ---------------------------------------------------------------------------------------------- worth


def _worths(seen: Revisited, selections: Sequence[Selection]) -> dict[RecordId, Worth]:
    """Of the results that stand in notes, what they were worth; known where the request was written anew."""
    if not seen.sheet.rewritten or seen.policy.verbatim:
        return {}
    noted = (selection.record for selection in selections if selection.note and selection.level is not Level.RAW)
    found = {id: worth_of(seen, id) for id in noted}
    return {id: figures for id, figures in found.items() if figures is not None}


# ---------------------------------------------------------------------------------------------- what became of it


def _evidence(seen: Revisited, record: Record) -> Evidence:
    if isinstance(record.body, UserMemory) or record.header.kind == KEPT:
        return _kept(seen, record)
    id = record.id
    selection = next((one for one in reversed(seen.whole.selected) if one.record == id), None)
    # What was given to the reader is there wherever it stands.
    on_lineage = seen.lineage.sees(record.branch, record.position) or id in seen.opened.shown
    there = on_lineage and record.position <= seen.cut and record.header.kind in SHOWN
    decision = _decision(seen, record, selection) if there else None
    left_out: Reason | None = None
    since: Revisited | None = None
    if there and selection is None and decision is not None and not decision.refused:
        since = _let_go(seen, record)
        left_out = _left_out(since, id)
    weighed = since if since is not None else seen if selection is not None and seen.sheet.rewritten else None
    return Evidence(
        record=id,
        known=facts(seen, (id,)).get(id),
        selection=selection,
        cut=seen.cut,
        on_lineage=on_lineage,
        unreleased=record.header.scope.sub_agent not in (None, seen.boundary.run),
        erased=record.body is None,
        decision=decision,
        worth=worth_of(weighed, id) if weighed is not None else None,
        left_out=left_out,
        sources_stand=selection is None and _sources_stand(seen, record),
        since=since.record.id if since is not None else None,
        instead=_instead(seen, record) if selection is None else None,
    )


def _kept(seen: Revisited, record: Record) -> Evidence:
    """Of a memory of the user: decided alone, for nothing else that stands there changes what may be shown of it."""
    id = record.id
    selection = next((one for one in reversed(seen.whole.selected) if one.record == id), None)
    personal = seen.made.gathered.personal if selection is None else None
    return Evidence(
        record=id,
        known=seen.personal.known((id,)).get(id),
        selection=selection,
        cut=seen.personal.upto,
        erased=record.body is None,
        decision=seen.personal.decisions((id,), seen.policy).get(id),
        left_out=personal.passed_over(id) if personal is not None else None,
    )


def _instead(seen: Revisited, record: Record) -> RecordId | None:
    """The memory in the request that rests on a result."""
    stand = tuple(dict.fromkeys(selection.record for selection in seen.whole.selected))
    for found in seen.place.ledger.get(seen.place.conversation.key, stand) if stand else ():
        if isinstance(found.body, ToolMemory | Episode) and record.id in found.body.sources:
            return found.id
    return None


def _sources_stand(seen: Revisited, record: Record) -> bool:
    """Whether it is a memory whose results all stand in the request themselves, so that it would add nothing."""
    if not isinstance(record.body, ToolMemory):
        return False
    stand = {selection.record for selection in seen.whole.selected if not selection.note}
    return stand.issuperset(record.body.sources)


def _decision(seen: Revisited, record: Record, selection: Selection | None) -> Decision | None:
    """Decided among the records that stand: what is newest and what is settled depends on them."""
    turns = {one.record: one.turn for one in seen.whole.selected}
    turns[record.id] = _turn(seen, record, selection)
    return seen.decisions(turns, turns, wanted_exactly(seen, seen.whole.selected)).get(record.id)


def _turn(seen: Revisited, record: Record, selection: Selection | None) -> int:
    """The turn of a record: as it stands, or counted from the history up to it."""
    if selection is not None:
        return selection.turn
    query = NodeQuery(kinds=("message",), lineage=seen.lineage, before=record.position + 1)
    said = seen.place.ledger.nodes(seen.place.conversation.key, query)
    return _turns(said, seen)


def _turns(said: Sequence[Record], seen: Revisited) -> int:
    return sum(
        isinstance(record.body, Message)
        and record.body.role not in INSTRUCTING
        and refusal(record.header, seen.boundary) is None
        for record in said
    )


def _let_go(seen: Revisited, record: Record) -> Revisited | None:
    """The request in which a record that could be shown was let go: written anew without it, though it was at hand."""
    current: Revisited | None = seen
    for _ in range(LOOKED_BACK):
        if current is None or current.cut < record.position:
            return None
        before = current.earlier
        new = before is None or record.position > before.cut or _began_anew(current)
        if new or (current.sheet.rewritten and any(one.record == record.id for one in _selected(before))):
            return current if current.sheet.rewritten else None
        current = before
    return None


def _began_anew(seen: Revisited) -> bool:
    """Whether it looked at the history again, whatever the request before it had shown."""
    try:
        return bool(seen.sheet.rewritten) and seen.base is None
    except PolicyError:  # under a set that is not known any more
        return False


def _left_out(since: Revisited | None, id: RecordId) -> Reason | None:
    """Why planning let a record go; None: it did not, or it cannot be told any more."""
    try:
        return since.made.plan.left_out.get(id) if since is not None else None
    except PolicyError:
        return None


def _selected(seen: Revisited | None) -> Sequence[Selection]:
    return seen.whole.selected if seen is not None else ()
