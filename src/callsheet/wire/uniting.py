"""What several responses are as one, in any format: their parts without those that are hidden, their figures added."""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from callsheet.wire.reading import Fields

_T = TypeVar("_T")

JOINT: Final = "\n\n"
"""Between the texts of two responses where a format has one text for a whole message."""


def joint(before: str, text: str) -> str:
    """What stands between a text and one that goes on behind it; empty where nothing is needed."""
    return JOINT if before and text and not before[-1].isspace() and not text[0].isspace() else ""


def visible(parts: Iterable[_T], hidden: Callable[[_T], bool], thought: Callable[[_T], bool]) -> list[_T]:
    """The parts of a response without the hidden calls, nor the thoughts that led to nothing but these.

    Providers sign thoughts together with what follows them, or refuse them without it; so they stay with it.
    """
    found: list[_T] = []
    held: list[_T] = []
    cut = False
    for part in parts:
        if hidden(part):
            cut = True
        elif thought(part):
            held.append(part)
        else:
            found += [*held, part]
            held = []
    return found if cut else [*found, *held]


def summed(before: object, now: object) -> object:
    """The figures of two responses as those of one: numbers are added, what is no number is the later's."""
    if isinstance(before, dict) and isinstance(now, dict):
        return {**before, **{key: summed(before.get(key), value) for key, value in now.items()}}
    if _is_number(before) and _is_number(now):
        return before + now  # type: ignore[operator]
    return before if now is None else now


def figures(value: object) -> Fields:
    """Figures as an object; empty for anything else."""
    return value if isinstance(value, dict) else {}


def objects(value: object) -> list[Fields]:
    """The objects of a list; none of anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
