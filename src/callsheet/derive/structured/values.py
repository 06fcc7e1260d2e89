"""JSON as it was written: numbers keep their digits, objects their order and their repeated keys."""

from typing import TypeAlias


class Number(str):
    """A number, ``NaN`` or ``Infinity`` exactly as it stood."""

    __slots__ = ()


Json: TypeAlias = "bool | str | list[Json] | tuple[tuple[str, Json], ...] | None"
"""A string or `Number`, a list for an array, a tuple of pairs for an object."""

Pairs: TypeAlias = "tuple[tuple[str, Json], ...]"
