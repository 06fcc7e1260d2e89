"""What differs between two policy sets, in words: a line for each setting, tool, rule or class that differs."""

from collections.abc import Iterator

import msgspec

from callsheet.graph.enums import Freshness, Privacy
from callsheet.policy.described import FORM_WORDS, consequence, declared, shown, stale, water
from callsheet.policy.rules import Rule
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.settings import Water

_TABLES = ("name", "version", "privacy", "providers", "freshness", "tools", "rules", "retention")


def differences(one: PolicySetDocument, other: PolicySetDocument) -> Iterator[str]:
    """What `other` says otherwise than `one`, name and version left aside: ``+`` new, ``-`` gone, ``~`` other."""
    for name in one.__struct_fields__:
        if name not in _TABLES:
            yield from _setting(name, getattr(one, name), getattr(other, name))
    yield from _privacy(one, other)
    for freshness in Freshness:
        before, after = one.freshness.of(freshness), other.freshness.of(freshness)
        if before != after:
            yield f"~ freshness {freshness.value}: stale {stale(freshness, before)} -> {stale(freshness, after)}"
    yield from _named(
        "tool",
        {tool.name: declared(tool) for tool in one.tools},
        {tool.name: declared(tool) for tool in other.tools},
    )
    yield from _named(
        "rule", {rule.name: _rule(rule) for rule in one.rules}, {rule.name: _rule(rule) for rule in other.rules}
    )
    yield from _named("retention", _ages(one), _ages(other))


def _setting(name: str, before: object, after: object) -> Iterator[str]:
    if before == after:
        return
    if isinstance(before, Water) and isinstance(after, Water):
        yield f"~ {name}: {water(before)} -> {water(after)}"
    elif isinstance(before, msgspec.Struct):
        for field in before.__struct_fields__:
            yield from _setting(f"{name}.{field}", getattr(before, field), getattr(after, field))
    else:
        yield f"~ {name}: {shown(before)} -> {shown(after)}"


def _privacy(one: PolicySetDocument, other: PolicySetDocument) -> Iterator[str]:
    for privacy in Privacy:
        before, after = one.privacy.of(privacy), other.privacy.of(privacy)
        if before is not after:
            yield f"~ privacy {privacy.value}: {FORM_WORDS[before]} -> {FORM_WORDS[after]}"
    yield from _named("privacy", _exceptions(one), _exceptions(other))


def _exceptions(document: PolicySetDocument) -> dict[str, str]:
    return {f"{one.privacy.value} to {one.provider}": FORM_WORDS[one.form] for one in document.providers}


def _rule(rule: Rule) -> str:
    return f"({rule.about.value}) where {' '.join(rule.when.split())}: {consequence(rule)}"


def _ages(document: PolicySetDocument) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for one in document.retention:
        found.setdefault(one.of.value, []).append(f"{one.action.value} after {one.after:,} seconds")
    return {of: ", ".join(stages) for of, stages in found.items()}


def _named(what: str, before: dict[str, str], after: dict[str, str]) -> Iterator[str]:
    for name in dict.fromkeys((*before, *after)):
        was, now = before.get(name), after.get(name)
        if was == now:
            continue
        if was is None:
            yield f"+ {what} {name}: {now}"
        elif now is None:
            yield f"- {what} {name}: {was}"
        else:
            yield f"~ {what} {name}: {was} -> {now}"
