"""Specific values: what a later call must reproduce to the letter, such as ids, paths, dates, amounts and addresses."""

import re
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

MIN_CHARS = 4
"""A shorter value is not specific, unless it is a number."""

MIN_DIGITS = 3
"""A number with fewer digits is not specific."""


class Kind(StrEnum):
    """What kind of text a value is."""

    URL = "url"
    EMAIL = "email"
    DATE = "date"
    PATH = "path"
    FILE = "file"
    ID = "id"
    NUMBER = "number"
    QUOTED = "quoted"
    #: An argument as a whole that is none of these.
    TEXT = "text"
    #: One line of a longer argument.
    LINE = "line"


class Value(Struct, frozen=True, kw_only=True):
    """A specific value. It stands in a text if one of its spellings does."""

    kind: Kind
    #: The ways to write it, sorted: a number also without or with thousands separators and decimals.
    spellings: tuple[str, ...]


_PATH_CHAR = r"[\w.@+-]"
_FILE_ENDINGS = (
    "c|cc|cfg|cpp|css|csv|go|h|html|ini|java|js|json|jsx|lock|log|md|py|rb|rs|rst|sh|sql|toml|ts|tsx|txt|xml|yaml|yml"
)
# In this order: where several could begin at one place, the first that matches is taken.
_PATTERNS = {
    Kind.URL: r"https?://[^\s\"'<>)\]}]+",
    Kind.EMAIL: r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    Kind.DATE: r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?|\d{1,2}/\d{1,2}/\d{4}",
    Kind.PATH: rf"(?:[A-Za-z]:)?(?:~|\.{{1,2}})?/?(?:{_PATH_CHAR}+/)+{_PATH_CHAR}*\w|/{_PATH_CHAR}{{3,}}",
    Kind.FILE: rf"[\w-]+\.(?:{_FILE_ENDINGS})\b",
    # Letters and digits mixed, or words joined by underscores.
    Kind.ID: r"#?(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{4,}|[A-Za-z]+_[A-Za-z_]+",
    Kind.NUMBER: r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w)",
}
_VALUE = re.compile("|".join(f"(?P<{kind.name}>{pattern})" for kind, pattern in _PATTERNS.items()))
_QUOTED = re.compile(r"\"(?P<double>[^\"\n]{4,200})\"|'(?P<single>[^'\n]{4,200})'|`(?P<back>[^`\n]{4,200})`")
# The patterns above need quadratic time on a long run of word characters that matches none of them, such as a gene
# sequence or encoded data. No value that anybody reads is that long.
_BLOB = re.compile(r"(?<![\w.@+-])[\w.@+-]{4096,}")


def scan(text: str, *, quoted: bool = True) -> Iterator[Value]:
    """The specific values of a text from left to right, then (if asked) those in quotation marks. May repeat itself.

    Unbroken runs of 4,096 and more word characters are passed over.
    """
    if len(text) >= 4096:
        text = _BLOB.sub(" ", text)
    for match in _VALUE.finditer(text):
        kind = Kind[str(match.lastgroup)]
        found = match.group().strip(".,;:")
        if _digits(found) >= MIN_DIGITS if kind is Kind.NUMBER else len(found) >= MIN_CHARS:
            yield value(kind, found)
    if quoted:
        for match in _QUOTED.finditer(text):
            found = match[str(match.lastgroup)].strip()
            if len(found) >= MIN_CHARS:
                yield value(Kind.QUOTED, found)


def kind_of(text: str) -> Kind:
    """The kind of value that the text is from end to end; `Kind.TEXT` if none."""
    match = _VALUE.fullmatch(text)
    return Kind[str(match.lastgroup)] if match else Kind.TEXT


def number(text: str) -> Value | None:
    """The number as a value; None if it has too few digits."""
    return value(Kind.NUMBER, text) if _digits(text) >= MIN_DIGITS else None


def value(kind: Kind, text: str) -> Value:
    """The text as a value of that kind, with every way to write it."""
    return Value(kind=kind, spellings=_spellings_of_number(text) if kind is Kind.NUMBER else (text,))


def _spellings_of_number(text: str) -> tuple[str, ...]:
    plain = text.replace(",", "")
    spellings = {text, plain}
    try:
        amount = float(plain)
    except ValueError:
        return tuple(sorted(spellings))
    if abs(amount) < 1e15:
        spellings |= {f"{amount:.2f}", f"{amount:,.2f}"}
        if amount.is_integer():
            whole = int(amount)
            spellings |= {f"{whole}", f"{whole:,}", f"{whole}.0"}
        else:
            spellings |= {repr(amount), f"{amount:,}"}
    return tuple(sorted(spellings))


def _digits(text: str) -> int:
    return sum(map(str.isdigit, text))
