"""The same text in fewer characters: what a terminal never showed goes, repeated lines stand once with their number."""

import re
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import chain, groupby, islice
from operator import countOf, eq

_LINK = re.compile(r"\x1b\]8;[^;\x07\x1b]*;([^\x07\x1b]*)(?:\x07|\x1b\\)")
_ESCAPE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-Za-z]|\x1b[=>78cDEHMNOZ]"
)
_DRAWN = re.compile(r"[\d\s.,:;%#=\-<>|/\\_*+\[\](){}\u2500-\u25ff\u2800-\u28ff]+")
_STATE = re.compile(r"[^\r]+")
_CHUNK = 1 << 20
_SAME = 3
"""From this many equal lines on, they stand once."""


def tidy(text: str, *, trailing: bool = False) -> str:
    """The text without escapes and overwritten progress states, with repeats once and runs of empty lines as one.

    Indentation stays; white space at line ends goes unless `trailing` says that it means something. A NUL is shown
    as ``␀``. No other character of a line changes.
    """
    lines: Iterable[str] = _lines(text, trailing)
    if len(text) <= _CHUNK:
        lines = list(lines)
        if not any(map(eq, lines, islice(lines, 1, None))):
            return "\n".join(lines)
    out = StringIO()
    first = True
    for line, group in groupby(lines):
        times = countOf(group, line)
        written = line if first else "\n" + line
        first = False
        out.write(written)
        if times == 1 or not line:
            continue
        note = f"... (the line above {times:,} times in all)"
        if times >= _SAME and len(note) < (len(line) + 1) * (times - 1):
            out.write("\n" + note)
        else:
            out.write(("\n" + line) * (times - 1))
    return out.getvalue()


def _lines(text: str, trailing: bool) -> Iterator[str]:
    for chunk in _chunks(text):
        if "\x1b" in chunk:
            chunk = _ESCAPE.sub("", _LINK.sub(lambda link: f"({link[1]}) " if link[1] else "", chunk))  # noqa: PLW2901
        lines: Iterable[str] = chunk.split("\n")
        if "\r" in chunk or "\b" in chunk or "\0" in chunk:
            lines = chain.from_iterable(map(_shown, lines))
        yield from lines if trailing else map(str.rstrip, lines)


def _chunks(text: str) -> Iterator[str]:
    """The text in parts that end before a line end, so that not all lines are held at once."""
    start = 0
    while len(text) - start > _CHUNK:
        end = text.find("\n", start + _CHUNK)
        if end < 0:
            break
        yield text[start:end]
        start = end + 1
    yield text[start:]


def _shown(line: str) -> Iterator[str]:
    """What a terminal would show for one line: the last state of a progress bar, overstruck characters once."""
    line = line.rstrip("\r").replace("\0", "␀")
    if "\b" in line:
        line = _overstruck(line)
    if "\r" not in line:
        yield line
        return
    # Lines of an old Macintosh also end in a carriage return: only states of one thing overwrite each other.
    states = (match[0] for match in _STATE.finditer(line) if not match[0].isspace())
    for _, group in groupby(states, _drawn):
        last = ""
        for state in group:
            last = state
        yield last


def _drawn(state: str) -> str:
    return _DRAWN.sub("", state)[:12]


def _overstruck(line: str) -> str:
    kept: list[str] = []
    for character in line:
        if character != "\b":
            kept.append(character)
        elif kept:
            kept.pop()
    return "".join(kept)
