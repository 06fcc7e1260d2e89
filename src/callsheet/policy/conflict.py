"""B7, contradiction and replacement. A relation counts only if the record that causes it is visible here.

Recency alone resolves nothing: a replacement is a record of its own, made on provenance and confidence.
"""

from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from callsheet.graph.enums import Level, Policy, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary
from callsheet.policy.candidate import Candidate
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.verdict import Verdict, allow, limit

_CURRENT = allow(Policy.CONFLICT, "current")
#: Both sides may stand, each saying that the other does.
_CONTRADICTED = allow(Policy.CONFLICT, "contradicted", Reason.CONFLICT)
_EXACT = allow(Policy.CONFLICT, "exact_evidence", Reason.SUPERSEDED)
_SUPERSEDED = limit(Policy.CONFLICT, "superseded", Level.NONE, Reason.SUPERSEDED, hard=False)


def judge(candidate: Candidate, boundary: Boundary, policy: PolicySetDocument) -> Verdict:
    """Left out if something visible replaces it, unless its exact bytes were asked for; conflicts are both kept."""
    if candidate.superseded_by and not policy.verbatim:
        return _EXACT if candidate.exact_wanted else _SUPERSEDED
    return _CONTRADICTED if candidate.conflicts_with else _CURRENT


class Claim(NamedTuple):
    """One record's claim on another: `source` replaces `target`, or contradicts it, and `cause` is what says so."""

    cause: RecordId
    source: RecordId
    target: RecordId


def in_force(claims: Iterable[Claim], visible: Container[RecordId]) -> Mapping[RecordId, tuple[RecordId, ...]]:
    """The sources by target, in order, of the claims whose cause and source are both visible."""
    found: dict[RecordId, dict[RecordId, None]] = {}
    for claim in claims:
        if claim.source != claim.target and claim.cause in visible and claim.source in visible:
            found.setdefault(claim.target, {})[claim.source] = None
    return {target: tuple(sources) for target, sources in found.items()}
