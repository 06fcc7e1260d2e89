"""Instructions: whose they are, and whom they govern. The newest that a reader sees of each scope applies."""

from msgspec.structs import replace

from callsheet.assemble import blocks
from callsheet.errors import InvalidOption
from callsheet.graph.changes import Superseded
from callsheet.graph.enums import INSTRUCTING, InstructionScope, Role, StateField, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.query import StateQuery
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.options import shown
from callsheet.runtime.seeing import sight
from callsheet.runtime.session import Session, View


def instruct(session: Session, view: View, text: str, scope: InstructionScope, role: Role) -> RecordId:
    """Record an instruction and return its id. Raises `InvalidOption`; see `Conversation.instruct`."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidOption(f"text is {shown(text)}; an instruction must be text and not empty")
    if role not in INSTRUCTING:
        raise InvalidOption(f"role is {role.value!r}; an instruction has the role system or developer")
    if scope is InstructionScope.PARTICIPANT and view.participant is None:
        raise InvalidOption("an instruction for a participant is given in that participant's view")
    ids: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        older = _older(session, view, scope)
        ids[:] = [add(drafting, text, scope, role)]
        if older:
            replaced = Superseded(current=ids[0], replaced=older, reason="newer instruction of the same scope")
            drafting.add(replaced, kind="superseded", scope=drafting.scope_of(ids[0]))

    session.append(view, draft)
    return ids[0]


def _older(session: Session, view: View, scope: InstructionScope) -> tuple[RecordId, ...]:
    """The instructions that a new one of this scope replaces: those of its owner, and those of nobody in particular."""
    seen = sight(session, view)
    query = StateQuery(field=StateField.INSTRUCTION, value=scope.value, lineage=seen.lineage)
    ids = [RecordId(row.target) for row in session.ledger.states(session.conversation.key, query)]
    found = session.ledger.get(session.conversation.key, ids) if ids else []
    own = (view.participant, None) if scope is not InstructionScope.PARTICIPANT else (view.participant,)
    return tuple(record.id for record in found if seen.shows(record) and record.header.scope.owner in own)


def add(drafting: Drafting, text: str, scope: InstructionScope, role: Role = Role.SYSTEM) -> RecordId:
    """Draft an instruction. One for a participant is its own; every other is for everyone on the branch."""
    said = blocks.Said(role=role, parts=(blocks.Text(text=text),))
    whose = drafting.shared()
    if scope is InstructionScope.PARTICIPANT:
        whose = replace(whose, visibility=Visibility.PARTICIPANT)
    return drafting.message(said, whose, scope)
