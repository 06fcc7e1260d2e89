"""The shape of a value in a few words."""

from callsheet.derive.structured.places import Layout
from callsheet.derive.structured.values import Json

_NAMED = 12
_LONGEST = 40


def outline(value: Json, layout: Layout) -> str:
    """Such as ``12 items: id, name, price`` or ``keys: user, name, orders (3 items)``."""
    main = value
    for place in layout.main_path:
        main = _at(main, place)
    if isinstance(main, list):
        return f"{counted(len(main), layout.unit)}{_of(main)}{_beside(value, layout)}"
    return f"keys: {_members(value)}" if value else "no keys"


def counted(count: int, unit: str) -> str:
    """A count with its unit, which is given in the plural."""
    return f"{count:,} {unit.removesuffix('s') if count == 1 else unit}"


def listed(names: list[str]) -> str:
    """The first names, and how many more."""
    return _listed(names[:_NAMED], len(names))


def _listed(names: list[str], count: int) -> str:
    more = f" and {count - _NAMED:,} more" if count > _NAMED else ""
    return ", ".join(map(_short, names)) + more


def _at(value: Json, place: int) -> Json:
    if isinstance(value, tuple):
        return value[place][1]
    return value[place] if isinstance(value, list) else value


def _of(items: list[Json]) -> str:
    names: dict[str, None] = {}
    for item in items[:100]:
        if isinstance(item, tuple):
            names.update((key, None) for key, _ in item)
    return f": {listed(list(names))}" if names else ""


def _beside(value: Json, layout: Layout) -> str:
    if not layout.main_path or not isinstance(value, tuple):
        return ""
    return f"; keys: {_members(value)}"


def _members(value: Json) -> str:
    if not isinstance(value, tuple):
        return ""
    return _listed([key + _size(member) for key, member in value[:_NAMED]], len(value))


def _size(value: Json) -> str:
    if isinstance(value, list):
        return f" ({counted(len(value), 'items')})"
    return f" ({counted(len(value), 'keys')})" if isinstance(value, tuple) else ""


def _short(name: str) -> str:
    line = " ".join(name.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
