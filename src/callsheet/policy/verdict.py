"""Verdicts and decisions: what a policy says about a candidate, and what all of them come to."""

from collections.abc import Mapping
from enum import StrEnum

from callsheet.graph.enums import Level, Policy, Reason
from callsheet.graph.values import Value


class Ruling(StrEnum):
    """What kind of verdict it is."""

    #: Nothing against it.
    ALLOW = "allow"
    #: At most in a shorter form.
    SHORTEN = "shorten"
    #: Not at all.
    REFUSE = "refuse"
    #: At least in some form.
    PROTECT = "protect"


DETAIL: Mapping[Level, int] = {level: rank for rank, level in enumerate(Level)}
"""The rank of each level, from 0 for the most detail."""


class Verdict(Value):
    """What one policy says. Verdicts are few and shared, so a decision costs no more than looking them up."""

    policy: Policy
    verdict: Ruling
    #: The most detail allowed; None: this policy sets no limit.
    most: Level | None = None
    #: The least it may be shown in; None: this policy does not protect it.
    least: Level | None = None
    reason: Reason = Reason.INCLUDED
    #: Which rule spoke, as ``policy.rule``.
    rule: str
    #: Hard: what stands in the request is rewritten at once. Soft: at the next rewrite, with a notice until then.
    hard: bool = False

    @property
    def refuses(self) -> bool:
        return self.verdict is Ruling.REFUSE


class Decision(Value):
    """What the nine verdicts come to: any level from `most` down to `least`."""

    #: In their order; after a refusal that is final none follows.
    verdicts: tuple[Verdict, ...]
    #: The most detail allowed.
    most: Level
    #: The most detail allowed before any rewrite: what hard verdicts alone leave.
    most_hard: Level
    #: The least it may be shown in; `Level.NONE`: it may be left out.
    least: Level
    #: Why it is limited; `Reason.INCLUDED`: it is not, or to a form that tells the same.
    reason: Reason
    #: The rule behind `reason`; empty: no rule limits it.
    rule: str

    @property
    def refused(self) -> bool:
        return self.most is Level.NONE

    @property
    def protected(self) -> bool:
        return self.least is not Level.NONE


def withheld(decision: Decision) -> bool:
    """Whether nothing of the content may be shown, before any rewrite already."""
    return DETAIL[decision.most_hard] >= DETAIL[Level.SAFE]


def allow(policy: Policy, rule: str, reason: Reason = Reason.INCLUDED) -> Verdict:
    """Nothing against the candidate."""
    return Verdict(policy=policy, verdict=Ruling.ALLOW, reason=reason, rule=f"{policy.value}.{rule}")


def limit(policy: Policy, rule: str, most: Level, reason: Reason, *, hard: bool) -> Verdict:
    """At most this level; refused where that is none."""
    ruling = Ruling.REFUSE if most is Level.NONE else Ruling.SHORTEN
    return Verdict(policy=policy, verdict=ruling, most=most, reason=reason, rule=f"{policy.value}.{rule}", hard=hard)


def protect(policy: Policy, rule: str, least: Level) -> Verdict:
    """At least this level."""
    return Verdict(policy=policy, verdict=Ruling.PROTECT, least=least, rule=f"{policy.value}.{rule}")
