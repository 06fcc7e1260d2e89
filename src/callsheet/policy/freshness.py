"""B4, whether an observation still speaks for the present. What does not is never shown as current fact."""

from callsheet.graph.enums import Freshness, Level, Policy, Reason
from callsheet.graph.nodes import Boundary
from callsheet.policy.candidate import Candidate
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
    elif freshness in _LASTING:
        return _DURABLE
    elif freshness is _SESSION and candidate.session_over:
        found = _SESSION_OVER
    elif freshness is not None and _aged(candidate, freshness, boundary, policy):
        found = _AGED
    else:
        return _FRESH
    return _EXACT if candidate.exact_wanted else found


def _aged(candidate: Candidate, freshness: Freshness, boundary: Boundary, policy: PolicySetDocument) -> bool:
    if candidate.stale_after is not None and candidate.observed is not None:
        return boundary.now >= candidate.stale_after
    seconds = policy.freshness.of(freshness)
    if seconds is None:
        return False
    if candidate.observed is None:
        return candidate.turn_age * TURN >= seconds
    return boundary.now - candidate.observed >= seconds * SECOND
