"""A place in one line of the dense notation, and the columns that a header names."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from callsheet.derive.structured.reading import scalar, value_at
from callsheet.derive.structured.values import Json, Pairs

BARE = re.compile(r"[^|;\]}\n]*")
"""What a string without quotes in a cell is made of."""

_NAME = re.compile(r'[^:"{}\[\],=;|]+')
_SPEC_BARE = re.compile(r"[^ }\n]*")
_TITLE = re.compile(r'[^:"{}\[\],=;| ]+')
_NUMBERS = re.compile(r"\[([0-9A-Za-z.+;-]*;[0-9A-Za-z.+;-]*)\]")
_NAMED = re.compile(r"&([0-9]+) ")
_NAMED_ROW = re.compile(r"&([0-9]+):")
_AGAIN = re.compile(r"\*([0-9]+)")


@dataclass(slots=True)
class Repeats:
    """What was numbered so far, values and rows."""

    values: dict[str, Json] = field(default_factory=dict)
    rows: dict[str, Pairs] = field(default_factory=dict)


@dataclass(slots=True)
class Cursor:
    """A place in one line."""

    text: str
    repeats: Repeats
    at: int = 0

    def next(self) -> str:
        """The character here; empty at the end."""
        return self.text[self.at : self.at + 1]

    def take(self, sign: str) -> None:
        """Past a sign that has to be here. Raises ValueError where it is not."""
        if not self.text.startswith(sign, self.at):
            raise ValueError(f"{sign!r} expected at {self.at} of {self.text[:80]!r}")
        self.at += len(sign)

    def rest(self) -> str:
        """The line from here on."""
        return self.text[self.at :]

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Past what matches here."""
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def name(self, bare: re.Pattern[str] = _NAME) -> str:
        """A key, in quotes or bare."""
        if self.next() == '"':
            value, self.at = value_at(self.text, self.at)
            return str(value)
        found = self.match(bare)
        if not found:
            raise ValueError(f"no key at {self.at} of {self.text[:80]!r}")
        return found.group()

    def cell(self, bare: re.Pattern[str]) -> Json:
        """A value up to what ends it."""
        numbers = self.match(_NUMBERS)
        if numbers:
            return [scalar(text) for text in numbers.group(1).split(";")]
        if self.next() and self.next() in '"[{':
            value, self.at = value_at(self.text, self.at)
            return value
        found = self.match(bare)
        return scalar(found.group() if found else "")

    def value(self, read: Callable[[], Json]) -> Json:
        """What `read` reads, or the numbered value that stands for it."""
        again = self.match(_AGAIN)
        if again:
            if again.group(1) not in self.repeats.values:
                raise ValueError(f"nothing is numbered {again.group(1)}")
            return self.repeats.values[again.group(1)]
        named = self.match(_NAMED)
        value = read()
        if named:
            self.repeats.values[named.group(1)] = value
        return value

    def row(self, read: Callable[[], Pairs]) -> Pairs:
        """The same of a row, whose first cell may be a numbered value."""
        again = _AGAIN.match(self.text, self.at)
        if again and again.group(1) in self.repeats.rows:
            self.at = again.end()
            return self.repeats.rows[again.group(1)]
        named = self.match(_NAMED_ROW)
        row = read()
        if named:
            self.repeats.rows[named.group(1)] = row
        return row


@dataclass(slots=True)
class Spec:
    """A column as the header names it."""

    name: str
    group: "list[Spec] | None" = None
    rows: "list[Spec] | None" = None
    members: "list[Spec] | None" = None
    text: bool = False
    same: tuple[Json] | None = None
    #: The values are the keys of the members that the rows are.
    key: bool = False


def specs(cursor: Cursor) -> Iterator[Spec]:
    """The columns up to the brace that closes them."""
    while True:
        spec = Spec(cursor.name(_TITLE))
        if cursor.text.startswith("{*}", cursor.at):
            cursor.take("{*}{")
            spec.members = list(specs(cursor))
        elif cursor.next() == "{":
            cursor.take("{")
            spec.group = list(specs(cursor))
        elif cursor.next() == "[":
            cursor.take("[]{")
            spec.rows = list(specs(cursor))
        elif cursor.text.startswith("=@key", cursor.at):
            cursor.take("=@key")
            spec.key = True
        elif cursor.next() == "=":
            cursor.take("=")
            spec.same = (cursor.cell(_SPEC_BARE),)
        elif cursor.next() == ":":
            cursor.take(":text")
            spec.text = True
        yield spec
        if cursor.next() == "}":
            cursor.take("}")
            return
        cursor.take(" ")
