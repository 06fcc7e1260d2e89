"""Differences between files: segments are hunks, each shown under the header of its file."""

import re
from dataclasses import replace

from callsheet.derive.document import ContentKind, Segment
from callsheet.derive.prose.important import first_line
from callsheet.derive.prose.pieces import cuts_at, line_span, within
from callsheet.derive.prose.written import Written, written

_UNIFIED = re.compile(r"^diff --git |^--- \S[^\n]*\n\+\+\+ \S|^Index: \S[^\n]*\n=+$", re.MULTILINE)
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)
_CUT = re.compile(r"^(?:diff --git |Index: \S|--- \S[^\n]*\n\+\+\+ |@@ -\d)", re.MULTILINE)
_FILE = re.compile(r"(?:diff --git a/(?P<git>.*?) b/|Index: (?P<index>.*)|--- (?P<old>\S+).*\n\+\+\+ (?P<new>\S+))")
_CHANGED = re.compile(r"^[+-](?!\+\+ |-- )", re.MULTILINE)
_BUDGET = 1200
_LONGEST = 2500
_NAMED = 8


def read_diff(text: str) -> Written | None:
    """A unified difference, bare or below a commit message, or None."""
    if "@@ -" not in text:
        return None
    head = _UNIFIED.search(text)
    if head is None or _HUNK.search(text) is None or (head.start() > 0 and head.start() * 2 > len(text)):
        return None
    cuts, files = _cuts(text)
    always = within([first_line(text), *(line_span(text, at) for at in files)], _BUDGET)
    if len(always) < len(files):
        always = within([first_line(text)], _BUDGET)
    document = written(
        ContentKind.DIFF, text, cuts, always=always, longest=_LONGEST, shape=_shape(text, files), trailing=True
    )
    return _led(document, files)


def _cuts(text: str) -> tuple[list[int], list[int]]:
    """Where pieces begin, and which of them begin a file; what git says before ``---`` belongs to that file."""
    cuts: list[int] = []
    files: list[int] = []
    in_header = False
    for at in cuts_at(text, _CUT):
        if text.startswith("@@", at):
            in_header = False
        elif text.startswith("---", at) and in_header:
            continue
        elif text.startswith(("diff ", "Index: ", "--- "), at):
            in_header = not text.startswith("---", at)
            files.append(at)
        cuts.append(at)
    return cuts, files


def _led(document: Written, files: list[int]) -> Written:
    """The document with hunks named by their file and led by its header."""
    starts = set(files)
    leads: list[int] = []
    segments: list[Segment] = []
    lead, name, hunk = -1, "", 0
    for index, segment in enumerate(document.segments):
        if segment.start in starts:
            lead, name, hunk = index, _name(document.text, segment.start), 0
            segment = Segment(segment.start, segment.end, name, segment.always)  # noqa: PLW2901
        elif document.text.startswith("@@", segment.start):
            hunk += 1
            segment = Segment(segment.start, segment.end, f"{name} hunk {hunk}", segment.always)  # noqa: PLW2901
        leads.append(-1 if lead == index else lead)
        segments.append(segment)
    return replace(document, segments=tuple(segments), leads=tuple(leads))


def _name(text: str, at: int) -> str:
    match = _FILE.match(text, at)
    if match is None:
        return "a file"
    old, new = match["old"], match["new"]
    name = match["git"] or match["index"] or (old if new == "/dev/null" else new) or "a file"
    return name.removeprefix("a/").removeprefix("b/")[:200]


def _shape(text: str, files: list[int]) -> str:
    names = list(dict.fromkeys(_name(text, at) for at in files[: _NAMED * 4]))
    listed = ", ".join(names[:_NAMED])
    rest = len(files) - min(len(names), _NAMED)
    more = f" and {rest:,} more" if rest > 0 else ""
    hunks = sum(1 for _ in _HUNK.finditer(text))
    changed = sum(1 for _ in _CHANGED.finditer(text))
    return f"{hunks:,} hunks, {changed:,} changed lines in {listed}{more}"
