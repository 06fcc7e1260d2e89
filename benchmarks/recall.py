"""How long a search takes in a long conversation: by an identifier, by words, and by words and meaning.

Recorded are questions, calls, results of 60 words and answers, of words as frequent as in natural text, until so many
records are indexed. Asked is with some words of one record, or with an identifier. Vectors are made by hashing, which
costs nothing: what a model takes to embed a query comes on top. Printed are medians and the 95th of a hundred, as time
that passes and as time of the processor (targets 20 ms with both arms, 2 ms by identifier, at 100,000 records).

    python benchmarks/recall.py [--records 100000] [--json]
"""

import argparse
import itertools
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from hashlib import blake2s
from pathlib import Path

import callsheet
from callsheet.graph.values import Vector

DIMENSIONS = 384
QUERIES = 100


class Hashing:
    """An embedder whose vectors say nothing, and are the same for the same text."""

    name = "hashing"
    dimensions = DIMENSIONS

    def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
        return [Vector(scale=1.0, cells=_cells(text)) for text in texts]


def _cells(text: str) -> bytes:
    parts = (blake2s(f"{text}{part}".encode()).digest() for part in range(DIMENSIONS // 32))
    return b"".join(parts)


class Writing:
    """Text of made-up words, the n-th about as frequent as 1/n."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        letters = ["".join(pair) for pair in itertools.product("bdfgklmnprstvz", "aeiou")]
        self.words = ["".join(self.chance.choices(letters, k=self.chance.randint(2, 4))) for _ in range(20_000)]
        self.weights = list(itertools.accumulate(1 / (place + 10) for place in range(len(self.words))))

    def text(self, count: int) -> str:
        return " ".join(self.chance.choices(self.words, cum_weights=self.weights, k=count))


def step(writing: Writing, number: int) -> list[dict[str, object]]:
    ticket = f"TCK-{number:06d}"
    call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": f'{{"id": "{ticket}"}}'}}
    return [
        {"role": "user", "content": f"{writing.text(15)} {ticket}?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"{ticket} {writing.text(60)}"},
        {"role": "assistant", "content": writing.text(20)},
    ]


INDEXED = 5
"""Indexed records of a step: three messages, the call, the result."""

AT_ONCE = 50


def build(runtime: callsheet.Runtime, records: int) -> tuple[callsheet.Conversation, list[str], list[str]]:
    """Record, embed, and return what to ask: identifiers and words."""
    writing = Writing(7)
    talk = runtime.conversation("long")
    named: list[str] = []
    worded: list[str] = []
    for start in range(0, records // INDEXED, AT_ONCE):
        steps = [step(writing, number) for number in range(start, start + AT_ONCE)]
        talk.record([message for each in steps for message in each])
        words = str(steps[0][2]["content"]).split()
        named.append(words[0])
        worded.append(" ".join(writing.chance.sample(words[1:], 6)))
    runtime.work(works=["vectors"])
    chosen = writing.chance.sample(range(len(named)), min(QUERIES, len(named)))
    return talk, [named[place] for place in chosen], [worded[place] for place in chosen]


def times(ask: Callable[[str], object], queries: Sequence[str]) -> tuple[list[float], list[float]]:
    passed: list[float] = []
    worked: list[float] = []
    ask(queries[0])
    for query in queries:
        wall, processor = time.perf_counter(), time.thread_time()
        ask(query)
        passed.append((time.perf_counter() - wall) * 1e3)
        worked.append((time.thread_time() - processor) * 1e3)
    return passed, worked


def measure(folder: Path, records: int) -> dict[str, float]:
    figures: dict[str, float] = {"records": records}
    with callsheet.open(folder / "long.db", embedder=Hashing()) as runtime:
        talk, named, worded = build(runtime, records)
        ways: dict[str, tuple[Callable[[str], object], list[str]]] = {
            "exact": (talk.search, named),
            "words": (lambda query: talk.search(query, arms=("words",)), worded),
            "hybrid": (talk.search, worded),
        }
        for way, (ask, queries) in ways.items():
            for kind, each in zip(("ms", "cpu_ms"), times(ask, queries), strict=True):
                figures[f"{way}_p50_{kind}"] = statistics.median(each)
                figures[f"{way}_p95_{kind}"] = statistics.quantiles(each, n=20)[-1]
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        figures = measure(Path(folder), max(given.records, 1_000))
    if given.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:22}{value:12,.2f}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
