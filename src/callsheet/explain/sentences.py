"""One sentence for one record: what it is, whose, by what way it came to be visible, and why in this detail."""

from collections.abc import Mapping

from callsheet.explain.facts import KEPT, Known, Worth
from callsheet.explain.words import INSTRUCTIONS, KINDS, LEVELS, NO_RULES, PROTECTED, REASONS
from callsheet.graph.enums import ArtifactStatus, Level, Reason
from callsheet.graph.nodes import Boundary, Selection
from callsheet.policy.conditions import written
from callsheet.policy.verdict import Decision, Ruling

_SECOND_HAND = ("episode", "milestone", "fact")


def about(known: Known) -> str:
    """What a record is, such as ``result art_1 of lookup``."""
    name = known.role.value + " message" if known.role is not None else KINDS.get(known.kind, known.kind)
    if known.report_of is not None:
        name = "report"
    if known.status is not None and known.status is not ArtifactStatus.OK:
        name = f"{known.status.value.replace('_', ' ')} {name}"
    tool = f" of {_in_line(known.tool)}" if known.tool is not None else ""
    return f"{name} {known.record}{tool}{_instructs(known)}{_from(known)}"


def _in_line(name: str) -> str:
    """A name as it may stand in a sentence: models make up names of tools, of any length."""
    cut = name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…"
    return " ".join("".join(each if each.isprintable() else " " for each in cut).split())


_LONGEST = 80
"""Characters of a name that a sentence shows."""


def _instructs(known: Known) -> str:
    if known.instruction is None:
        return ""
    skills = f" {', '.join(known.skills)}" if known.skills else ""
    return f", {INSTRUCTIONS[known.instruction]}{skills}"


def _from(known: Known) -> str:
    if known.report_of is not None:
        return f" from run {known.report_of}"
    if known.merged_from is not None:
        there = f", where it is {known.original}" if known.original is not None else ""
        return f" merged from {known.merged_from}{there}"
    if known.recalls is not None:
        return f" that gives {known.recalls} again"
    if not known.sources:
        return ""
    first, more = known.sources[0], len(known.sources) - 1
    kind = "" if known.kind in (KEPT, *_SECOND_HAND) else "artifact "
    return f" from {kind}{first}" + (f" and {more:,} more" if more else "")


def visible(known: Known, boundary: Boundary) -> str:
    """By what way a record is visible at a boundary."""
    reader = "visible to this participant" if boundary.participant is not None else "visible here"
    if known.kind == KEPT:
        return f"kept over the user's conversations, {reader}"
    if known.gift is not None and known.gift.how != WITHDRAWN:
        reader = f"{known.gift.how} to this reader by {known.gift.by}"
    return f"{_place(known, boundary)}, {_whose(known, boundary)}, {reader}"


WITHDRAWN = "withdrawn"
"""How a gift is called that was taken back."""


def taken_back(known: Known) -> str:
    """That what was given to the reader was taken back; empty: it was not."""
    gift = known.gift
    return f" (it had been given to this reader, and {gift.by} took it back)" if gift and gift.how == WITHDRAWN else ""


def _place(known: Known, boundary: Boundary) -> str:
    if known.elsewhere:
        return f"recorded on {known.branch}"
    if known.branch is None or known.branch == boundary.branch:
        return "recorded on the active branch"
    return f"inherited by the active branch from {known.branch}"


def _whose(known: Known, boundary: Boundary) -> str:
    if known.sub_agent is not None:
        return "this sub-agent's own" if known.sub_agent == boundary.run else f"sub-agent {known.sub_agent}'s"
    if known.owner is None:
        return "everybody's"
    return "this participant's own" if known.owner == boundary.participant else f"{known.owner}'s"


def spoke(rule: str, reason: Reason, known: Known, rules: Mapping[str, str] = NO_RULES) -> str:
    """What limits a record, and which rule says so: ``it is out of date (freshness.aged)``.

    `rules` are those that users wrote into the policy set: by name, why, in their words.
    """
    said = REASONS[reason]
    if reason is Reason.SUPERSEDED and known.replaced_by:
        said += f": {', '.join(known.replaced_by[:_NAMED])}{', ...' if len(known.replaced_by) > _NAMED else ''}"
    if reason in (Reason.PARTICIPANT_PRIVATE, Reason.NOT_RELEASED):
        said += taken_back(known)
    name = written(rule)
    if not name:
        return f"{said} ({rule})" if rule else said
    if rule.endswith(".unanswered"):
        return f"what a rule asks for is not known of it (rule {name} of the policy set)"
    return f"{rules.get(name) or 'the policy set says so'} (rule {name} of the policy set)"


_NAMED = 3


def stands(
    selection: Selection,
    known: Known,
    boundary: Boundary,
    policy: str,
    *,
    decision: Decision | None = None,
    worth: Worth | None = None,
    rules: Mapping[str, str] = NO_RULES,
) -> str:
    """Why a record stands in a request as it does."""
    place = f"in note {selection.note}" if selection.note else "in its place"
    turn = f" of turn {selection.turn}" if selection.turn else ""
    why = because(selection, known, decision, worth, rules)
    return (
        f"{about(known)}, {visible(known, boundary)}, policy set {policy}; "
        f"{LEVELS[selection.level]}, {place}{turn}; {why}"
    )


_TOLD = (Level.RAW, Level.DENSE, Level.FOCUS, Level.GIST)


def because(
    selection: Selection,
    known: Known,
    decision: Decision | None,
    worth: Worth | None,
    rules: Mapping[str, str] = NO_RULES,
) -> str:
    """Why a record stands in this detail, and what of it is held back."""
    said = [_because(selection, known, decision, worth, rules)]
    if selection.against is not None:
        said.append(f"only what differs from {selection.against} is shown")
    if known.withheld:
        said.append(f"the arguments of {known.withheld:,} of its calls are withheld")
    if known.marked and selection.level in _TOLD:
        said.append("secrets in it stand as marks")
    if known.feedback is not None:
        said.append(f"judged {known.feedback:+.2f} by feedback")
    return "; ".join(said)


def _because(
    selection: Selection,
    known: Known,
    decision: Decision | None,
    worth: Worth | None,
    rules: Mapping[str, str],
) -> str:
    level, reason = selection.level, selection.reason
    rule = decision.rule if decision is not None and decision.reason is reason else ""
    if known.kind == "tool_memory" and reason in (Reason.INCLUDED, Reason.CONFLICT):
        also = f", and says so: {REASONS[reason]}" if reason is Reason.CONFLICT else ""
        return f"{_stands_for(known)}{also}; raw not loaded because the memory was enough{_held(decision)}"
    if known.kind == KEPT and reason in (Reason.INCLUDED, Reason.CONFLICT):
        also = f", and says so: {REASONS[reason]}" if reason is Reason.CONFLICT else ""
        return _kept(decision, "the newest turns call for it") + also
    if known.exact and level is Level.RAW:
        return _exact(known)
    if reason is Reason.SUPERSEDED and known.kind == "artifact" and level in _TOLD:
        return "it says that it shows how it was: what was remembered of it has been replaced"
    if reason is not Reason.INCLUDED:
        return f"no more because {spoke(rule, reason, known, rules)}"
    if known.kind != "artifact":
        return _said(selection, decision)
    match level:
        case Level.RAW:
            return _kept(decision, "raw, because no shorter form tells the same")
        case Level.DENSE:
            named = f" ({rule})" if rule else ""
            return _kept(decision, f"raw not loaded because the dense form tells the same{named}")
        case Level.FOCUS:
            long = f"it is longer than the limit for one result{_weighed(worth)}"
            return f"raw not loaded because {long}{_held(decision)}"
        case Level.REF if not selection.note:
            return "raw not loaded because the same result of the same call stands in view"
        case _:
            return f"raw not loaded because more of it was not worth its tokens{_weighed(worth)}{_held(decision)}"


def _stands_for(known: Known) -> str:
    return (
        "it stands for its result" if len(known.sources) == 1 else f"it stands for its {len(known.sources):,} results"
    )


def _exact(known: Known) -> str:
    who = "the caller asked for them" if known.exact == CALLER else "the user's words ask for them"
    since = f" (in sheet {known.exact_since})" if known.exact_since is not None else ""
    return f"exact bytes loaded because {who}{since}"


CALLER = "caller"
USER = "user"
"""Who asks for exact bytes."""


def _held(decision: Decision | None) -> str:
    """The rule by which a record may not be left out, where one says so."""
    rule = protection(decision)
    return f"; it stays in view because {PROTECTED.get(rule, 'it is protected')} ({rule})" if rule is not None else ""


def _said(selection: Selection, decision: Decision | None) -> str:
    if selection.level is Level.RAW:
        return _kept(decision, "what was said stands until a rewrite")
    return f"shortened because it is older than the last turns{_held(decision)}"


def _kept(decision: Decision | None, otherwise: str) -> str:
    """The rule that protects a record, where one does and says why it stands as it does."""
    rule = protection(decision)
    if rule is None:
        return otherwise
    if otherwise.startswith("raw"):
        return f"{otherwise}; {PROTECTED.get(rule, 'it is protected')} ({rule})"
    return f"{PROTECTED.get(rule, 'it is protected')} ({rule})"


def protection(decision: Decision | None) -> str | None:
    """The rule that keeps a record in view; None: none does."""
    if decision is None:
        return None
    found = (verdict.rule for verdict in decision.verdicts if verdict.verdict is Ruling.PROTECT)
    return next(found, None)


def _weighed(worth: Worth | None) -> str:
    return f": {weighed(worth)}" if worth is not None else ""


def weighed(worth: Worth) -> str:
    """The figures that a result was chosen by."""
    return (
        f"last used {worth.age:,} turns ago, needed with P = {worth.needed:.3f}, which is worth {worth.saves:,.0f} "
        f"in the weights of the policy set; its {worth.size:,} tokens would cost {worth.costs:,.0f} over the horizon"
    )
