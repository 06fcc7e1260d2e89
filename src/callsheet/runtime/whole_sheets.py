"""Stored sheets in full, read along what they extend, and the one that was shown last."""

from callsheet.assemble.delta import Whole, whole
from callsheet.errors import Damaged
from callsheet.graph.cut import Lineage
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ContextAssembly
from callsheet.graph.record import Record
from callsheet.policy.sets import PolicySetDocument
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


def gone_on_from(shown: Whole | None, policy: PolicySetDocument) -> Whole | None:
    """The sheet that was shown last, where this set can go on from it; None: it begins anew.

    A verbatim set does not go on from another one, which may have left out or shortened what it shows.
    """
    if shown is not None and policy.verbatim and shown.sheet.pins.policy_set != policy.hash:
        return None
    return shown


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
