"""Which name a value belongs to, as its text says: members of JSON, cells under their header, ``name: value`` lines.

Reads only the beginning of a text, and only what stands directly together, so no value gets a name that is not its own.
"""

import csv
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from callsheet.derive.document import ContentKind, Document

_HEAD = 24_000
_ROWS = 20

# Strings without escapes, which most are, are passed over at once.
_SCALAR = (
    r"""(?:"(?:[^"\\\n]{0,200}+"|(?:[^"\\\n]|\\.){0,200}+")|'(?:[^'\\\n]|\\.){0,200}+'"""
    r"""|-?\d[\w.+\-]{0,40}+|true\b|false\b|True\b|False\b)"""
)
_KEY = r"""["'](?P<key>[^"'\\\n:{}\[\],]{1,60}+)["']\s{0,8}+:\s{0,8}+"""
# Members that are told whole, the beginnings and ends of what holds them, and strings, which are passed over.
_MEMBER = re.compile(
    rf"""(?<!\\)(?:{_KEY}(?:
        (?P<value>{_SCALAR})(?=\s{{0,200}}+(?:[,}}\]]|\Z))
        |\[\s{{0,200}}+(?P<items>{_SCALAR}(?:\s{{0,200}}+,\s{{0,200}}+{_SCALAR}){{0,50}}+)(?P<whole>\s{{0,200}}+\])?
        |(?P<holder>[{{\[])))
    |(?P<open>[{{\[])|(?P<close>[}}\]])|(?<!\\)"(?:[^"\\]{{0,4000}}+"|(?:[^"\\]|\\.){{0,4000}}+")
    """,
    re.VERBOSE,
)
_KEYED = re.compile(r"""["']\s{0,8}+:""")
_ITEM = re.compile(_SCALAR)
_LINE = re.compile(
    r"^[ \t]{0,8}+(?:[-*] )?(?P<key>[^\W\d_][\w .\-/]{0,40}?)[ \t]{0,12}(?::[ \t]{1,12}|[ \t]?=[ \t]?)"
    r"(?P<value>\S[^\n]{0,80}+)$",
    re.MULTILINE,
)
_WITHOUT = frozenset((ContentKind.SOURCE, ContentKind.DIFF, ContentKind.HTML, ContentKind.BINARY, ContentKind.TRACE))


class Field(NamedTuple):
    """A value with its name. Positions are those of the value in the text, quotes included."""

    key: str
    value: str
    start: int
    end: int
    #: The key of what holds it; empty at the top.
    under: str = ""


def members(text: str) -> Iterator[Field]:
    """Scalar members of objects, and items of lists of scalars under the name of the list."""
    if _KEYED.search(text, 0, _HEAD) is None:
        return
    holders: list[str] = []
    for match in _MEMBER.finditer(text, 0, _HEAD):
        key = match["key"]
        under = holders[-1] if holders else ""
        if key is None:
            if match["open"]:
                holders.append(under)
            elif match["close"] and holders:
                holders.pop()
        elif match["value"] is not None:
            yield Field(key, _shown(match["value"]), *match.span("value"), under)
        elif match["items"] is None:
            holders.append(key)
        else:
            for item in _ITEM.finditer(text, *match.span("items")):
                yield Field(key, _shown(item[0]), *item.span(), under)
            if match["whole"] is None:
                holders.append(key)


def fields(document: Document) -> list[Field]:
    """The named values at the beginning of a document, in its order."""
    if document.kind in _WITHOUT:
        return []
    if document.kind is ContentKind.TABLE:
        return _cells(document)
    found = list(members(document.text))
    if found or document.kind in (ContentKind.JSON, ContentKind.JSON_LINES):
        return found
    return [
        Field(match["key"].strip(), match["value"].strip(), *match.span("value"))
        for match in _LINE.finditer(document.text, 0, _HEAD)
    ]


def _cells(document: Document) -> list[Field]:
    """Cells with the name of their column, where header and row have equally many."""
    segments = document.segments[: _ROWS + 1]
    if len(segments) < 2 or segments[0].name != "header":
        return list(members(document.text))
    header_line = document.text[segments[0].start : segments[0].end].strip("\n")
    mark = max("\t|;,", key=header_line.count)
    header = _split(header_line, mark)
    found: list[Field] = []
    for segment in segments[1:]:
        row = _split(document.text[segment.start : segment.end].strip("\n"), mark)
        if len(row) == len(header):
            found += (
                Field(key, cell, segment.start, segment.end)
                for key, cell in zip(header, row, strict=True)
                if key and cell
            )
    return found


def _split(line: str, mark: str) -> list[str]:
    if mark == "|":
        return [cell.strip() for cell in line.strip().strip("|").split("|")] if "\n" not in line else []
    try:
        rows = list(csv.reader([line[:2_000]], delimiter=mark))
    except csv.Error:
        return []
    return [cell.strip() for cell in rows[0]] if rows else []


def _shown(lexeme: str) -> str:
    if lexeme[0] not in "\"'":
        return lexeme
    if lexeme[0] == '"' and "\\" in lexeme:
        try:
            decoded = json.loads(lexeme, strict=False)
        except ValueError:
            return lexeme[1:-1]
        return str(decoded)
    return lexeme[1:-1]
