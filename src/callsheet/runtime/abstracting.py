"""Abstractive episodes: what a summariser makes of the span that an extract stands for, where it passes every check."""

from dataclasses import dataclass, replace

import msgspec

from callsheet.derive.guarding import Material
from callsheet.derive.summarising.extract import LIMIT
from callsheet.graph.enums import Relation
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, Episode, Message, PolicyDecision, ToolArtifact
from callsheet.graph.ports import Summariser
from callsheet.graph.query import LinkQuery
from callsheet.graph.record import Record
from callsheet.graph.values import Scope
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime import spans
from callsheet.runtime.admitting import Admitting
from callsheet.runtime.compacting import compactions
from callsheet.runtime.deciding import read_standings
from callsheet.runtime.drafting import Drafting, text_bytes
from callsheet.runtime.seeing import Sight, sight
from callsheet.runtime.session import Session, View
from callsheet.runtime.summarising import Plain, summarised, tokens
from callsheet.runtime.working.work import Outcome

KIND = "summary"
"""Of the decision that a summary was rejected."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Abstracted:
    """What came of having a span summarised."""

    outcome: Outcome
    #: The episode that stands for the span from here on; None: the extract does.
    episode: RecordId | None = None
    #: Why a summary was rejected; empty: none was.
    reason: str = ""


def abstract(
    session: Session, view: View, policy: PolicySetDocument, episode: RecordId, summariser: Summariser
) -> Abstracted:
    """Have the span of an extractive episode summarised, and append the summary as an episode of the same span.

    It is made from the messages and results themselves. The summariser is given what the set allows its provider, and
    is not called where that is nothing. A summary that does not pass is recorded as rejected, with its reason and
    nothing of what it says, and the extract stays. Raises what the summariser raises.
    """
    seen = sight(session, view)
    found = seen.get(episode)
    if found is None or not isinstance(found.body, Episode) or not _stands(seen, found):
        return Abstracted(outcome=Outcome.NOTHING)
    body = found.body
    made = summarised(
        summariser, _material(seen, policy, body, summariser), limit=LIMIT, conflict=_contradicted(seen, body)
    )
    done: list[Abstracted] = []

    def draft(drafting: Drafting) -> None:
        if not _stands(sight(session, view), found):
            done[:] = [Abstracted(outcome=Outcome.NOTHING)]
        elif made.flaw is not None and was_rejected(sight(session, view), found.id, summariser):
            done[:] = [Abstracted(outcome=Outcome.NOTHING)]  # Somebody else asked at the same time.
        elif made.flaw is not None:
            rejected(drafting, found, made.flaw.value, summariser, policy)
            done[:] = [Abstracted(outcome=Outcome.REFUSED, reason=made.flaw.value)]
        else:
            new = msgspec.structs.replace(
                body,
                summary=session.ledger.stash(session.owner, text_bytes(made.text)),
                method="abstractive",
                o200k=tokens(made.text),
                by=summariser.name,
            )
            id = drafting.add(new, kind="episode", scope=_scope(found, view), privacy=found.header.privacy)
            done[:] = [Abstracted(outcome=Outcome.DONE, episode=id)]

    session.append(view, draft)
    if done[0].outcome is Outcome.REFUSED:
        keep_in_mind(found.id, summariser)
    return done[0]


def rejected(
    drafting: Drafting, record: Record, reason: str, summariser: Summariser, policy: PolicySetDocument
) -> None:
    """Draft that a summary of what a record holds or stands for was rejected: it is not asked for again."""
    decision = PolicyDecision(
        kind=KIND,
        verdict="rejected",
        rule=f"{KIND}.{reason}.{summariser.name}",
        policy_set=policy.hash,
        governs=(record.id,),
    )
    scope = msgspec.structs.replace(record.header.scope, branch=drafting.tail.branch)
    drafting.add(decision, kind="decision", scope=scope)


def keep_in_mind(record: RecordId, summariser: Summariser) -> None:
    """Once it is on record that a summary was rejected: of one without a name no record tells whose it was."""
    if isinstance(summariser, Plain) and summariser.unnamed:
        summariser.rejected.add(record)


def was_rejected(seen: Sight, record: RecordId, summariser: Summariser) -> bool:
    """Whether this summariser's summary of a record was rejected before; of one without a name: while it is open."""
    if isinstance(summariser, Plain) and summariser.unnamed:
        return record in summariser.rejected
    session = seen.session
    query = LinkQuery(relation=Relation.CONSTRAINS, targets=(record,), lineage=seen.lineage)
    sources = [row.source for row in session.ledger.links(session.conversation.key, query)]
    found = session.ledger.get(session.conversation.key, sources) if sources else []
    decided = (one.body for one in found if isinstance(one.body, PolicyDecision))
    return any(one.kind == KIND and _by(one.rule) == summariser.name for one in decided)


def _by(rule: str) -> str:
    """Whose summary was rejected. Names may have dots; what stands before one has none."""
    return rule.removeprefix(f"{KIND}.").partition(".")[2]


def _stands(seen: Sight, record: Record) -> bool:
    """Whether an extract stands for its span still: nothing has taken its place."""
    body = record.body
    if not isinstance(body, Episode) or body.method == "abstractive":
        return False
    newest = (
        one
        for one in compactions(seen).newest("episode")
        if isinstance(one.body, Episode) and (one.body.first, one.body.last) == (body.first, body.last)
    )
    return next(newest, record).id == record.id


def _material(seen: Sight, policy: PolicySetDocument, body: Episode, summariser: Summariser) -> list[Material]:
    """What the summariser may be given of a span: messages as they were said, results by their lines."""
    session = seen.session
    boundary = Boundary(
        conversation=session.conversation.id,
        branch=seen.view.branch,
        participant=seen.view.participant,
        run=seen.view.carries.sub_agent,
        provider=summariser.provider,
        model=summariser.name,
        budget=summariser.window,
        now=session.clock.now(),
    )
    asked = replace(seen, boundary=boundary)
    records = [record for id in body.sources if (record := asked.get(id)) is not None and record.body is not None]
    admitting = Admitting(seen=asked, policy=policy)
    admitting.look(records)
    given = [record for record in records if admitting.judged(record).refusal is None]
    voices = spans.Voices.of(asked, policy, given)
    return [
        Material(voices.speaker(record), spans.text(asked, record))
        if isinstance(record.body, Message)
        else Material(voices.speaker(record), voices.gist(record), untrusted=True)
        for record in given
        if isinstance(record.body, Message | ToolArtifact)
    ]


def _contradicted(seen: Sight, body: Episode) -> bool:
    """Whether records of a span contradict each other by now."""
    session = seen.session
    standings = read_standings(session.ledger, session.conversation.key, seen.lineage, body.sources, seen.shows)
    within = set(body.sources)
    return any(within.intersection(standings.linked(Relation.CONFLICTS_WITH, id)) for id in body.sources)


def _scope(record: Record, view: View) -> Scope:
    return msgspec.structs.replace(record.header.scope, branch=view.branch)
