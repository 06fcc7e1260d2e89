"""Stack traces of Python, Java, JavaScript, Go and Rust: the exception, the outermost and the innermost frame."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from callsheet.derive.document import ContentKind
from callsheet.derive.prose.important import endings, errors, first_line, told
from callsheet.derive.prose.pieces import Span, cuts_at, line_span, within
from callsheet.derive.prose.written import Written, written

_FRAME = re.compile(
    r'^[ \t|+]*(?:File "[^"\n]*", line \d+|at [^\n(]{1,400}[\n(:]|[^\s:]{1,400}\.go:\d+|\d+:[ \t]+(?:0x)?[\w<])',
    re.MULTILINE,
)
_HEADED = re.compile(
    r"^[ \t|+]*Traceback \(most recent call last\)|^[ \t]+at [\w.$<>/@ \[\]-]{1,300}\(|^[ \t]+at \S{1,300}:\d+:\d+$"
    r"|^goroutine \d+ \[|^thread '[^'\n]*' panicked at",
    re.MULTILINE,
)
_MARKS = (" at ", "\tat ", "Traceback (most", "goroutine ", "panicked at")
_NEXT = re.compile(
    r"^[ \t|+]*(?:Caused by: |Suppressed: |Traceback \(|During handling|The above exc|goroutine \d)", re.MULTILINE
)
_PIECE = re.compile(r"^(?! {4,}(?!at |\d+: ))", re.MULTILINE)
_NAMES = re.compile(r"(?:Error|Exception|panic(?:ked)?|Fault|Failure)\b")
_BUDGET = 3000
_NEAR = 5


@dataclass(frozen=True, slots=True)
class _Stack:
    """Frames that follow one another: where the first and the last begin."""

    first: int
    last: int
    frames: int


def read_trace(text: str) -> Written | None:
    """A text that is a trace for the most part, or None."""
    if not has_trace(text):
        return None
    found = list(_stacks(text))
    lines = text.count("\n") + 1
    frames = sum(stack.frames for stack in found)
    if frames * 8 < lines or not found:
        return None
    always = within([*endings(text)[:1], *trace_spans(text), *errors(text, plain=False), first_line(text)], _BUDGET)
    counted = "1 frame" if frames == 1 else f"{frames:,} frames"
    shape = ", ".join(filter(None, [counted, told(text, _exceptions(text, found[-1]))]))
    return written(ContentKind.TRACE, text, list(cuts_at(text, _PIECE)), always=always, shape=shape)


def has_trace(text: str) -> bool:
    """Whether a trace begins somewhere in the text."""
    return any(mark in text for mark in _MARKS) and _HEADED.search(text) is not None


def trace_spans(text: str) -> list[Span]:
    """The exception and the ends of the last two stacks and the first one, most important first."""
    found = list(_stacks(text))
    spans: list[Span] = []
    for stack in [*found[:-3:-1], *found[:1]]:
        spans += [_after(text, stack.last), *_above(text, stack.first), *_ends(text, stack)]
    return spans


def _exceptions(text: str, stack: _Stack) -> list[Span]:
    """The line that names the exception: after the stack in Python, above it elsewhere."""
    named = (
        [_after(text, stack.last)] if "File " in text[stack.first : stack.first + 200] else _above(text, stack.first)
    )
    return [span for span in named if _NAMES.search(text, span.start, span.end)][:1] or named[-1:]


def _stacks(text: str) -> Iterator[_Stack]:
    first = last = -1
    frames = 0
    for match in _FRAME.finditer(text):
        apart = text.count("\n", last, match.start()) > _NEAR if frames else False
        if apart or (frames and _NEXT.search(text, last, match.start())):
            yield _Stack(first, last, frames)
            frames = 0
        if not frames:
            first = match.start()
        last = match.start()
        frames += 1
    if frames and has_trace(text):
        yield _Stack(first, last, frames)


def _ends(text: str, stack: _Stack) -> Iterator[Span]:
    """The lines of the frames at both ends: the frame, its code below it, or its function above it."""
    for at in (stack.last, stack.first):
        frame = line_span(text, at)
        yield frame
        if frame.end < len(text) and _indent(text, line_span(text, frame.end)) > _indent(text, frame):
            yield line_span(text, frame.end)
        if frame.start > 0 and _indent(text, line_span(text, frame.start - 1)) < _indent(text, frame):
            yield line_span(text, frame.start - 1)


def _indent(text: str, span: Span) -> int:
    head = text[span.start : min(span.end, span.start + 100)]
    return len(head) - len(head.lstrip(" \t|"))


def _above(text: str, first: int) -> list[Span]:
    """The lines that stand before a stack, nearest first; Go leaves one line empty between them."""
    spans: list[Span] = []
    gaps = 0
    while first > 0 and len(spans) < 3 and gaps < 2:
        span = line_span(text, first - 1)
        if text[span.start : min(span.end, span.start + 200)].strip():
            spans.append(span)
        else:
            gaps += 1
        first = span.start
    return spans


def _after(text: str, last: int) -> Span:
    """The first line after the last frame that is not indented deeper: where Python names the exception."""
    frame = line_span(text, last)
    span = frame
    for _ in range(4):
        if span.end >= len(text):
            break
        span = line_span(text, span.end)
        if _indent(text, span) < _indent(text, frame):
            break
    return span
