"""A sender's value as plain JSON values, whatever types hold it; what JSON has no form for is refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from callsheet.errors import InvalidMessage
from callsheet.wire.reading import Fields, entries, fields, items, plain, shortened

NESTING_LIMIT = 128
"""Deepest nesting of objects and lists inside a message or tool. Far beyond real use, far within what parsers take."""


def json_value(value: object, where: str, what: str = "") -> object:
    """The value as dict, list, str, int, float, bool and None, copied. Objects of SDKs become the dicts that they are.

    Raises `InvalidMessage` for other types, keys that are not text, and nesting beyond `NESTING_LIMIT`; `what` names
    the thing that is refused.
    """
    reader = _Reader(where=where, what=what)
    try:
        return reader.value(value, NESTING_LIMIT)
    except RecursionError:
        reader.too_deep(value)


def json_fields(value: object, where: str, what: str = "") -> Fields:
    """The same of an object."""
    return fields(json_value(fields(value, where), where, what), where)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reader:
    where: str
    what: str

    def value(self, value: object, left: int) -> object:
        if value is None or isinstance(value, bool):
            return value
        # Exactly these types: encoders differ in what they make of subclasses.
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return int.__int__(value)
        if isinstance(value, float):
            return float.__float__(value)
        return self._container(plain(value, self.where), left)

    def _container(self, found: object, left: int) -> object:
        if not isinstance(found, Mapping | list | tuple):
            self._refuse(f"cannot be written as JSON ({type(found).__name__} is not JSON)")
        if not left:
            self.too_deep(found)
        if isinstance(found, Mapping):
            pairs = entries(found, self.where)
            return {self._key(key): self.value(item, left - 1) for key, item in pairs}
        return [self.value(item, left - 1) for item in items(found, self.where)]

    def _key(self, key: object) -> str:
        if not isinstance(key, str):
            self._refuse(f"must have text as keys, not {shortened(key)}")
        return str.__str__(key)

    def too_deep(self, value: object) -> NoReturn:
        self._refuse(f"must be nested at most {NESTING_LIMIT} deep, not {shortened(value)}")

    def _refuse(self, problem: str) -> NoReturn:
        raise InvalidMessage(f"{self.what} {problem}" if self.what else problem, where=self.where)


def nested_too_deep(value: object) -> bool:
    """Whether the objects and lists of a decoded JSON value are nested deeper than `NESTING_LIMIT`."""
    level: list[object] = [value]
    for _ in range(NESTING_LIMIT + 1):
        containers = [item for item in level if isinstance(item, dict | list)]
        if not containers:
            return False
        level = [child for item in containers for child in (item.values() if isinstance(item, dict) else item)]
    return True
