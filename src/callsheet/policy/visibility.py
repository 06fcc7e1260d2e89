"""B2, who may see a record. Its refusals are final.

Branches need no rule here: candidates are read along the lineage of the branch, so a sibling's records never arrive.
"""

from callsheet.graph.enums import Isolation, Level, Policy, Reason, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary
from callsheet.graph.record import Header
from callsheet.graph.values import Scope
from callsheet.policy.candidate import Candidate
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.verdict import Verdict, allow, limit

_AUDIT = Visibility.AUDIT
_PARTICIPANT = Visibility.PARTICIPANT

_VISIBLE = allow(Policy.VISIBILITY, "visible")
_RELEASED = allow(Policy.VISIBILITY, "released")
_SHARED = allow(Policy.VISIBILITY, "shared")
_WITHDRAWN = limit(Policy.VISIBILITY, "withdrawn", Level.NONE, Reason.NOT_RELEASED, hard=True)
_REFUSED = {
    reason: limit(Policy.VISIBILITY, reason.value, Level.NONE, reason, hard=True)
    for reason in (Reason.AUDIT_ONLY, Reason.NOT_RELEASED, Reason.PARTICIPANT_PRIVATE)
}


def judge(candidate: Candidate, boundary: Boundary, policy: PolicySetDocument) -> Verdict:
    """Whether this reader may see it. A release or a later share opens what is private, never what is for audit."""
    scope = candidate.scope
    reason = _refusal(scope, boundary)
    if reason is None:
        # Taken back counts for those alone who had it by the release: its owner and its own sub-agent keep it.
        taken_back = candidate.released is False and scope.sub_agent is not None and scope.sub_agent != boundary.run
        return _WITHDRAWN if taken_back else _VISIBLE
    if candidate.released and reason is not Reason.AUDIT_ONLY:
        return _RELEASED
    if candidate.shared and reason is Reason.PARTICIPANT_PRIVATE:
        return _SHARED
    return _WITHDRAWN if candidate.released is False and reason is not Reason.AUDIT_ONLY else _REFUSED[reason]


def refusal(header: Header, boundary: Boundary) -> Reason | None:
    """Why the record may not be seen at this boundary; None: it may.

    Audit-only records are for no model. A participant's private records are for their owner and for those on the
    share list, unless their isolation policy opens them. What has no owner belongs to the branch.
    """
    return _refusal(header.scope, boundary)


def _refusal(scope: Scope, boundary: Boundary) -> Reason | None:
    return hidden_from(scope, boundary.participant, boundary.run)


def hidden_from(scope: Scope, participant: RecordId | None, run: RecordId | None = None) -> Reason | None:
    """Why this participant, in this run, may not see what has this scope; None: it may."""
    if scope.visibility is _AUDIT:
        return Reason.AUDIT_ONLY
    if scope.sub_agent is not None and scope.sub_agent != run and not scope.releases:
        return Reason.NOT_RELEASED
    return Reason.PARTICIPANT_PRIVATE if private_to_another(scope, participant) else None


def private_to_another(scope: Scope, participant: RecordId | None) -> bool:
    """Whether a record is a participant's own and this one is neither its owner nor admitted."""
    if scope.visibility is not _PARTICIPANT or scope.owner is None or scope.owner == participant:
        return False
    if scope.isolation is Isolation.OPEN:
        return False
    return not (scope.isolation is Isolation.SHARE_LIST and participant in scope.shared_with)
