"""What importing costs, against the bare start of the interpreter in the same run.

    python benchmarks/import_time.py [--json]

Each round starts three fresh interpreters in turn: one that does nothing, one that imports callsheet, one that opens a
store in memory and so loads what recording needs. The medians of the rounds are shown; byte code is written before.
"""

import json
import statistics
import subprocess
import sys
import time

ROUNDS = 15
PROGRAMS = {
    "bare": "pass",
    "import": "import callsheet",
    "open": "import callsheet; callsheet.open(':memory:').close()",
}


def seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start


def main() -> None:
    rounds = [{name: seconds(code) for name, code in PROGRAMS.items()} for _ in range(ROUNDS + 1)][1:]
    medians = {name: statistics.median(one[name] for one in rounds) for name in PROGRAMS}
    # Within one round the machine is equally busy, so the differences are taken round by round.
    added = {name: statistics.median(one[name] - one["bare"] for one in rounds) for name in ("import", "open")}
    if "--json" in sys.argv[1:]:
        ratios = {name: medians[name] / medians["bare"] for name in added}
        print(json.dumps({"seconds": medians, "added_seconds": added, "time_by_bare_start": ratios}, indent=2))
        return
    print(f"{'':>8} {'seconds':>8} {'added':>8} {'x bare':>7}")
    for name, median in medians.items():
        print(f"{name:>8} {median:>8.3f} {added.get(name, 0.0):>8.3f} {median / medians['bare']:>7.2f}")


if __name__ == "__main__":
    main()
