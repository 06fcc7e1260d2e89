"""The nine policies in their order, and what their verdicts come to.

Refusals of the first three are final. What recovery protects, later soft verdicts may shorten and never remove.
"""

from callsheet.graph.enums import Level, Reason
from callsheet.graph.nodes import Boundary
from callsheet.policy import (
    attribution,
    conflict,
    freshness,
    privacy,
    promotion,
    recovery,
    rehydration,
    retention,
    visibility,
)
from callsheet.policy.candidate import Candidate
from callsheet.policy.conditions import UNCOMPILED, Ruling
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.verdict import DETAIL, Decision, Verdict

_RAW, _REF, _NONE = Level.RAW, Level.REF, Level.NONE


def decide(
    candidate: Candidate, boundary: Boundary, policy: PolicySetDocument, ruling: Ruling | None = None
) -> Decision:
    """What may and must be shown of one candidate at this boundary. Looks at nothing else.

    `ruling` is what the set's own `rules` say here. Where a set has rules and it is not given, all is left out.
    """
    whose = attribution.judge(candidate, boundary, policy)
    if whose.most is _NONE:
        return _refused(whose)
    seen = visibility.judge(candidate, boundary, policy)
    if seen.most is _NONE:
        return _refused(whose, seen)
    form = privacy.judge(candidate, boundary, policy)
    if policy.rules:
        said = ruling.of(candidate) if ruling is not None else UNCOMPILED
        if said.unseen is not None:
            return _refused(whose, said.unseen)
        form = said.over(form)
    if form.most is _NONE:
        return _refused(whose, seen, form)
    return _settled(
        (
            whose,
            seen,
            form,
            recovery.judge(candidate, boundary, policy),
            freshness.judge(candidate, boundary, policy),
            conflict.judge(candidate, boundary, policy),
            promotion.judge(candidate, boundary, policy),
            rehydration.judge(candidate, boundary, policy),
            retention.judge(candidate, boundary, policy),
        )
    )


def _refused(*verdicts: Verdict) -> Decision:
    last = verdicts[-1]
    return Decision(verdicts=verdicts, most=_NONE, most_hard=_NONE, least=_NONE, reason=last.reason, rule=last.rule)


def _settled(verdicts: tuple[Verdict, ...]) -> Decision:
    most = most_hard = _RAW
    least = _NONE
    reason, rule = Reason.INCLUDED, ""
    for verdict in verdicts:
        cap = verdict.most
        if cap is None:
            if verdict.least is not None:
                least = verdict.least
            continue
        if verdict.hard:
            if DETAIL[cap] > DETAIL[most_hard]:
                most_hard = cap
        elif cap is _NONE and least is not _NONE:
            cap = _REF
        if DETAIL[cap] > DETAIL[most]:
            most, reason, rule = cap, verdict.reason, verdict.rule
    if DETAIL[least] < DETAIL[most]:
        least = most
    return Decision(verdicts=verdicts, most=most, most_hard=most_hard, least=least, reason=reason, rule=rule)
