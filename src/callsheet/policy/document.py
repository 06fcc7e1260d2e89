"""The policy set as a YAML document: read with positions, written so that it reads back equal."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec.structs import replace

from callsheet.errors import PolicyError
from callsheet.graph.enums import Freshness, Level, Privacy
from callsheet.policy.contracts import ToolContract, contracts
from callsheet.policy.positions import Source
from callsheet.policy.sets import BALANCED, BUILT_IN, MOST_REQUESTS, MOST_TURNS, PolicySetDocument
from callsheet.policy.settings import (
    FORMS,
    HISTORY_LEVELS,
    MOST_BYTES,
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
"""Written for a class of freshness that time alone never makes stale."""
ANY_PROVIDER = "default"

_Read: TypeAlias = Callable[[Source, "Node", str], object]


def parse(
    text: str, *, file: str = "policy set", known: Mapping[str, PolicySetDocument] = BUILT_IN
) -> PolicySetDocument:
    """The policy set that a YAML document says. What it leaves out it has from the set that it `extends`.

    `known` are the sets that can be extended, by name; without `extends` it is ``balanced``. Raises `PolicyError`
    that names `file`, line and column for anything unknown, out of range, said twice, or not plain YAML.
    """
    source = Source(file=file)
    root = source.tree(text)
    entries = source.mapping(root, "", ("name", "version", "extends", *_SETTINGS, "privacy", "tools"))
    for needed in ("name", "version"):
        if needed not in entries:
            raise source.problem(root, f"{needed} is missing; a policy set needs name and version")
    base = BALANCED
    if "extends" in entries:
        base = _extended(source, entries["extends"], known)
    said: dict[str, object] = {name: _identity(source, entries[name], name) for name in ("name", "version")}
    for name, read in _SETTINGS.items():
        if name in entries:
            said[name] = _over(getattr(base, name), read(source, entries[name], name))
    if "privacy" in entries:
        said["privacy"], said["providers"] = _privacy(source, entries["privacy"], base)
    if "tools" in entries:
        declared = _tools(source, entries["tools"])
        said["tools"] = tuple(contracts(base.tools, declared).values())
    try:
        return replace(base, **said)
    except PolicyError as problem:
        # Each value alone is right; only the two water marks can still disagree, of which one may be inherited.
        blamed = entries.get("low_water", entries.get("high_water", root))
        raise source.problem(blamed, str(problem)) from None


def dump(document: PolicySetDocument) -> str:
    """The whole set as YAML, each setting written out, so that it stays what it is when ``balanced`` changes."""
    import yaml

    said: dict[str, object] = msgspec.json.decode(document.content)
    del said["providers"]
    said = {name: said[name] for name in document.__struct_fields__ if name in said}
    said["high_water"], said["low_water"] = (_given(document.high_water), _given(document.low_water))
    said["freshness"] = {
        freshness.value: NEVER if document.freshness.of(freshness) is None else document.freshness.of(freshness)
        for freshness in Freshness
    }
    said["privacy"] = {privacy.value: _forms(document, privacy) for privacy in Privacy}
    said["tools"] = {tool.name: {k: v for k, v in _given(tool).items() if k != "name"} for tool in document.tools}
    return yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=100)


def _given(value: msgspec.Struct) -> dict[str, object]:
    given: dict[str, object] = msgspec.json.decode(msgspec.json.encode(value))
    return given


def _forms(document: PolicySetDocument, privacy: Privacy) -> str | dict[str, str]:
    form = document.privacy.of(privacy).value
    exceptions = {item.provider: item.form.value for item in document.providers if item.privacy is privacy}
    return {ANY_PROVIDER: form, **exceptions} if exceptions else form


# --------------------------------------------------------------------------- reading


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
    entries = source.mapping(node, name, readers)
    return {key: readers[key](source, value, f"{name}.{key}") for key, value in entries.items()}


def _water(source: Source, node: "Node", name: str) -> object:
    said = _fields({"tokens": _whole(0, MOST_TOKENS), "share": _number(0, 1)}, source, node, name)
    if not said:
        raise source.wrong(node, name, "tokens, a share of the budget, or both")
    return msgspec.convert(said, Water)


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
    "freshness": partial(_fields, {freshness.value: _seconds for freshness in Freshness}),
    "recall": _flag,
    "weights": partial(_fields, _WEIGHTS),
    "rehydrate": _whole(0, MOST_BYTES),
    "needed": _text,
}

_CONTRACT: Mapping[str, _Read] = {
    "freshness": _member(Freshness),
    "privacy": _member(Privacy),
    "retention": _member(Retention),
    "side_effects": _flag,
    "idempotent": _flag,
    "recheck": _texts,
    "reads_current_state": _flag,
    "shared_world": _flag,
    "narrowing": _member(Manner),
}


def _privacy(source: Source, node: "Node", base: PolicySetDocument) -> tuple[ClassForms, tuple[ProviderForm, ...]]:
    forms: dict[str, Level] = {}
    exceptions = {(item.privacy, item.provider): item for item in base.providers}
    for key, value in source.mapping(node, "privacy", [privacy.value for privacy in Privacy]).items():
        name = f"privacy.{key}"
        if isinstance(value.value, str):
            forms[key] = source.choice(value, name, FORMS)
            continue
        for provider, form_node in source.mapping(value, name).items():
            form = source.choice(form_node, f"{name}.{provider}", FORMS)
            if provider == ANY_PROVIDER:
                forms[key] = form
            else:
                exception = ProviderForm(provider=provider, privacy=Privacy(key), form=form)
                exceptions[exception.privacy, provider] = exception
    return replace(base.privacy, **forms), tuple(exceptions.values())


def _tools(source: Source, node: "Node") -> tuple[ToolContract, ...]:
    return tuple(
        msgspec.convert({"name": tool, **_fields(_CONTRACT, source, value, f"tools.{tool}")}, ToolContract)
        for tool, value in source.mapping(node, "tools").items()
    )
