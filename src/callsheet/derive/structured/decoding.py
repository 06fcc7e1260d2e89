"""The dense notation back to the value that it stands for."""

import re
from dataclasses import dataclass, field

from callsheet.derive.structured.cursor import BARE, Cursor, Repeats, Spec, specs
from callsheet.derive.structured.reading import parse, scalar
from callsheet.derive.structured.values import Json, Pairs

_COUNT = re.compile(r"\[([0-9]*)\](?=\{)|\[([0-9]+)\](?=[:\[])|\{([0-9]+)\}(?=\{)")
_SAME = re.compile(r"\(\+([0-9]{1,9}) same\)")
_LITERAL = re.compile(r"\|([0-9]+)")


def decode(dense: str) -> Json:
    """The value of a text that `dense()` of a JSON document made. Raises ValueError for any other text."""
    try:
        return parse(dense)
    except ValueError:
        return _Lines(dense).read()


@dataclass(slots=True)
class _Lines:
    """The lines of a text, read from the first on."""

    text: str
    lines: list[str] = field(init=False)
    at: int = 0
    repeats: Repeats = field(default_factory=Repeats)

    def __post_init__(self) -> None:
        self.lines = self.text.split("\n")

    def read(self) -> Json:
        """The one value of the text."""
        value: Json
        cursor = self._cursor(self.lines[0])
        if cursor.next() == "[" or _COUNT.match(cursor.text):
            self.at = 1
            value = self._counted(cursor, 0) if _COUNT.match(cursor.text) else self._inline(cursor)
        else:
            value = self._object(0, 0)
        if self.at != len(self.lines):
            raise ValueError(f"more text in line {self.at + 1}")
        return value

    def _cursor(self, line: str, at: int = 0) -> Cursor:
        return Cursor(line, self.repeats, at)

    def _object(self, indent: int, start: int) -> Json:
        """The members on the lines at this indentation, the first of them from character `start` of its line on."""
        pairs: list[tuple[str, Json]] = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not pairs and start:
                cursor = self._cursor(line, start)
            elif len(line) - len(line.lstrip(" ")) == indent:
                cursor = self._cursor(line, indent)
            else:
                break
            self.at += 1
            key = cursor.name()
            pairs.append((key, self._value(cursor, indent)))
        if not pairs:
            raise ValueError(f"no member in line {self.at + 1}")
        return tuple(pairs)

    def _value(self, cursor: Cursor, indent: int) -> Json:
        """What stands after a key."""
        if cursor.next() != ":":
            return self._counted(cursor, indent + 1)
        cursor.take(":")
        if cursor.at == len(cursor.text):
            return self._object(indent + 1, 0)
        if cursor.next() == " ":
            cursor.take(" ")
        return self._inline(cursor)

    def _inline(self, cursor: Cursor) -> Json:
        """A value that stands on its line, or the text that follows it."""
        return cursor.value(lambda: self._line(cursor))

    def _line(self, cursor: Cursor) -> Json:
        literal = _LITERAL.fullmatch(cursor.text, cursor.at)
        if literal:
            return "\n".join(self._take(int(literal.group(1))))
        if cursor.next() == "[":
            value = cursor.cell(BARE)
            if cursor.rest():
                raise ValueError(f"more text after a list in {cursor.text[:80]!r}")
            return value
        if cursor.next() and cursor.next() in '"{':
            return parse(cursor.rest())
        return scalar(cursor.rest())

    def _take(self, count: int) -> list[str]:
        taken = self.lines[self.at : self.at + count]
        if len(taken) < count:
            raise ValueError(f"{count} lines expected after line {self.at}")
        self.at += count
        return taken

    def _counted(self, cursor: Cursor, indent: int) -> Json:
        """A table or list, whose count the cursor stands at; items of a list are indented by `indent`."""
        found = cursor.match(_COUNT)
        if not found:
            raise ValueError(f"no count in {cursor.text[:80]!r}")
        rows, items, members = found.groups()
        if cursor.next() == ":":
            cursor.take(":")
            return [self._item(indent) for _ in range(int(items))]
        cursor.take("{" if items is None else "[]{")
        columns = list(specs(cursor))
        cursor.take(":")
        if rows == "":
            return [_row(cursor, columns)]
        if rows is not None:
            return self._rows(int(rows), columns)
        taken = self._take(int(items or members))
        if items is not None:
            return [_Cells(self._cursor(f"[{line}]")).rows(columns) for line in taken]
        return tuple(_member(self._cursor(line), columns) for line in taken)

    def _rows(self, count: int, columns: list[Spec]) -> list[Json]:
        """So many rows, of which lines may stand for several."""
        rows: list[Json] = []
        while len(rows) < count:
            line = self._take(1)[0]
            same = _SAME.fullmatch(line)
            if same and rows and len(rows) + int(same.group(1)) <= count:
                rows += rows[-1:] * int(same.group(1))
            else:
                rows.append(_row(self._cursor(line), columns))
        return rows

    def _item(self, indent: int) -> Json:
        line = self.lines[self.at]
        if not line.startswith(" " * indent + "- "):
            raise ValueError(f"no item in line {self.at + 1}")
        cursor = self._cursor(line, indent + 2)
        if _COUNT.match(line, cursor.at):
            self.at += 1
            return self._counted(cursor, indent + 2)
        if self._starts_member(cursor):
            return self._object(indent + 2, indent + 2)
        self.at += 1
        return self._inline(cursor)

    def _starts_member(self, cursor: Cursor) -> bool:
        trial = self._cursor(cursor.text, cursor.at)
        if trial.next() and trial.next() in "[{":
            return False
        try:
            trial.name()
        except ValueError:
            return False
        return trial.next() == ":" or bool(_COUNT.match(trial.text, trial.at))


def _member(cursor: Cursor, columns: list[Spec]) -> tuple[str, Json]:
    key = cursor.name()
    cursor.take(":")
    return key, _row(cursor, columns, key)


def _row(cursor: Cursor, columns: list[Spec], key: str = "") -> Json:
    if cursor.next() == "=":
        cursor.take("=")
        return parse(cursor.rest())
    value = _cells(cursor, columns, key)
    if cursor.rest():
        raise ValueError(f"more cells than columns in {cursor.text[:80]!r}")
    return value


def _cells(cursor: Cursor, columns: list[Spec], key: str = "") -> Pairs:
    """The object of one row, which is a member of this key."""
    row = cursor.row(lambda: _Cells(cursor).members(columns)[0])
    keyed = {spec.name for spec in columns if spec.key}
    return tuple((name, key if name in keyed else value) for name, value in row) if keyed else row


@dataclass(slots=True)
class _Cells:
    """The cells of one row, taken one after another."""

    cursor: Cursor
    first: bool = True

    def members(self, columns: list[Spec]) -> tuple[Pairs, bool]:
        """The members that are there, and whether a group of them is: something in it is."""
        pairs: list[tuple[str, Json]] = []
        there = False
        for spec in columns:
            if spec.same or spec.key:
                pairs.append((spec.name, spec.same[0] if spec.same else None))
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

    def _value(self, spec: Spec) -> Json:
        return self.cursor.value(lambda: self._cell(spec))

    def _cell(self, spec: Spec) -> Json:
        if spec.rows is not None:
            return self.rows(spec.rows)
        if spec.members is not None:
            return self._members(spec.members)
        if spec.text:
            found = self.cursor.match(BARE)
            return found.group() if found else ""
        return self.cursor.cell(BARE)

    def rows(self, columns: list[Spec]) -> Json:
        """Rows in brackets."""
        self.cursor.take("[")
        rows: list[Json] = []
        while self.cursor.next() != "]":
            if rows:
                self.cursor.take(";")
            rows.append(_cells(self.cursor, columns))
        self.cursor.take("]")
        return rows

    def _members(self, columns: list[Spec]) -> Json:
        self.cursor.take("{")
        pairs: list[tuple[str, Json]] = []
        while self.cursor.next() != "}":
            if pairs:
                self.cursor.take(";")
            key = self.cursor.name()
            self.cursor.take(":")
            pairs.append((key, _cells(self.cursor, columns, key)))
        self.cursor.take("}")
        return tuple(pairs)
