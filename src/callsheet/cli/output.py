"""Printing: tables and text for people, JSON for programs, progress and errors aside on standard error."""

import json
import re
import sys
import time
from collections.abc import Sequence
from typing import TextIO

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PICTURES = 0x2400
"""Where Unicode has a picture for each of the first control characters."""


class Output:
    """Where a command prints."""

    def __init__(self, *, as_json: bool, progress: bool) -> None:
        #: Whether programs read along.
        self.as_json = as_json
        self._progress = progress or sys.stderr.isatty()
        self._told_at = 0.0
        self._unfinished = False

    def text(self, text: str) -> None:
        """Print for people, a line or several."""
        self._print(text)

    def json(self, value: object) -> None:
        """Print one JSON document over several lines."""
        self._print(dumps(value, indent=2))

    def json_line(self, value: object) -> None:
        """Print one JSON document on a line of its own, one of many."""
        self._print(dumps(value))

    def raw(self, content: bytes) -> None:
        """Print bytes as they are."""
        sys.stdout.flush()
        sys.stdout.buffer.write(content)

    def progress(self, text: str) -> None:
        """Tell how far long work has come: on a terminal in place, else, if asked for, once a second."""
        now, live = time.monotonic(), sys.stderr.isatty()
        if not self._progress or now - self._told_at < (0.1 if live else 1.0):
            return
        self._told_at = now
        self._unfinished = live
        _write(sys.stderr, f"\r\x1b[K{text}" if live else text + "\n")
        sys.stderr.flush()

    def problem(self, code: str, message: str, **where: object) -> None:
        """Report one problem on standard error, on one line."""
        self._finish_progress()
        if self.as_json:
            line = dumps({"error": {"code": code, "message": message, **where}})
        else:
            line = f"callsheet: {code}: {' '.join(message.split())}"
        _write(sys.stderr, line + "\n")

    def close(self) -> None:
        """Hand out what is still held back. Raises `BrokenPipeError` when nobody reads it."""
        self._finish_progress()
        sys.stdout.flush()

    def _print(self, text: str) -> None:
        self._finish_progress()
        _write(sys.stdout, text + "\n")

    def _finish_progress(self) -> None:
        if self._unfinished:
            _write(sys.stderr, "\r\x1b[K")
            sys.stderr.flush()
            self._unfinished = False


def dumps(value: object, *, indent: int | None = None) -> str:
    """JSON with text as it is; lone surrogates, which no output takes, as escapes."""
    from callsheet.wire.cleaning import escape_surrogates

    return escape_surrogates(json.dumps(value, indent=indent, ensure_ascii=False))


def printable(text: str) -> str:
    """Text without control characters that would act on a terminal; new lines and tabs stay."""
    return _CONTROL.sub(lambda found: _picture(ord(found.group())), text)


def _picture(code: int) -> str:
    return chr(_PICTURES + code) if code < 0x20 else "\ufffd"


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
