"""Arguments of the public face are of the types that it declares, else they are refused by name; errors tell no secret.

The declarations are those that type checkers read, so each method is checked as it is documented, new ones too. What a
value says, such as which names there are, is checked where it is used.
"""

import inspect
import sys
import types
import typing
from collections import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import cache, wraps
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar

from callsheet.derive.redaction import Redaction
from callsheet.errors import CallsheetError, InputError, InvalidOption, InvalidTime
from callsheet.runtime.options import shown

P = ParamSpec("P")
R = TypeVar("R")
_C = TypeVar("_C")

_WORDS: Mapping[object, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    bytes: "bytes",
    type(None): "None",
    abc.Callable: "a function",
    datetime: "an aware datetime",
}


def all_checked(kind: type[_C]) -> type[_C]:
    """Let every public method that a class defines refuse arguments of wrong types. Also as a decorator."""
    for name, method in tuple(vars(kind).items()):
        if inspect.isfunction(method) and not name.startswith("_"):
            setattr(kind, name, checked(method))
    return kind


def checked(method: Callable[P, R]) -> Callable[P, R]:
    """The method, which raises `InvalidOption`, for a time `InvalidTime`, that names an argument of a wrong type."""

    @cache
    def expected() -> _Expected:
        return _expected(method)  # at the first call: annotations may name what is defined later

    if inspect.iscoroutinefunction(method):

        @wraps(method)
        async def later(*args: P.args, **kwargs: P.kwargs) -> Any:
            with _UNTOLD:
                expected().refuse(args, kwargs)
                return await method(*plain(args), **plain(kwargs))

        return later  # type: ignore[return-value]  # the coroutine is what R stands for

    @wraps(method)
    def now(*args: P.args, **kwargs: P.kwargs) -> R:
        with _UNTOLD:
            expected().refuse(args, kwargs)
            return method(*plain(args), **plain(kwargs))

    return now


def plain(value: Any, depth: int = 0) -> Any:
    """A value with plain text where a kind of text stands in it, as libraries of arrays and of markup have them."""
    kind = type(value)
    if isinstance(value, str):
        return value if kind is str or isinstance(value, Enum) else str.__str__(value)
    if depth > _DEEPEST or (kind is not list and kind is not tuple and kind is not dict):
        return value
    if kind is dict:
        members = {plain(key): plain(inner, depth + 1) for key, inner in value.items()}
        same = all(key is other for key, other in zip(value, members, strict=False))
        return value if same and all(value[key] is inner for key, inner in members.items()) else members
    parts = [plain(inner, depth + 1) for inner in value]
    return value if all(one is other for one, other in zip(value, parts, strict=True)) else kind(parts)


_DEEPEST = 16
"""Levels of a value that are looked through: messages and arguments of calls are less deep."""


class _Untold:
    """Takes secrets out of the text of an error of ours: it may show what was given, which may be one."""

    _redaction = Redaction()

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, CallsheetError):
            text = str(error)
            told = self._redaction.text(text)
            if told != text:
                error.args = (told,)


_UNTOLD = _Untold()


class _Parameter(NamedTuple):
    name: str
    hint: object


@dataclass(frozen=True, slots=True)
class _Expected:
    """The declared types of a method's arguments."""

    method: str
    placed: tuple[_Parameter, ...]
    #: Of all further ones; None: there are none.
    further: _Parameter | None
    named: Mapping[str, object]

    def refuse(self, args: Sequence[object], kwargs: Mapping[str, object]) -> None:
        given = args[1:]  # without self
        for parameter, value in zip(self.placed, given, strict=False):
            _refuse(self.method, parameter.name, value, parameter.hint)
        if self.further is not None:
            for value in given[len(self.placed) :]:
                _refuse(self.method, self.further.name, value, self.further.hint)
        for name, value in kwargs.items():
            if name in self.named:
                _refuse(self.method, name, value, self.named[name])


def _expected(method: Callable[..., object]) -> _Expected:
    hints = typing.get_type_hints(method)
    own = list(inspect.signature(method).parameters.values())[1:]
    known = [one for one in own if one.name in hints]
    placed = (one for one in known if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD))
    further = next((one for one in known if one.kind is one.VAR_POSITIONAL), None)
    return _Expected(
        method=method.__name__,
        placed=tuple(_Parameter(one.name, hints[one.name]) for one in placed),
        further=_Parameter(further.name, hints[further.name]) if further is not None else None,
        named={one.name: hints[one.name] for one in known if one.kind is not one.VAR_POSITIONAL},
    )


def _refuse(method: str, name: str, value: object, hint: object) -> None:
    if _fits(value, hint):
        return
    kind: type[InputError] = InvalidTime if datetime in _members(hint) else InvalidOption
    raise kind(f"{name} is {shown(value)}; in {method}() it must be {_described(hint)}")


def _members(hint: object) -> tuple[object, ...]:
    """The types of a union; of what is none, that alone."""
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def _fits(value: object, hint: object) -> bool:
    return any(_is(value, member) for member in _members(hint))


def _is(value: object, hint: object) -> bool:
    if isinstance(hint, typing.NewType):
        return _is(value, hint.__supertype__)
    kind = typing.get_origin(hint) or hint
    if not isinstance(kind, type) or kind is object:
        return True  # nothing can be told by its type
    if _is_protocol(kind):
        return all(hasattr(value, name) for name in vars(kind) if not name.startswith("_"))
    if isinstance(value, bool):
        return kind is bool
    if issubclass(kind, Enum):
        return isinstance(value, str)
    if kind is float:
        return isinstance(value, float) or (isinstance(value, int) and abs(value) <= sys.float_info.max)
    if kind is tuple:
        return isinstance(value, tuple | list)
    if not isinstance(value, kind):
        return False
    parts = typing.get_args(hint)
    if kind is Sequence and parts:
        # Text counts as one of several texts.
        return _fits(value, parts[0]) if isinstance(value, str) else _all(value, parts[0])
    if kind is Mapping and parts and isinstance(value, Mapping):
        return _all(tuple(value.keys()), parts[0]) and _all(tuple(value.values()), parts[1])
    return True


def _all(values: object, hint: object) -> bool:
    if isinstance(values, bytes | bytearray | memoryview) or not isinstance(values, Sequence):
        return False
    return all(_fits(value, hint) for value in values)


def _is_protocol(kind: type) -> bool:
    return issubclass(kind, Protocol) and bool(getattr(kind, "_is_protocol", False))


def _described(hint: object) -> str:
    words = dict.fromkeys(_word(member) for member in _members(hint))
    return " or ".join(words)


def _word(hint: object) -> str:
    if isinstance(hint, typing.NewType):
        return _word(hint.__supertype__)
    kind = typing.get_origin(hint) or hint
    parts = typing.get_args(hint)
    if kind is Sequence:
        return f"a list, each {_described(parts[0])}" if parts else "a list"
    if kind is Mapping:
        return f"an object, each {_described(parts[1])}" if parts else "an object"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "text"
    if kind is tuple:
        return "a pair"
    return _WORDS.get(kind, f"a {getattr(kind, '__name__', 'value')}")
