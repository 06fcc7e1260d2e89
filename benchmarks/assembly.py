"""What assembling a request costs as a conversation grows, under the default policy set.

    python benchmarks/assembly.py [--full | --records N ...] [--json]

A turn is what an agent does between two requests: a user message, a call, a result of 500 characters and, once a
request was assembled, the answer. The history is written in batches to a SQLite file, then measured turns are recorded,
assembled, rendered and answered. Printed for each length: the first request over a history that was never shown; p50
and p95 of assemble and render, and of the processor time in it, which other load on the machine changes less; the p50
of the first request after the file was opened again. `--full` adds 100,000 records, which takes some minutes.
"""

import argparse
import json
import random
import statistics
import tempfile
import time
from pathlib import Path

import callsheet

LENGTHS = (100, 1_000, 10_000)
FULL = (*LENGTHS, 100_000)
MEASURED = 120
"""Turns that are measured at each length: appends and rewrites both."""
PER_TURN = 7
"""Records of a turn: the question, a run with its message and its call, the result, a run with its message."""
BATCH = 200
REOPENED = 3
BUDGET = 128_000
_WORDS = [
    "order",
    "shipped",
    "delayed",
    "carrier",
    "depot",
    "pallet",
    "invoice",
    "refund",
    "address",
    "parcel",
    "label",
    "customs",
    "weight",
    "route",
]


def call(number: int) -> dict[str, object]:
    function = {"name": "track", "arguments": json.dumps({"parcel": f"PX-{number % 997:05d}"})}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
    }


def asked(number: int, source: random.Random) -> list[object]:
    """A question, the call for it and its result: texts that differ from turn to turn, with names that come again."""
    row = f"PX-{number % 997:05d} depot D{number % 41}: " + " ".join(source.choices(_WORDS, k=80))
    return [
        {"role": "user", "content": f"Where is parcel PX-{number % 997:05d}? {' '.join(source.choices(_WORDS, k=6))}"},
        call(number),
        {"role": "tool", "tool_call_id": f"c{number}", "content": row[:500]},
    ]


def answered(number: int) -> dict[str, object]:
    return {"role": "assistant", "content": f"Parcel PX-{number % 997:05d} is at depot D{number % 41}."}


def write(path: Path, records: int) -> int:
    """A history of that many records that no request was assembled from. Returns the number of the next turn."""
    source = random.Random(1)
    turns = records // PER_TURN
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("long")
        for start in range(0, turns, BATCH):
            numbers = range(start, min(start + BATCH, turns))
            talk.record([message for number in numbers for message in (*asked(number, source), answered(number))])
    return turns


def request(talk: callsheet.Conversation) -> tuple[float, float]:
    """Milliseconds to assemble and render the next request, and those of them that the processor worked on it."""
    started, worked = time.perf_counter(), time.process_time()
    talk.assemble(provider="openai", model="gpt-5.2", budget=BUDGET).request()
    return (time.perf_counter() - started) * 1e3, (time.process_time() - worked) * 1e3


def measure(folder: Path, records: int, measured: int) -> dict[str, float]:
    path = folder / f"{records}.db"
    started = time.perf_counter()
    number = write(path, records)
    written = time.perf_counter() - started
    source = random.Random(2)
    times: list[tuple[float, float]] = []
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("long")
        for turn in range(number, number + measured + 1):
            talk.record(asked(turn, source))
            times.append(request(talk))
            talk.record(answered(turn))
    again: list[float] = []
    for turn in range(number + measured + 1, number + measured + 1 + REOPENED):
        with callsheet.open(path) as runtime:
            talk = runtime.conversation("long")
            talk.record(asked(turn, source))
            again.append(request(talk)[0])
            talk.record(answered(turn))
    (first, _), *others = times
    rest, worked = [wall for wall, _ in others], [cpu for _, cpu in others]
    return {
        "records": records,
        "written_s": written,
        "first_ms": first,
        "p50_ms": statistics.median(rest),
        "p95_ms": statistics.quantiles(rest, n=20)[-1],
        "mean_ms": statistics.fmean(rest),
        "cpu_p50_ms": statistics.median(worked),
        "cpu_p95_ms": statistics.quantiles(worked, n=20)[-1],
        "reopened_ms": statistics.median(again),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--full", action="store_true", help="100,000 records too")
    parser.add_argument("--records", type=int, nargs="+", help="these lengths instead")
    parser.add_argument("--measured", type=int, default=MEASURED, help="turns that are measured at each length")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        lengths = given.records or (FULL if given.full else LENGTHS)
        rows = [measure(Path(folder), records, given.measured) for records in lengths]
    by_length = {int(row["records"]): row["p50_ms"] for row in rows}
    ratio = by_length[max(by_length)] / by_length[1_000] if 1_000 in by_length else None
    if given.json:
        print(json.dumps({"lengths": rows, "ratio_longest_to_1000": ratio}))
        return
    print("".join(f"{name:>13}" for name in rows[0]))
    for row in rows:
        print(f"{row['records']:>13,.0f}" + "".join(f"{row[name]:>13,.2f}" for name in list(row)[1:]))
    if ratio is not None:
        print(f"p50 at {max(by_length):,} / p50 at 1,000: {ratio:.2f} (target 1.3)")


if __name__ == "__main__":
    main()
