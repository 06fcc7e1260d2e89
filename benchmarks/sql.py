"""What a query in SQL over a result costs: the start of its process, and what grows with the table.

    python benchmarks/sql.py [--rounds N] [--large] [--json]

Each figure stands beside the start of a bare Python process and of one that loads the engine, taken in turns with it.
*Reading* is what happens before: finding the table in the content and the types of its columns. `--large` adds 200,000
rows of 20 columns.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median

from callsheet.derive.reading import read
from callsheet.derive.tables import tables
from callsheet.engines.sql.duck import Duck
from callsheet.graph.ports import NamedTable, Queried, QueryLimits

LIMITS = QueryLimits(seconds=60, memory=512 << 20, bytes=8_000)
QUERY = "SELECT c0, count(*) AS n, sum(c1) AS s FROM t GROUP BY c0 ORDER BY s DESC LIMIT 10"


def csv(rows: int, columns: int) -> str:
    lines = [",".join(f"c{place}" for place in range(columns))]
    for row in range(rows):
        cells = (
            f"berth {row * 7 % 97}" if place % 2 == 0 else str(row * (place + 3) % 99_991) for place in range(columns)
        )
        lines.append(",".join(cells))
    return "\n".join(lines)


def seconds(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def process(code: str) -> None:
    subprocess.run([sys.executable, "-I", "-c", code], check=True, env={})


def measured(rows: int, columns: int, rounds: int) -> dict[str, float]:
    text, engine = csv(rows, columns), Duck()
    given = [NamedTable(names=("t",), table=table) for table in tables(read(text))]

    def asked() -> None:
        assert isinstance(engine.run(QUERY, given, LIMITS), Queried)

    acts: dict[str, Callable[[], object]] = {
        "reading": lambda: tables(read(text)),
        "query": asked,
        "bare python": lambda: process("pass"),
        "python with duckdb": lambda: process("import duckdb; duckdb.connect()"),
    }
    taken: dict[str, list[float]] = {name: [] for name in acts}
    for _ in range(rounds):
        for name, act in acts.items():
            taken[name].append(seconds(act))
    return {"rows": rows, "columns": columns, **{name: median(found) for name, found in taken.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    sizes = [(20, 5), (1_000, 5), (10_000, 5), (100_000, 5), *([(200_000, 20)] if given.large else [])]
    found = [measured(rows, columns, given.rounds) for rows, columns in sizes]
    if given.json:
        print(json.dumps(found))
        return
    print("seconds, medians")
    print(f"{'rows':>8} {'columns':>8} {'reading':>9} {'query':>9} {'bare python':>12} {'with duckdb':>12}")
    for one in found:
        print(
            f"{one['rows']:>8,} {one['columns']:>8} {one['reading']:>9.3f} {one['query']:>9.3f}"
            f" {one['bare python']:>12.3f} {one['python with duckdb']:>12.3f}"
        )


if __name__ == "__main__":
    main()
