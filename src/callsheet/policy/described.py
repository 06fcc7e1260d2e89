"""A policy set in words: what it lets a model see, and what users' rules add."""

from collections.abc import Iterator, Mapping

from callsheet.graph.enums import Freshness, Level, Privacy
from callsheet.policy.context import TREATMENTS, Treatment
from callsheet.policy.contracts import ToolContract
from callsheet.policy.facts import BOUNDARY, RECORD
from callsheet.policy.rules import Rule, Then
from callsheet.policy.sets import BALANCED, RULE_VERSIONS, PolicySetDocument
from callsheet.policy.settings import Compaction, Water

FORM_WORDS: Mapping[Level, str] = {
    Level.RAW: "with its values",
    Level.SAFE: "as metadata only",
    Level.NONE: "not at all",
}
_THEN: Mapping[Then, str] = {
    Then.RAW: "it is given with its values, where the set would give metadata only",
    Then.SAFE: "it is given as metadata only",
    Then.LEAVE_OUT: "it is left out",
}
_UNANSWERED = "Where a condition cannot be told, since a field is missing or does not fit, the record is left out."


def text(document: PolicySetDocument) -> str:
    """The whole set in lines for people."""
    return "\n".join(_lines(document))


def _lines(document: PolicySetDocument) -> Iterator[str]:
    yield f"Policy set {document}, {document.hash}"
    yield f"Built-in rules: {', '.join(f'{name} {version}' for name, version in RULE_VERSIONS.items())}"
    yield ""
    yield from _view(document)
    yield ""
    yield "Privacy: data goes to a provider"
    for privacy in Privacy:
        form = document.privacy.of(privacy)
        yield f"  {privacy.value:18} {FORM_WORDS[form]}{_default(form, BALANCED.privacy.of(privacy))}"
    for exception in document.providers:
        yield f"  {exception.privacy.value:18} {FORM_WORDS[exception.form]}, to {exception.provider}"
    yield ""
    yield "Freshness: what was observed goes stale"
    for freshness in Freshness:
        seconds = document.freshness.of(freshness)
        usual = BALANCED.freshness.of(freshness)
        yield f"  {freshness.value:18} {stale(freshness, seconds)}{_default(seconds, usual)}"
    yield from _retention(document)
    yield from _tools(document)
    yield from _rules(document)


def _view(document: PolicySetDocument) -> Iterator[str]:
    if document.verbatim:
        yield "What may be seen stands verbatim; nothing is shortened or left out to save tokens."
    else:
        yield f"The last {document.turns} turns stay in view; a result stands at most as {document.history.value}."
        yield f"History is rewritten above {water(document.high_water)}, down to {water(document.low_water)}."
    yield from _compaction(document.compaction)
    if not document.verbatim:
        brings = f"at most {document.meaning:,} older records" if document.meaning else "nothing"
        yield f"What the user says brings back {brings} by meaning, where the store has an embedder."
    yield f"One request may load {document.rehydrate:,} bytes of exact evidence."
    yield f"The model is {'offered' if document.recall else 'not offered'} a tool that fetches what was left out."
    yield f"It is {'told' if document.times else 'not told'} when the user said each thing."


def _compaction(compaction: Compaction) -> Iterator[str]:
    marks = [f"{compaction.turns:,} turns"] if compaction.turns is not None else []
    marks += [f"{compaction.tokens:,} tokens"] if compaction.tokens is not None else []
    marks += [f"{compaction.share:.0%} of the budget"] if compaction.share is not None else []
    when = f"beyond {' or '.join(marks)} becomes an episode by itself" if marks else "becomes an episode when asked for"
    yield f"Older history {when}; a request shows at most {compaction.episodes}."


def water(water: Water) -> str:
    """A mark in words."""
    marks = [f"{water.tokens:,} tokens"] if water.tokens is not None else []
    marks += [f"{water.share:.0%} of the budget"] if water.share is not None else []
    marks += [f"{water.history:.0%} of the history"] if water.history is not None else []
    return " or ".join(marks)


def _default(value: object, usual: object) -> str:
    return "" if value == usual else "   (not as in balanced)"


def stale(freshness: Freshness, seconds: int | None) -> str:
    """When a class goes stale, in words."""
    ended = "at the end of its session" if freshness is Freshness.SESSION else ""
    if seconds is None:
        return ended or "never by time alone"
    return f"{f'{ended}, and ' if ended else ''}after {seconds:,} seconds"


def _retention(document: PolicySetDocument) -> Iterator[str]:
    yield ""
    if not document.retention:
        yield "Retention: nothing is taken away by age."
        return
    yield "Retention: by class and age; what is pinned, not settled or for auditors is kept"
    for one in document.retention:
        yield f"  {one.of.value:18} {one.action.value} after {one.after:,} seconds"


def _tools(document: PolicySetDocument) -> Iterator[str]:
    if not document.tools:
        return
    yield ""
    yield "Tools that it declares"
    for tool in document.tools:
        yield f"  {tool.name}: {declared(tool)}"


def declared(tool: ToolContract) -> str:
    """What is declared about a tool, in a line."""
    given = ((name, getattr(tool, name)) for name in tool.__struct_fields__ if name != "name")
    return ", ".join(f"{name} {shown(value)}" for name, value in given if value is not None) or "nothing"


def shown(value: object) -> str:
    """A setting in a word."""
    if isinstance(value, tuple):
        return ", ".join(str(item) for item in value) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _rules(document: PolicySetDocument) -> Iterator[str]:
    yield ""
    if not document.rules:
        yield "Rules of its own: none."
        return
    yield "Rules of its own, beside the tables above. A refusal they never lift."
    for rule in document.rules:
        yield from _rule(rule)
    yield f"  {_UNANSWERED}"


def _rule(rule: Rule) -> Iterator[str]:
    yield f"  {rule.name} ({rule.about.value}): where"
    yield from (f"      {line}" for line in rule.when.strip().splitlines())
    yield f"    {consequence(rule)}"


def consequence(rule: Rule) -> str:
    """What becomes of what a rule holds for, and why."""
    return f"{_THEN[rule.then]}.{f' Why: {rule.reason}' if rule.reason else ''}"


def classes() -> str:
    """The table of context classes, a paragraph each."""
    return "\n".join(_classes())


def _classes() -> Iterator[str]:
    yield "Context classes: every record has one"
    for of, treatment in TREATMENTS.items():
        yield f"  {of.value}: {treatment.holds}"
        for name in Treatment.__struct_fields__[1:]:
            yield f"    {name:12} {getattr(treatment, name)}"


def facts() -> str:
    """What a condition may ask."""
    asked = [(f"record.{name}", fact.means) for name, (fact, _) in RECORD.items()]
    asked += [(f"boundary.{name}", fact.means) for name, (fact, _) in BOUNDARY.items()]
    return "\n".join(["What conditions may ask", *(f"  {name:22} {means}" for name, means in asked)])
