"""Who may see a record: the visibility policy in its basic form. Its refusals are final.

Branches need no rule here: candidates are read along the lineage of the branch, so a sibling's records never arrive.
"""

from callsheet.graph.enums import Isolation, Reason, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary
from callsheet.graph.record import Header
from callsheet.graph.values import Scope


def refusal(header: Header, boundary: Boundary) -> Reason | None:
    """Why the record may not be seen at this boundary; None: it may.

    Audit-only records are for no model. A participant's private records are for their owner and for those on the
    share list, unless their isolation policy opens them. What has no owner belongs to the branch.
    """
    scope = header.scope
    if scope.visibility is Visibility.AUDIT:
        return Reason.AUDIT_ONLY
    if scope.sub_agent is not None and scope.sub_agent != boundary.run and not scope.releases:
        return Reason.NOT_RELEASED
    return Reason.PARTICIPANT_PRIVATE if private_to_another(scope, boundary.participant) else None


def private_to_another(scope: Scope, participant: RecordId | None) -> bool:
    """Whether a record is a participant's own and this one is neither its owner nor admitted."""
    if scope.visibility is not Visibility.PARTICIPANT or scope.owner is None or scope.owner == participant:
        return False
    if scope.isolation is Isolation.OPEN:
        return False
    return not (scope.isolation is Isolation.SHARE_LIST and participant in scope.shared_with)
