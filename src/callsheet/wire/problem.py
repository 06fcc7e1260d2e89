"""Reasons for which a provider would refuse a request, and the checks that all providers' rules share.

The rules are written without a look at rendering and share no code with it, so that each tests the other.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite


class Rule(StrEnum):
    """What was broken."""

    #: A value has the wrong type, or a key is missing.
    SHAPE = "shape"
    #: A key that the provider does not know.
    UNKNOWN_KEY = "unknown_key"
    ROLE = "role"
    #: Turns do not stand in the order that the provider wants.
    ORDER = "order"
    #: Nothing, or only white space, where there must be something.
    EMPTY = "empty"
    #: A call without its result, a result without its call.
    PAIRING = "pairing"
    #: Results do not stand directly behind their calls, in order.
    GROUPING = "grouping"
    #: An id or name that is missing, of the wrong syntax, or used twice.
    ID = "id"
    NAME = "name"
    #: Arguments that are not a JSON object.
    ARGUMENTS = "arguments"
    #: Text that has no valid encoding, or a number that JSON does not know.
    ENCODING = "encoding"
    #: A call of the current turn without the signature of the thought that it came from.
    SIGNATURE = "signature"
    MEDIA = "media"
    TOOLS = "tools"


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One reason to refuse a request."""

    rule: Rule
    #: Path of the value inside the request, such as ``messages[3].content``.
    where: str
    text: str


@dataclass(slots=True)
class Findings:
    """Collects problems. The checks return the narrowed value, or None after having found one."""

    problems: list[Problem] = field(default_factory=list)

    def add(self, rule: Rule, where: str, text: str) -> None:
        """Note a problem."""
        self.problems.append(Problem(rule=rule, where=where, text=text))

    def want_object(
        self, value: object, where: str, *, required: frozenset[str], optional: frozenset[str] = frozenset()
    ) -> Mapping[str, object] | None:
        """An object with these keys and no others."""
        if not isinstance(value, Mapping):
            self.add(Rule.SHAPE, where, "is no object")
            return None
        for key in sorted(required - value.keys()):
            self.add(Rule.SHAPE, where, f"has no {key!r}")
        for key in value.keys() - required - optional:
            self.add(Rule.UNKNOWN_KEY, where, f"has the unknown key {key!r}")
        return value

    def want_list(self, value: object, where: str) -> Sequence[object] | None:
        """A list that holds something."""
        if not isinstance(value, list):
            self.add(Rule.SHAPE, where, "is no list")
            return None
        if not value:
            self.add(Rule.EMPTY, where, "is an empty list")
        return value

    def want_text(self, value: object, where: str) -> str | None:
        """A text that is not blank."""
        if not isinstance(value, str):
            self.add(Rule.SHAPE, where, "is no text")
            return None
        if not value.strip():
            self.add(Rule.EMPTY, where, "is blank")
        return value

    def encoding(self, request: object) -> None:
        """Everything in the request has a JSON form in UTF-8 that says the same."""
        waiting: list[tuple[object, str]] = [(request, "")]
        while waiting:
            value, where = waiting.pop()
            if isinstance(value, str):
                self._characters(value, where)
            elif isinstance(value, float) and not isfinite(value):
                self.add(Rule.ENCODING, where, f"is {value}, which JSON does not know")
            elif isinstance(value, Mapping):
                for key, item in value.items():
                    self._characters(str(key), where)
                    waiting.append((item, f"{where}.{key}" if where else str(key)))
            elif isinstance(value, list):
                waiting.extend((item, f"{where}[{at}]") for at, item in enumerate(value))
            elif value is not None and not isinstance(value, int | float):
                self.add(Rule.ENCODING, where, f"is a {type(value).__name__}, which JSON does not know")
        if not self.problems and json.loads(json.dumps(request).encode()) != request:
            self.add(Rule.ENCODING, "", "changes when it is written as JSON and read back")

    def _characters(self, text: str, where: str) -> None:
        if "\0" in text:
            self.add(Rule.ENCODING, where, "holds NUL")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            self.add(Rule.ENCODING, where, "holds lone surrogates")


def is_object(text: str) -> bool:
    """Whether a text is the JSON of an object, without numbers that JSON does not know."""

    def unknown(name: str) -> object:
        raise ValueError(name)

    try:
        return isinstance(json.loads(text, parse_constant=unknown), dict)
    except (ValueError, RecursionError):
        return False
