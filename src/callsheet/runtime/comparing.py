"""What another policy set would make of recorded requests: both sets over the same cut, nothing stored."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from callsheet.errors import AssemblyError
from callsheet.graph.enums import Level, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ContextAssembly, Selection
from callsheet.graph.record import Record
from callsheet.graph.values import Count, Value
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.verdict import DETAIL, Decision
from callsheet.runtime.place import Place
from callsheet.runtime.revisiting import Revisited
from callsheet.runtime.ruling import ready
from callsheet.runtime.session import Session
from callsheet.runtime.stored import newest_sheets


class Moved(Value):
    """One record that stands otherwise in a request under the other set. `Level.NONE`: it does not stand there."""

    sheet: RecordId
    record: RecordId
    before: Level
    after: Level
    #: Why it stands as it does under the other set, or does not: what its policies say otherwise, else the planner.
    reason: Reason
    #: The rule that limits it there; empty: none does.
    rule: str = ""

    @property
    def came(self) -> bool:
        return self.before is Level.NONE

    @property
    def went(self) -> bool:
        return self.after is Level.NONE


class Failed(Value):
    """A request that one of the sets could not make."""

    sheet: RecordId
    code: str
    problem: str


class Compared(Value):
    """What another policy set would change over recorded requests."""

    before: str
    after: str
    sheets: Count
    #: Sheets in which nothing stands otherwise.
    same: Count
    #: In the order of the sheets, newest first, and of the request.
    moved: tuple[Moved, ...] = ()
    failed: tuple[Failed, ...] = ()
    #: Selected records over all sheets, before and after.
    selected: tuple[Count, Count] = (0, 0)

    @property
    def by_reason(self) -> Mapping[str, int]:
        """How many records moved for each reason, most first."""
        return dict(Counter(moved.reason.value for moved in self.moved).most_common())

    @property
    def unchanged(self) -> bool:
        return not self.moved and not self.failed


@dataclass(frozen=True, kw_only=True)
class _Under(Revisited):
    """A recorded request as the first that a given set makes over its cut, so that two sets begin alike."""

    under: PolicySetDocument

    @cached_property
    def policy(self) -> PolicySetDocument:
        return self.under

    @cached_property
    def before(self) -> Record | None:
        return None

    @cached_property
    def places(self) -> dict[RecordId, Selection]:
        """Each record where it says most."""
        found: dict[RecordId, Selection] = {}
        for selection in self.made.plan.selections:
            known = found.get(selection.record)
            if known is None or DETAIL[selection.level] < DETAIL[known.level]:
                found[selection.record] = selection
        return found


def compare(
    session: Session,
    before: PolicySetDocument,
    after: PolicySetDocument,
    *,
    newest: int,
    reads: Callable[[ContextAssembly], bool],
) -> Compared:
    """Make the newest requests that `reads` lets through again under both sets, and compare what stands in them.

    Both are made as a first request over the cut of the sheet, with its boundary. Raises `PolicyError` and
    `MissingExtra` for rules that cannot be asked.
    """
    ready(before)
    ready(after)
    place = session.place
    stored = newest_sheets(place.ledger, place.sheets.key)
    sheets = [record for record, body in islice((each for each in stored if reads(each[1])), newest)]
    moved: list[Moved] = []
    failed: list[Failed] = []
    same, sizes = 0, [0, 0]
    for record in sheets:
        found = _compared(place, record, before, after)
        if isinstance(found, Failed):
            failed.append(found)
            continue
        changes, size = found
        same += not changes
        moved.extend(changes)
        sizes = [total + more for total, more in zip(sizes, size, strict=True)]
    return Compared(
        before=str(before),
        after=str(after),
        sheets=len(sheets),
        same=same,
        moved=tuple(moved),
        failed=tuple(failed),
        selected=(sizes[0], sizes[1]),
    )


def _compared(
    place: Place, record: Record, before: PolicySetDocument, after: PolicySetDocument
) -> tuple[Sequence[Moved], tuple[int, int]] | Failed:
    one, other = (_Under(place=place, record=record, under=policy) for policy in (before, after))
    try:
        size = len(one.places), len(other.places)
    except AssemblyError as problem:
        return Failed(sheet=record.id, code=problem.code, problem=str(problem))
    return tuple(_moved(one, other)), size


def _moved(one: _Under, other: _Under) -> Iterator[Moved]:
    before, after = one.places, other.places
    ids = [id for id in dict.fromkeys((*after, *before)) if _level(before, id) is not _level(after, id)]
    if not ids:
        return
    turns = {id: selection.turn for id, selection in (*before.items(), *after.items())}
    decided, decisions = one.decisions(turns, turns), other.decisions(turns, turns)
    for id in ids:
        reason, rule = _why(other, id, decided.get(id), decisions.get(id))
        yield Moved(
            sheet=one.record.id,
            record=id,
            before=_level(before, id),
            after=_level(after, id),
            reason=reason,
            rule=rule,
        )


def _level(places: Mapping[RecordId, Selection], id: RecordId) -> Level:
    return places[id].level if id in places else Level.NONE


def _why(seen: _Under, id: RecordId, before: Decision | None, after: Decision | None) -> tuple[Reason, str]:
    """Where the policies say otherwise than before, their reason; else that of the planner."""
    if after is not None and after.rule and (before is None or _said(before) != _said(after)):
        return after.reason, after.rule
    selection = seen.places.get(id)
    if selection is not None:
        limited = after is not None and after.reason is selection.reason
        return selection.reason, after.rule if after is not None and limited else ""
    return seen.made.plan.left_out.get(id, Reason.NOT_RELEVANT), ""


def _said(decision: Decision) -> tuple[Level, Reason, str]:
    return decision.most, decision.reason, decision.rule
