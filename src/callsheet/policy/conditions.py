"""Rules that users write, asked: which facts of a record and a boundary they see, and what they come to.

A condition sees classes, sizes and names, never content. Records that are equal in all that the rules look at are one
class, which is asked once.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from callsheet.errors import PolicyError
from callsheet.graph.enums import Level, Policy, Reason
from callsheet.graph.nodes import Boundary
from callsheet.graph.ports import Condition, Conditions, Flaw
from callsheet.policy.candidate import Candidate
from callsheet.policy.comparisons import mismatch
from callsheet.policy.facts import BOUNDARY, RECORD
from callsheet.policy.rules import About, Rule, Then
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.verdict import DETAIL, Verdict, allow, limit

_Fact: TypeAlias = Callable[[Candidate, Boundary], object]

MOST_CLASSES = 20_000
"""Classes of records whose answers are kept."""


class Outcome(NamedTuple):
    """What the rules say of one class of records."""

    #: A refusal by a rule about visibility.
    unseen: Verdict | None = None
    #: The strictest that a rule about privacy or provider says.
    form: Verdict | None = None
    #: A rule that opens what the set gives as metadata only.
    opened: Verdict | None = None

    def over(self, verdict: Verdict) -> Verdict:
        """The verdict of the set's own privacy tables, under these rules. What refuses stays as it is."""
        if verdict.most is Level.NONE:
            return verdict
        if verdict.most is not None and self.opened is not None:
            verdict = self.opened
        said = DETAIL[verdict.most] if verdict.most is not None else DETAIL[Level.RAW]
        stricter = self.form is not None and self.form.most is not None and DETAIL[self.form.most] > said
        return self.form if stricter and self.form is not None else verdict


class _Ready(NamedTuple):
    rule: Rule
    condition: Condition
    #: Which of the facts that all rules ask for it names itself; of the boundary too. It is given no others.
    record: tuple[int, ...]
    boundary: tuple[str, ...]
    #: The verdict where it holds, and where that cannot be told: then it is left out.
    holds: Verdict
    unknown: Verdict


class Rules:
    """The rules of one policy set, compiled. Raises `PolicyError` for a condition that is wrong."""

    def __init__(self, policy: PolicySetDocument, conditions: Conditions) -> None:
        # A name that stands anywhere in a condition counts as asked for.
        words = [frozenset(_WORD.findall(rule.when)) for rule in policy.rules]
        every = frozenset().union(*words)
        self._record = tuple((name, fact) for name, (_, fact) in RECORD.items() if name in every)
        ready = []
        for rule, own in zip(policy.rules, words, strict=True):
            made = compiled(rule.when, conditions)
            if isinstance(made, Flaw):
                raise PolicyError(f"policy set {policy}: rule {rule.name!r}, when[{made.offset}]: {made.problem}")
            record = tuple(place for place, (name, _) in enumerate(self._record) if name in own)
            boundary = tuple(name for name in BOUNDARY if name in own)
            ready.append(_Ready(rule, made, record, boundary, _verdict(rule), _unanswered(rule)))
        self._ready = tuple(ready)

    def at(self, boundary: Boundary) -> "Ruling":
        """What they say at one boundary."""
        return Ruling(boundary, self._record, self._ready)


class Ruling:
    """What the rules say at one boundary. Each is asked once for each class: records equal in all that it names."""

    def __init__(self, boundary: Boundary, facts: tuple[tuple[str, _Fact], ...], ready: tuple[_Ready, ...]) -> None:
        self._boundary = boundary
        self._facts = facts
        self._ready = ready
        asked = {name: fact(boundary) for name, (_, fact) in BOUNDARY.items()}
        self._asked = [{name: asked[name] for name in one.boundary if asked[name] is not None} for one in ready]
        self._known: dict[tuple[object, ...], Outcome] = {}
        self._held: list[dict[tuple[object, ...], bool | None]] = [{} for _ in ready]

    @property
    def classes(self) -> int:
        """Classes of records that were asked about and are still known."""
        return len(self._known)

    def of(self, candidate: Candidate) -> Outcome:
        """What the rules say of a candidate. Equal candidates have equal outcomes, whatever was asked before."""
        asked = [fact(candidate, self._boundary) for _, fact in self._facts]
        key = tuple([tuple(value.items()) if isinstance(value, dict) else value for value in asked])
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MOST_CLASSES:
                self._known.clear()
                self._held = [{} for _ in self._ready]
            found = self._known[key] = self._outcome(asked, key)
        return found

    def _outcome(self, asked: Sequence[object], key: tuple[object, ...]) -> Outcome:
        unseen = form = opened = None
        for place, ready in enumerate(self._ready):
            held = self._holds(place, ready, asked, key)
            if held is False:
                continue
            said = ready.holds if held else ready.unknown
            if ready.rule.about is About.VISIBILITY:
                unseen = unseen or said
            elif ready.rule.loosens:
                # What cannot be told opens nothing.
                opened = opened or (said if held else None)
            elif form is None or _detail(said) > _detail(form):
                form = said
        return Outcome(unseen, form, opened)

    def _holds(self, place: int, ready: _Ready, asked: Sequence[object], key: tuple[object, ...]) -> bool | None:
        known = self._held[place]
        own = tuple([key[fact] for fact in ready.record])
        if own not in known:
            values = {self._facts[fact][0]: asked[fact] for fact in ready.record if asked[fact] is not None}
            known[own] = ready.condition.holds({"record": values, "boundary": self._asked[place]})
        return known[own]


UNCOMPILED = Outcome(unseen=limit(Policy.VISIBILITY, "rules_not_ready", Level.NONE, Reason.RULE, hard=True))
"""Of a set with rules that nobody has made ready: everything is left out."""


def compiled(expression: str, conditions: Conditions) -> Condition | Flaw:
    """The condition, or what is wrong with it: also a field that there is not, or what a field can never be."""
    made = conditions.compiled(expression)
    return made if isinstance(made, Flaw) else _unknown(expression) or mismatch(expression) or made


def fields(expression: str) -> Iterator[tuple[str, str, int]]:
    """Variable, field and offset of each place where an expression asks for a fact; an empty field: for all."""
    bare = _TEXT.sub(lambda found: "_" * len(found[0]), expression)
    for found in _ASKED.finditer(bare):
        yield found[1], found[2] or "", found.start()


_WORD = re.compile(r"\w+")
_TEXT = re.compile(
    r"(?:[bB]?[rR][bB]?(?:'[^'\n]*'|\"[^\"\n]*\"))"
    r"|'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\""
    r"|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|//[^\n]*",
    re.DOTALL,
)
_ASKED = re.compile(r"(?<![\w.])(record|boundary)\b(?:\s*\.\s*(\w+))?")


def _unknown(expression: str) -> Flaw | None:
    for variable, name, offset in fields(expression):
        known = RECORD if variable == "record" else BOUNDARY
        if not name:
            return Flaw(
                problem=f"{variable} needs a field behind it, such as {variable}.{next(iter(known))}", offset=offset
            )
        if name not in known:
            return Flaw(problem=f"{variable} has no {name!r}; it has: {', '.join(known)}", offset=offset)
    return None


def written(rule: str) -> str:
    """The name that users gave to a rule, of what a verdict calls it; empty: it is a built-in one."""
    _, _, name = rule.partition(".rule.")
    return name.removesuffix(".unanswered")


def _verdict(rule: Rule) -> Verdict:
    name = f"rule.{rule.name}"
    if rule.then is Then.RAW:
        return allow(Policy.PRIVACY, name)
    form = Level.SAFE if rule.then is Then.SAFE else Level.NONE
    return limit(_SPEAKS[rule.about], name, form, Reason.RULE, hard=True)


def _unanswered(rule: Rule) -> Verdict:
    return limit(_SPEAKS[rule.about], f"rule.{rule.name}.unanswered", Level.NONE, Reason.RULE, hard=True)


def _detail(verdict: Verdict) -> int:
    return DETAIL[verdict.most] if verdict.most is not None else -1


_SPEAKS: Mapping[About, Policy] = {
    About.VISIBILITY: Policy.VISIBILITY,
    About.PRIVACY: Policy.PRIVACY,
    About.PROVIDER: Policy.PRIVACY,
}
"""As which of the nine policies a rule speaks."""
