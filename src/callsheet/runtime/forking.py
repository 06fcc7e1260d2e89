"""Beginning branches."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from callsheet.assemble.blocks import Reply
from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.enums import ForkReason, Privacy, Role, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Branch, Message, ToolArtifact
from callsheet.graph.record import Record
from callsheet.graph.values import CallRef
from callsheet.runtime.deciding import read_standings
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.originals import source
from callsheet.runtime.recording import Recording, waiting_sheet
from callsheet.runtime.resolving import resolve
from callsheet.runtime.seeing import sight
from callsheet.runtime.session import Session, View
from callsheet.runtime.tail import Tail, free_name
from callsheet.wire import formats

if TYPE_CHECKING:
    from callsheet.runtime.conversation import Conversation


def edit(talk: "Conversation", message: str, value: object, name: str | None) -> "Conversation":
    """Begin a branch before a message and say something else on it, which is as private as what it replaces."""
    items = formats.parse(_in_its_role(talk, message, value))  # refuses what is no message before a branch begins
    least = _class_of(talk, _standing(talk, message))
    branch = talk.branch(before=message, name=name, reason=ForkReason.EDIT)
    replied = any(isinstance(item, Reply) for item in items)
    shown = waiting_sheet(branch._session, branch._view) if replied else None
    branch._put(Recording(items=items, shown=shown, least=least))
    return branch


def _class_of(talk: "Conversation", record: Record) -> Privacy:
    """The class of a record as it is now: what was said of it since counts."""
    session, seen = talk._session, sight(talk._session, talk._view)
    standings = read_standings(session.ledger, session.conversation.key, seen.lineage, (record.id,), seen.shows)
    return Privacy(standings.state(StateField.PRIVACY, record.id) or record.header.privacy)


def _in_its_role(talk: "Conversation", message: str, value: object) -> object:
    if not isinstance(value, str):
        return value
    record = _standing(talk, message)
    if isinstance(record.body, Message):
        return {"role": record.body.role.value, "content": value}
    raise NotFound(f"no message {message!r} on this branch of conversation {talk.name!r}")


def regenerate(talk: "Conversation", message: str, name: str | None) -> "Conversation":
    """Begin a branch before an assistant's message. Raises `InvalidOption` for anything else."""
    record = _standing(talk, message)
    role = record.body.role if isinstance(record.body, Message) else None
    if role is not Role.ASSISTANT:
        what = f"a message of role {role.value!r}" if role is not None else "a tool result"
        raise InvalidOption(f"{message} is {what}; an assistant's message can be generated again, see edit()")
    return talk.branch(before=message, name=name, reason=ForkReason.REGENERATE)


def send(talk: "Conversation", parents: Sequence[str], value: object, name: str | None) -> "Conversation":
    """Say something behind the first of its parents, with the others brought there before."""
    said = {"role": "user", "content": value} if isinstance(value, str) else value
    formats.parse(said)
    first, *others = parents or (None,)
    homes = [(other, _home(talk, other)) for other in others if other is not None]
    for other, elsewhere in homes:
        # What cannot be brought is refused before anything is begun.
        seen = sight(talk._session, talk._view._replace(branch=elsewhere))
        source(seen, resolve(seen, other))
    branch = talk
    home = _home(talk, first) if first is not None else None
    if first is not None and home is not None and first != _newest(talk):
        branch = talk.on(home).branch(at=first, name=name, reason=ForkReason.SEND)
    for other, elsewhere in homes:
        if elsewhere != branch.branch_id:
            branch.merge(elsewhere, other)
    branch.record(said)
    return branch


def _newest(talk: "Conversation") -> RecordId | None:
    """The newest message or result of the branch that exists for who sends."""
    newest = next(sight(talk._session, talk._view).newest(), None)
    return newest.id if newest is not None else None


def _home(talk: "Conversation", id: str) -> RecordId:
    """The branch that a message or result stands on, where it exists for who sends."""
    for record in talk._get((RecordId(id),)):
        own = record.header.scope.sub_agent == talk._view.carries.sub_agent
        if record.branch is None or not own or not isinstance(record.body, Message | ToolArtifact):
            continue
        if sight(talk._session, talk._view._replace(branch=record.branch)).get(record.id) is not None:
            return record.branch
    raise NotFound(f"no message or tool result {id!r} in conversation {talk.name!r}")


def fork(
    session: Session, parent: View, *, at: str | None, before: str | None, name: str | None, reason: ForkReason
) -> RecordId:
    """Begin a branch and return its id. Raises `NotFound`, and `InvalidOption` for a name that is taken."""
    if at is not None and before is not None:
        raise InvalidOption("give at= or before=, not both")
    id = session.ids.record("branch")

    def draft(drafting: Drafting) -> None:
        position, record = _fork_point(session, parent, drafting.tail, at, before)
        taken = session.branching.names()
        label = name or free_name("branch", taken)
        if label in taken:
            raise InvalidOption(f"this conversation has a branch {label!r} already")
        body = Branch(name=label, parent=parent.branch, fork=position, fork_record=record, reason=reason)
        drafting.add(body, kind="branch", scope=replace(parent.carries, branch=id), id=id)

    session.append(parent, draft)
    return id


def _fork_point(
    session: Session, parent: View, tail: Tail, at: str | None, before: str | None
) -> tuple[int, RecordId | None]:
    if before is not None:
        return _visible(session, parent, tail, before).position - 1, None
    if at is None:
        return tail.position, None
    record = _visible(session, parent, tail, at)
    calls = session.ledger.get(session.conversation.key, _calls(record))
    return max([record.position, *(call.position for call in calls)]), record.id


def _calls(record: Record) -> tuple[RecordId, ...]:
    """A message is inherited together with its calls, which stand right behind it."""
    if not isinstance(record.body, Message):
        return ()
    return tuple(part.call for part in record.body.parts if isinstance(part, CallRef))


def _standing(talk: "Conversation", id: str) -> Record:
    """The message or result with this id on the branch of a conversation. Raises `NotFound`."""
    return _visible(talk._session, talk._view, talk._session.tail(talk._view, fresh=True), id)


def _visible(session: Session, parent: View, tail: Tail, id: str) -> Record:
    """The message or result with this id, where it stands on the branch and exists for who begins another one."""
    record = sight(session, parent).get(RecordId(id))
    stands = record is not None and tail.lineage.sees(record.branch, record.position)
    if stands and record is not None and isinstance(record.body, Message | ToolArtifact):
        return record
    raise NotFound(f"no message or tool result {id!r} on this branch of conversation {session.conversation.name!r}")
