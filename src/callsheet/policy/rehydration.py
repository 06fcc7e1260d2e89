"""B6, compact form or exact bytes. Decided here first; storage is read only for what was chosen."""

from collections.abc import Iterable

from callsheet.graph.enums import Level, Policy, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary
from callsheet.policy.candidate import Candidate
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.settings import HISTORY_LEVELS
from callsheet.policy.verdict import Verdict, allow, limit

_RAW = Level.RAW

_VERBATIM = allow(Policy.REHYDRATION, "verbatim")
_TEXT = allow(Policy.REHYDRATION, "text")
_WANTED = allow(Policy.REHYDRATION, "exact_wanted")
_COMPACT = {
    level: limit(Policy.REHYDRATION, "compact_is_enough", level, Reason.INCLUDED, hard=False)
    for level in HISTORY_LEVELS
}
_TOO_LARGE = {
    level: limit(Policy.REHYDRATION, "byte_budget", level, Reason.RAW_REFUSED, hard=False) for level in HISTORY_LEVELS
}


def judge(candidate: Candidate, boundary: Boundary, policy: PolicySetDocument) -> Verdict:
    """Exact bytes of an artifact only if they are wanted and fit the byte budget; what is not an artifact is text."""
    if policy.history is _RAW:
        return _VERBATIM
    if candidate.kind != "artifact":
        return _TEXT
    if not candidate.exact_wanted:
        return _COMPACT[policy.history]
    return _WANTED if candidate.bytes <= policy.rehydrate else _TOO_LARGE[policy.history]


def within_budget(wanted: Iterable[Candidate], policy: PolicySetDocument) -> frozenset[RecordId]:
    """Which of these may be loaded together under the byte budget, in the order given; what does not fit is skipped."""
    left = policy.rehydrate
    chosen = []
    for candidate in wanted:
        if candidate.bytes <= left:
            left -= candidate.bytes
            chosen.append(candidate.record)
    return frozenset(chosen)
