"""B4, whether an observation still speaks for the present. What does not is never shown as current fact."""

from collections.abc import Iterable

from callsheet.graph.enums import Freshness, Level, Policy, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary
from callsheet.policy.candidate import Candidate
from callsheet.policy.contracts import ToolContract
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.verdict import Verdict, allow, limit

SECOND = 1_000_000
TURN = 60
"""Seconds that a turn counts for where records carry no times."""

_AGELESS = allow(Policy.FRESHNESS, "ageless")
_FRESH = allow(Policy.FRESHNESS, "fresh")
_DURABLE = allow(Policy.FRESHNESS, "durable")
#: Asked for exactly as it was: then it is evidence of that time, and no claim about now.
_EXACT = allow(Policy.FRESHNESS, "exact_evidence", Reason.STALE)
_MARKED = limit(Policy.FRESHNESS, "marked", Level.STALE, Reason.STALE, hard=False)
_AGED = limit(Policy.FRESHNESS, "aged", Level.STALE, Reason.STALE, hard=False)
_SESSION_OVER = limit(Policy.FRESHNESS, "session_over", Level.STALE, Reason.STALE, hard=False)

_LASTING = (Freshness.DURABLE, Freshness.PERMANENT)
_SESSION = Freshness.SESSION


def judge(candidate: Candidate, boundary: Boundary, policy: PolicySetDocument) -> Verdict:
    """Stale if it was marked so, if its session is over, or by age; then at most `Level.STALE`."""
    freshness = candidate.freshness
    if policy.verbatim or (freshness is None and not candidate.marked_stale):
        return _AGELESS
    if candidate.marked_stale:
        found = _MARKED
    elif freshness in _LASTING and not _dated(candidate, freshness, policy):
        return _DURABLE
    elif freshness is _SESSION and candidate.session_over:
        found = _SESSION_OVER
    elif freshness is not None and _aged(candidate, freshness, boundary, policy):
        found = _AGED
    else:
        return _FRESH
    return _EXACT if candidate.exact_wanted else found


def _aged(candidate: Candidate, freshness: Freshness, boundary: Boundary, policy: PolicySetDocument) -> bool:
    observed, own = candidate.observed, candidate.stale_after
    seconds = policy.freshness.of(freshness)
    if observed is not None and own is not None:
        seconds = (own - observed) // SECOND
    if seconds is None:
        return False
    if observed is None or observed > boundary.now:
        # A time that is still to come is that of a wrong clock.
        return candidate.turn_age * TURN >= seconds
    return boundary.now >= own if own is not None else boundary.now - observed >= seconds * SECOND


def _dated(candidate: Candidate, freshness: Freshness, policy: PolicySetDocument) -> bool:
    """Whether time makes something lasting stale after all: because it, its tool or the set says when."""
    return candidate.stale_after is not None or policy.freshness.of(freshness) is not None


def recheck(candidate: Candidate) -> tuple[str, ...]:
    """The tools that tell whether it still holds, best first; empty: none is known, or it cannot go out of date.

    Those that its tool's owner declared. Else, for what ages by itself (volatile, session, time-bounded), the same tool
    once more, where that is declared to do no harm. What is durable is looked up only where somebody said how, and what
    is permanent is not looked up at all.
    """
    freshness, contract = candidate.freshness, candidate.contract
    if contract is None or freshness is Freshness.PERMANENT:
        return ()
    if contract.recheck is not None:
        return contract.recheck
    if freshness is None or freshness is Freshness.DURABLE or contract.side_effects is not False:
        return ()
    return (contract.name,)


def rechecks(declared: Iterable[ToolContract]) -> dict[str, tuple[str, ...]]:
    """The same by tool, for what ages by itself; tools of which nothing is known are left out."""
    aging = Freshness.TIME_BOUNDED
    found = {
        one.name: recheck(
            Candidate(record=RecordId(""), kind="artifact", freshness=one.freshness or aging, contract=one)
        )
        for one in declared
    }
    return {tool: tools for tool, tools in found.items() if tools}
