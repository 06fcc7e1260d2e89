"""B6, compact form or exact bytes. Decided here first; storage is read only for what was chosen."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from callsheet.graph.enums import Level, Policy, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary
from callsheet.policy.candidate import Candidate
from callsheet.policy.freshness import recheck
from callsheet.policy.recovery import unresolved
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.settings import HISTORY_LEVELS
from callsheet.policy.verdict import DETAIL, Decision, Verdict, allow, limit

_RAW = Level.RAW

_VERBATIM = allow(Policy.REHYDRATION, "verbatim")
_TEXT = allow(Policy.REHYDRATION, "text")
_WANTED = allow(Policy.REHYDRATION, "exact_wanted")
EXACT = _WANTED.rule
"""The rule by which exact bytes are given because they were asked for."""

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
    """Which of these may be loaded together under the byte budget; what does not fit is skipped.

    What is not settled comes first, the rest in the order given.
    """
    wanted = sorted(wanted, key=lambda candidate: not unresolved(candidate))
    left = policy.rehydrate
    chosen = []
    for candidate in wanted:
        if candidate.bytes <= left:
            left -= candidate.bytes
            chosen.append(candidate.record)
    return frozenset(chosen)


def over_budget(policy: PolicySetDocument) -> Verdict:
    """The verdict on exact bytes that were wanted and do not fit beside the others."""
    return _TOO_LARGE[policy.history]


class Rung(StrEnum):
    """What can be given instead of exact bytes, best first."""

    RAW = "raw"
    COMPACT = "compact"
    REFERENCE = "reference"
    STALE_MARKER = "stale_marker"
    RECHECK = "recheck"
    NOTHING = "nothing"


def ladder(candidate: Candidate, decision: Decision) -> Sequence[Rung]:
    """What may be given of it, best first: at each step down less is told, and the last is always nothing.

    A hint how to check again names tools, never content, so it stands wherever the record itself may be told of.
    """
    if decision.refused:
        return (Rung.NOTHING,)
    most = DETAIL[decision.most]
    found = [rung for rung, level in _RUNGS if most <= DETAIL[level]]
    if decision.most is Level.STALE or candidate.marked_stale:
        found.append(Rung.STALE_MARKER)
    if recheck(candidate):
        found.append(Rung.RECHECK)
    return (*found, Rung.NOTHING)


_RUNGS = ((Rung.RAW, Level.RAW), (Rung.COMPACT, Level.GIST), (Rung.REFERENCE, Level.REF))
