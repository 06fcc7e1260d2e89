"""Stored sheets in full, read along what they extend, and the one that was shown last."""

from callsheet.assemble.delta import Whole, whole
from callsheet.errors import Damaged
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, ContextAssembly
from callsheet.graph.record import Record
from callsheet.graph.values import Digest
from callsheet.runtime.desk import Desk
from callsheet.runtime.place import Place
from callsheet.runtime.stored import own_sheets


def last_shown(place: Place, lineage: Lineage, participant: RecordId | None, said: int, desk: Desk) -> Whole | None:
    """The newest sheet that was shown: an answer followed it on this branch, or on one that it inherits.

    `said` is the position of the newest message of a model. A sheet that nobody answered changes nothing.
    """
    for kept in reversed(desk.sheets):
        if kept.sheet.cut.at(place.conversation.id) < said:
            return kept
    head = place.ledger.head(place.sheets.key)
    if head is None or said == 0:
        return None
    for segment in reversed(lineage.segments):
        own = own_sheets(place.ledger, place.sheets.key, segment.branch, participant, head.position)
        for record, body in own:
            if body.cut.at(place.conversation.id) < min(said, segment.upto + 1):
                return read_sheet(place, record)
    return None


def gone_on_from(shown: Whole | None, policy: Digest, boundary: Boundary) -> Whole | None:
    """The sheet that was shown last, where this request can go on from it; None: it begins anew.

    Another policy set, which its hash tells, may show what that one left out, and another provider what was withheld
    from the one before: what is not in view would never come back.
    """
    if shown is None or shown.sheet.pins.policy_set != policy:
        return None
    other = (shown.sheet.boundary.provider, shown.sheet.boundary.scopes) != (boundary.provider, boundary.scopes)
    return None if other and _withheld(shown) else shown


def _withheld(shown: Whole) -> bool:
    """Whether something was kept from the reader for the class of its data, or by a rule."""
    return any(one.reason in FOR_ITS_CLASS for one in shown.selected) or any(
        reason in FOR_ITS_CLASS for reason, _ in shown.sheet.omitted
    )


FOR_ITS_CLASS = frozenset({Reason.PRIVACY_CLASS, Reason.PROVIDER, Reason.RULE, Reason.RAW_REFUSED})
"""Why something is kept from one reader that another one, or the same on other terms, may get."""


def read_sheet(place: Place, record: Record) -> Whole:
    """A sheet in full, walking back over the sheets that it extends. Raises `Damaged` where one is missing."""
    chain: list[tuple[RecordId, ContextAssembly]] = []
    current: Record | None = record
    while current is not None and isinstance(current.body, ContextAssembly):
        chain.append((current.id, current.body))
        if current.body.base is None:
            break
        found = place.ledger.get(place.sheets.key, (current.body.base,))
        current = found[0] if found else None
    if not chain or chain[-1][1].base is not None:
        raise Damaged(f"sheet {record.id} extends a sheet that is missing")
    result: Whole | None = None
    for id, body in reversed(chain):
        result = whole(id, body, result)
    assert result is not None
    return result
