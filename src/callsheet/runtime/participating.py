"""Participants of a conversation: one for each name, created at its first use."""

from dataclasses import dataclass

from callsheet.assemble import blocks
from callsheet.assemble.compose import text_of
from callsheet.errors import InvalidOption
from callsheet.graph.enums import InstructionScope, Role, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Participant
from callsheet.graph.query import NodeQuery
from callsheet.graph.values import Scope
from callsheet.runtime.drafting import Drafting, text_bytes
from callsheet.runtime.options import label, shown
from callsheet.runtime.session import Session, View


@dataclass(frozen=True, kw_only=True, slots=True)
class Configuration:
    """What a participant is asked to be; None: whatever it is."""

    provider: str | None = None
    model: str | None = None
    persona: str | None = None

    def __post_init__(self) -> None:
        """Raise `InvalidOption` for a value that could not be stored."""
        for field in ("provider", "model"):
            if (value := getattr(self, field)) is not None:
                label(value, field)
        if self.persona is not None and not isinstance(self.persona, str):
            raise InvalidOption(f"persona is {shown(self.persona)}; it must be text")


def participate(session: Session, view: View, name: str, wanted: Configuration) -> RecordId:
    """The participant with this name, created if there is none; one, however many ask at once.

    Raises `InvalidOption` when it was created with another configuration.
    """
    label(name, "the participant's name")
    new = session.ids.record("participant")
    persona = session.ledger.stash(session.owner, text_bytes(wanted.persona)) if wanted.persona is not None else None
    body = Participant(name=name, provider=wanted.provider, model=wanted.model, persona=persona)
    found: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        known = participants(session).get(name)
        found[:] = [new if known is None else known]
        if known is None:
            drafting.add(body, kind="participant", scope=Scope(visibility=Visibility.CONVERSATION), id=new)
            if wanted.persona:
                beside = session.beside(drafting, view._replace(participant=new))
                own = Scope(owner=new, visibility=Visibility.PARTICIPANT)
                told = blocks.Said(role=Role.SYSTEM, parts=(blocks.Text(text=wanted.persona),))
                beside.message(told, own, InstructionScope.PARTICIPANT)
                drafting.join(beside)

    session.append(view, draft)
    (id,) = found
    if id != new:
        _check(session, id, wanted)
    return id


def participants(session: Session) -> dict[str, RecordId]:
    """The participants of a conversation by name, in the order in which they came; sub-agents are none."""
    found = session.ledger.nodes(session.conversation.key, NodeQuery(kinds=("participant",)))
    return {
        record.body.name: record.id
        for record in found
        if isinstance(record.body, Participant) and record.header.scope.sub_agent is None
    }


def _check(session: Session, id: RecordId, wanted: Configuration) -> None:
    (record,) = session.ledger.get(session.conversation.key, (id,))
    body = record.body
    if not isinstance(body, Participant):
        return
    persona = text_of(session.read(body.persona)) if body.persona is not None else None
    has = Configuration(provider=body.provider, model=body.model, persona=persona)
    for field in ("provider", "model", "persona"):
        asked, is_ = getattr(wanted, field), getattr(has, field)
        if asked is not None and asked != is_:
            raise InvalidOption(
                f"participant {body.name!r} has {field} {shown(is_)}; use another name for {shown(asked)}"
            )
