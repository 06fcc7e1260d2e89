"""What a conversation without a telling name can be known by: who answers in it, and what it was begun with."""

from dataclasses import dataclass

from callsheet.graph.cut import alone
from callsheet.graph.enums import Role, StreamKind
from callsheet.graph.ids import ROOT_BRANCH, TenantId
from callsheet.graph.nodes import ContextAssembly, Message
from callsheet.graph.query import NodeQuery
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.runtime import Runtime
from callsheet.runtime.transcript import Spoken, transcript

_FIRST = 32
"""Messages in which the first of a user is looked for: before it stand instructions, few of them."""

_WORDS = 200
"""Characters of it that are told."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Title:
    """What tells a conversation from others; empty where there is nothing of it."""

    #: That the newest request was made for.
    model: str
    #: The first words of a user, on one line, with secrets marked as in transcripts.
    begins: str


def title_of(runtime: Runtime, talk: Conversation) -> Title:
    """The title of a conversation, from its first messages and its newest sheet alone."""
    return Title(model=_model(runtime, talk), begins=_begins(runtime, talk))


def _begins(runtime: Runtime, talk: Conversation) -> str:
    session = talk._session
    head = runtime.ledger.head(session.conversation.key)
    if head is None:
        return ""
    query = NodeQuery(kinds=("message",), lineage=alone(ROOT_BRANCH, head.position), limit=_FIRST)
    said = [
        record
        for record in runtime.ledger.nodes(session.conversation.key, query)
        if isinstance(record.body, Message) and record.body.role is Role.USER
    ]
    items = transcript(said, {}, session.redacting)
    words = next((item.text.strip() for item in items if isinstance(item, Spoken) and item.text.strip()), "")
    return " ".join(words[:_WORDS].split())


def _model(runtime: Runtime, talk: Conversation) -> str:
    sheets = runtime.ledger.stream(TenantId(runtime.tenant), StreamKind.SHEETS, talk.name)
    if sheets is None:
        return ""
    found = runtime.ledger.nodes(sheets.key, NodeQuery(kinds=("assembly",), newest=True, limit=1))
    return next((record.body.boundary.model for record in found if isinstance(record.body, ContextAssembly)), "")
