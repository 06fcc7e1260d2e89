"""What differs between two policy sets: each setting by its path, before and after."""

from collections.abc import Iterator

import msgspec

from callsheet.graph.values import Value
from callsheet.policy.sets import PolicySetDocument

NAMED = {"tools": ("name",), "rules": ("name",), "providers": ("privacy", "provider"), "retention": ("of", "after")}
"""Lists whose items have a name of their own, and what it is made of."""


class Setting(Value):
    """One setting that differs, as JSON values in text; None: it is not there."""

    path: str
    before: str | None
    after: str | None


def changed(one: PolicySetDocument, other: PolicySetDocument) -> tuple[Setting, ...]:
    """What `other` says otherwise than `one`, name and version left aside, sorted by path."""
    before, after = dict(_leaves(one)), dict(_leaves(other))
    return tuple(
        Setting(path=path, before=before.get(path), after=after.get(path))
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    )


def _leaves(document: PolicySetDocument) -> Iterator[tuple[str, str]]:
    said: dict[str, object] = msgspec.json.decode(document.content)
    for name in ("name", "version"):
        del said[name]
    for name, keys in NAMED.items():
        items = said[name]
        assert isinstance(items, list)
        said[name] = {":".join(str(item[key]) for key in keys): item for item in items}
    yield from _walked(said, "")


def _walked(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _walked(item, f"{path}.{key}" if path else str(key))
    elif value != {}:
        yield path, msgspec.json.encode(value).decode()
