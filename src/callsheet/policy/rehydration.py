"""B6, compact form or exact bytes. Decided here first; storage is read only for what was chosen."""

from collections.abc import Iterable
from typing import NamedTuple

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


class Wanted(NamedTuple):
    """A result whose exact bytes are wanted."""

    record: RecordId
    bytes: int
    #: What failed and may be tried again, or waits.
    unsettled: bool = False


def within_budget(wanted: Iterable[Wanted], policy: PolicySetDocument) -> tuple[RecordId, ...]:
    """Which of these one request loads together under the byte budget, in the order given; others are skipped.

    What is not settled has its bytes first. One that is too large alone takes none from the others and is among them:
    `judge` says of it that it is.
    """
    asked = list(wanted)
    left = policy.rehydrate
    chosen: set[RecordId] = set()
    for one in sorted(asked, key=lambda one: not one.unsettled):
        alone = one.bytes > policy.rehydrate
        if alone or one.bytes <= left:
            chosen.add(one.record)
            left -= 0 if alone else one.bytes
    return tuple(one.record for one in asked if one.record in chosen)
