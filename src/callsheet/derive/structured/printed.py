"""Rows as Python's database drivers print them: a list of tuples or of dicts."""

import ast
import re
from array import array
from dataclasses import dataclass

from callsheet.derive.document import ContentKind
from callsheet.derive.structured.crowds import crowded
from callsheet.derive.structured.json_document import JsonDocument
from callsheet.derive.structured.places import rows_layout
from callsheet.derive.structured.reading import is_scalar, number
from callsheet.derive.structured.values import Json

_QUOTES = r"'[^'\\\n]*(?:\\.[^'\\\n]*)*'|\"[^\"\\\n]*(?:\\.[^\"\\\n]*)*\""
_BLANK = re.compile(r"\s*")
_TOKEN = re.compile(
    rf"(?P<string>{_QUOTES})|(?P<bytes>b(?:{_QUOTES}))"
    r"|(?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.(]))"
    r"|(?P<call>[A-Za-z_][\w.]*\()|(?P<word>-?[A-Za-z_]\w*)"
)
_IN_CALL = re.compile(rf"{_QUOTES}|[()]|[^()'\"]+")
_START = re.compile(r"\s*\[\s*[({]")
_MOMENT = re.compile(r"(?:datetime\.)?(?:datetime|date)\(([0-9]+(?:, [0-9]+){2,6})\)")
_DECIMAL = re.compile(r"(?:decimal\.)?Decimal\('([^']*)'\)")
_WORDS: dict[str, Json] = {
    "None": None,
    "True": True,
    "False": False,
    "nan": number("NaN"),
    "inf": number("Infinity"),
    "-inf": number("-Infinity"),
}
_DEEPEST = 50
_SIGNS = ",([{"
_LONGEST_STRING = 1 << 20


def read_printed(text: str) -> JsonDocument | None:
    """The document of a printed list of tuples of one length, or of dicts; None for any other text.

    The columns of tuples are named ``$1``, ``$2`` and so on. A date, time or decimal number is what it says.
    """
    found = _START.match(text)
    if not found or crowded(text, _SIGNS):
        return None
    try:
        reader = _Printed(text, found.end() - 1)
        rows, starts, ends = reader.rows()
    except ValueError:
        return None
    if not rows or text[reader.at :].strip():
        return None
    return JsonDocument(ContentKind.TABLE, text, rows, rows_layout("rows", starts, ends, "row"))


@dataclass(slots=True)
class _Printed:
    """A place in the text, and what is read from there on. All of it raises ValueError for other text."""

    text: str
    at: int

    def rows(self) -> tuple[list[Json], "array[int]", "array[int]"]:
        """The rows up to the bracket that closes the list, and where they stand."""
        rows: list[Json] = []
        starts, ends = array("q"), array("q")
        names: list[str] = []
        while not self._skip("]"):
            start = self.at
            row = self._value(0)
            if isinstance(row, list):
                names = names or [f"${place}" for place in range(1, len(row) + 1)]
                row = tuple(zip(names, row, strict=True))
            elif names or not isinstance(row, tuple):
                raise ValueError("not a row")
            rows.append(row)
            starts.append(start)
            ends.append(self.at)
            self._part("]")
        return rows, starts, ends

    def _next(self) -> str:
        sign = self.text[self.at : self.at + 1]
        if not sign.isspace():
            return sign
        found = _BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def _skip(self, sign: str) -> bool:
        there = self._next() == sign
        self.at += there
        return there

    def _part(self, end: str) -> None:
        """Past a comma, or up to the sign that ends the list."""
        if not self._skip(",") and self._next() != end:
            raise ValueError(f"neither comma nor {end} at {self.at}")
        self._next()

    def _value(self, depth: int) -> Json:
        sign = self._next()
        if depth > _DEEPEST:
            raise ValueError("too deep for a row")
        if sign == "{":
            return self._dict(depth)
        if sign and sign in "([":
            self.at += 1
            return self._list(")" if sign == "(" else "]", depth)
        return self._scalar()

    def _list(self, end: str, depth: int) -> list[Json]:
        items: list[Json] = []
        while not self._skip(end):
            items.append(self._value(depth + 1))
            self._part(end)
        return items

    def _dict(self, depth: int) -> Json:
        self.at += 1
        pairs: list[tuple[str, Json]] = []
        while not self._skip("}"):
            key = self._value(depth + 1)
            if type(key) is not str or not self._skip(":"):
                raise ValueError(f"no key at {self.at}")
            pairs.append((key, self._value(depth + 1)))
            self._part("}")
        return tuple(pairs)

    def _scalar(self) -> Json:
        found = _TOKEN.match(self.text, self.at)
        if not found:
            raise ValueError(f"no value at {self.at}")
        self.at = found.end()
        token = found.group()
        if found.lastgroup == "string":
            return _string(token)
        if found.lastgroup == "number" and is_scalar(token):
            return number(token)
        if found.lastgroup == "word" and token in _WORDS:
            return _WORDS[token]
        if found.lastgroup == "bytes":
            return token
        if found.lastgroup == "call":
            return self._call(token)
        raise ValueError(f"no value: {token[:40]!r}")

    def _call(self, start: str) -> Json:
        """A value that is printed as the call that makes it, such as ``datetime.date(2031, 5, 2)``."""
        begin = self.at - len(start)
        opened = 1
        while opened:
            found = _IN_CALL.match(self.text, self.at)
            if not found:
                raise ValueError(f"not closed at {self.at}")
            self.at = found.end()
            opened += {"(": 1, ")": -1}.get(found.group(), 0)
        return _called(self.text[begin : self.at])


def _string(token: str) -> str:
    if "\\" not in token:
        return token[1:-1]
    if len(token) > _LONGEST_STRING:
        raise ValueError("too long to be a cell")
    try:
        return str(ast.literal_eval(token))
    except SyntaxError:
        raise ValueError("no string") from None


def _called(source: str) -> Json:
    moment = _MOMENT.fullmatch(source)
    if moment:
        year, month, day, *clock = [int(part) for part in moment.group(1).split(", ")]
        date = f"{year:04}-{month:02}-{day:02}"
        if "date(" in source and "datetime(" not in source:
            return date
        hour, minute, second, micro = [*clock, 0, 0, 0, 0][:4]
        return f"{date} {hour:02}:{minute:02}:{second:02}" + (f".{micro:06}" if micro else "")
    decimal = _DECIMAL.fullmatch(source)
    if decimal and is_scalar(decimal.group(1)):
        return number(decimal.group(1))
    return source
