"""How a step grows with the history: recording it, and assembling the request before the answer.

A step is a user message, a call, a result of 500 characters and an answer, with one request assembled. Under the
default policy set neither may grow; under `replay` every request holds the whole history, so assembling grows with it.
Printed are medians over a hundred early and a hundred late steps and their ratio (target 3 at 2,000 steps), what a new
process needs to open and assemble (target 3 s) and to count, and by how much the process grew beside what is stored.

    python benchmarks/long_history.py [--steps 2000] [--policy balanced] [--json]
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import callsheet

_AGAIN = """
import sys, time, callsheet
started = time.perf_counter()
with callsheet.open(sys.argv[1]) as runtime:
    talk = runtime.conversation("long")
    talk.assemble(provider="openai", model="gpt-5.2", budget=int(sys.argv[2]), policy=sys.argv[3]).request()
    assembled = time.perf_counter()
    talk.counters()
    print(assembled - started, time.perf_counter() - assembled)
"""


def resident() -> float:
    """Megabytes that this process takes at most until now; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0.0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1_000_000 if sys.platform == "darwin" else 1_000)


def step(talk: callsheet.Conversation, number: int, budget: int, policy: str) -> tuple[float, float]:
    """Seconds to record one step and to assemble its request."""
    call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": f'{{"page": {number}}}'}}
    asked = [
        {"role": "user", "content": f"What does page {number} say?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"page {number}: {'word ' * 98}"},
    ]
    started = time.perf_counter()
    talk.record(asked)
    recorded = time.perf_counter()
    talk.assemble(provider="openai", model="gpt-5.2", budget=budget, policy=policy).request()
    assembled = time.perf_counter()
    talk.record({"role": "assistant", "content": f"It says {number}."})
    return recorded - started + time.perf_counter() - assembled, assembled - recorded


def measure(folder: Path, steps: int, policy: str) -> dict[str, float]:
    path = folder / "long.db"
    budget = 10**9 if policy == "replay" else 128_000
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("long")
        times = [step(talk, number, budget, policy) for number in range(200)]
        before = resident()
        times += [step(talk, number, budget, policy) for number in range(200, steps)]
        grown = resident() - before
    stored = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
    again = subprocess.run(
        [sys.executable, "-c", _AGAIN, str(path), str(budget), policy], check=True, capture_output=True, text=True
    )
    early, late = times[100:200], times[-100:]
    figures: dict[str, float] = {"steps": steps}
    for place, name in enumerate(("record", "assemble")):
        one, other = (statistics.median(each[place] for each in part) for part in (early, late))
        figures |= {f"{name}_early_ms": one * 1e3, f"{name}_late_ms": other * 1e3, f"{name}_ratio": other / one}
    opened, counted = map(float, again.stdout.split())
    return {**figures, "open_and_assemble_s": opened, "count_s": counted, "grown_mb": grown, "stored_mb": stored}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--policy", default="balanced")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        figures = measure(Path(folder), max(given.steps, 300), given.policy)
    if given.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:22}{value:10,.2f}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
