"""Why a record does not stand in a request, or stands there shortened."""

from collections.abc import Mapping
from enum import StrEnum

from callsheet.explain.facts import KEPT, SHOWN, Known, Worth
from callsheet.explain.sentences import about, because, spoke, taken_back, visible, weighed
from callsheet.explain.words import LEVELS, NO_RULES, REASONS
from callsheet.graph.enums import Level, Policy, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, Selection
from callsheet.graph.values import Count, Value
from callsheet.policy.verdict import Decision


class Outcome(StrEnum):
    """What became of a record in a request."""

    #: It stands there, and nothing of it is left out.
    STANDS = "stands"
    SHORTENED = "shortened"
    #: A policy refused it.
    REFUSED = "refused"
    #: It could be shown and was not worth its tokens when the request was last written anew.
    NOT_WORTH = "not_worth"
    #: It could be shown; it was let go in an older request, or never shown, and nothing new called for it.
    OUT_OF_VIEW = "out_of_view"
    #: The last turns alone passed the budget.
    OVER_BUDGET = "over_budget"
    #: A memory that rests on it stands in its place.
    REMEMBERED = "remembered"
    #: A memory whose results all stand there themselves: it would add nothing.
    REDUNDANT = "redundant"
    #: It is on a branch that this one does not inherit.
    BRANCH = "branch"
    #: It belongs to a sub-agent, which did not give it back.
    NOT_RELEASED = "not_released"
    #: It was recorded after the request was assembled.
    LATER = "later"
    ERASED = "erased"
    #: It is of a kind that no request shows.
    BOOKKEEPING = "bookkeeping"
    #: There is no such record in the conversation.
    UNKNOWN = "unknown"


class WhyNot(Value):
    """What became of one record in one request. Holds ids, classes, counts and codes."""

    sheet: RecordId
    record: RecordId
    outcome: Outcome
    #: `Level.NONE`: it does not stand there.
    level: Level = Level.NONE
    #: The policy that limits it, its rule and its reason; None: none does.
    policy: Policy | None = None
    rule: str = ""
    reason: Reason | None = None
    #: What it was worth when it was let go, of a result.
    worth: Worth | None = None
    #: The sheet in which it was let go; None: this one, or it is not known.
    since: RecordId | None = None
    sentence: str
    #: The part of the sentence that says why.
    because: str = ""


class Evidence(Value):
    """What is known of one record and one request."""

    record: RecordId
    #: None: there is no such record.
    known: Known | None
    #: Its place in the request; None: it has none.
    selection: Selection | None = None
    #: The newest position that the request saw.
    cut: Count = 0
    #: It stands on a branch that the reader inherits, or was given to it.
    on_lineage: bool = True
    #: It is a sub-agent's, and was not released.
    unreleased: bool = False
    erased: bool = False
    decision: Decision | None = None
    worth: Worth | None = None
    #: Of a memory: all its results stand in the request.
    sources_stand: bool = False
    #: Why planning let it go, and in which sheet.
    left_out: Reason | None = None
    since: RecordId | None = None
    #: The memory in this request that stands in its place.
    instead: RecordId | None = None


def why_not(
    sheet: RecordId, boundary: Boundary, policy: str, evidence: Evidence, rules: Mapping[str, str] = NO_RULES
) -> WhyNot:
    """Say what became of a record: `policy` names the policy set of the request, `rules` those that users wrote."""
    known = evidence.known
    if known is None:
        sentence = f"There is no record {evidence.record} in this conversation."
        return WhyNot(sheet=sheet, record=evidence.record, outcome=Outcome.UNKNOWN, sentence=sentence)
    outcome = _outcome(evidence, known)
    limiting = _limiting(evidence.decision) if outcome in _JUDGED and evidence.decision is not None else None
    selection = evidence.selection
    since = "; its content was erased since" if evidence.erased and selection is not None else ""
    why = _because(outcome, evidence, known, sheet, rules)
    return WhyNot(
        sheet=sheet,
        record=known.record,
        outcome=outcome,
        level=selection.level if selection is not None else Level.NONE,
        policy=limiting[0] if limiting is not None else None,
        rule=limiting[1] if limiting is not None else "",
        reason=_reason(outcome, evidence),
        worth=evidence.worth if outcome in (Outcome.NOT_WORTH, Outcome.SHORTENED) else None,
        since=evidence.since if evidence.since != sheet else None,
        sentence=f"{_start(known, boundary, policy, outcome)}; {why}{since}.",
        because=f"{why}{since}",
    )


_JUDGED = (Outcome.REFUSED, Outcome.SHORTENED, Outcome.NOT_WORTH, Outcome.OUT_OF_VIEW)

_VISIBLE = (
    Outcome.STANDS,
    Outcome.SHORTENED,
    Outcome.NOT_WORTH,
    Outcome.OUT_OF_VIEW,
    Outcome.OVER_BUDGET,
    Outcome.REMEMBERED,
    Outcome.REDUNDANT,
)
"""Outcomes of records that the request's reader may see."""


def _outcome(evidence: Evidence, known: Known) -> Outcome:
    if evidence.selection is not None:
        whole = evidence.selection.level in (Level.RAW, Level.DENSE)
        return Outcome.STANDS if whole else Outcome.SHORTENED
    if known.position > evidence.cut:
        return Outcome.LATER
    if not evidence.on_lineage:
        return Outcome.NOT_RELEASED if evidence.unreleased else Outcome.BRANCH
    if known.kind not in SHOWN and known.kind != KEPT:
        return Outcome.BOOKKEEPING
    if evidence.erased:
        return Outcome.ERASED
    if evidence.decision is not None and evidence.decision.refused:
        return Outcome.REFUSED
    if evidence.sources_stand:
        return Outcome.REDUNDANT
    if evidence.left_out is Reason.OVER_BUDGET:
        return Outcome.OVER_BUDGET
    if evidence.left_out in (Reason.REMEMBERED, Reason.SUPERSEDED):
        return Outcome.REMEMBERED
    return Outcome.NOT_WORTH if evidence.left_out is not None else Outcome.OUT_OF_VIEW


def _reason(outcome: Outcome, evidence: Evidence) -> Reason | None:
    match outcome:
        case Outcome.REFUSED if evidence.decision is not None:
            return evidence.decision.reason
        case Outcome.STANDS | Outcome.SHORTENED if evidence.selection is not None:
            return evidence.selection.reason
        case Outcome.NOT_WORTH | Outcome.OUT_OF_VIEW | Outcome.REDUNDANT:
            return Reason.NOT_RELEVANT
        case Outcome.OVER_BUDGET:
            return Reason.OVER_BUDGET
        case Outcome.REMEMBERED:
            return evidence.left_out
        case Outcome.BRANCH:
            return Reason.BRANCH
        case Outcome.NOT_RELEASED:
            return Reason.NOT_RELEASED
        case Outcome.ERASED:
            return Reason.ERASED
        case Outcome.BOOKKEEPING:
            return Reason.AUDIT_ONLY
        case _:
            return None


def _limiting(decision: Decision) -> tuple[Policy, str] | None:
    """The policy and rule behind what a decision comes to."""
    found = ((verdict.policy, verdict.rule) for verdict in decision.verdicts if verdict.rule == decision.rule)
    return next(found, None)


def _start(known: Known, boundary: Boundary, policy: str, outcome: Outcome) -> str:
    if outcome in _VISIBLE:
        return f"{about(known)}, {visible(known, boundary)}, policy set {policy}"
    return f"{about(known)}, policy set {policy}"


def _because(outcome: Outcome, evidence: Evidence, known: Known, sheet: RecordId, rules: Mapping[str, str]) -> str:
    selection, decision, worth = evidence.selection, evidence.decision, evidence.worth
    could = _could(decision, known, rules)
    match outcome:
        case Outcome.STANDS if selection is not None:
            return f"it stands, {LEVELS[selection.level]}: {because(selection, known, decision, worth, rules)}"
        case Outcome.SHORTENED if selection is not None:
            why = because(selection, known, decision, worth, rules)
            return f"it stands shortened, {LEVELS[selection.level]}: {why}"
        case Outcome.REFUSED if decision is not None:
            return f"refused because {spoke(decision.rule, decision.reason, known, rules)}"
        case Outcome.NOT_WORTH:
            when = f"when sheet {evidence.since or sheet} was written anew"
            figures = f": {weighed(worth)}" if worth is not None else ""
            figures += f"; judged {known.feedback:+.2f} by feedback" if known.feedback is not None else ""
            return f"{could} and was not worth its tokens {when}{figures}"
        case Outcome.REDUNDANT:
            return f"{could}; all its results stand there themselves, so it would add nothing"
        case Outcome.REMEMBERED if evidence.left_out is Reason.SUPERSEDED:
            return f"{could}; what was remembered of it has been replaced: what replaced it tells how it is"
        case Outcome.REMEMBERED:
            memory = f" ({evidence.instead})" if evidence.instead is not None else ""
            if known.kind == "message":
                return f"{could}; what was said in its span is told by an episode{memory}"
            return f"{could}; raw not loaded because the memory was enough{memory}"
        case Outcome.OUT_OF_VIEW:
            return f"{could}, was out of view already, and nothing new named it or what it tells"
        case _:
            return _beyond(outcome, evidence, known)


def _beyond(outcome: Outcome, evidence: Evidence, known: Known) -> str:
    """Why a record was nothing that this request could choose."""
    match outcome:
        case Outcome.LATER:
            return f"it was recorded at position {known.position:,}, and the request saw up to {evidence.cut:,}"
        case Outcome.NOT_RELEASED:
            return f"{REASONS[Reason.NOT_RELEASED]}{taken_back(known)}"
        case Outcome.BRANCH:
            return f"it is on {known.branch or 'a branch'}, which the branch of the request does not inherit there"
        case Outcome.BOOKKEEPING:
            return f"no request shows records of the kind {known.kind}"
        case Outcome.ERASED:
            return "its content was erased"
        case _ if known.kind == KEPT:
            return "memories of the user take a small share of a request, and others came first"
        case _:
            return REASONS[Reason.OVER_BUDGET]


def _could(decision: Decision | None, known: Known, rules: Mapping[str, str]) -> str:
    """In how much detail it could have been shown."""
    if decision is None or decision.reason is Reason.INCLUDED:
        return "it could be shown"
    most = LEVELS[decision.most]
    return f"it could be shown as {most} at most, because {spoke(decision.rule, decision.reason, known, rules)}"
