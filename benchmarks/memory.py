"""What memories cost, and how well results become them.

    python benchmarks/memory.py [--json]

Promoting, checking memories that are whole, repairing broken locators, and fetching exact bytes back for a request, for
results of 1 KB to 1 MB: medians of rounds. Precision and recall of promotion and of located values over the labelled
cases in ``tests/memories/promotion.yaml``.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolMemory
from callsheet.runtime.conversation import Conversation
from callsheet.testing import memory_runtime
from tests.memories.labelled import judge, load, locations, promotions

CASES = Path(__file__).resolve().parents[1] / "tests" / "memories" / "promotion.yaml"
SIZES = (1_000, 30_000, 1_000_000)
ROUNDS = 7


def rows(size: int) -> str:
    """A result of about so many bytes, with values that stand at one place each."""
    lines = ["crate,weight,berth"]
    held = len(lines[0])
    while held < size:
        number = len(lines)
        lines.append(f"CR-{number:06d},{number * 7 % 991}.{number % 10},north {number}")
        held += len(lines[-1]) + 1
    return "\n".join(lines)


def recorded(talk: Conversation, content: str) -> str:
    """Record one result."""
    call = {"id": "c", "type": "function", "function": {"name": "read_crates", "arguments": "{}"}}
    talk.record({"role": "assistant", "content": None, "tool_calls": [call]})
    return talk.record({"role": "tool", "tool_call_id": "c", "content": content}).ids[-1]


def broken(talk: Conversation, memory: str) -> RecordId:
    """The same memory with every locator pointing to where its value does not stand."""
    (record,) = talk._session.ledger.get(talk._session.conversation.key, (RecordId(memory),))
    body = record.body
    assert isinstance(body, ToolMemory)
    moved = replace(body, locators=tuple(replace(one, byte_range=(0, 3), pointer=None) for one in body.locators))
    ids: list[RecordId] = []
    talk._session.append(talk._view, lambda drafting: ids.append(drafting.add(moved, kind="tool_memory")))
    return ids[-1]


def median(act: Callable[[], object]) -> float:
    """Milliseconds."""
    spent = []
    for _ in range(ROUNDS):
        started = time.perf_counter_ns()
        act()
        spent.append((time.perf_counter_ns() - started) / 1e6)
    return round(statistics.median(spent), 2)


def measured(size: int) -> dict[str, float]:
    """The times for results of one size, in milliseconds."""
    content = rows(size)
    with memory_runtime() as runtime:
        talk = runtime.conversation("crates")
        talk.record({"role": "user", "content": "Where are the crates?"})
        source = recorded(talk, content)
        values = [f"CR-{number:06d}" for number in range(1, min(17, content.count("\n")))]
        memory = talk.promote(source, summary="Crates.", payload=values)
        moved = iter([broken(talk, memory) for _ in range(ROUNDS)])
        talk.record({"role": "user", "content": "Show me the exact list."})
        return {
            "bytes": len(content),
            "promote": median(lambda: talk.promote(source, summary="Crates.", payload=values)),
            "check": median(lambda: talk.check(memory)),
            "repair": median(lambda: talk.check(next(moved))),
            "recall": median(lambda: talk.recall(source, limit=65_536)),
            "assemble_exact": median(lambda: talk.assemble(provider="openai", model="gpt-5.2", exact=[source])),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    wanted = parser.parse_args()
    times = [measured(size) for size in SIZES]
    came = [judge(case) for case in load(CASES)]
    figures = {
        "cases": len(came),
        "promotion": {"precision": promotions(came).precision, "recall": promotions(came).recall},
        "located": {"precision": locations(came).precision, "recall": round(locations(came).recall, 3)},
    }
    if wanted.json:
        print(json.dumps({"times": times, **figures}))
        return
    print("milliseconds, medians; 16 locators in each memory")
    for one in times:
        print("  ".join(f"{name} {value:,.2f}" if name != "bytes" else f"{value:>9,} B" for name, value in one.items()))
    for name, found in figures.items():
        print(name, found)


if __name__ == "__main__":
    main()
