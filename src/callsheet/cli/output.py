"""Printing: tables and text for people, JSON for programs, progress and errors aside on standard error.

Nothing that is printed for people, and no JSON, holds characters that act on a terminal; stored text may.
"""

import json
import os
import re
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
WIDTH = 100
"""Characters of a line of sentences on a terminal."""
_PICTURES = 0x2400
"""Where Unicode has a picture for each of the first control characters."""


class Unprintable(Exception):
    """Standard output takes nothing: it is closed, or the disk behind it is full."""


class Output:
    """Where a command prints. Printing raises `BrokenPipeError` when nobody reads any more, and `Unprintable`."""

    def __init__(self, *, as_json: bool, progress: bool) -> None:
        #: Whether programs read along.
        self.as_json = as_json
        self._live = sys.stderr is not None and sys.stderr.isatty()
        self._progress = progress or self._live
        self._told_at = 0.0
        self._unfinished = False

    def text(self, text: str) -> None:
        """Print for people, a line or several."""
        self._print(printable(text))

    def prose(self, text: str) -> None:
        """Print sentences for people: on a terminal in lines that can be read, elsewhere one line each."""
        live = sys.stdout is not None and sys.stdout.isatty()
        self.text(wrapped(text) if live else text)

    def json(self, value: object) -> None:
        """Print one JSON document over several lines."""
        self._print(dumps(value, indent=2))

    def json_line(self, value: object) -> None:
        """Print one JSON document on a line of its own, one of many."""
        self._print(dumps(value))

    def raw(self, content: bytes) -> None:
        """Print bytes as they are."""
        with _printing() as stdout:
            stdout.flush()
            stdout.buffer.write(content)

    def progress(self, text: str, *, at_once: bool = False) -> None:
        """Tell how far long work has come: on a terminal in place, else, if asked for, once a second.

        `at_once`: however soon after the last, for what is followed by a long silence.
        """
        now = time.monotonic()
        soon = not at_once and now - self._told_at < (0.1 if self._live else 1.0)
        if not self._progress or soon:
            return
        self._told_at = now
        self._unfinished = self._live
        shown = printable(text)
        _tell(f"\r\x1b[K{shown}" if self._live else shown + "\n")

    def problem(self, code: str, message: str, **where: object) -> None:
        """Report one problem on standard error, on one line."""
        self._finish_progress()
        if self.as_json:
            line = dumps({"error": {"code": code, "message": message, **where}})
        else:
            line = printable(f"callsheet: {code}: {' '.join(message.split())}")
        _tell(line + "\n")

    def close(self) -> None:
        """Hand out what is still held back."""
        self._finish_progress()
        if sys.stdout is not None:
            with _printing() as stdout:
                stdout.flush()

    def drop(self) -> None:
        """Forget what could not be handed out: Python writes it once more when it ends, and would complain."""
        if sys.stdout is not None:
            _to_nowhere(sys.stdout)

    def _print(self, text: str) -> None:
        self._finish_progress()
        with _printing() as stdout:
            _write(stdout, text + "\n")

    def _finish_progress(self) -> None:
        if self._unfinished:
            _tell("\r\x1b[K")
            self._unfinished = False


@contextmanager
def _printing() -> Iterator[TextIO]:
    """Standard output, and what goes wrong with it as `Unprintable`."""
    if sys.stdout is None:
        raise Unprintable("standard output is closed")
    try:
        yield sys.stdout
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise Unprintable(f"standard output cannot be written: {problem.strerror}") from problem


def _tell(text: str) -> None:
    """Write to standard error; where that is impossible there is nobody to tell."""
    if sys.stderr is None:
        return
    try:
        _write(sys.stderr, text)
        sys.stderr.flush()
    except OSError:
        _to_nowhere(sys.stderr)


def _to_nowhere(stream: TextIO) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def dumps(value: object, *, indent: int | None = None) -> str:
    """JSON with text as it is; controls, and lone surrogates, which no output takes, as escapes."""
    from callsheet.wire.cleaning import escape_controls, escape_surrogates

    return escape_controls(escape_surrogates(json.dumps(value, indent=indent, ensure_ascii=False)))


def printable(text: str) -> str:
    """Text without control characters that would act on a terminal; new lines and tabs stay."""
    return _CONTROL.sub(lambda found: _picture(ord(found.group())), text)


def _picture(code: int) -> str:
    return chr(_PICTURES + code) if code < 0x20 else "\ufffd"


def wrapped(text: str, width: int = WIDTH) -> str:
    """The text with its long lines broken between words; what follows is indented two more than the line."""
    return "\n".join(part for line in text.split("\n") for part in _broken(line, width))


def _broken(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    begin = line[: len(line) - len(line.lstrip())]
    body = line[len(begin) :]
    parts = textwrap.wrap(
        body,
        width,
        initial_indent=begin,
        subsequent_indent=f"{begin}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return parts or [line]


def shortened(text: str, width: int) -> str:
    """The text on one line of at most so many characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= width else line[: width - 1] + "…"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[int] = (0,)) -> str:
    """Columns under a header: those in `left` to the left, figures to the right."""
    lines = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = [
        "  ".join(
            cell.ljust(width) if at in left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([shown[0], "─" * max(map(len, shown)), *shown[1:]])


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
