"""B7, contradiction and replacement. Whoever makes a candidate counts only relations by records visible here.

Recency alone resolves nothing: a replacement is a record of its own, made on provenance and confidence.
"""

import math
import re
from collections.abc import Callable, Mapping

from callsheet.graph.enums import ConfidenceSource, Level, Policy, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary
from callsheet.graph.values import Value
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


class Standing(Value):
    """What one of two contradicting memories rests on."""

    record: RecordId
    confidence: float = 1.0
    source: ConfidenceSource = ConfidenceSource.EXACT_VALUE
    #: It rests on output of tools that nobody vouches for.
    tainted: bool = False
    #: The document that it was read from, and in which version: numbers with dots, such as ``2`` or ``1.10``.
    document: str | None = None
    version: str | None = None


class Precedence(Value):
    """Which of two contradicting memories replaces the other, and by what; None: both stand, marked."""

    replaces: RecordId | None = None
    replaced: RecordId | None = None
    by: str = "undecided"


SURER = 0.25
"""How much surer one must be where nothing else tells them apart."""

_NUMBERS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,7}")
_SURE: Mapping[ConfidenceSource, int] = {source: rank for rank, source in enumerate(ConfidenceSource)}


def precedence(one: Standing, other: Standing) -> Precedence:
    """Which of two that contradict each other is to be believed: by provenance, then by confidence.

    In this order: another version of the same document (``document_version``), nothing taken from untrusted output
    (``provenance``), the surer way of extraction (``confidence_source``), a confidence that is clearly higher
    (``confidence``). When they were recorded or observed plays no part, so it is the same in any order of arrival.
    """
    if one.record == other.record:
        return Precedence()
    for by, compare in _COMPARED:
        found = compare(one, other)
        if found:
            first, second = (one, other) if found > 0 else (other, one)
            return Precedence(replaces=first.record, replaced=second.record, by=by)
    return Precedence()


def _by_version(one: Standing, other: Standing) -> int:
    if one.document is None or one.document != other.document:
        return 0
    mine, theirs = _numbers(one.version), _numbers(other.version)
    if mine is None or theirs is None:
        return 0
    return (mine > theirs) - (mine < theirs)


def _numbers(version: str | None) -> tuple[int, ...] | None:
    if version is None or _NUMBERS.fullmatch(version) is None:
        return None
    numbers = [int(part) for part in version.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _by_taint(one: Standing, other: Standing) -> int:
    return other.tainted - one.tainted


def _by_source(one: Standing, other: Standing) -> int:
    return _SURE[other.source] - _SURE[one.source]


def _by_confidence(one: Standing, other: Standing) -> int:
    # What is no number is not sure of anything.
    mine, theirs = (item.confidence if math.isfinite(item.confidence) else 0.0 for item in (one, other))
    return (mine - theirs >= SURER) - (theirs - mine >= SURER)


_COMPARED: tuple[tuple[str, Callable[[Standing, Standing], int]], ...] = (
    ("document_version", _by_version),
    ("provenance", _by_taint),
    ("confidence_source", _by_source),
    ("confidence", _by_confidence),
)
