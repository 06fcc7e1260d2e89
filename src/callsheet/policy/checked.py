"""The fields of a value that was made in Python, checked against their types before anything is stored or decided."""

from collections.abc import Mapping
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec.structs import force_setattr

from callsheet.errors import PolicyError

_LONGEST = 60
"""Characters of a wrong value that a message shows."""

_WORDS: Mapping[object, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    NoneType: "None",
}


def checked(value: msgspec.Struct, whose: str = "") -> None:
    """Make the fields of a new value what their types say: a member of a closed set may be given by its word, a list
    stands for a tuple, a whole number for a number. `whose` names the value in errors.

    Raises `PolicyError` that names the field, what was given, and what is allowed.
    """
    for name, kind in _types(type(value)).items():
        given = getattr(value, name)
        try:
            made = msgspec.convert(given, kind)
        except (msgspec.ValidationError, RecursionError):
            shown = repr(given)
            shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
            of = f" of {whose}" if whose else ""
            raise PolicyError(f"{name}{of} is {shown}; it must be {allowed(kind)}") from None
        if made is not given:
            force_setattr(value, name, made)


@cache
def _types(kind: type[msgspec.Struct]) -> Mapping[str, object]:
    hints = get_type_hints(kind, include_extras=True)
    return {name: hints[name] for name in kind.__struct_fields__}


def allowed(kind: object) -> str:
    """What a type allows, in words."""
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return " or ".join(allowed(part) for part in get_args(kind))
    if origin is tuple:
        (part, *_) = get_args(kind)
        return f"a list, each {allowed(part)}"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return f"one of: {', '.join(str(member.value) for member in kind)}"
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return f"a {kind.__name__}"
    return _WORDS.get(kind, str(kind))
