"""One sentence for one record: what it is, whose, by what way it came to be visible, and why in this detail."""

from callsheet.explain.facts import Known, Worth
from callsheet.explain.words import KINDS, LEVELS, PROTECTED, REASONS
from callsheet.graph.enums import Level, Reason
from callsheet.graph.nodes import Boundary, Selection
from callsheet.policy.verdict import Decision, Ruling


def about(known: Known) -> str:
    """What a record is, such as ``result art_1 of lookup``."""
    name = known.role.value + " message" if known.role is not None else KINDS.get(known.kind, known.kind)
    tool = f" of {known.tool}" if known.tool is not None else ""
    return f"{name} {known.record}{tool}{_from(known)}"


def _from(known: Known) -> str:
    if not known.sources:
        return ""
    first, more = known.sources[0], len(known.sources) - 1
    return f" from artifact {first}" + (f" and {more:,} more" if more else "")


def visible(known: Known, boundary: Boundary) -> str:
    """By what way a record is visible at a boundary."""
    if known.branch is None or known.branch == boundary.branch:
        place = "recorded on the active branch"
    else:
        place = f"inherited by the active branch from {known.branch}"
    if known.owner is None:
        whose = "everybody's"
    elif known.owner == boundary.participant:
        whose = "this participant's own"
    else:
        whose = f"{known.owner}'s"
    reader = "visible to this participant" if boundary.participant is not None else "visible here"
    return f"{place}, {whose}, {reader}"


def stands(
    selection: Selection,
    known: Known,
    boundary: Boundary,
    policy: str,
    *,
    decision: Decision | None = None,
    worth: Worth | None = None,
) -> str:
    """Why a record stands in a request as it does."""
    place = f"in note {selection.note}" if selection.note else "in its place"
    turn = f" of turn {selection.turn}" if selection.turn else ""
    why = because(selection, known, decision, worth)
    return (
        f"{about(known)}, {visible(known, boundary)}, policy set {policy}; "
        f"{LEVELS[selection.level]}, {place}{turn}; {why}"
    )


_TOLD = (Level.RAW, Level.DENSE, Level.FOCUS, Level.GIST)


def because(selection: Selection, known: Known, decision: Decision | None, worth: Worth | None) -> str:
    """Why a record stands in this detail."""
    level, reason = selection.level, selection.reason
    rule = f" ({decision.rule})" if decision is not None and decision.rule and decision.reason is reason else ""
    if known.kind == "tool_memory" and reason in (Reason.INCLUDED, Reason.CONFLICT):
        also = f", and says so: {REASONS[reason]}" if reason is Reason.CONFLICT else ""
        return f"it stands for its results{also}; raw not loaded because the memory was enough"
    if reason is Reason.SUPERSEDED and known.kind == "artifact" and level in _TOLD:
        return "it says that it shows how it was: what was remembered of it has been replaced"
    if reason is not Reason.INCLUDED:
        return f"no more because {REASONS[reason]}{rule}"
    if known.kind != "artifact":
        return _said(selection, decision)
    match level:
        case Level.RAW:
            return _kept(decision, "raw, because no shorter form tells the same")
        case Level.DENSE:
            return _kept(decision, f"raw not loaded because the dense form tells the same{rule}")
        case Level.FOCUS:
            return f"raw not loaded because it is longer than the limit for one result{_weighed(worth)}"
        case Level.GIST:
            return f"raw not loaded because more of it was not worth its tokens{_weighed(worth)}"
        case Level.REF if not selection.note:
            return "raw not loaded because the same result of the same call stands in view"
        case _:
            return f"raw not loaded because more of it was not worth its tokens{_weighed(worth)}"


def _said(selection: Selection, decision: Decision | None) -> str:
    if selection.level is Level.RAW:
        return _kept(decision, "what was said stands until a rewrite")
    return "shortened because it is older than the last turns"


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
