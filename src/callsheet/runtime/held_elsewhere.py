"""What of a conversation lies with its provider alone, so that no request that is written anew can say it.

Internal; `callsheet.serve.proxy` is its user: its clients may go on from what the provider keeps.
"""

from callsheet.graph.enums import Role
from callsheet.graph.nodes import Message
from callsheet.graph.query import NodeQuery
from callsheet.graph.values import Reasoning
from callsheet.runtime.conversation import Conversation
from callsheet.wire.jsontext import decode_object
from callsheet.wire.names import Wire

_AT_ONCE = 16
"""Messages that are looked at together, from the newest on: most turns of a model with its tools have no more."""

_CONTENT = ("encrypted_content", "content")
"""Under what a reasoning item holds what was thought; without either, only the provider knows it by the item's id."""


def thinks_on(talk: Conversation) -> bool:
    """Whether the model goes on with a turn behind thoughts of which only an id was given.

    So it is between the calls of a turn, where the provider keeps what it answered; of older turns it uses none.
    """
    session = talk._session
    seen = session.tail(talk._view).lineage
    before: int | None = None
    while True:
        query = NodeQuery(kinds=("message",), lineage=seen, before=before, limit=_AT_ONCE, newest=True)
        found = session.ledger.nodes(session.conversation.key, query)
        for record in reversed(found):
            body = record.body
            if not isinstance(body, Message):
                continue
            if body.role is Role.USER:
                return False
            for part in body.parts:
                if isinstance(part, Reasoning) and part.wire == Wire.OPENAI_RESPONSES:
                    item = decode_object(session.read(part.raw))
                    if not any(item.get(key) for key in _CONTENT):
                        return True
        if len(found) < _AT_ONCE:
            return False
        before = found[0].position
