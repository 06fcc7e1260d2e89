"""The policy set as a YAML document, read with positions."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec.structs import replace

from callsheet.errors import PolicyError
from callsheet.graph.enums import Freshness, Level, Privacy
from callsheet.graph.ports import Conditions, Flaw
from callsheet.policy.conditions import compiled
from callsheet.policy.context import ContextClass
from callsheet.policy.contracts import LEAST_TIME, MOST_ATTEMPTS, MOST_TIME, ToolContract, contracts
from callsheet.policy.keeping import NEVER_AGED, Keeping
from callsheet.policy.positions import Source
from callsheet.policy.rules import LONGEST_CONDITION, LONGEST_REASON, MOST_RULES, About, Rule, Then
from callsheet.policy.sets import BALANCED, BUILT_IN, MOST_MEANT, MOST_REQUESTS, MOST_TURNS, PolicySetDocument
from callsheet.policy.settings import (
    FORMS,
    HISTORY_LEVELS,
    MOST_BYTES,
    MOST_EPISODES,
    MOST_MINUTES,
    MOST_SECONDS,
    MOST_TOKENS,
    ClassForms,
    Fill,
    Manner,
    ProviderForm,
    Retention,
    Water,
    Weights,
)

if TYPE_CHECKING:
    from yaml.nodes import Node

NEVER = "never"
"""Written for a class of freshness that time alone never makes stale, and for a mark of compaction that is not set."""
ANY_PROVIDER = "default"

_Read: TypeAlias = Callable[[Source, "Node", str], object]


def parse(
    text: str,
    *,
    file: str = "policy set",
    known: Mapping[str, PolicySetDocument] = BUILT_IN,
    conditions: Conditions | None = None,
) -> PolicySetDocument:
    """The policy set that a YAML document says. What it leaves out it has from the set that it `extends`.

    With `conditions` the conditions of its rules are compiled, so that what is wrong in one is found here; else when
    they are first used.

    `known` are the sets that can be extended, by name; without `extends` it is ``balanced``. Raises `PolicyError`
    that names `file`, line and column for anything unknown, out of range, said twice, or not plain YAML; its
    `problems` are all that were found.
    """
    source = Source(file=file)
    root = source.tree(text)
    keys = ("name", "version", "extends", *_SETTINGS, "privacy", "tools", "rules", "retention")
    entries, known_keys = source.top(root, keys)
    base = BALANCED
    with source.going_on():
        if "extends" in entries:
            base = _extended(source, entries["extends"], known)
    said: dict[str, object] = {}
    for name in ("name", "version"):
        with source.going_on():
            if name in entries:
                said[name] = _identity(source, entries[name], name)
            elif known_keys:
                # What is missing may stand under the key that is not known.
                raise source.problem(root, f"{name} is missing; a policy set needs name and version")
    for name, read in _SETTINGS.items():
        with source.going_on():
            if name in entries:
                said[name] = _over(getattr(base, name), read(source, entries[name], name))
    said |= _tables(source, text, entries, base, conditions)
    source.finish()
    try:
        return replace(base, **said)
    except PolicyError as problem:
        # Each value alone is right; only the two water marks can still disagree, of which one may be inherited.
        blamed = entries.get("low_water", entries.get("high_water", root))
        raise source.problem(blamed, str(problem)) from None


def _tables(
    source: Source,
    text: str,
    entries: Mapping[str, "Node"],
    base: PolicySetDocument,
    conditions: Conditions | None,
) -> dict[str, object]:
    """What is not a setting of its own: forms by class, contracts, rules and ages."""
    said: dict[str, object] = {}
    with source.going_on():
        if "privacy" in entries:
            said["privacy"], said["providers"] = _privacy(source, entries["privacy"], base)
    with source.going_on():
        if "tools" in entries:
            declared = _tools(source, entries["tools"])
            said["tools"] = tuple(contracts(base.tools, declared).values())
    with source.going_on():
        if "rules" in entries:
            said["rules"] = _rules(source, text, entries["rules"], base, conditions)
    with source.going_on():
        if "retention" in entries:
            said["retention"] = _retention(source, entries["retention"], base)
    return said


def _identity(source: Source, node: "Node", name: str) -> str:
    value = source.text(node, name)
    if "@" in value:
        raise source.wrong(node, name, "without '@', which stands between name and version")
    return value


def _extended(source: Source, node: "Node", known: Mapping[str, PolicySetDocument]) -> PolicySetDocument:
    found = known.get(source.text(node, "extends"))
    if found is None:
        raise source.wrong(node, "extends", f"one of: {', '.join(sorted(known))}")
    return found


def _over(before: object, said: object) -> object:
    """A setting that is a mapping changes only what it names."""
    return replace(before, **said) if isinstance(said, dict) and isinstance(before, msgspec.Struct) else said


def _whole(least: int, most: int) -> _Read:
    return lambda source, node, name: source.whole(node, name, least, most)


def _number(least: float, most: float) -> _Read:
    return lambda source, node, name: source.number(node, name, least, most)


def _flag(source: Source, node: "Node", name: str) -> object:
    return source.flag(node, name)


def _text(source: Source, node: "Node", name: str) -> object:
    return source.text(node, name)


def _texts(source: Source, node: "Node", name: str) -> object:
    return source.items(node, name, source.text)


def _level(source: Source, node: "Node", name: str) -> object:
    return source.choice(node, name, HISTORY_LEVELS)


def _member(kind: type[Fill] | type[Manner] | type[Retention] | type[Freshness] | type[Privacy]) -> _Read:
    return lambda source, node, name: source.choice(node, name, tuple(kind))


def _seconds(source: Source, node: "Node", name: str) -> object:
    return None if node.value == NEVER else source.whole(node, f"{name} ('{NEVER}' or seconds)", 0, MOST_SECONDS)


def _fields(readers: Mapping[str, _Read], source: Source, node: "Node", name: str) -> dict[str, object]:
    def field(item: "tuple[str, Node]") -> tuple[str, object]:
        key, value = item
        return key, readers[key](source, value, f"{name}.{key}")

    return dict(source.each(source.mapping(node, name, readers).items(), field))


def _water(source: Source, node: "Node", name: str) -> object:
    marks: Mapping[str, _Read] = {
        "tokens": _whole(0, MOST_TOKENS),
        "share": _number(0, 1),
        "history": _number(0, 1),
    }
    said = _fields(marks, source, node, name)
    if not said:
        raise source.wrong(node, name, "tokens, a share of the budget, a share of the history, or several")
    return msgspec.convert(said, Water)


def _or_never(read: _Read) -> _Read:
    return lambda source, node, name: None if node.value == NEVER else read(source, node, f"{name} (or '{NEVER}')")


_COMPACTION: Mapping[str, _Read] = {
    "turns": _or_never(_whole(1, MOST_TOKENS)),
    "tokens": _or_never(_whole(1, MOST_TOKENS)),
    "share": _or_never(_number(0, 1)),
    "least": _whole(0, MOST_TOKENS),
    "episodes": _whole(0, MOST_EPISODES),
    "shown": _number(0, 1),
}

_WEIGHTS: Mapping[str, _Read] = {
    name: _number(1, MOST_MINUTES) if name in ("half_life", "idle") else _number(0, 1)
    for name in Weights.__struct_fields__
}

_SETTINGS: Mapping[str, _Read] = {
    "history": _level,
    "instructions_in_place": _flag,
    "verbatim": _flag,
    "turns": _whole(0, MOST_TURNS),
    "horizon": _whole(1, MOST_REQUESTS),
    "miss": _whole(0, MOST_TOKENS),
    "high_water": _water,
    "low_water": _water,
    "fill": _member(Fill),
    "narrowing": partial(_fields, {"limit": _whole(1, MOST_TOKENS), "manner": _member(Manner)}),
    "compaction": partial(_fields, _COMPACTION),
    "freshness": partial(_fields, {freshness.value: _seconds for freshness in Freshness}),
    "recall": _flag,
    "times": _flag,
    "meaning": _whole(0, MOST_MEANT),
    "weights": partial(_fields, _WEIGHTS),
    "rehydrate": _whole(0, MOST_BYTES),
}

_CONTRACT: Mapping[str, _Read] = {
    "freshness": _member(Freshness),
    "stale_after": _whole(0, MOST_SECONDS),
    "privacy": _member(Privacy),
    "retention": _member(Retention),
    "side_effects": _flag,
    "idempotent": _flag,
    "recheck": _texts,
    "reads_current_state": _flag,
    "shared_world": _flag,
    "narrowing": _member(Manner),
    "idempotency_key": _text,
    "time_limit": _number(LEAST_TIME, MOST_TIME),
    "attempts": _whole(1, MOST_ATTEMPTS),
    "backoff": _number(0, MOST_TIME),
    "needs_approval": _flag,
}


def _privacy(source: Source, node: "Node", base: PolicySetDocument) -> tuple[ClassForms, tuple[ProviderForm, ...]]:
    forms: dict[str, Level] = {}
    exceptions = {(item.privacy, item.provider): item for item in base.providers}

    def read(item: "tuple[str, Node]") -> None:
        key, value = item
        name = f"privacy.{key}"
        if isinstance(value.value, str):
            forms[key] = source.choice(value, name, FORMS)
            return
        for provider, form_node in source.mapping(value, name).items():
            form = source.choice(form_node, f"{name}.{provider}", FORMS)
            if provider == ANY_PROVIDER:
                forms[key] = form
            else:
                exception = ProviderForm(provider=provider, privacy=Privacy(key), form=form)
                exceptions[exception.privacy, provider] = exception

    source.each(source.mapping(node, "privacy", [privacy.value for privacy in Privacy]).items(), read)
    return replace(base.privacy, **forms), tuple(exceptions.values())


def _tools(source: Source, node: "Node") -> tuple[ToolContract, ...]:
    def read(item: "tuple[str, Node]") -> ToolContract:
        tool, value = item
        return msgspec.convert({"name": tool, **_fields(_CONTRACT, source, value, f"tools.{tool}")}, ToolContract)

    return tuple(source.each(source.mapping(node, "tools").items(), read))


_RULE = ("name", "about", "when", "then", "reason", "loosens")


def _rules(
    source: Source, text: str, node: "Node", base: PolicySetDocument, conditions: Conditions | None
) -> tuple[Rule, ...]:
    """The rules of the set that it extends, and its own. A rule with an inherited name stands instead of that one."""
    found: dict[str, Rule] = {rule.name: rule for rule in base.rules}
    own: set[str] = set()

    def read(item: "Node", path: str) -> None:
        rule = _rule(source, text, item, path, conditions)
        if rule.name in own:
            raise source.problem(item, f"rule {rule.name!r} stands twice")
        own.add(rule.name)
        found[rule.name] = rule

    source.items(node, "rules", read)
    if len(found) > MOST_RULES:
        raise source.problem(node, f"{len(found)} rules; a policy set has at most {MOST_RULES}")
    return tuple(found.values())


def _rule(source: Source, text: str, node: "Node", path: str, conditions: Conditions | None) -> Rule:
    entries = source.mapping(node, path, _RULE)
    for needed in ("name", "about", "when", "then"):
        if needed not in entries:
            raise source.problem(node, f"{path} has no {needed}; a rule needs name, about, when and then")
    said: dict[str, object] = {
        "name": source.text(entries["name"], f"{path}.name"),
        "about": source.choice(entries["about"], f"{path}.about", tuple(About)),
        "when": source.passage(entries["when"], f"{path}.when", LONGEST_CONDITION),
        "then": source.choice(entries["then"], f"{path}.then", tuple(Then)),
    }
    if "reason" in entries:
        said["reason"] = " ".join(source.passage(entries["reason"], f"{path}.reason", LONGEST_REASON).split())
    if "loosens" in entries:
        said["loosens"] = source.flag(entries["loosens"], f"{path}.loosens")
    try:
        rule = replace(_ANY_RULE, **said)
    except PolicyError as problem:
        raise source.problem(node, str(problem)) from None
    made = compiled(rule.when, conditions) if conditions is not None else None
    if isinstance(made, Flaw):
        raise source.within(text, entries["when"], made.offset, f"{path}.when of rule {rule.name!r}: {made.problem}")
    return rule


_ANY_RULE = Rule(name="any", about=About.PRIVACY, when="true", then=Then.LEAVE_OUT)


def _retention(source: Source, node: "Node", base: PolicySetDocument) -> tuple[Keeping, ...]:
    """What becomes of each context class with age. A class that is named has nothing of what the base says of it."""
    ageing = [of.value for of in ContextClass if of not in NEVER_AGED]
    entries = source.mapping(node, "retention", ageing)
    kept = [one for one in base.retention if one.of.value not in entries]
    for name, stages in entries.items():
        ages: set[int] = set()

        def read(item: "Node", path: str, of: str = name, ages: set[int] = ages) -> Keeping:
            said = _fields(_STAGE, source, item, path)
            if len(said) < len(_STAGE):
                raise source.problem(item, f"{path} needs after (seconds) and action")
            stage = msgspec.convert({"of": of, **said}, Keeping)
            if stage.after in ages:
                raise source.problem(item, f"{path}: two stages begin after {stage.after:,} seconds")
            ages.add(stage.after)
            return stage

        kept.extend(source.items(stages, f"retention.{name}", read))
    return tuple(kept)


_STAGE: Mapping[str, _Read] = {"after": _whole(0, MOST_SECONDS), "action": _member(Retention)}
