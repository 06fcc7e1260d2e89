"""What an MCP server says of a tool, as a contract. It is the server's word: untrusted, it can only warn.

A hint, or a field that the server puts into ``_meta``, may make a contract stricter. What would loosen it counts only
where the caller trusts the server; so a server cannot talk a policy out of anything.
"""

from collections.abc import Mapping

import msgspec

from callsheet.errors import PolicyError
from callsheet.graph.enums import Freshness, Privacy

META = "callsheet/contract"
"""The key of ``_meta`` under which a server may declare fields of a contract."""

_STRICTER: Mapping[str, tuple[object, ...]] = {
    "side_effects": (True,),
    "idempotent": (False,),
    "shared_world": (True,),
    "freshness": (Freshness.VOLATILE,),
    # Only these are stricter than whatever the content shows.
    "privacy": (Privacy.CONNECTED_ACCOUNT, Privacy.SECRET),
}
"""The values of each field that are at least as strict as not declaring it."""


def name_of(tool: object) -> str:
    """The name of a tool, a dict or an SDK object. Raises `PolicyError` where it has none."""
    name = _get(tool, "name")
    if not isinstance(name, str):
        raise PolicyError("the tool of a contract has no name")
    return name


def said(tool: object, *, trusted: bool) -> dict[str, object]:
    """The fields of a contract that a tool's annotations and ``_meta`` come to; those declared in ``_meta`` go over.

    What is malformed says nothing.
    """
    hints = _get(tool, "annotations")
    declared = _get(_get(tool, "_meta", "meta"), META)
    fields = {**_hinted(hints), **_declared(declared)}
    if trusted:
        return fields
    warned = [*_hinted(hints).items(), *_declared(declared).items()]
    return {name: value for name, value in warned if value in _STRICTER.get(name, ())}


def _hinted(hints: object) -> dict[str, object]:
    """What is not hinted has MCP's own defaults, which are the worst case, and so is not declared."""
    fields: dict[str, object] = {}
    reads, destroys = _flag(hints, "readOnlyHint"), _flag(hints, "destructiveHint")
    repeats, open_world = _flag(hints, "idempotentHint"), _flag(hints, "openWorldHint")
    if reads is not None:
        fields["side_effects"] = not reads
    if reads and repeats is None:
        fields["idempotent"] = True
    if repeats is not None:
        fields["idempotent"] = repeats
    if destroys:
        # Also where it says that it reads only: of two hints that contradict each other the stricter counts.
        fields["side_effects"] = True
    if open_world is not None:
        fields["shared_world"] = open_world
    return fields


class _Meta(msgspec.Struct, kw_only=True):
    """The fields that ``_meta`` may declare, each read for itself."""

    freshness: Freshness | None = None
    privacy: Privacy | None = None
    side_effects: bool | None = None
    idempotent: bool | None = None
    recheck: tuple[str, ...] | None = None
    reads_current_state: bool | None = None
    shared_world: bool | None = None


def _declared(meta: object) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name in _Meta.__struct_fields__:
        value = _get(meta, name)
        if value is None:
            continue
        try:
            fields[name] = getattr(msgspec.convert({name: value}, _Meta), name)
        except msgspec.ValidationError:
            continue
    return fields


def _flag(hints: object, name: str) -> bool | None:
    value = _get(hints, name)
    return value if isinstance(value, bool) else None


def _get(value: object, *names: str) -> object:
    """A field of a dict or of an SDK object, by the first of its names that is there; None: it has none of them."""
    for name in names:
        found = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        if found is not None:
            return found
    return None
