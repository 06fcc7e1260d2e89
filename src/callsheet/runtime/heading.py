"""What stands in front of a hit: of a result the call that it answers, of a message the number of its turn."""

from collections.abc import Iterable

from callsheet.assemble.contents import text_of
from callsheet.assemble.forms import asked
from callsheet.assemble.standins import NO_ARGUMENTS
from callsheet.graph.enums import INSTRUCTING
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ToolArtifact, ToolCall
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.runtime.seeing import Sight

COUNTED = 2_048
"""Turns that are counted for the numbers of messages; later ones are given without, which takes no time."""

_AT_A_TIME = 512


def call_of(seen: Sight, result: Record) -> str:
    """The call that a result answers, as notes show it; its arguments as far as they may be read.

    Empty where none is known and for what is no result.
    """
    body = result.body
    call = seen.get(body.call) if isinstance(body, ToolArtifact) and body.call is not None else None
    if call is None or not isinstance(call.body, ToolCall):
        return ""
    return asked(call.body.tool, arguments(seen, call))


def arguments(seen: Sight, call: Record) -> str:
    """The arguments of a call, as far as they may be read."""
    body = call.body
    if not isinstance(body, ToolCall) or call.id in seen.withheld:
        return NO_ARGUMENTS
    asking = seen.get(body.message) if seen.admit is not None else None
    if asking is not None and asking.body is not None and seen.refused(asking) is not None:
        return NO_ARGUMENTS
    return text_of(seen.read(body.arguments))


def turns_of(seen: Sight, ids: Iterable[RecordId]) -> dict[RecordId, int]:
    """The turns of the messages among these records, as `recall` of ``turn 12`` counts them."""
    session = seen.session
    found = session.ledger.get(session.conversation.key, list(ids))
    wanted = {record.id for record in found if isinstance(record.body, Message)}
    turns: dict[RecordId, int] = {}
    turn = after = 0
    while len(turns) < len(wanted) and turn < COUNTED:
        query = NodeQuery(kinds=("message",), lineage=seen.lineage, after=after, limit=_AT_A_TIME)
        portion = session.ledger.nodes(session.conversation.key, query)
        for record in portion:
            if not seen.shows(record) or (isinstance(record.body, Message) and record.body.role in INSTRUCTING):
                continue
            turn += 1
            if record.id in wanted:
                turns[record.id] = turn
        if len(portion) < _AT_A_TIME:
            break
        after = portion[-1].position
    return turns
