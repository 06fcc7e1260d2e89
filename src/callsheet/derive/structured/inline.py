"""Values on one line: JSON without white space, and strings without quotes where they cannot be misread."""

import re
from collections.abc import Iterable
from json.encoder import encode_basestring

from callsheet.derive.structured.reading import SCALAR
from callsheet.derive.structured.values import Json, Number

_ESCAPED = re.compile("[\x85\u2028\u2029\ud800-\udfff]")
_BAD = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
_NOT_SCALAR = rf"(?!(?:{SCALAR})\Z|[&*][0-9]|\(\+[0-9])"


def _plain(first: str, inside: str) -> re.Pattern[str]:
    """Text without white space at its ends, `first` at its beginning and `inside` anywhere; no number, no repeat."""
    return re.compile(rf"{_NOT_SCALAR}[^\s{_BAD}{first}{inside}](?:[^{_BAD}{inside}]*[^\s{_BAD}{inside}])?")


_NAME = re.compile(rf'[^\s:"{{}}\[\],=;|{_BAD}-](?:[^:"{{}}\[\],=;|{_BAD}]*[^\s:"{{}}\[\],=;|{_BAD}])?')
_FIRST = r'"{\[=|'
PLAIN_ON_LINE = _plain(_FIRST, "")
"""A string that stands without quotes to the end of a line."""
PLAIN_IN_LIST = _plain(_FIRST, ":")
"""A string that stands without quotes as the item of a list."""
PLAIN_IN_ROW = _plain(_FIRST, r"\|;\]}")
"""A string that stands without quotes in the row of a table."""
PLAIN_IN_HEADER = _plain(_FIRST + "@", r' {}\[\]"')
"""A string that stands without quotes in the header of a table."""


def quoted(text: str) -> str:
    """A string as JSON, letters of all scripts as they are; half surrogates and all that breaks lines are escaped."""
    written = encode_basestring(text)
    return written if written.isascii() else _ESCAPED.sub(lambda one: f"\\u{ord(one.group()):04x}", written)


def name(key: str) -> str:
    """A key, in quotes only where it needs them."""
    return key if _NAME.fullmatch(key) and key != "*" else quoted(key)


def title(key: str) -> str:
    """A key in the header of a table, where spaces part them."""
    return quoted(key) if " " in key else name(key)


def bare(value: Json, plain: re.Pattern[str]) -> str:
    """A value on one line, a string without quotes where it is plain, numbers with semicolons between them."""
    if type(value) is str:
        return value if plain.fullmatch(value) else quoted(value)
    if isinstance(value, list) and len(value) > 1 and set(map(type, value)) == {Number}:
        return f"[{';'.join(map(str, value))}]"
    return write(value)


def write(value: Json) -> str:
    """JSON without white space, of any depth; between numbers a space stands, since 87,102 reads as one number."""
    if not isinstance(value, list | tuple):
        return _scalar(value)
    out: list[str] = []
    stack: list[Json | _Raw] = [value]
    while stack:
        top = stack.pop()
        if isinstance(top, _Raw):
            out.append(top)
        elif isinstance(top, list) and (types := set(map(type, top))) <= _WORDS:
            # Long arrays of numbers are common, and one by one on the stack they take too much room.
            words: Iterable[str] = (_scalar(item) for item in top)
            out.append(f"[{','.join(words)}]" if types != {Number} else f"[{', '.join(map(str, top))}]")
        elif isinstance(top, list):
            stack.append(_Raw("]"))
            for item in reversed(top):
                stack += (item, _COMMA)
            if top:
                stack.pop()
            out.append("[")
        elif isinstance(top, tuple):
            stack.append(_Raw("}"))
            for key, item in reversed(top):
                stack += (item, _Raw(quoted(key) + ":"), _COMMA)
            if top:
                stack.pop()
            out.append("{")
        else:
            out.append(_scalar(top))
    return "".join(out)


class _Raw(str):
    """Written as it is."""

    __slots__ = ()


_COMMA = _Raw(",")


_WORDS: frozenset[type] = frozenset({str, Number, bool, type(None)})


def _scalar(value: Json) -> str:
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return quoted(value)
    return "null" if value is None else "true" if value else "false"
