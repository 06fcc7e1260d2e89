"""What changed between two JSON objects, by their top-level members, in the dense notation."""

from callsheet.derive.structured.inline import name, quoted, write
from callsheet.derive.structured.notation import value_lines
from callsheet.derive.structured.reading import blank_end, parse
from callsheet.derive.structured.repeats import named_once
from callsheet.derive.structured.values import Json

WITHOUT = "without"
"""Begins the line that names what is gone; a member of that name is written in quotes."""


def changes(new: str, old: str) -> str | None:
    """The members of `new` that `old` lacks or has with another value, whole and in the dense notation.

    Where `new` lacks members of `old`, the first line is ``without: a, b``. Put into `old`, the lines give `new`, but
    for the order of the top-level members. Empty where nothing changed. None where either text is no JSON object or
    repeats a top-level key, and where less than half of `new`, by dense characters, is equal in `old`.
    """
    now, before = _members(new), _members(old)
    if now is None or before is None:
        return None
    equal = 0
    lines: list[str] = []
    gone = [name(key) for key in before if key not in now]
    if gone:
        lines.append(f"{WITHOUT}: {', '.join(gone)}")
    changed = 0
    for key, value in now.items():
        start = quoted(key) if key == WITHOUT else name(key)
        written = "\n".join(value_lines(start, value, 0))
        if key in before and _equal(value, before[key]):
            equal += len(written)
        else:
            changed += len(written)
            lines.append(written)
    return None if equal < changed else named_once("\n".join(lines))


def _members(text: str) -> dict[str, Json] | None:
    """The top-level members of a JSON object whose keys are all different."""
    start = blank_end(text, 0)
    if text[start : start + 1] != "{":
        return None
    try:
        value = parse(text)
    except ValueError:
        return None
    if not isinstance(value, tuple):
        return None
    members = dict(value)
    return members if len(members) == len(value) else None


def _equal(one: Json, other: Json) -> bool:
    """Whether both are written alike: ``1`` is not ``"1"`` and not ``1.0``, and any depth is compared."""
    return write(one) == write(other)
