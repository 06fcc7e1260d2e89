"""The dense notation back to the value that it stands for."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from callsheet.derive.structured.reading import parse, scalar, value_at
from callsheet.derive.structured.values import Json

_NAME = re.compile(r'[^:"{}\[\],=;|]+')
_COUNT = re.compile(r"\[([0-9]+)\](?=[{:\[])|\{([0-9]+)\}(?=\{)")
_LITERAL = re.compile(r"\|([0-9]+)")
_BARE = re.compile(r"[^|;\]}\n]*")
_SPEC_BARE = re.compile(r"[^,}\n]*")


def decode(dense: str) -> Json:
    """The value of a text that `dense()` of a JSON document made. Raises ValueError for any other text."""
    try:
        return parse(dense)
    except ValueError:
        return _Lines(dense).read()


@dataclass(slots=True)
class _Spec:
    """A column as the header names it."""

    name: str
    group: "list[_Spec] | None" = None
    rows: "list[_Spec] | None" = None
    members: "list[_Spec] | None" = None
    text: bool = False
    same: tuple[Json] | None = None


@dataclass(slots=True)
class _Cursor:
    """A place in one line."""

    text: str
    at: int = 0

    def next(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self, sign: str) -> None:
        if not self.text.startswith(sign, self.at):
            raise ValueError(f"{sign!r} expected at {self.at} of {self.text[:80]!r}")
        self.at += len(sign)

    def rest(self) -> str:
        return self.text[self.at :]

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def name(self) -> str:
        if self.next() == '"':
            value, self.at = value_at(self.text, self.at)
            return str(value)
        found = self.match(_NAME)
        if not found:
            raise ValueError(f"no key at {self.at} of {self.text[:80]!r}")
        return found.group()

    def cell(self, bare: re.Pattern[str]) -> Json:
        """A value up to what ends it."""
        if self.next() and self.next() in '"[{':
            value, self.at = value_at(self.text, self.at)
            return value
        found = self.match(bare)
        return scalar(found.group() if found else "")


@dataclass(slots=True)
class _Lines:
    """The lines of a text, read from the first on."""

    text: str
    lines: list[str] = field(init=False)
    at: int = 0

    def __post_init__(self) -> None:
        self.lines = self.text.split("\n")

    def read(self) -> Json:
        """The one value of the text."""
        value: Json
        if _COUNT.match(self.lines[0]):
            self.at = 1
            value = self._counted(_Cursor(self.lines[0]), 0)
        else:
            value = self._object(0, 0)
        if self.at != len(self.lines):
            raise ValueError(f"more text in line {self.at + 1}")
        return value

    def _object(self, indent: int, start: int) -> Json:
        """The members on the lines at this indentation, the first of them from character `start` of its line on."""
        pairs: list[tuple[str, Json]] = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not pairs and start:
                cursor = _Cursor(line, start)
            elif len(line) - len(line.lstrip(" ")) == indent:
                cursor = _Cursor(line, indent)
            else:
                break
            self.at += 1
            key = cursor.name()
            pairs.append((key, self._value(cursor, indent)))
        if not pairs:
            raise ValueError(f"no member in line {self.at + 1}")
        return tuple(pairs)

    def _value(self, cursor: _Cursor, indent: int) -> Json:
        """What stands after a key."""
        if cursor.next() != ":":
            return self._counted(cursor, indent + 1)
        cursor.take(":")
        if cursor.at == len(cursor.text):
            return self._object(indent + 1, 0)
        return self._inline(cursor)

    def _inline(self, cursor: _Cursor) -> Json:
        """A value that stands on its line, or the text that follows it."""
        if cursor.next() == " ":
            cursor.take(" ")
        literal = _LITERAL.fullmatch(cursor.text, cursor.at)
        if literal:
            return "\n".join(self._take(int(literal.group(1))))
        if cursor.next() and cursor.next() in '"[{':
            return parse(cursor.rest())
        return scalar(cursor.rest())

    def _take(self, count: int) -> list[str]:
        taken = self.lines[self.at : self.at + count]
        if len(taken) < count:
            raise ValueError(f"{count} lines expected after line {self.at}")
        self.at += count
        return taken

    def _counted(self, cursor: _Cursor, indent: int) -> Json:
        """A table or list, whose count the cursor stands at; items of a list are indented by `indent`."""
        found = cursor.match(_COUNT)
        if not found:
            raise ValueError(f"no count in {cursor.text[:80]!r}")
        if cursor.next() == ":":
            cursor.take(":")
            return [self._item(indent) for _ in range(int(found.group(1)))]
        lists = cursor.text.startswith("[]", cursor.at)
        cursor.take("[]{" if lists else "{")
        specs = list(_specs(cursor))
        cursor.take(":")
        if lists:
            return [_Cells(_Cursor(f"[{line}]")).rows(specs) for line in self._take(int(found.group(1)))]
        if found.group(2) is None:
            return [_row(_Cursor(line), specs) for line in self._take(int(found.group(1)))]
        members = [_Cursor(line) for line in self._take(int(found.group(2)))]
        return tuple(_member(member, specs) for member in members)

    def _item(self, indent: int) -> Json:
        line = self.lines[self.at]
        if not line.startswith(" " * indent + "- "):
            raise ValueError(f"no item in line {self.at + 1}")
        cursor = _Cursor(line, indent + 2)
        if _COUNT.match(line, cursor.at) and line.endswith(":"):
            self.at += 1
            return self._counted(cursor, indent + 2)
        if _starts_member(cursor):
            return self._object(indent + 2, indent + 2)
        self.at += 1
        return self._inline(cursor)


def _starts_member(cursor: _Cursor) -> bool:
    trial = _Cursor(cursor.text, cursor.at)
    if trial.next() and trial.next() in "[{":
        return False
    try:
        trial.name()
    except ValueError:
        return False
    return trial.next() == ":" or bool(_COUNT.match(trial.text, trial.at))


def _specs(cursor: _Cursor) -> Iterator[_Spec]:
    """The columns up to the brace that closes them."""
    while True:
        spec = _Spec(cursor.name())
        if cursor.text.startswith("{*}", cursor.at):
            cursor.take("{*}{")
            spec.members = list(_specs(cursor))
        elif cursor.next() == "{":
            cursor.take("{")
            spec.group = list(_specs(cursor))
        elif cursor.next() == "[":
            cursor.take("[]{")
            spec.rows = list(_specs(cursor))
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
        cursor.take(",")


def _member(cursor: _Cursor, specs: list[_Spec]) -> tuple[str, Json]:
    key = cursor.name()
    cursor.take(":")
    return key, _row(cursor, specs)


def _row(cursor: _Cursor, specs: list[_Spec]) -> Json:
    if cursor.next() == "=":
        cursor.take("=")
        return parse(cursor.rest())
    value = _cells(cursor, specs)
    if cursor.rest():
        raise ValueError(f"more cells than columns in {cursor.text[:80]!r}")
    return value


def _cells(cursor: _Cursor, specs: list[_Spec]) -> Json:
    """The object of one row."""
    return _Cells(cursor).members(specs)[0]


@dataclass(slots=True)
class _Cells:
    """The cells of one row, taken one after another."""

    cursor: _Cursor
    first: bool = True

    def members(self, specs: list[_Spec]) -> tuple[tuple[tuple[str, Json], ...], bool]:
        """The members that are there, and whether a group of them is: something in it is."""
        pairs: list[tuple[str, Json]] = []
        there = False
        for spec in specs:
            if spec.same:
                pairs.append((spec.name, spec.same[0]))
                there = True
            elif spec.group is not None:
                inner, some = self.members(spec.group)
                if some:
                    pairs.append((spec.name, inner))
                    there = True
            elif self._go():
                pairs.append((spec.name, self._value(spec)))
                there = True
        return tuple(pairs), there

    def _go(self) -> bool:
        """To the next cell; whether anything stands in it."""
        if not self.first:
            self.cursor.take("|")
        self.first = False
        return bool(self.cursor.next()) and self.cursor.next() not in "|;]}"

    def _value(self, spec: _Spec) -> Json:
        if spec.rows is not None:
            return self.rows(spec.rows)
        if spec.members is not None:
            return self._members(spec.members)
        if spec.text:
            found = self.cursor.match(_BARE)
            return found.group() if found else ""
        return self.cursor.cell(_BARE)

    def rows(self, specs: list[_Spec]) -> Json:
        self.cursor.take("[")
        rows: list[Json] = []
        while self.cursor.next() != "]":
            if rows:
                self.cursor.take(";")
            rows.append(_cells(self.cursor, specs))
        self.cursor.take("]")
        return rows

    def _members(self, specs: list[_Spec]) -> Json:
        self.cursor.take("{")
        pairs: list[tuple[str, Json]] = []
        while self.cursor.next() != "}":
            if pairs:
                self.cursor.take(";")
            key = self.cursor.name()
            self.cursor.take(":")
            pairs.append((key, _cells(self.cursor, specs)))
        self.cursor.take("}")
        return tuple(pairs)
