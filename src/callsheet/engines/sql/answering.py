"""The process that answers one query: reads it with its tables from standard input, and writes the answer.

It is started with no environment and no file but its three streams. Before the query is looked at, the engine is shut
off from files, extensions and settings, and the system keeps the process from opening, writing or waiting for longer
than the limits say. This module and `checking` are all of Callsheet that it loads.
"""

import json
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from callsheet.engines.sql.checking import ONLY, put_in_order, refusal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

COUNTED = 1_000_000
"""Rows of an answer that are counted."""

_AT_A_TIME = 10_000
"""Rows of a table that are handed over at once."""

_BATCH = 2_048
"""Rows of an answer that are fetched at once."""

_WIDE = 1 << 30
"""Bytes of addresses beside the engine's memory: its code, this interpreter, and the tables on their way."""

_CONFIG: dict[str, str | bool | int] = {
    "threads": 1,
    "temp_directory": "",
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
    "allow_unsigned_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
}

_TYPE = re.compile(r"VARCHAR|BOOLEAN|BIGINT|HUGEINT|DECIMAL\([0-9]+,[0-9]+\)|DOUBLE|DATE|TIMESTAMP")
_LONGEST_PROBLEM = 400
_LONGEST_NAME = 200
_OF_THE_QUERY = ("Binder Error", "Catalog Error", "Not implemented Error", "Parser Error")
"""How problems begin that the engine finds before it reads a cell."""
_TOO_MUCH = "it takes more memory than a query may"


def main() -> None:
    """Answer what stands on standard input."""
    given: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    limits = given["limits"]
    _bound(limits["seconds"], limits["memory"])
    said = _answer(given)
    sys.stdout.buffer.write(json.dumps(said).encode())
    sys.stdout.buffer.flush()


def _bound(seconds: float, memory: int) -> None:
    """Let the system end this process where it takes too much, also when nobody waits for it any more."""
    with suppress(AttributeError):  # there is no such signal on Windows
        signal.alarm(int(seconds) + 1)
    _limit("RLIMIT_CPU", int(seconds) + 1)
    _limit("RLIMIT_AS", memory + _WIDE)
    _limit("RLIMIT_FSIZE", 0)
    _limit("RLIMIT_CORE", 0)


def _limit(name: str, most: int) -> None:
    with suppress(ImportError, AttributeError, ValueError, OSError):
        import resource

        kind = getattr(resource, name)
        resource.setrlimit(kind, (most, most))


def _answer(given: dict[str, Any]) -> dict[str, Any]:
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        **_CONFIG,
        "memory_limit": f"{given['limits']['memory']}B",
    }
    try:
        connection = duckdb.connect(":memory:", config=config)
        try:
            volatile = _prepared(connection, given["tables"])
        except duckdb.Error as problem:
            return {"problem": _failed(str(problem))}
        return _queried(connection, given, volatile)
    except duckdb.Error as problem:
        return {"problem": _told(str(problem))}
    except MemoryError:
        return {"problem": _TOO_MUCH}
    except RecursionError:
        return {"problem": "it is nested too deeply"}


def _prepared(connection: "DuckDBPyConnection", tables: Sequence[dict[str, Any]]) -> set[str]:
    """Make the tables, and lock everything else. Returns the functions that differ from call to call."""
    connection.execute("SET TimeZone='UTC'")
    for table in tables:
        _load(connection, table)
    found = connection.execute("SELECT DISTINCT function_name FROM duckdb_functions() WHERE stability = 'VOLATILE'")
    volatile = {str(name).lower() for (name,) in found.fetchall()}
    connection.execute("SET enable_external_access=false")
    connection.execute("SET lock_configuration=true")
    # From here on nothing can be opened: no file, no directory, no socket.
    _limit("RLIMIT_NOFILE", 0)
    return volatile


# ---------------------------------------------------------------------------------------------- tables


def _load(connection: "DuckDBPyConnection", table: dict[str, Any]) -> None:
    """Make one table. Cells go in as text and are read as their column's type, a stretch of rows at a time."""
    types = [kind if _TYPE.fullmatch(kind) else "VARCHAR" for kind in table["types"]]
    names = [_quoted(name) for name in table["columns"]]
    first, *others = [_quoted(name) for name in table["names"]]
    declared = ", ".join(f"{name} {kind}" for name, kind in zip(names, types, strict=True))
    connection.execute(f"CREATE TABLE {first} ({declared})")
    parts = range(len(names))
    cells = ", ".join(f"CASE WHEN c{at} = '' THEN NULL ELSE c{at}[2:] END::{types[at]}" for at in parts)
    split = ", ".join(f"unnest(string_split(${2 * at + 1}, ${2 * at + 2})) AS c{at}" for at in parts)
    connection.execute("BEGIN")
    for start in range(0, table["rows"], _AT_A_TIME):
        handed = [part for column in table["cells"] for part in _joined(column[start : start + _AT_A_TIME])]
        connection.execute(f"INSERT INTO {first} SELECT {cells} FROM (SELECT {split})", handed)
    connection.execute("COMMIT")
    for name in others:
        connection.execute(f"CREATE VIEW {name} AS FROM {first}")


def _joined(cells: Sequence[str | None]) -> tuple[str, str]:
    """Cells as one text with a sign before each that holds something, and what parts them, which stands in none."""
    marked = ["" if cell is None else f"={cell}" for cell in cells]
    count = 0
    # It ends otherwise than it begins, so no part of a cell can form one with a part of it.
    while any((parting := f"\x1f{count}\x1e") in cell for cell in marked):
        count += 1
    return parting.join(marked), parting


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# ---------------------------------------------------------------------------------------------- the query


def _queried(connection: "DuckDBPyConnection", given: dict[str, Any], volatile: set[str]) -> dict[str, Any]:
    import duckdb

    query, tables = given["query"], given["tables"]
    names = {name.lower() for table in tables for name in table["names"]}
    columns = {name.lower() for table in tables for name in table["columns"]}
    parsed = connection.extract_statements(query)
    if len(parsed) != 1 or parsed[0].type.name != "SELECT":
        return {"problem": ONLY if len(parsed) < 2 else f"{ONLY}; there are {len(parsed)} statements"}
    tree = _tree(connection, query)
    problem = refusal(tree, names, columns, volatile)
    if problem is not None:
        return {"problem": problem}
    # From here on its text is what the engine writes for the tree that was looked at, and not what was given.
    found = connection.execute(f"DESCRIBE {_written(connection, tree)}").fetchall()
    described = [(str(row[0])[:_LONGEST_NAME], str(row[1])) for row in found]
    numbers = ", ".join(str(place) for place in range(1, len(described) + 1))
    places = _tree(connection, f"SELECT 1 ORDER BY {numbers}")["statements"][0]["node"]["modifiers"][0]["orders"]
    put_in_order(tree, places, names)
    parts = range(len(described))
    shown, aliases = ", ".join(f"c{at}::VARCHAR" for at in parts), ", ".join(f"c{at}" for at in parts)
    try:
        connection.execute(f"SELECT {shown} FROM ({_written(connection, tree)}) AS q({aliases})")
        rows, total, more = _taken(_fetched(connection), given["limits"])
    except duckdb.Error as problem:
        return {"problem": _failed(str(problem))}
    return {"columns": described, "rows": rows, "total": total, "more": more}


def _tree(connection: "DuckDBPyConnection", query: str) -> dict[str, Any]:
    (text,) = connection.execute("SELECT json_serialize_sql(?)", [query]).fetchone() or ("{}",)
    tree: dict[str, Any] = json.loads(text)
    return tree


def _written(connection: "DuckDBPyConnection", tree: dict[str, Any]) -> str:
    (text,) = connection.execute("SELECT json_deserialize_sql(?)", [json.dumps(tree)]).fetchone() or ("",)
    return str(text)


def _fetched(connection: "DuckDBPyConnection") -> Iterator[Sequence[str | None]]:
    while batch := connection.fetchmany(_BATCH):
        yield from batch


def _taken(rows: Iterator[Sequence[str | None]], limits: dict[str, Any]) -> tuple[list[list[str | None]], int, bool]:
    """The rows that are given back, how many there are, and whether counting stopped before the last."""
    first, room = limits["first"], limits["bytes"]
    passed = sum(1 for _ in islice(rows, first))
    taken: list[list[str | None]] = []
    total = passed
    for row in rows:
        total += 1
        if room > 0:
            cells = _cut(row, limits["bytes"])
            room -= sum(len(cell.encode()) if cell is not None else 1 for cell in cells) + len(cells)
            taken.append(cells)
        elif total >= COUNTED:
            return taken, total, next(rows, None) is not None
    return taken, total, False


def _cut(row: Sequence[str | None], most: int) -> list[str | None]:
    """A row without what is beyond the limit; where it is shown it is cut before that, which says so."""
    cells: list[str | None] = []
    for cell in row:
        cells.append(cell[: most + 1] if cell is not None else None)
        most = max(most - len(cell or ""), 0)
    return cells


def _told(problem: str) -> str:
    """What the engine says of the query itself, without the place in it and the hints."""
    said = " ".join(problem.partition("\n\n")[0].partition("Candidate functions:")[0].split())
    return said if len(said) <= _LONGEST_PROBLEM else said[:_LONGEST_PROBLEM] + "…"


def _failed(problem: str) -> str:
    """What the engine says once it reads cells, without anything that could stand in one."""
    if "Out of Memory" in problem or "allocat" in problem:
        return _TOO_MUCH
    if problem.startswith(_OF_THE_QUERY):
        return _told(problem)
    kind = problem.partition(":")[0]
    kind = kind if kind.replace(" ", "").isalpha() else "Error"
    return f"{kind}: something in a cell does not fit; TRY_CAST gives NULL instead, and TRY does for any expression"
