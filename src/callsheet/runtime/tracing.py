"""The detailed trace of a past request: made again from the records as of its cut, and told candidate by candidate."""

from collections.abc import Iterator

from callsheet.explain import trace as tracing
from callsheet.explain.difference import where_most
from callsheet.explain.facts import Worth, known, worth
from callsheet.explain.trace import Arrival, Candidacy, Planned, Trace
from callsheet.graph.enums import Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.policy.candidate import Candidate
from callsheet.policy.deciding import decide
from callsheet.policy.verdict import Decision
from callsheet.runtime.knowing import facts, rules_of
from callsheet.runtime.releasing import refused
from callsheet.runtime.revisiting import Revisited, revisit
from callsheet.runtime.ruling import ruling
from callsheet.runtime.session import Session
from callsheet.wire.caching import caching

_AT_A_TIME = 500
"""Records read at once in search of those that were refused."""


def trace(session: Session, id: RecordId) -> Trace:
    """The trace of one request. Takes as long as assembling it, and on a first request reads all its branch saw.

    Raises `NotFound`, `PolicyError` for a policy set that is not known any more, and what assembling raises.
    """
    seen = revisit(session.place, id)
    made = seen.made
    boundary, policy, gathered = seen.boundary, seen.policy, made.gathered
    step = made.plan.rewrite.value if made.plan.rewrite is not None else ""
    return Trace(
        sheet=id,
        boundary=boundary,
        policy_set=str(policy),
        same=made.plan.selections == seen.whole.selected and step == seen.sheet.rewritten,
        rewritten=step,
        timings=seen.sheet.timings,
        planned=Planned(
            turn=gathered.turn,
            episode=gathered.episode,
            reuse=gathered.habit.late / gathered.results if gathered.results else 0.0,
            cached=caching(boundary.provider, boundary.model).share,
            horizon=policy.horizon,
            miss=policy.miss,
            carried=seen.sheet.carried,
            unlooked=gathered.older,
        ),
        candidates=tuple(sorted((*_weighed(seen), *_refused(seen)), key=lambda one: one.known.position)),
        rules=tuple(rules_of(seen).items()),
    )


def worth_of(seen: Revisited, id: RecordId) -> Worth | None:
    """What a result was worth to this request; None: planning did not weigh it."""
    gathered, boundary = seen.made.gathered, seen.boundary
    item = gathered.items.get(id)
    if item is None or not item.is_result or item.second_hand is not None:
        return None
    return worth(
        item,
        needed=seen.needed,
        turn=gathered.turn,
        habit=gathered.habit,
        cached=caching(boundary.provider, boundary.model).share,
        policy=seen.policy,
    )


# ---------------------------------------------------------------------------------------------- what was weighed


def _weighed(seen: Revisited) -> Iterator[Candidacy]:
    """The candidates that planning chose among."""
    gathered, plan = seen.made.gathered, seen.made.plan
    told = facts(seen, gathered.items)
    places = where_most(plan.selections)
    stood = {selection.record for selection in (gathered.standing.selections if gathered.standing else ())}
    new = frozenset(gathered.fresh.records)
    covered = {id: item.id for item in gathered.items.values() if item.id in places for id in item.covers}
    for id, item in gathered.items.items():
        if id in stood:
            arrival = Arrival.STOOD
        elif item.covers or item.second_hand is not None:
            arrival = Arrival.MEMORY
        else:
            arrival = Arrival.NEW if id in new else Arrival.BROUGHT
        yield tracing.candidacy(
            told[id],
            seen.judged[id],
            arrival=arrival,
            turn=item.turn,
            selection=places.get(id),
            left_out=plan.left_out.get(id, Reason.REMEMBERED if id in covered else None),
            weights=tracing.weights(item, worth_of(seen, id)),
        )


# ---------------------------------------------------------------------------------------------- what was refused


def _refused(seen: Revisited) -> Iterator[Candidacy]:
    """What is new on the lineage, or stood before, and is hidden from the reader or erased."""
    upto = seen.base.sheet.cut.at(seen.place.conversation.id) if seen.base is not None else 0
    records = [*_gone(seen), *_hidden(seen, upto)]
    decisions = seen.decisions((record.id for record in records), {})
    for record in records:
        decision = decisions.get(record.id)
        yield tracing.candidacy(
            known(record),
            decision if decision is not None else _erased(seen, record),
            arrival=Arrival.STOOD if record.position <= upto else Arrival.NEW,
            turn=0,
            selection=None,
            left_out=None,
            weights=None,
            erased=record.body is None,
        )


def _hidden(seen: Revisited, after: int) -> Iterator[Record]:
    place = seen.place
    while True:
        query = NodeQuery(kinds=("message", "artifact"), lineage=seen.lineage, after=after, limit=_AT_A_TIME)
        found = place.ledger.nodes(place.conversation.key, query)
        yield from (record for record in found if refused(record, seen.boundary, seen.opened) is not None)
        if len(found) < _AT_A_TIME:
            return
        after = found[-1].position


def _gone(seen: Revisited) -> list[Record]:
    """What stood in the request that this one goes on from and may not be looked at any more."""
    stood = dict.fromkeys(one.record for one in (seen.base.selected if seen.base is not None else ()))
    ids = tuple(id for id in stood if id not in seen.made.gathered.items)
    return seen.place.ledger.get(seen.place.conversation.key, ids) if ids else []


def _erased(seen: Revisited, record: Record) -> Decision:
    """What the policies say of what has no content any more."""
    header = record.header
    left = Candidate(record=record.id, kind=header.kind, scope=header.scope, privacy=header.privacy, erased=True)
    return decide(left, seen.boundary, seen.policy, ruling(seen.policy, seen.boundary))
