"""The whole `record` call against a bare SQLite insert of the same bytes: derivation, counting and the transaction together.

A turn is a user message, an assistant message with one call, its result and the final answer: about 4.7 KB of content
in one `record` call. The bare store writes the same bytes as one row and commits it, at the same durability (WAL,
``synchronous=FULL``), turn by turn in the same run, so that both meet the same disk. Printed as a ratio of medians;
turns whose result lies in the blob store are measured apart, against the same bytes in a bare row.
"""

import argparse
import json
import random
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path

import callsheet

INLINE, BLOB = 4_000, 60_000
WORDS = [f"{first}{second}" for first in ("ash", "elm", "oak", "fir", "yew") for second in ("wood", "bark", "leaf", "")]


def turn(number: int, size: int) -> list[object]:
    """One turn with new text each time: counting a text that was seen before costs nothing and would flatter us."""
    chosen = random.Random(number)
    words = " ".join(f"{chosen.choice(WORDS)} {chosen.randrange(10_000)}" for _ in range(size // 9))
    arguments = json.dumps({"order": f"W{number:06d}", "fields": ["status", "items"]})
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "get_order", "arguments": arguments}}
    return [
        {"role": "user", "content": f"Where is order W{number:06d}? " + words[:300]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": words},
        {"role": "assistant", "content": f"It left the warehouse. {words[:300]}"},
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
    reference = bare(folder / f"bare-{size}.db")
    path = folder / f"ours-{size}.db"
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("bench")
        talk.record(turn(0, size))
        for number in range(1, turns + 1):
            value = turn(number, size)
            content = json.dumps(value).encode()
            started = time.perf_counter()
            talk.record(value)
            ours.append(time.perf_counter() - started)
            started = time.perf_counter()
            insert(reference, content)
            theirs.append(time.perf_counter() - started)
    reference.close()
    stored = sum(file.stat().st_size for file in folder.rglob(f"ours-{size}*") if file.is_file())
    stored += sum(file.stat().st_size for file in (folder / f"ours-{size}.db.blobs").rglob("*") if file.is_file())
    one, other = statistics.median(ours), statistics.median(theirs)
    return {
        "record_us": round(one * 1e6),
        "bare_us": round(other * 1e6),
        "ratio": round(one / other, 2),
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
