"""How memories and results bear on each other by somebody's word: replacement, contradiction, and being out of date."""

from collections.abc import Callable, Collection, Sequence

from msgspec.structs import replace

from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.changes import Conflicted, MarkedStale, Superseded
from callsheet.graph.enums import Isolation, Policy, Reason, Relation, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import PolicyDecision, ToolArtifact, ToolMemory
from callsheet.graph.query import LinkQuery
from callsheet.graph.record import Record
from callsheet.graph.values import Digest, Scope
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.resolving import resolve
from callsheet.runtime.seeing import Sight, sight
from callsheet.runtime.session import Session, View
from callsheet.runtime.unseen import Visible, unseen


def supersede(
    session: Session, view: View, current: str, replaced: Sequence[str], *, reason: str, policy_set: Digest
) -> RecordId:
    """See `Conversation.supersede`."""
    ids: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        seen = sight(session, view)
        new, old = found(seen, current), [owned(seen, one) for one in replaced]
        if not old:
            raise InvalidOption("supersede needs at least one record that is replaced")
        targets = tuple(dict.fromkeys(record.id for record in old))
        if new.id in targets:
            raise InvalidOption(f"{new.id} cannot replace itself")
        _apart_from_sources(new, targets)
        check_acyclic(seen, new.id, targets)
        scope = scope_of_word(view, [record.header.scope for record in (new, *old)])
        pair = (new.id, *targets)
        decided(drafting, scope, verdict="superseded", reason=Reason.SUPERSEDED, governs=pair, policy_set=policy_set)
        body = Superseded(current=new.id, replaced=targets, reason=_words(session, reason))
        ids[:] = [drafting.add(body, kind="superseded", scope=scope)]

    session.append(view, draft)
    return ids[0]


def conflict(session: Session, view: View, one: str, other: str, *, reason: str, policy_set: Digest) -> RecordId:
    """See `Conversation.conflict`."""
    ids: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        seen = sight(session, view)
        first, second = owned(seen, one), owned(seen, other)
        if first.id == second.id:
            raise InvalidOption(f"{first.id} cannot contradict itself")
        scope = scope_of_word(view, [first.header.scope, second.header.scope])
        pair = (first.id, second.id)
        decided(drafting, scope, verdict="contradicted", reason=Reason.CONFLICT, governs=pair, policy_set=policy_set)
        body = Conflicted(one=first.id, other=second.id, reason=_words(session, reason))
        ids[:] = [drafting.add(body, kind="conflicted", scope=scope)]

    session.append(view, draft)
    return ids[0]


def mark_stale(session: Session, view: View, references: Sequence[str], reason: str) -> RecordId:
    """See `Conversation.mark_stale`."""
    ids: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        seen = sight(session, view)
        records = [owned(seen, one) for one in references]
        if not records:
            raise InvalidOption("mark_stale needs at least one record")
        body = MarkedStale(
            records=tuple(dict.fromkeys(record.id for record in records)), reason=_words(session, reason)
        )
        scope = scope_of_word(view, [record.header.scope for record in records])
        ids[:] = [drafting.add(body, kind="marked_stale", scope=scope)]

    session.append(view, draft)
    return ids[0]


def decided(
    drafting: Drafting,
    scope: Scope,
    *,
    verdict: str,
    reason: Reason,
    governs: tuple[RecordId, ...],
    policy_set: Digest,
    by: str = "declared",
) -> None:
    """Draft the decision on a contradiction or replacement, and by what it was taken."""
    decision = PolicyDecision(
        policy=Policy.CONFLICT,
        verdict=verdict,
        reason=reason,
        rule=f"conflict.{by}",
        policy_set=policy_set,
        governs=governs,
    )
    drafting.add(decision, kind="decision", scope=scope)


def _words(session: Session, reason: str) -> str:
    return session.redacting.redaction.text(reason)


# ---------------------------------------------------------------------------------------------- records


def found(seen: Sight, reference: str) -> Record:
    """The memory or result that a reference means. Raises `NotFound` for what is not there or may not be seen."""
    known = seen.get(RecordId(reference))
    record = known if known is not None and isinstance(known.body, ToolMemory) else resolve(seen, reference)
    if not isinstance(record.body, ToolMemory | ToolArtifact):
        raise NotFound(f"{record.id} is no tool memory and no tool result")
    return record


def owned(seen: Sight, reference: str) -> Record:
    """The same, where it is this view's own or nobody's. Raises `InvalidOption` where it belongs to somebody else."""
    record = found(seen, reference)
    check_owner(seen.view, record)
    return record


def check_owner(view: View, record: Record) -> None:
    """Refuse a word on what belongs to somebody else."""
    owner = record.header.scope.owner
    if owner not in (None, view.participant):
        raise InvalidOption(f"{record.id} belongs to {owner}; its owner says what becomes of it")


def scope_of_word(view: View, scopes: Sequence[Scope]) -> Scope:
    """Where what a view says about records holds.

    A participant's word about what belongs to nobody in particular holds for that participant alone: for everybody
    the conversation itself speaks.
    """
    if view.participant is not None and any(scope.owner != view.participant for scope in scopes):
        return _own(view)
    return scope_over(view, scopes)


def _own(view: View) -> Scope:
    return replace(view.carries, branch=view.branch, owner=view.participant, visibility=Visibility.PARTICIPANT)


def scope_over(view: View, scopes: Sequence[Scope]) -> Scope:
    """Where what is made of several records may be seen: nowhere where one of them may not."""
    if view.participant is not None and any(scope.owner not in (None, view.participant) for scope in scopes):
        return _own(view)  # of what another has shown it
    private = [scope for scope in scopes if scope.visibility is Visibility.PARTICIPANT or scope.sub_agent is not None]
    if not private:
        return Scope(branch=view.branch, owner=view.participant, visibility=Visibility.BRANCH)
    if len(private) == 1:
        return replace(private[0], branch=view.branch)
    return replace(
        private[0],
        branch=view.branch,
        owner=view.participant,
        visibility=Visibility.PARTICIPANT,
        isolation=Isolation.ISOLATED,
        shared_with=(),
        releases=(),
    )


def _apart_from_sources(new: Record, replaced: Collection[RecordId]) -> None:
    sources = new.body.sources if isinstance(new.body, ToolMemory) else ()
    for id in sources:
        if id in replaced:
            raise InvalidOption(f"{new.id} rests on {id}, so it cannot replace it")


def check_acyclic(seen: Sight, current: RecordId, replaced: Collection[RecordId]) -> None:
    """Refuse what would make a record its own replacement: `current` is replaced, over some steps, by a `replaced`."""
    links = visible_links(seen)
    open_, known = list(replaced), set(replaced)
    while open_:
        following = links(LinkQuery(relation=Relation.SUPERSEDES, sources=tuple(open_), lineage=seen.lineage))
        open_ = [target for target in dict.fromkeys(following) if target not in known]
        if current in open_:
            raise InvalidOption(f"{current} is itself replaced, directly or over others, by what it would replace")
        known.update(open_)


def visible_links(seen: Sight) -> Callable[[LinkQuery], list[RecordId]]:
    """Asks for the targets of links from records, counting only what this view may see."""
    session, key = seen.session, seen.session.conversation.key
    hidden = unseen(session.ledger, key, seen.lineage, seen.shows)
    visible = Visible(ledger=session.ledger, key=key, lineage=seen.lineage, shows=seen.shows, hidden=hidden)
    return lambda query: [row.target for row in visible.links(session.ledger.links(key, query))]
