"""Lines that must stand in every excerpt: errors, how a run ended, and which part of a longer thing a viewer shows."""

import re
from collections import deque
from collections.abc import Iterator, Sequence

from callsheet.derive.prose.blobs import blobs, masked
from callsheet.derive.prose.marks import Marks, lowered, marked_lines
from callsheet.derive.prose.pieces import Span, line_span
from callsheet.derive.prose.tidy import tidy

#: Words of failure, at the end of a word too (``TypeError``); some of other languages, as tools print them.
_FAILURE = re.compile(
    r"(?i:errors?|fatal|panic(?:ked)?|exceptions?|fail(?:ed|ures?)|critical|severe|segmentation fault)(?![\w-])"
    r"|Fehler|erreur|ошибка|错误|失败|エラー|失敗|오류"
)
_PLAIN_FAILURE = re.compile(
    r"^[ \t]*(?:[\w./-]{1,60}: )?(?:error|fatal|panic|exception|failed|failure)\b[: \[(].*",
    re.IGNORECASE | re.MULTILINE,
)
_FAILURE_WORDS = (
    *("error", "fatal", "panic", "exception", "fail", "critical", "severe", "segmentation fault"),
    *("fehler", "erreur", "ошибка", "错误", "失败", "エラー", "失敗", "오류"),
)
_NONE_BEFORE = re.compile(r"(?:\b0|\bno|\bwithout|\bnon)[ -]\Z", re.IGNORECASE)
_ENDING = re.compile(
    r"(?i)\b(?:exit(?:ed)?(?: with)? (?:status|code)|exit code|return code|returned)\b\W{0,4}-?\d"
    r"|\bexited with\b|\b\d+ (?:errors?|warnings?|failed|passed|failures?|skipped)\b"
    r"|\bbuild (?:failed|succeeded|successful|success)|\bcommand (?:failed|not found|timed out)|\btimed? ?out\b"
    r"|\b(?:killed|terminated|aborted|core dumped)\b"
)
_UNITS = r"(?:lines?|rows?|results?|pages?|items?|entries|records?|bytes|characters|chars|hits|matches|tokens|files)"
_VIEWED = re.compile(
    rf"(?i)\b{_UNITS}:? +\d[\d,.]* *(?:-|–|to|of|/|\.\.) *\d"
    rf"|\b\d[\d,.]* *(?:-|–|to|of|/) *\d[\d,.]* +(?:\w+ +)?{_UNITS}\b"
    rf"|\b\d[\d,.]* +(?:more +|total +|other +)?{_UNITS} +(?:total|above|below|omitted|more|remaining|not shown|left)\b"
    rf"|\b\d[\d,.]* more {_UNITS}\b|\b\d+(?:\.\d+)? ?% of the\b|\btruncated\b|\bnext[_ ]page\b"
)
#: One of these stands in every line of which `_VIEWED` has a match.
_VIEWED_WORDS = (
    *(
        "line",
        "row",
        "result",
        "page",
        "item",
        "entries",
        "record",
        "bytes",
        "char",
        "hits",
        "matches",
        "token",
        "file",
    ),
    *("truncated", "% of the"),
)
#: In every match too, and sooner looked for.
_NUMBER_OR_WORD = re.compile(r"\d|(?i:truncated|next[_ ]page)")
_EDGE = 4000
_TOLD = 160
_FIRST, _LAST = 3, 5


def errors(text: str, *, plain: bool) -> list[Span]:
    """The last lines that tell of a failure, newest first, then the first ones; `plain` takes only lines that begin so.

    "0 errors" and the like tell of none.
    """
    first: list[Span] = []
    last: deque[Span] = deque(maxlen=_LAST)
    for span in _plainly_failing(text) if plain else _failing(text):
        if len(first) < _FIRST:
            first.append(span)
        else:
            last.append(span)
    return [*reversed(last), *first]


def _failing(text: str) -> Iterator[Span]:
    marks = Marks(lowered(text), _FAILURE_WORDS)
    at = marks.first(0)
    while at >= 0:
        match = _FAILURE.match(text, at)
        at += 1
        if match is not None:
            at = match.end()
            if not _NONE_BEFORE.search(text, max(0, match.start() - 8), match.start()):
                span = line_span(text, match.start())
                yield span
                at = max(span.end, at)
        at = marks.first(at)


def _plainly_failing(text: str) -> Iterator[Span]:
    for start, end in marked_lines(text, _FAILURE_WORDS):
        if _PLAIN_FAILURE.match(text, start, end):
            yield line_span(text, start)


def endings(text: str) -> list[Span]:
    """The last line that is not empty, and lines near the end that say how a run ended, last first."""
    spans: list[Span] = []
    for count, span in enumerate(_from_end(text)):
        if count >= 6 or len(spans) >= 4:
            break
        if count == 0 or _ENDING.search(text, span.start, min(span.end, span.start + 500)):
            spans.append(span)
    return spans


def _from_end(text: str) -> Iterator[Span]:
    """The lines of the last few thousand characters that are not empty, last first."""
    end = len(text)
    while end > max(0, len(text) - _EDGE):
        start = text.rfind("\n", 0, end - 1) + 1
        if text[start : min(end, start + 200)].strip():
            yield Span(start, end)
        end = start


def ended(text: str) -> bool:
    """Whether one of the last lines says how a run ended."""
    last = [span for _, span in zip(range(3), _from_end(text), strict=False)]
    return any(_ENDING.search(text, span.start, min(span.end, span.start + 300)) for span in last)


def viewed(text: str) -> list[Span]:
    """Lines at the beginning and the end that say which part of something longer this is."""
    found = list(dict.fromkeys([*_viewed(text, 0, _EDGE), *_viewed(text, max(_EDGE, len(text) - _EDGE), len(text))]))
    return found if len(found) <= 4 else [*found[:2], *found[-2:]]


def _viewed(text: str, start: int, end: int) -> Iterator[Span]:
    for first, last in marked_lines(text, _VIEWED_WORDS, start, end):
        if _NUMBER_OR_WORD.search(text, first, last) and _VIEWED.search(text, first, last):
            yield line_span(text, first)


def told(text: str, spans: Sequence[Span]) -> str:
    """What these lines say, each once and in short, for an outline."""
    lines = [text[span.start : min(span.end, span.start + 1000)] for span in spans]
    short = [tidy(masked(line, blobs(line))).strip()[:_TOLD] for line in lines]
    return "; ".join(dict.fromkeys(line for line in short if line))


def first_line(text: str) -> Span:
    """The first line that is not empty."""
    start = len(text) - len(text.lstrip())
    return line_span(text, start)
