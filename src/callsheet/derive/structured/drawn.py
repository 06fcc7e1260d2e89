"""Tables drawn with lines or padding: Markdown, and what database clients print."""

import re
from collections.abc import Sequence

from callsheet.derive.structured.crowds import crowded
from callsheet.derive.structured.grid import Grid, Row, Style

_FRAME = re.compile(r"\+(?:[-=]+\+)+\s*")
_RULE = re.compile(r"\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-+:?[ \t]*\|?\s*")
_PSQL_RULE = re.compile(r"-+(?:\+-+)*\s*")
_COUNT = re.compile(r"\(?[0-9,]+ rows?\b.*|Empty set.*|Query OK.*|Time: .*", re.IGNORECASE)

_SIGNS = "|\n"
Line = tuple[int, str]


def read_drawn(text: str) -> Grid | None:
    """The table that fills a text; None where other text stands around it or the rows do not agree."""
    head = text.lstrip()[:1]
    if not head or ("|" not in text and "-" not in text):
        return None
    if crowded(text, _SIGNS):
        return None
    sample = text[:20_000].split("\n", 8)
    if not any(_FRAME.fullmatch(s) or _RULE.fullmatch(s) or _PSQL_RULE.fullmatch(s) for s in sample[:8] if s.strip()):
        return None
    lines = _lines(text)
    if _FRAME.fullmatch(lines[0][1].strip()):
        return _framed(lines)
    if len(lines) < 2:
        return None
    second = lines[1][1].strip()
    if "|" in second and _RULE.fullmatch(second):
        return _ruled(lines, strip_bars=True)
    if _PSQL_RULE.fullmatch(second) and ("+" in second or "|" not in text):
        return _ruled(lines, strip_bars=False) if "+" in second else _single(lines)
    return None


def _lines(text: str) -> list[Line]:
    """The lines with something on them, each with where it starts."""
    found: list[Line] = []
    at = 0
    for line in text.split("\n"):
        if line.strip():
            found.append((at, line))
        at += len(line) + 1
    return found or [(0, "")]


def _framed(lines: Sequence[Line]) -> Grid | None:
    """``+----+`` above and below, ``| cell |`` between."""
    rows: list[Row] = []
    frames = 0
    for at, (start, line) in enumerate(lines):
        bare = line.strip()
        if _FRAME.fullmatch(bare):
            frames += 1
            continue
        if bare.startswith("|") and bare.endswith("|") and len(bare) > 1:
            rows.append(_row(start, line, bare[1:-1], "|"))
            continue
        return _grid(rows, lines[at:]) if frames >= 3 else None
    return _grid(rows, ()) if frames >= 3 else None


def _ruled(lines: Sequence[Line], *, strip_bars: bool) -> Grid | None:
    """A header, a line of dashes, rows."""
    rows: list[Row] = []
    width = 0
    for at, (start, line) in enumerate(lines):
        if at == 1:
            continue
        bare = _bars(line) if strip_bars else line.strip("\r")
        if at > 1 and bare.replace("\\|", "").count("|") != width:
            return _grid(rows, lines[at:])
        width = width if at else bare.replace("\\|", "").count("|")
        rows.append(_row(start, line, bare, "|"))
    return _grid(rows, ())


def _bars(line: str) -> str:
    bare = line.strip()
    bare = bare[1:] if bare.startswith("|") else bare
    return bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare


def _single(lines: Sequence[Line]) -> Grid | None:
    """Output of psql with one column: only its last line tells it from underlined text."""
    if not _COUNT.fullmatch(lines[-1][1].strip()) or len(lines) < 3:
        return None
    rows = [Row(start, start + len(line), (line.strip(),)) for start, line in (lines[0], *lines[2:-1])]
    return _grid(rows, lines[-1:])


def _row(start: int, line: str, inner: str, sign: str) -> Row:
    cells = _split(inner) if "\\|" in inner else inner.split(sign)
    return Row(start, start + len(line), tuple([cell.strip() for cell in cells]))


def _split(inner: str) -> list[str]:
    return [cell.replace("\0", "|") for cell in inner.replace("\\|", "\0").split("|")] if "\0" not in inner else [inner]


def _grid(rows: Sequence[Row], rest: Sequence[Line]) -> Grid | None:
    if len(rows) < 2 or len(rest) > 3 or any(len(row.cells) != len(rows[0].cells) for row in rows):
        return None
    if not all(_COUNT.fullmatch(line.strip()) for _, line in rest):
        return None
    after = (rest[0][0], rest[-1][0] + len(rest[-1][1])) if rest else None
    return Grid(Style.DRAWN, rows[0], tuple(rows[1:]), after)
