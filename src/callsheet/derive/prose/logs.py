"""Output of commands and logs: the command, errors wherever they stand, and how it ended survive every excerpt."""

import re
from collections import Counter
from collections.abc import Sequence

from callsheet.derive.document import ContentKind
from callsheet.derive.prose.important import ended, endings, errors, first_line, told, viewed
from callsheet.derive.prose.pieces import line_cuts, within
from callsheet.derive.prose.traces import has_trace, trace_spans
from callsheet.derive.prose.written import Written, written

_PROMPT = re.compile(r"\s{0,200}(?:[\w.@~:/-]{0,60}[$%]|PS [^\n>]{0,80}>|\+) \S")
_LOGGED = re.compile(
    r"\s*+(?:\[[^\]\n]{1,40}\]|\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d+ \d\d:\d\d"
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|[IWEF]\d{4} )\b)"
)
_LEVEL = re.compile(r"\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE)\b", re.IGNORECASE)
_COMPLAINT = re.compile(r"(?:[\w./-]{1,60}: )?(?:error|fatal|warning|panic)\b[:\[ ]", re.IGNORECASE)
_SPEAKER = re.compile(r"[a-z][\w./+-]{0,40}(?:\[\d+\])?: (?=\S)")
_BUDGET = 1500
_SAMPLE = 20_000


def read_log(text: str) -> Written | None:
    """Output of a command or a log, by its form, or None."""
    if not _is_output(text):
        return None
    wanted = [*endings(text), first_line(text), *viewed(text)]
    if has_trace(text):
        wanted += trace_spans(text)
    failing = errors(text, plain=False)
    shape = told(text, [*sorted(failing, key=lambda span: span.start)[:1], *endings(text)[:1]])
    always = within([*wanted[:1], *failing[:1], *wanted[1:], *failing[1:]], _BUDGET)
    return written(ContentKind.LOG, text, list(line_cuts(text)), always=always, shape=shape)


def is_levelled(text: str) -> bool:
    """Whether most lines begin with a time or a level, and name levels: a log in the narrow sense.

    What it says yes to is output of a command as well.
    """
    lines = _sample(text)
    if len(lines) < 2 or _logged(lines) * 2 < len(lines):
        return False
    return _levelled(lines) * 4 >= len(lines)


def _is_output(text: str) -> bool:
    lines = _sample(text)
    if len(lines) < 2:
        return False
    if _PROMPT.match(text) is not None or ended(text):
        return True
    logged = _logged(lines)
    return (
        logged * 2 >= len(lines)
        or (logged * 8 >= len(lines) and _levelled(lines) * 8 >= len(lines))
        or any(map(_COMPLAINT.match, lines))
        or _one_speaker(lines)
    )


def _logged(lines: Sequence[str]) -> int:
    """How many lines begin with a time or a level."""
    return len(list(filter(None, map(_LOGGED.match, lines))))


def _levelled(lines: Sequence[str]) -> int:
    """How many lines name a level."""
    return len(list(filter(None, map(_LEVEL.search, lines))))


def _one_speaker(lines: list[str]) -> bool:
    """Whether most lines begin with the name of one program."""
    named = Counter(match[0] for line in lines if (match := _SPEAKER.match(line)))
    return len(lines) > 3 and any(number * 2 > len(lines) for number in named.values())


def _sample(text: str) -> list[str]:
    head = text[:_SAMPLE].split("\n")[:200]
    tail = text[max(_SAMPLE, len(text) - _SAMPLE // 4) :].split("\n")[-50:]
    return [line[:300] for line in head + tail if line.strip()]
