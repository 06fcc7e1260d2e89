"""SQL by DuckDB, from the library of the extra ``sql``: a process of its own for each query, killed at its limit."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from callsheet.engines.sql.checking import LONGEST
from callsheet.errors import MissingExtra
from callsheet.graph.ports import NamedTable, Queried, QueryLimits, QueryRefusal

_AT_ONCE = threading.BoundedSemaphore(2)
"""Processes at a time: each may take as much memory as its limit says."""

_START = "import sys; sys.path += sys.argv[1:]; from callsheet.engines.sql.answering import main; main()"

_STRETCH = 1 << 16

_BESIDE = 1 << 20
"""Bytes of an answer beside its cells: names of columns, and what JSON adds."""


class Duck:
    """The engine. Raises `MissingExtra` where the library is not installed."""

    def __init__(self) -> None:
        found = find_spec("duckdb")
        if found is None or found.origin is None:
            raise MissingExtra("sql", purpose="SQL over a table")
        # Where the process finds the library and this package: it looks nowhere else.
        self._paths = (str(Path(__file__).parents[3]), str(Path(found.origin).parents[1]))

    def run(self, query: str, tables: Sequence[NamedTable], limits: QueryLimits) -> Queried | QueryRefusal:
        """See `TableQueries.run`."""
        if len(query) > LONGEST:
            return QueryRefusal(problem=f"{len(query):,} characters; a query has at most {LONGEST:,}")
        if "\0" in query or not _encodable(query):
            return QueryRefusal(problem="a character that no text holds")
        try:
            with _AT_ONCE:
                said = self._said(_message(query, _named(query, tables), limits), limits)
        except OSError:
            return QueryRefusal(problem="no process can be started for it here")
        if said is None:
            return QueryRefusal(
                problem=f"it was stopped; a query may take {limits.seconds:g} seconds and bounded memory"
            )
        if "problem" in said:
            return QueryRefusal(problem=str(said["problem"]))
        return Queried(
            columns=tuple((name, kind) for name, kind in said["columns"]),
            rows=tuple(tuple(row) for row in said["rows"]),
            total=said["total"],
            more=said["more"],
        )

    def _said(self, message: bytes, limits: QueryLimits) -> Mapping[str, Any] | None:
        """What the process answers; None: it did not, in its time and memory."""
        command = [sys.executable, "-I", "-S", "-B", "-c", _START, *self._paths]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            cwd=os.sep,
            close_fds=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        killing = threading.Timer(limits.seconds, process.kill)
        writing = threading.Thread(target=_write, args=(process.stdin, message), daemon=True)
        try:
            killing.start()
            writing.start()
            # JSON escapes what is not ASCII, with six bytes for what takes two.
            most = 6 * limits.bytes * 2 + _BESIDE
            answer = _read(process.stdout, most + 1)
        finally:
            killing.cancel()
            process.kill()
            process.wait()
            writing.join()
            process.stdout.close()
        try:
            said: object = json.loads(answer) if len(answer) <= most else None
        except ValueError:
            return None
        return said if isinstance(said, dict) else None


def _named(query: str, tables: Sequence[NamedTable]) -> list[NamedTable]:
    """The tables that a query can name: the others need not be handed over."""
    text = query.lower()
    return [given for given in tables if any(_quoted(name.lower()) in text for name in given.names)]


def _quoted(name: str) -> str:
    return name.replace('"', '""')


def _message(query: str, tables: Sequence[NamedTable], limits: QueryLimits) -> bytes:
    return json.dumps(
        {
            "query": query,
            "limits": {
                "seconds": limits.seconds,
                "memory": limits.memory,
                "bytes": limits.bytes,
                "first": limits.first,
            },
            "tables": [
                {
                    "names": given.names,
                    "rows": given.table.rows,
                    "columns": [column.name for column in given.table.columns],
                    "types": [column.type for column in given.table.columns],
                    "cells": [column.cells for column in given.table.columns],
                }
                for given in tables
            ],
        }
    ).encode()


def _write(stream: IO[bytes], message: bytes) -> None:
    # It may be killed before it has read all; closing then fails like writing, and closes all the same.
    with suppress(OSError):
        stream.write(message)
    with suppress(OSError):
        stream.close()


def _read(stream: IO[bytes], most: int) -> bytes:
    """What the stream holds, or its beginning. The limit may be far beyond what there is."""
    parts: list[bytes] = []
    while most > 0 and (part := stream.read(min(most, _STRETCH))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def _environment() -> dict[str, str]:
    """None, but for what Windows starts no process without."""
    return {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}


def _encodable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
