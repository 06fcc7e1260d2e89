"""Answering the calls of the recall tool in a model's newest message, and recording the answers beside other calls.

Internal; `callsheet.serve.proxy` is its user: it answers for a client that does not see these calls.
"""

import re
from typing import NamedTuple

from callsheet.assemble.blocks import Answer, Text
from callsheet.assemble.contents import text_of
from callsheet.graph.enums import Privacy
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ModelRun
from callsheet.graph.query import NodeQuery
from callsheet.recall.request import DEFAULT_LIMIT, SMALLEST_LIMIT
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime.admitting import policy_of
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.drafting import Drafting, Ran
from callsheet.runtime.recalling import answer_for
from callsheet.runtime.tail import KnownCall, Tail

__all__ = [
    "LONGEST_ARGUMENTS",
    "RECALL",
    "Recalls",
    "answer_calls",
    "is_part_of",
    "left_out",
    "stands_beside",
    "waiting",
]

SPENT = "(recall: no more can be read for this answer; answer with what you have)"
"""What a call is answered for which no bytes are left."""


LONGEST_ARGUMENTS = 16_384
"""Characters of a call's arguments that are recorded and sent again: more than the longest pointer and query have."""

_LEFT_OUT = "left_out"
_TOO_LONG = (
    "(recall: the arguments have {size}, of which at most {most:,} are read; send a JSON object, such as"
    ' {{"reference": "...", "part": "lines 0:40"}})'
)


def left_out(size: int) -> dict[str, object]:
    """What stands in place of arguments that are longer; a call with them is answered by that."""
    return {_LEFT_OUT: f"{size:,} characters"}


class Recalls(NamedTuple):
    """What was answered."""

    #: The results, in the order of their calls.
    ids: tuple[RecordId, ...]
    #: Bytes of their texts.
    size: int


def answer_calls(talk: Conversation, *, limit: int) -> Recalls:
    """Answer the recalls of the newest message that wait, with at most `limit` bytes of content, and record that.

    The other calls of that message go on waiting. Each call is answered, whatever the model wrote.
    """
    session, view = talk._session, talk._view
    sheet = talk._shown()
    texts: dict[RecordId, str] = {}
    for known in waiting(session.tail(view, fresh=True)):
        given = text_of(session.read(known.body.arguments))
        most = min(limit, DEFAULT_LIMIT)
        text = _refused(given)
        if text is None:
            text = answer_for(session, view, given, sheet, limit=most) if most >= SMALLEST_LIMIT else SPENT
        texts[known.id] = text
        limit -= len(text.encode("utf-8", "surrogatepass"))
    if not texts:
        return Recalls((), 0)
    tools = policy_of(session, sheet.pins.policy_set).tools if sheet is not None else ()
    declared: dict[str, Privacy] = {tool.name: tool.privacy for tool in tools if tool.privacy is not None}
    made: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        made.clear()
        drafting.declared = declared
        for known in waiting(drafting.tail):
            if known.id in texts:
                content = (Text(text=texts[known.id]),)
                answer = Answer(call=known.body.provider_id, tool=RECALL, content=content)
                made.append(drafting.answered(answer, None, Ran(call=known)))

    session.append(view, draft)
    return Recalls(tuple(made), sum(len(text.encode("utf-8", "surrogatepass")) for text in texts.values()))


def _refused(arguments: str) -> str | None:
    """What a call is answered whose arguments were left out; None: they are here."""
    found = _STANDIN.fullmatch(arguments)
    return _TOO_LONG.format(size=found[1], most=LONGEST_ARGUMENTS) if found is not None else None


_STANDIN = re.compile(rf'\s*{{\s*"{_LEFT_OUT}"\s*:\s*"([0-9,]{{1,20}} characters)"\s*}}\s*')


def waiting(tail: Tail) -> list[KnownCall]:
    """The recalls of the newest message that have no answer."""
    return [
        known for known in tail.open.values() if known.body.tool == RECALL and known.body.message == tail.last_message
    ]


def stands_beside(talk: Conversation) -> bool:
    """Whether a recall was answered beside the calls whose results came last: its client never saw it."""
    tail = talk._session.tail(talk._view)
    return any(known.body.tool == RECALL for known in tail.answered.values())


def is_part_of(talk: Conversation, response: str) -> bool:
    """Whether a response that a client goes on from was followed by others that it saw as one with it.

    The provider, which keeps it, knows nothing of what followed.
    """
    session, view = talk._session, talk._view
    tail = session.tail(view)
    key = session.conversation.key
    query = NodeQuery(kinds=("message",), lineage=tail.lineage, after=tail.last_said - 1, before=tail.last_said + 1)
    runs = [record.header.scope.run for record in session.ledger.nodes(key, query)]
    found = session.ledger.get(key, tuple(run for run in runs if run is not None))
    said = [record.body.response for record in found if isinstance(record.body, ModelRun)]
    return any(one is not None and one != response for one in said)
