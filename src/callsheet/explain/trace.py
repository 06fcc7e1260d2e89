"""The detailed trace of a request: each candidate with all verdicts, the level chosen, and what planning weighed.

Made by doing the request again, so nothing of it is stored. Holds ids, classes, counts and codes.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from callsheet.assemble.items import Item
from callsheet.assemble.signal import favour, signal
from callsheet.explain.facts import Known, Worth
from callsheet.explain.sentences import about, spoke, weighed
from callsheet.explain.sheet import reader
from callsheet.explain.words import LEVELS, REWRITES
from callsheet.graph.enums import Level, Policy, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, Selection
from callsheet.graph.values import Count, Value
from callsheet.policy.verdict import Decision, Ruling, Verdict


class Arrival(StrEnum):
    """By what way a record came to be a candidate."""

    #: It stood in the request before.
    STOOD = "stood"
    #: It is new, or among the records that a first request looks at.
    NEW = "new"
    #: It was let go or never shown, and something new called for it.
    BROUGHT = "brought"
    #: A memory that rests on a candidate, replaces or contradicts one.
    MEMORY = "memory"


class Weights(Value):
    """What planning weighed of one candidate."""

    #: Tokens by level, in its own place and in a note.
    standing: tuple[tuple[Level, int], ...] = ()
    noted: tuple[tuple[Level, int], ...] = ()
    #: The message that it stands with.
    group: RecordId
    #: The turn in which it was last used.
    used: Count
    #: The share of its identifiers that its line still shows.
    gist_keeps: float
    #: Of results and memories.
    worth: Worth | None = None
    #: The usage signal, 0 to 1, and by what outcome and feedback multiply the likelihood of being needed.
    signal: float = 0.0
    favour: float = 1.0
    open: bool = False
    exact: bool = False
    given: bool = False
    covers: tuple[RecordId, ...] = ()


class Candidacy(Value):
    """One candidate: what the policies said, what was chosen, and why."""

    known: Known
    arrival: Arrival
    turn: Count
    #: In the order of the policies; after a refusal that is final none follows.
    verdicts: tuple[Verdict, ...]
    #: The policies that were not asked any more.
    unasked: tuple[Policy, ...]
    most: Level
    most_hard: Level
    least: Level
    #: `Level.NONE`: it does not stand in the request, for this one reason.
    level: Level
    note: Count
    reason: Reason
    rule: str
    #: None: it was refused before planning.
    weights: Weights | None

    @property
    def stands(self) -> bool:
        return self.level is not Level.NONE


class Planned(Value):
    """What planning knew beside the candidates."""

    turn: Count
    #: The turn in which the present task began.
    episode: Count
    #: How often each earlier result was used when it had not been used for some turns.
    reuse: float
    #: What a cached token costs, in fresh ones; and of the policy set: requests looked ahead, and what a miss costs.
    cached: float
    horizon: Count
    miss: float
    #: Spent since the last rewrite on what a rewrite would leave out, in billed-equivalent tokens.
    carried: Count
    #: Records of a long history that a first request did not look at.
    unlooked: Count


class Trace(Value):
    """The detailed trace of one request."""

    sheet: RecordId
    boundary: Boundary
    policy_set: str
    #: Whether doing it again selected what was stored; where not, the trace is of what it selects now.
    same: bool
    rewritten: str
    #: Microseconds by phase, as they were measured when it was assembled.
    timings: tuple[tuple[str, int], ...]
    planned: Planned
    #: In the order of their positions.
    candidates: tuple[Candidacy, ...]
    #: Why each rule that users wrote is there, by its name.
    rules: tuple[tuple[str, str], ...] = ()

    @property
    def left_out(self) -> Mapping[Reason, int]:
        """How many candidates do not stand in it, by reason."""
        found: dict[Reason, int] = {}
        for one in self.candidates:
            if not one.stands:
                found[one.reason] = found.get(one.reason, 0) + 1
        return found


def candidacy(
    known: Known,
    decision: Decision,
    *,
    arrival: Arrival,
    turn: int,
    selection: Selection | None,
    left_out: Reason | None,
    weights: Weights | None,
    erased: bool = False,
) -> Candidacy:
    """One candidate. `left_out` is why planning did not select it; what policies refuse is out for their reason.

    What is `erased` is out for that, whoever might see it.
    """
    if selection is not None:
        reason = selection.reason
    elif erased:
        reason = Reason.ERASED
    elif decision.refused:
        reason = decision.reason
    else:
        reason = left_out if left_out not in (None, Reason.INCLUDED) else Reason.NOT_RELEVANT
    asked = {verdict.policy for verdict in decision.verdicts}
    return Candidacy(
        known=known,
        arrival=arrival,
        turn=turn,
        verdicts=decision.verdicts,
        unasked=tuple(policy for policy in Policy if policy not in asked),
        most=decision.most,
        most_hard=decision.most_hard,
        least=decision.least,
        level=selection.level if selection is not None else Level.NONE,
        note=selection.note if selection is not None else 0,
        reason=reason,
        rule=decision.rule if decision.reason is reason else "",
        weights=weights,
    )


def weights(item: Item, worth: Worth | None) -> Weights:
    """What planning knows of a candidate."""
    return Weights(
        standing=_sizes(item.standing),
        noted=_sizes(item.noted),
        group=item.group,
        used=item.used,
        gist_keeps=item.gist_keeps,
        worth=worth,
        signal=signal(item),
        favour=favour(item),
        open=item.open,
        exact=item.exact,
        given=item.given,
        covers=item.covers,
    )


def _sizes(sizes: Mapping[Level, int]) -> tuple[tuple[Level, int], ...]:
    return tuple((level, sizes[level]) for level in Level if level in sizes)


# ---------------------------------------------------------------------------------------------- for people


def text(trace: Trace) -> str:
    """The trace for people: what it rests on, then a few lines for each candidate."""
    return "\n".join(
        [*_head(trace), *(line for one in trace.candidates for line in _candidate(one, dict(trace.rules)))]
    )


def _head(trace: Trace) -> Iterator[str]:
    yield f"Trace of sheet {trace.sheet}, policy set {trace.policy_set}, made by doing it again."
    if not trace.same:
        yield "It comes out otherwise than it was sent: what follows is how it comes out now (see --rebuild)."
    yield reader(trace.boundary)
    yield f"{REWRITES.get(trace.rewritten, trace.rewritten)}."
    phases = ", ".join(f"{_PHASES.get(phase, phase)} {spent / 1000:,.1f} ms" for phase, spent in trace.timings)
    yield f"It took, when it was assembled: {phases or 'not measured'}."
    planned = trace.planned
    yield (
        f"Planned for turn {planned.turn:,}, the task since turn {planned.episode:,}; each result before was used late "
        f"{planned.reuse:.2f} times; a cached token costs {planned.cached:g} of a fresh one, "
        f"{planned.horizon:,} requests are looked ahead, a miss costs {planned.miss:,.0f}; carried {planned.carried:,}."
    )
    if planned.unlooked:
        yield f"Older records that a first request does not look at: {planned.unlooked:,}."
    out = ", ".join(f"{count:,} {reason.value.replace('_', ' ')}" for reason, count in sorted(trace.left_out.items()))
    inside = sum(one.stands for one in trace.candidates)
    yield f"{len(trace.candidates):,} candidates: {inside:,} in; out: {out or 'none'}."


_PHASES: Mapping[str, str] = {"query": "graph query", "policy": "policies and planning", "serialise": "serialisation"}
"""By the code of `callsheet.graph.nodes.ContextAssembly.timings`."""


def _candidate(one: Candidacy, rules: Mapping[str, str]) -> Iterator[str]:
    sign = "+" if one.stands else "-"
    place = f" in note {one.note}" if one.note else ""
    shown = f"{LEVELS[one.level]}{place}" if one.stands else "left out"
    yield f"{sign} {about(one.known)}: {shown} ({one.reason.value}), turn {one.turn}, {one.arrival.value}"
    yield f"    {' · '.join(_verdict(verdict) for verdict in one.verdicts)}{_unasked(one.unasked)}"
    limits = f"at most {one.most.value}"
    limits += f" (before a rewrite {one.most_hard.value})" if one.most_hard is not one.most else ""
    limits += f", at least {one.least.value}" if one.least is not Level.NONE else ""
    limited = ""
    if one.rule:
        told = one.reason is Reason.INCLUDED
        limited = f": {f'that tells the same ({one.rule})' if told else spoke(one.rule, one.reason, one.known, rules)}"
    yield f"    {limits}{limited}"
    if one.weights is not None:
        yield from (f"    {line}" for line in _weights(one.weights))


def _verdict(verdict: Verdict) -> str:
    """Such as ``freshness.aged <= stale (stale)``."""
    limits = f" <= {verdict.most.value}" if verdict.most is not None else ""
    limits += f" >= {verdict.least.value}" if verdict.least is not None else ""
    limits += " at once" if verdict.hard and verdict.verdict is not Ruling.ALLOW else ""
    why = f" ({verdict.reason.value})" if verdict.reason is not Reason.INCLUDED else ""
    named = verdict.rule if verdict.rule.startswith(verdict.policy.value) else f"{verdict.policy.value}: {verdict.rule}"
    return f"{named}{limits}{why}"


def _unasked(policies: Sequence[Policy]) -> str:
    return f" · not asked: {', '.join(policies)}" if policies else ""


def _weights(weights: Weights) -> Iterator[str]:
    told = (("in its place", weights.standing), ("in a note", weights.noted))
    sizes = [
        f"{where} {', '.join(f'{level.value} {size:,}' for level, size in by_level)}"
        for where, by_level in told
        if by_level
    ]
    marks = [name for name in ("open", "exact", "given") if getattr(weights, name)]
    yield "; ".join([f"tokens {', '.join(sizes) or 'none'}", *marks])
    if weights.covers:
        yield f"stands for {', '.join(weights.covers)}"
    if weights.worth is not None:
        yield weighed(weights.worth)
