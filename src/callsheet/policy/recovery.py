"""B8, what must stay in view: instructions, the last turns, what is pinned, and what is not settled yet.

Later policies and the budget may show it in less detail, down to the level given here, and never leave it out.
"""

import math
from enum import StrEnum

from callsheet.graph.enums import INSTRUCTING, ArtifactStatus, CallStatus, Level, Policy, Role
from callsheet.graph.nodes import Boundary
from callsheet.graph.times import Instant
from callsheet.graph.values import RetryContract, Value
from callsheet.policy.candidate import Candidate
from callsheet.policy.context import UNSETTLED
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.verdict import Verdict, allow, protect

#: An instruction that is shortened is another instruction.
_INSTRUCTION = protect(Policy.RECOVERY, "instruction", Level.RAW)
_NEWEST = protect(Policy.RECOVERY, "newest_user_turn", Level.RAW)
_VERBATIM = protect(Policy.RECOVERY, "verbatim", Level.RAW)
_UNRESOLVED = protect(Policy.RECOVERY, "unresolved", Level.GIST)
_RETRY = protect(Policy.RECOVERY, "retry", Level.GIST)
_RETRY_OVER = protect(Policy.RECOVERY, "retry_over", Level.GIST)
RECENT = protect(Policy.RECOVERY, "recent_turn", Level.GIST)
_PINNED = protect(Policy.RECOVERY, "pinned", Level.REF)
_FREE = allow(Policy.RECOVERY, "settled")

_USER = Role.USER
_OPEN = CallStatus.OPEN
_ABANDONED = CallStatus.ABANDONED


def judge(candidate: Candidate, boundary: Boundary, policy: PolicySetDocument) -> Verdict:
    """The strongest protection that applies. An instruction that was replaced is not protected as one."""
    if policy.verbatim:
        return _VERBATIM
    if candidate.role is not None:
        if candidate.role in INSTRUCTING:
            return _FREE if candidate.superseded_by else _INSTRUCTION
        if candidate.role is _USER and candidate.turn_age == 0:
            return _NEWEST
    if unresolved(candidate):
        if candidate.retry is None:
            return _UNRESOLVED
        # What may not be tried again is not settled by that: somebody still has to know.
        return _RETRY_OVER if _spent(candidate.retry) else _RETRY
    if candidate.turn_age < policy.turns:
        return RECENT
    return _PINNED if candidate.pinned else _FREE


def unresolved(candidate: Candidate) -> bool:
    """Whether a call is still open, or failed and may be tried again. Given up on counts as resolved."""
    if candidate.resolved or candidate.call is _ABANDONED:
        return False
    return candidate.call is _OPEN or candidate.outcome in UNSETTLED


class Retry(StrEnum):
    """What may be done about something that failed or stayed open."""

    NOW = "now"
    #: At a time that is given.
    LATER = "later"
    #: The limit of attempts is reached.
    EXHAUSTED = "exhausted"
    #: It may have taken effect, and repeating it may do harm: look or ask before anything is repeated.
    RECONCILE = "reconcile"
    #: A person has to say so first.
    APPROVAL = "approval"
    #: There is nothing to repeat.
    SETTLED = "settled"


class RetryVerdict(Value):
    """What may be done, and when."""

    retry: Retry
    #: The earliest time; None: at once, or never.
    at: Instant | None = None
    #: Attempts that are left; None: no limit was declared.
    left: int | None = None


MOST_WAIT = 86_400.0
"""Seconds that back-off grows to at most."""


def retry(candidate: Candidate, failed: Instant, now: Instant) -> RetryVerdict:
    """Whether it may be tried again, under its retry contract; `failed`: when it last failed.

    The wait doubles with each attempt that was made, up to a day; a time that the other side gave goes over it. What is
    not declared safe is not repeated where it may have taken effect: timed out, unknown, or without an answer.
    """
    if not unresolved(candidate):
        return RetryVerdict(retry=Retry.SETTLED)
    if candidate.outcome is ArtifactStatus.AWAITING_APPROVAL:
        return RetryVerdict(retry=Retry.APPROVAL)
    terms = candidate.retry if candidate.retry is not None else RetryContract()
    left = max(0, terms.limit - terms.attempts) if terms.limit is not None else None
    if left == 0:
        return RetryVerdict(retry=Retry.EXHAUSTED, left=0)
    safe = terms.safe if terms.safe is not None else terms.idempotency_key is not None
    if not safe and candidate.outcome is not ArtifactStatus.FAILED:
        return RetryVerdict(retry=Retry.RECONCILE, left=left)
    if not safe and terms.safe is False:
        return RetryVerdict(retry=Retry.RECONCILE, left=left)
    due = terms.retry_after if terms.retry_after is not None else _after_wait(terms, failed)
    if due > now:
        return RetryVerdict(retry=Retry.LATER, at=due, left=left)
    return RetryVerdict(retry=Retry.NOW, left=left)


def _spent(terms: RetryContract) -> bool:
    return terms.limit is not None and terms.attempts >= terms.limit


def _after_wait(terms: RetryContract, failed: Instant) -> Instant:
    first = terms.backoff or 0.0
    doubled = min(max(0, terms.attempts - 1), 40)
    wait = min(max(first, 0.0) * 2**doubled, MOST_WAIT) if math.isfinite(first) else MOST_WAIT
    return Instant(failed + int(wait * 1_000_000))
