"""Participants of a conversation: one for each name, created at its first use."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from callsheet.assemble import blocks
from callsheet.assemble.contents import text_of
from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.enums import InstructionScope, Isolation, Role, Visibility
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
    #: What others see of its own work; None: nothing, and for a participant that is known, what it is.
    isolation: Isolation | None = None
    #: With `Isolation.SHARE_LIST`, who sees it: participants by name or id.
    shared_with: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise `InvalidOption` for a value that could not be stored."""
        for field in ("provider", "model"):
            if (value := getattr(self, field)) is not None:
                label(value, field)
        if self.persona is not None and not isinstance(self.persona, str):
            raise InvalidOption(f"persona is {shown(self.persona)}; it must be text")
        if bool(self.shared_with) is not (self.isolation is Isolation.SHARE_LIST):
            raise InvalidOption("isolation='share_list' and shared_with= go together")


def participate(session: Session, view: View, name: str, wanted: Configuration) -> View:
    """The view of the participant with this name, created if there is none; one, however many ask at once.

    Raises `InvalidOption` when it was created with another configuration, `NotFound` for one to share with.
    """
    label(name, "the participant's name")
    new = session.ids.record("participant")
    persona = session.ledger.stash(session.owner, text_bytes(wanted.persona)) if wanted.persona is not None else None
    shared_with = people(session, wanted.shared_with) if wanted.shared_with else ()
    whose = Scope(isolation=wanted.isolation or Isolation.ISOLATED, shared_with=shared_with)
    body = Participant(name=name, provider=wanted.provider, model=wanted.model, persona=persona)
    found: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        known = participants(session).get(name)
        found[:] = [new if known is None else known]
        if known is None:
            drafting.add(body, kind="participant", scope=replace(whose, visibility=Visibility.CONVERSATION), id=new)
            if wanted.persona:
                beside = session.beside(drafting, view._replace(participant=new))
                own = Scope(owner=new, visibility=Visibility.PARTICIPANT)
                told = blocks.Said(role=Role.SYSTEM, parts=(blocks.Text(text=wanted.persona),))
                beside.message(told, own, InstructionScope.PARTICIPANT)
                drafting.join(beside)

    session.append(view, draft)
    (id,) = found
    if id != new:
        whose = _checked(session, id, wanted, whose)
    carries = replace(view.carries, isolation=whose.isolation, shared_with=whose.shared_with)
    return view._replace(participant=id, carries=carries)


def participants(session: Session) -> dict[str, RecordId]:
    """The participants of a conversation by name, in the order in which they came; sub-agents are none."""
    found = session.ledger.nodes(session.conversation.key, NodeQuery(kinds=("participant",)))
    return {
        record.body.name: record.id
        for record in found
        if isinstance(record.body, Participant) and record.header.scope.sub_agent is None
    }


def people(session: Session, named: Sequence[str]) -> tuple[RecordId, ...]:
    """Participants by name or id. Raises `NotFound`, and `InvalidOption` for none at all."""
    known = participants(session)
    ids: dict[str, RecordId] = {**known, **{id: id for id in known.values()}}
    found = [ids.get(label(one, "a participant")) for one in named]
    for one, id in zip(named, found, strict=True):
        if id is None:
            raise NotFound(f"no participant {shown(one)}; there are: {', '.join(known) or 'none'}")
    if not found:
        raise InvalidOption("to whom? name at least one participant")
    return tuple(dict.fromkeys(id for id in found if id is not None))


def _checked(session: Session, id: RecordId, wanted: Configuration, whose: Scope) -> Scope:
    """How open the work of a participant is that is there already, once it is what was asked for."""
    (record,) = session.ledger.get(session.conversation.key, (id,))
    body, scope = record.body, record.header.scope
    if not isinstance(body, Participant):
        return scope
    asks = (whose.isolation, frozenset(whose.shared_with))
    if wanted.isolation is not None and asks != (scope.isolation, frozenset(scope.shared_with)):
        raise InvalidOption(
            f"participant {body.name!r} has isolation {scope.isolation.value!r}; it stays as it was created"
        )
    persona = text_of(session.read(body.persona)) if body.persona is not None else None
    has = Configuration(provider=body.provider, model=body.model, persona=persona)
    for field in ("provider", "model", "persona"):
        asked, is_ = getattr(wanted, field), getattr(has, field)
        if asked is not None and asked != is_:
            raise InvalidOption(
                f"participant {body.name!r} has {field} {shown(is_)}; use another name for {shown(asked)}"
            )
    return scope
