"""B9, what retention has done to a record, and what can therefore still be shown of it."""

from callsheet.graph.enums import Level, Policy, Reason, Visibility
from callsheet.graph.nodes import Boundary
from callsheet.graph.times import Instant
from callsheet.graph.values import Value
from callsheet.policy.candidate import Candidate
from callsheet.policy.context import context_class
from callsheet.policy.keeping import NEVER_AGED
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.settings import Retention
from callsheet.policy.verdict import Verdict, allow, limit

_KEPT = allow(Policy.RETENTION, "kept")
_ERASED = limit(Policy.RETENTION, "erased", Level.NONE, Reason.ERASED, hard=True)
_STATES = {
    Retention.KEEP: _KEPT,
    #: Its bytes lie elsewhere and can be read.
    Retention.OFFLOAD: allow(Policy.RETENTION, "offloaded"),
    Retention.TRUNCATE: limit(Policy.RETENTION, "truncated", Level.GIST, Reason.RAW_REFUSED, hard=False),
    Retention.ARCHIVE: limit(Policy.RETENTION, "archived", Level.REF, Reason.RAW_REFUSED, hard=False),
    Retention.REDACT: limit(Policy.RETENTION, "redacted", Level.SAFE, Reason.ERASED, hard=True),
    Retention.HASH_ONLY: limit(Policy.RETENTION, "hash_only", Level.REF, Reason.ERASED, hard=True),
    Retention.DELETE: limit(Policy.RETENTION, "deleted", Level.NONE, Reason.ERASED, hard=True),
}


def judge(candidate: Candidate, boundary: Boundary, policy: PolicySetDocument) -> Verdict:
    """What is gone cannot be shown, whatever protects it; what was truncated or archived stands shorter."""
    return _ERASED if candidate.erased else _STATES[candidate.retention]


class Due(Value):
    """What is to become of a record, and which rule says so. Nothing has been done yet."""

    action: Retention
    rule: str


_HARSHNESS = {action: rank for rank, action in enumerate(_STATES)}
_SECOND = 1_000_000


def due(candidate: Candidate, recorded: Instant, now: Instant, policy: PolicySetDocument) -> Due:
    """What retention is due, by what its tool declares, and by its class and age; `recorded`: since when it is there.

    What is pinned, not settled, or for auditors is kept: of audit-only records other rules decide. Between the tool's
    word and the set's the harsher counts, and what was done once is never taken back. Among the ages of one class the
    last that is reached counts.
    """
    if candidate.erased:
        return _due(Retention.DELETE, "erased")
    held = candidate.retention
    if candidate.scope.visibility is Visibility.AUDIT:
        return _due(held, "audit_only")
    of = context_class(candidate.kind, call=candidate.call, outcome=candidate.outcome, resolved=candidate.resolved)
    if of in NEVER_AGED:
        return _due(held, "unsettled" if of.value == "recovery" else "policy")
    if candidate.pinned:
        return _due(held, "pinned")
    found = _due(held, "kept")
    declared = candidate.contract.retention if candidate.contract is not None else None
    if declared is not None:
        found = _harsher(found, _due(declared, "contract"))
    age = max(0, now - recorded)
    reached = [one for one in policy.retention if one.of is of and age >= one.after * _SECOND]
    if reached:
        last = max(reached, key=lambda one: one.after)
        found = _harsher(found, _due(last.action, f"{of.value}_after_{last.after}"))
    return found


def _harsher(one: Due, other: Due) -> Due:
    return other if _HARSHNESS[other.action] > _HARSHNESS[one.action] else one


def _due(action: Retention, rule: str) -> Due:
    return Due(action=action, rule=f"retention.{rule}")
