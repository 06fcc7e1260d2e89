"""B9, what retention has done to a record, and what can therefore still be shown of it."""

from callsheet.graph.enums import Level, Policy, Reason
from callsheet.graph.nodes import Boundary
from callsheet.policy.candidate import Candidate
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
