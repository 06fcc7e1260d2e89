"""DEV-38 and DEV-39: what a store takes on the disk, and what a step reads, as a history grows."""

import base64
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

import callsheet
from callsheet import Conversation, Runtime
from callsheet.audit.erasing import erase
from callsheet.audit.verify import verify
from callsheet.graph.nodes import ToolArtifact
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.ledger.sqlite import SqliteLedger
from callsheet.testing import FixedClock

MEGABYTE = 1_000_000
DAY = 86_400


# ------------------------------------------------------------------------------------------ DEV-38

STEPS = 500
#: 2 MB that no compression makes smaller than what they encode.
DUMP = base64.b64encode(random.Random(1).randbytes(1_500_000)).decode()


def size(folder: Path) -> int:
    """Bytes of a store, its log and its large content included."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def step(talk: Conversation, number: int, words: random.Random) -> str:
    """A message of 1 KB, in every tenth step the same dump, and a checkpoint. Returns the checkpoint's id."""
    text = f"Step {number}: {' '.join(words.choices(['order', 'pallet', 'carrier', f'PX-{number:05}'], k=200))}"
    talk.record({"role": "user", "content": text[:1_024]})
    if number % 10 == 0:
        function = {"name": "dump", "arguments": "{}"}
        call = {"id": f"c{number}", "type": "function", "function": function}
        talk.record({"role": "assistant", "content": None, "tool_calls": [call]})
        talk.record({"role": "tool", "tool_call_id": f"c{number}", "content": DUMP})
    return talk.checkpoint(f"step {number}")


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], dict[int, int]]:
    """A store of 500 steps with a checkpoint each: its file, the checkpoints, and its sizes on the way."""
    path = tmp_path_factory.mktemp("grown") / "agent.db"
    words, sizes, ids = random.Random(2), dict[int, int](), list[str]()
    with callsheet.open(path, clock=FixedClock()) as runtime:
        talk = runtime.conversation("dumps")
        for number in range(1, STEPS + 1):
            ids.append(step(talk, number, words))
            sizes[number] = size(path.parent)
    return path, ids, sizes


def test_dev_38_a_store_grows_with_what_is_new_and_keeps_the_same_bytes_once(
    grown: tuple[Path, list[str], dict[int, int]],
) -> None:
    path, _, sizes = grown
    assert sizes[500] <= 2.3 * sizes[250]
    assert max(sizes.values()) < 12 * MEGABYTE
    assert size(path.parent) < 12 * MEGABYTE
    blobs = [file for file in path.parent.rglob("*") if file.is_file() and file.stat().st_size > MEGABYTE]
    assert len([file for file in blobs if not file.name.startswith(path.name)]) == 1
    # As much comes with the last hundred steps as with any hundred before, the log of the file apart.
    assert sizes[500] - sizes[400] <= 1.5 * MEGABYTE


def test_dev_38_any_checkpoint_can_be_restored(grown: tuple[Path, list[str], dict[int, int]]) -> None:
    path, ids, _ = grown
    with callsheet.open(path, clock=FixedClock()) as runtime:
        talk = runtime.conversation("dumps")
        assert talk.checkpoints()[:STEPS] == ids
        for number in (1, 2, 9, 10, 11, 249, 250, 251, *range(33, STEPS, 97), STEPS):
            restored = talk.resume(ids[number - 1])
            assert (restored.reason, restored.open_calls, restored.failed) == (f"step {number}", (), ())


def dumps(talk: Conversation) -> list[Record]:
    found = talk._session.ledger.nodes(talk._session.conversation.key, NodeQuery(kinds=("artifact",)))
    return [record for record in found if isinstance(record.body, ToolArtifact)]


def test_dev_38_what_is_removed_frees_its_bytes_once_nothing_names_them(tmp_path: Path) -> None:
    path, clock = tmp_path / "agent.db", FixedClock()
    with callsheet.open(path, clock=clock) as runtime:
        talk, words = runtime.conversation("dumps"), random.Random(2)
        for number in range(1, 61):
            step(talk, number, words)
        first, *rest = dumps(talk)
        full = size(path.parent)

        erase(talk._session, [record.id for record in rest])
        clock.advance(30 * DAY)
        assert _collected(runtime) == 0
        assert talk.raw(first.id, privileged=True, reason="still_there").decode() == DUMP
        assert verify(runtime.ledger).ok

        erase(talk._session, [first.id])
        clock.advance(30 * DAY)
        _collected(runtime)
        assert verify(runtime.ledger).ok
    assert size(path.parent) < full - len(DUMP) // 2


def _collected(runtime: Runtime) -> int:
    return cast("SqliteLedger", runtime.ledger).collect()


# ------------------------------------------------------------------------------------------ DEV-39

LATE = 240


class Watched:
    """A ledger that notes how many records and rows each step reads."""

    def __init__(self, ledger: object) -> None:
        self._ledger = ledger
        self.read = 0

    def __getattr__(self, name: str) -> object:
        method = cast("Callable[..., object]", getattr(self._ledger, name))

        def watched(*args: object, **terms: object) -> object:
            found = method(*args, **terms)
            self.read += len(found) if isinstance(found, list | dict) else 1
            return found

        return watched


@pytest.fixture
def talk() -> Iterator[Conversation]:
    with callsheet.open(":memory:") as runtime:
        yield runtime.conversation("long")


def watch(talk: Conversation) -> Watched:
    ledger = Watched(talk._session.ledger)
    talk._session.ledger = talk._session.tallying.ledger = ledger  # type: ignore[assignment]
    return ledger


def lived(talk: Conversation, number: int) -> None:
    """A question, a call, a result of 500 characters, a request, its answer."""
    function = {"name": "read", "arguments": json.dumps({"page": number})}
    talk.record(
        [
            {"role": "user", "content": f"What does page {number} say?"},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": f"c{number}", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"page {number}: {'word ' * 98}"},
        ]
    )  # fmt: skip
    talk.assemble(provider="openai", model="gpt-5.2", budget=16_000)
    talk.record({"role": "assistant", "content": f"It says {number}."})
    talk.counters()


def test_dev_39_a_late_step_reads_about_as_much_as_an_early_one(talk: Conversation) -> None:
    """How long it takes is measured in benchmarks/long_history.py; here: how much is read for it."""
    ledger = watch(talk)
    reads: list[int] = []
    kept: list[int] = []
    for number in range(LATE):
        before = ledger.read
        lived(talk, number)
        reads.append(ledger.read - before)
        kept.append(len(talk._session.desk(talk._view).records))
    early, late = sorted(reads[40:80]), sorted(reads[-40:])
    assert late[20] <= 3 * early[20]
    # What is kept at hand between two requests does not grow with the history either.
    assert max(kept[-40:]) <= 2 * max(kept[40:80])


AGAIN = """
import callsheet, sys
with callsheet.open(sys.argv[1]) as runtime:
    talk = runtime.conversation("long")
    before = len(talk.sheets())
    sheet = talk.assemble(provider="openai", model="gpt-5.2", budget=16_000)
    print(sheet.tokens, before)
"""


def test_dev_39_opening_again_reads_about_as_much_of_a_long_history_as_of_a_short_one(tmp_path: Path) -> None:
    counts: dict[int, int] = {}
    for steps in (40, 160):
        path = tmp_path / f"{steps}.db"
        with callsheet.open(path) as runtime:
            talk = runtime.conversation("long")
            for number in range(steps):
                lived(talk, number)
        again = subprocess.run([sys.executable, "-c", AGAIN, str(path)], capture_output=True, text=True, check=True)
        tokens, sheets = map(int, again.stdout.split())
        assert (tokens <= 16_000, sheets) == (True, steps)
        with callsheet.open(path) as runtime:
            talk = runtime.conversation("long")
            ledger = watch(talk)
            lived(talk, steps)
            counts[steps] = ledger.read
    assert counts[160] <= 3 * counts[40]
