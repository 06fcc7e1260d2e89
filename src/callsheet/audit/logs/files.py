"""Files of logs: plain or gzip, each line at a place where it can be read again, none of them kept in memory."""

import contextlib
import gzip
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from callsheet.audit.exchange.sources import STDIN, check_readable
from callsheet.audit.logs.values import Notes
from callsheet.errors import InputError

LONGEST_LINE = 256 * 2**20
"""Bytes. A result of 50 MB, escaped and recorded twice, takes less."""

MOST_UNPACKED = 4 * 2**30
"""Bytes that a compressed file may come to: it is unpacked beside the others, and a small file may hold a big one."""

LOOKED_AT = 16 * 2**20
"""Bytes at the beginning of a file that may tell its format."""

_PIECE = 2**20
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line stands."""

    number: int
    offset: int
    length: int


class LogFile:
    """A log as a plain file that can be read from any place."""

    def __init__(self, shown: str, path: Path, *, damage: str | None = None) -> None:
        #: What to call it in messages.
        self.shown = shown
        #: Where its content stands: the file itself, or an unpacked copy.
        self.path = path
        #: What is wrong behind the content, where compressed data broke off.
        self.damage = damage

    def lines(self, notes: Notes) -> Iterator[tuple[Place, bytes]]:
        """Every line that is not blank, with its place; one that is too long is refused and not read."""
        with self.path.open("rb") as file:
            number = offset = 0
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                length = len(line)
                if length > LONGEST_LINE:
                    while line and not line.endswith(b"\n"):
                        line = file.readline(_PIECE)
                        length += len(line)
                    notes.refuse(f"the line is longer than {LONGEST_LINE:,} bytes", number)
                elif line.strip():
                    yield Place(number, offset, length), line
                offset += length
        if self.damage is not None:
            notes.refuse(self.damage, number + 1)

    @contextmanager
    def reading(self) -> Iterator["Rereading"]:
        """The lines again, by their places."""
        with self.path.open("rb") as file:
            yield Rereading(self.shown, file)


class Rereading:
    """Lines that were read before."""

    def __init__(self, shown: str, file: BinaryIO) -> None:
        self._shown = shown
        self._file = file

    def line(self, place: Place) -> bytes:
        """The bytes of a line. Raises `InputError` where the file ends before it."""
        self._file.seek(place.offset)
        found = self._file.read(place.length)
        if len(found) < place.length:
            raise InputError(f"{self._shown} became shorter while it was read")
        return found


@contextmanager
def opened(name: str) -> Iterator[LogFile]:
    """A log by its name, ``-`` for standard input; compressed, it is unpacked into a temporary file for the while.

    Raises `InputError` for what is no file or cannot be read, and for what unpacks to too much.
    """
    with ExitStack() as held:
        yield _prepared(name, held)


def beginning(name: str) -> bytes | None:
    """The first `LOOKED_AT` bytes of a file, unpacked; None for what is no regular file: a look would take them away.

    Raises `InputError` for a file that cannot be read.
    """
    check_readable(name)
    try:
        if not stat.S_ISREG(Path(name).stat().st_mode):
            return None
        with Path(name).open("rb") as file:
            start = file.read(LOOKED_AT)
            if not start.startswith(_GZIP):
                return start
            file.seek(0)
            return b"".join(_pieces(file))
    except OSError as problem:
        raise InputError(f"{name} cannot be read: {problem.strerror or problem}") from problem


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Of compressed data what is whole, up to `LOOKED_AT` bytes."""
    left = LOOKED_AT
    with contextlib.suppress(EOFError, gzip.BadGzipFile, zlib.error), gzip.GzipFile(fileobj=file) as plain:
        while left and (piece := plain.read1(min(left, _PIECE))):
            left -= len(piece)
            yield piece


def _prepared(name: str, held: ExitStack) -> LogFile:
    shown = "stdin" if name == STDIN else name
    check_readable(name)
    path = Path(name)
    try:
        if name != STDIN and not stat.S_ISREG(path.stat().st_mode):
            raise InputError(f"{name} cannot be read as a log: it is no regular file")
        with _bytes(name) as file:
            start = file.read(len(_GZIP))
            if name != STDIN and start != _GZIP:
                return LogFile(shown, path)
            plain = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="callsheet-"))) / "log"
            with plain.open("wb") as copy:
                if start != _GZIP:
                    copy.write(start)
                    shutil.copyfileobj(file, copy)
                    return LogFile(shown, plain)
                return LogFile(shown, plain, damage=_unpack(shown, _Joined(start, file), copy))
    except OSError as problem:
        raise InputError(f"{shown} cannot be read: {problem.strerror or problem}") from problem


def _unpack(shown: str, packed: "_Joined", copy: BinaryIO) -> str | None:
    """Unpack all that is whole; gives what is wrong with the rest."""
    written = 0
    try:
        # What it asks of the file is to be read, and no more.
        with gzip.GzipFile(fileobj=cast("BinaryIO", packed)) as plain:
            # Piece by piece as it is unpacked, so that what is whole before the damage is there.
            while piece := plain.read1(_PIECE):
                written += len(piece)
                if written > MOST_UNPACKED:
                    problem = f"unpacks to more than {MOST_UNPACKED:,} bytes; unpack it yourself if that is meant"
                    raise InputError(f"{shown} {problem}")
                copy.write(piece)
    except (EOFError, gzip.BadGzipFile, zlib.error) as damage:
        return f"the compressed data is damaged from here on ({damage})"
    return None


@contextmanager
def _bytes(name: str) -> Iterator[BinaryIO]:
    if name != STDIN:
        with Path(name).open("rb") as file:
            yield file
        return
    with open(sys.stdin.fileno(), "rb", closefd=False) as file:
        yield file


class _Joined:
    """A stream with bytes that were read of it already put back."""

    def __init__(self, start: bytes, rest: BinaryIO) -> None:
        self._start = start
        self._rest = rest

    def read(self, size: int = -1) -> bytes:
        start, self._start = self._start, b""
        return start + self._rest.read(size if size < 0 else max(0, size - len(start)))
