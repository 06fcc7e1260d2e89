"""What each kind of record does to the standing of things: the one definition that every store follows.

A record always becomes a node. Beside that it may set states of records (one value at a time) and link records.
Both count only where the record that caused them is visible, so each carries the branch and position of its cause.
"""

from functools import singledispatch

from callsheet.graph.changes import (
    Approval,
    BranchMerged,
    Calibrated,
    CallAttempt,
    CallResolved,
    Compacted,
    Conflicted,
    Counted,
    Erased,
    ImportProgress,
    IndexAdvanced,
    LifecycleChanged,
    LocatorsRepaired,
    MarkedStale,
    Pinned,
    Promoted,
    Reclassified,
    Released,
    RetentionApplied,
    RunEnded,
    Shared,
    Superseded,
    ToolsOffered,
    Withdrawn,
)
from callsheet.graph.enums import ArtifactStatus, CallStatus, Lifecycle, Relation, StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import (
    Branch,
    ContinuationCheckpoint,
    Conversation,
    Episode,
    Fact,
    KnowledgeDocument,
    Message,
    Milestone,
    ModelRun,
    PolicyDecision,
    ToolArtifact,
    ToolCall,
    ToolMemory,
    UserMemory,
)
from callsheet.graph.record import Body
from callsheet.graph.values import Value


class StateSet(Value):
    """`field` of `target` has `value` from here on. The target is a record id or a name within the stream."""

    target: str
    field: StateField
    #: None: the state is unset.
    value: str | None


class Link(Value):
    """source RELATION target."""

    relation: Relation
    source: RecordId
    target: RecordId


class Effects(Value):
    """What one record does beside existing. Each state is set once and each link is stated once."""

    states: tuple[StateSet, ...] = ()
    links: tuple[Link, ...] = ()


NOTHING = Effects()

UNSETTLED = frozenset(
    {ArtifactStatus.PENDING, ArtifactStatus.DEFERRED, ArtifactStatus.UNKNOWN, ArtifactStatus.AWAITING_APPROVAL}
)
"""An artifact with such a status does not settle its call."""


def effects(id: RecordId, body: Body) -> Effects:
    """The effects of a record with this id and body. Of several values for one state, the record's last word counts."""
    done = _effects.registry.get(type(body), _effects)(body, id)  # bodies have no subclasses to look for
    if len(done.states) < 2 and len(done.links) < 2:
        return done
    last = {(state.field, state.target): state for state in done.states}
    return Effects(states=tuple(last.values()), links=tuple(dict.fromkeys(done.links)))


@singledispatch
def _effects(body: Body, id: RecordId) -> Effects:
    return NOTHING


def _set(target: str, field: StateField, value: str | None) -> StateSet:
    return StateSet(target=target, field=field, value=value)


def _links(relation: Relation, source: RecordId, targets: tuple[RecordId, ...]) -> tuple[Link, ...]:
    return tuple(Link(relation=relation, source=source, target=target) for target in targets)


def _replaces(current: RecordId, replaced: tuple[RecordId, ...]) -> tuple[Link, ...]:
    return _links(Relation.SUPERSEDES, current, replaced)


def _event(id: RecordId, event: str | None) -> tuple[StateSet, ...]:
    return (_set(event, StateField.EVENT, id),) if event is not None else ()


def _mutual(one: RecordId, other: RecordId) -> tuple[Link, ...]:
    return _links(Relation.CONFLICTS_WITH, one, (other,)) + _links(Relation.CONFLICTS_WITH, other, (one,))


@_effects.register
def _(body: Conversation, id: RecordId) -> Effects:
    return Effects(states=(_set("", StateField.STATUS, "opened"),))


@_effects.register
def _(body: Branch, id: RecordId) -> Effects:
    return Effects(links=_links(Relation.INHERITS, id, (body.parent,))) if body.parent is not None else NOTHING


@_effects.register
def _(body: Message, id: RecordId) -> Effects:
    states = (_set(id, StateField.INSTRUCTION, body.instruction.value),) if body.instruction is not None else ()
    return Effects(states=states + _event(id, body.event), links=_links(Relation.CITES, id, body.cites))


@_effects.register
def _(body: ModelRun, id: RecordId) -> Effects:
    links = _links(Relation.SHOWN, id, (body.sheet,)) if body.sheet is not None else ()
    if body.trigger is not None:
        links += _links(Relation.TRIGGERED_BY, id, (body.trigger,))
    return Effects(links=links)


@_effects.register
def _(body: ToolCall, id: RecordId) -> Effects:
    return Effects(states=(_set(id, StateField.STATUS, CallStatus.OPEN.value),))


@_effects.register
def _(body: ToolArtifact, id: RecordId) -> Effects:
    links = _links(Relation.RECALLS, id, (body.recalls,)) if body.recalls is not None else ()
    states = _event(id, body.event)
    if body.call is not None:
        links += _links(Relation.ANSWERS, id, (body.call,))
        if body.status not in UNSETTLED:
            states += (_set(body.call, StateField.STATUS, CallStatus.ANSWERED.value),)
    return Effects(links=links, states=states)


@_effects.register
def _(body: ToolMemory, id: RecordId) -> Effects:
    links = _links(Relation.DERIVED_FROM, id, body.sources) + _replaces(id, body.supersedes)
    for other in body.conflicts_with:
        links += _mutual(id, other)
    return Effects(links=links)


@_effects.register
def _(body: UserMemory, id: RecordId) -> Effects:
    sources = (*((body.source,) if body.source is not None else ()), *body.sources)
    return Effects(links=_links(Relation.DERIVED_FROM, id, sources) + _replaces(id, body.supersedes))


@_effects.register
def _(body: Fact, id: RecordId) -> Effects:
    return Effects(links=_links(Relation.DERIVED_FROM, id, body.sources) + _replaces(id, body.supersedes))


@_effects.register
def _(body: Milestone, id: RecordId) -> Effects:
    return Effects(links=_links(Relation.DERIVED_FROM, id, body.sources))


@_effects.register
def _(body: Episode, id: RecordId) -> Effects:
    return Effects(links=_links(Relation.SUMMARISES, id, body.sources))


@_effects.register
def _(body: KnowledgeDocument, id: RecordId) -> Effects:
    return Effects(links=_replaces(id, body.supersedes))


@_effects.register
def _(body: ContinuationCheckpoint, id: RecordId) -> Effects:
    run = (body.run,) if body.run is not None else ()
    return Effects(links=_links(Relation.RESTORES, id, run + body.sheets))


@_effects.register
def _(body: PolicyDecision, id: RecordId) -> Effects:
    return Effects(links=_links(Relation.CONSTRAINS, id, body.governs))


@_effects.register
def _(body: Superseded, id: RecordId) -> Effects:
    ended = _each(body.replaced, StateField.UNTIL, str(body.at)).states if body.at is not None else ()
    return Effects(states=ended, links=_replaces(body.current, body.replaced))


@_effects.register
def _(body: Conflicted, id: RecordId) -> Effects:
    return Effects(links=_mutual(body.one, body.other))


def _granted(record: RecordId, to: RecordId, granted: str | None) -> StateSet:
    return _set(f"{record} {to}", StateField.RELEASE, granted)


@_effects.register
def _(body: Released, id: RecordId) -> Effects:
    return Effects(states=tuple(_granted(record, to, id) for record in body.records for to in body.to))


@_effects.register
def _(body: Withdrawn, id: RecordId) -> Effects:
    return Effects(states=tuple(_granted(record, to, None) for record in body.records for to in body.from_))


@_effects.register
def _(body: Shared, id: RecordId) -> Effects:
    links: tuple[Link, ...] = ()
    for record in body.records:
        links += _links(Relation.SHARED_WITH, record, body.participants)
    return Effects(links=links)


@_effects.register
def _(body: CallResolved, id: RecordId) -> Effects:
    return Effects(states=(_set(body.call, StateField.STATUS, body.status.value),))


@_effects.register
def _(body: RunEnded, id: RecordId) -> Effects:
    return Effects(states=(_set(body.run, StateField.STATUS, body.status.value),))


@_effects.register
def _(body: LocatorsRepaired, id: RecordId) -> Effects:
    states = (_set(body.memory, StateField.LOCATORS, id),)
    return Effects(states=states if body.found else (*states, _set(body.memory, StateField.STALE, id)))


def _each(records: tuple[RecordId, ...], field: StateField, value: str | None) -> Effects:
    return Effects(states=tuple(_set(record, field, value) for record in records))


@_effects.register
def _(body: MarkedStale, id: RecordId) -> Effects:
    return _each(body.records, StateField.STALE, id)


@_effects.register
def _(body: Promoted, id: RecordId) -> Effects:
    return Effects(states=(_set(body.artifact, StateField.PROMOTION, body.memory or ""),))


@_effects.register
def _(body: Compacted, id: RecordId) -> Effects:
    return Effects(states=(_set(body.episode, StateField.SPAN, f"{body.first}-{body.last}"),))


@_effects.register
def _(body: Calibrated, id: RecordId) -> Effects:
    return Effects(states=(_set(body.counter, StateField.CALIBRATION, id),))


@_effects.register
def _(body: IndexAdvanced, id: RecordId) -> Effects:
    return Effects(states=(_set(f"{body.index} {body.stream}", StateField.INDEX, str(body.position)),))


@_effects.register
def _(body: LifecycleChanged, id: RecordId) -> Effects:
    put_away = (_set("", StateField.ARCHIVED, id),) if body.status is Lifecycle.ARCHIVED else ()
    return Effects(states=(_set("", StateField.STATUS, body.status.value), *put_away))


@_effects.register
def _(body: Counted, id: RecordId) -> Effects:
    return Effects(states=(_set("", StateField.COUNTED, id),))


@_effects.register
def _(body: Reclassified, id: RecordId) -> Effects:
    return _each(body.records, StateField.PRIVACY, body.privacy.value)


@_effects.register
def _(body: RetentionApplied, id: RecordId) -> Effects:
    return _each(body.records, StateField.RETENTION, body.action)


@_effects.register
def _(body: Erased, id: RecordId) -> Effects:
    return _each(body.records, StateField.ERASED, id)


@_effects.register
def _(body: Pinned, id: RecordId) -> Effects:
    return _each(body.records, StateField.PINNED, "" if body.pinned else None)


@_effects.register
def _(body: ToolsOffered, id: RecordId) -> Effects:
    return Effects(states=(_set("", StateField.TOOLS, id),))


@_effects.register
def _(body: Approval, id: RecordId) -> Effects:
    return Effects(states=(_set(body.call, StateField.APPROVAL, "approved" if body.approved else "refused"),))


@_effects.register
def _(body: CallAttempt, id: RecordId) -> Effects:
    return Effects(states=(_set(body.call, StateField.EXECUTION, id),))


@_effects.register
def _(body: BranchMerged, id: RecordId) -> Effects:
    return Effects(links=_links(Relation.MERGES, id, (body.branch, *body.records)))


@_effects.register
def _(body: ImportProgress, id: RecordId) -> Effects:
    return Effects(states=(_set(body.source, StateField.IMPORT, id),))
