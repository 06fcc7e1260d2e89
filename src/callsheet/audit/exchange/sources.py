"""Files of lines, one after another, plain or compressed with gzip; a line is bytes until somebody reads it."""

import gzip
import os
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from callsheet.errors import InputError, InvalidLine

STDIN = "-"
"""The name that stands for standard input."""

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line that is not blank, without its end."""

    file: str
    number: int
    content: bytes
    #: Bytes of the file read so far, and in total where that is known.
    read: int
    size: int | None

    @property
    def name(self) -> str:
        """What to call it: the file's name without folders, and the number."""
        return f"{Path(self.file).name}:{self.number}"


def read_lines(name: str) -> Iterator[Line | InvalidLine]:
    """The lines of a file, or of standard input for ``-``.

    Compressed data that breaks off ends the file with one error value. Raises `InputError` for a file that cannot be
    read.
    """
    with closing(_opened(name)) as file:
        size = _size(file) if name != STDIN else None
        shown = "stdin" if name == STDIN else name
        number = 0
        try:
            for number, content in enumerate(_unpacked(file), start=1):
                line = content.removeprefix(_BOM).strip() if number == 1 else content.strip()
                if line:
                    read = file.tell() if size is not None else 0
                    yield Line(file=shown, number=number, content=line, read=read, size=size)
        except (EOFError, gzip.BadGzipFile, zlib.error) as damage:
            problem = f"the compressed data is damaged from here on ({damage})"
            yield InvalidLine(problem, file=shown, line=number + 1)
        except OSError as problem:
            raise InputError(f"{name} cannot be read: {problem.strerror}") from problem


def check_readable(name: str) -> None:
    """Raises `InputError` for a file that cannot be read, and for standard input where that is closed."""
    if name == STDIN:
        # Python has no object for an input that the shell closed.
        if sys.stdin is None or sys.stdin.closed:
            raise InputError("standard input is closed")
    elif "\0" in name or Path(name).is_dir() or not os.access(name, os.R_OK):
        raise InputError(f"{name} cannot be read: there is no such file, or no permission")


def _opened(name: str) -> BufferedReader:
    try:
        if name != STDIN:
            return Path(name).open("rb")
        check_readable(name)
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except OSError as problem:
        raise InputError(f"{name} cannot be read: {problem.strerror}") from problem


def _size(file: BufferedReader) -> int | None:
    """The size of a file; None for a pipe, which tells neither its size nor how far it was read."""
    status = os.fstat(file.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _unpacked(file: BufferedReader) -> Iterable[bytes]:
    return gzip.GzipFile(fileobj=file) if file.peek(len(_GZIP)).startswith(_GZIP) else file
