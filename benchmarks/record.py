"""The whole `record` call against a bare SQLite insert of the same bytes: derivation, counting and transaction.

A turn is a user message, an assistant message with one call, its result and the final answer: about 4.7 KB of content
in one `record` call. The bare store writes the same bytes as one row and commits it, at the same durability (WAL,
``synchronous=FULL``), turn by turn in the same run, so that both meet the same disk. Printed as a ratio of medians;
the means have in them what is done only every so many turns. Turns whose result lies in the blob store are measured
apart, against the same bytes in a bare row.
"""

import argparse
import json
import sqlite3
import statistics
import sysconfig
import tempfile
import time
from pathlib import Path

import callsheet

INLINE, BLOB = 3_400, 60_000
"""Characters of a result: one that stays in the record, and one that goes to the blob store."""


def source_text() -> str:
    """The standard library's source: code and English prose, on every machine."""
    modules = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    return "".join(module.read_text("utf-8", "replace") for module in modules)


def turn(number: int, size: int, source: str) -> list[object]:
    """One turn with text that no turn had before: counting a text again costs nothing and would flatter us."""
    start = number * (size + 800) % (len(source) - 2 * size)
    text = source[start : start + size + 800]
    arguments = json.dumps({"order": f"W{number:06d}", "fields": ["status", "items"]})
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "get_order", "arguments": arguments}}
    return [
        {"role": "user", "content": f"Where is order W{number:06d}? {text[:400]}"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": text[400:-400]},
        {"role": "assistant", "content": f"{number} left the warehouse. {text[-400:]}"},
    ]


def bare(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE turn (id INTEGER PRIMARY KEY, content BLOB)")
    return connection


def insert(connection: sqlite3.Connection, content: bytes) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO turn (content) VALUES (?)", (content,))
    connection.execute("COMMIT")


def measure(folder: Path, turns: int, size: int) -> dict[str, float]:
    """Medians in microseconds, their ratio, and bytes on disk per turn."""
    ours: list[float] = []
    theirs: list[float] = []
    worked: list[float] = []
    source = source_text()
    reference = bare(folder / f"bare-{size}.db")
    path = folder / f"ours-{size}.db"
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("bench")
        talk.record(turn(0, size, source))
        for number in range(1, turns + 1):
            value = turn(number, size, source)
            content = json.dumps(value).encode()
            started, cpu = time.perf_counter(), time.process_time()
            talk.record(value)
            ours.append(time.perf_counter() - started)
            worked.append(time.process_time() - cpu)
            started = time.perf_counter()
            insert(reference, content)
            theirs.append(time.perf_counter() - started)
    reference.close()
    stored = sum(file.stat().st_size for file in folder.rglob(f"ours-{size}*") if file.is_file())
    stored += sum(file.stat().st_size for file in (folder / f"ours-{size}.db.blobs").rglob("*") if file.is_file())
    one, other = statistics.median(ours), statistics.median(theirs)
    return {
        "record_us": round(one * 1e6),
        "record_cpu_us": round(statistics.median(worked) * 1e6),
        "bare_us": round(other * 1e6),
        "ratio": round(one / other, 2),
        "ratio_of_means": round(statistics.fmean(ours) / statistics.fmean(theirs), 2),
        "ratio_of_p95": round(statistics.quantiles(ours, n=20)[-1] / statistics.quantiles(theirs, n=20)[-1], 2),
        "content_bytes_per_turn": len(content),
        "disk_bytes_per_turn": stored // turns,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        figures = {
            "inline": measure(Path(folder), given.turns, INLINE),
            "blob": measure(Path(folder), max(1, given.turns // 3), BLOB),
        }
    if given.json:
        print(json.dumps(figures))
        return
    for name, row in figures.items():
        print(f"{name:7}" + "  ".join(f"{key} {value:,}" for key, value in row.items()))


if __name__ == "__main__":
    main()
