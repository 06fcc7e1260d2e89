"""Two workers that embed one store at once: each vector is made by one of them and stays, and little is made twice."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import callsheet
from callsheet.graph.values import Vector
from callsheet.runtime.meaning import advanced, index_of
from callsheet.runtime.working.vectors import BATCH
from tests.runtime.working.embedding_child import Own, start, stored

UNITS = 6
RECORDS = UNITS * BATCH


def filled(path: Path) -> None:
    with callsheet.open(path) as runtime:
        told = [{"role": "assistant", "content": f"Berth {number} is free."} for number in range(RECORDS)]
        runtime.conversation("pier").record(told)


def whole(runtime: callsheet.Runtime) -> bool:
    """Whether all records have a vector and the store says so."""
    stream = runtime.conversation("pier")._session.conversation
    head = runtime.ledger.head(stream.key)
    made = stored(runtime)
    return (
        len(made) == RECORDS
        and head is not None
        and advanced(runtime.ledger, stream.key, index_of(Own(0)), head.position) >= max(made)
    )


def test_two_processes_embed_a_store_together(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    filled(path)
    workers = [start(path, number) for number in (1, 2)]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    ends = [worker.communicate("\n", timeout=120)[0].split() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0]
    assert [end[1:] for end in ends] == [["0", "False"]] * 2
    # Both had the first batch in hand; they may meet once more, where they come together.
    assert RECORDS + BATCH <= sum(int(end[0]) for end in ends) <= RECORDS + 2 * BATCH
    with callsheet.open(path) as runtime:
        assert whole(runtime)


def test_the_vector_that_was_first_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    filled(path)
    other: list[dict[int, bytes]] = []

    class Quick(Own):
        def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
            self.made += len(texts)
            return [self.vector(text) for text in texts]

    class Slow(Quick):
        def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
            if not other:
                # Another worker, on another machine, does all while this one has its first batch in hand.
                with callsheet.open(path, embedder=Quick(2)) as second:
                    second.work(works=["vectors"])
                    other.append(stored(second))
            return super().embed(texts, query=query)

    slow = Slow(1)
    with callsheet.open(path, embedder=slow) as runtime:
        runtime.work(works=["vectors"])
        assert stored(runtime) == other[0]
        assert {cells[0] for cells in other[0].values()} == {2}
        assert slow.made == BATCH
        assert whole(runtime)


def test_what_a_worker_had_in_hand_when_it_died_is_done_by_the_other(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    filled(path)

    class Dying(Own):
        def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
            if self.made == 2 * BATCH:
                raise KeyboardInterrupt
            self.made += len(texts)
            return [self.vector(text) for text in texts]

    class Slow(Own):
        begun = False

        def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
            if not self.begun:
                # Another worker does two batches while this one has its first in hand, and dies over the third.
                self.begun = True
                with callsheet.open(path, embedder=Dying(2)) as second, pytest.raises(KeyboardInterrupt):
                    second.work(works=["vectors"])
            self.made += len(texts)
            return [self.vector(text) for text in texts]

    slow = Slow(1)
    with callsheet.open(path, embedder=slow) as runtime:
        (worked,) = runtime.work(works=["vectors"])
        assert (worked.failed, worked.left) == (0, False)
        assert whole(runtime)
        # It began over the other's first batch, and made all that the other had not stored.
        assert slow.made == RECORDS - BATCH
        assert sum(cells[0] == 2 for cells in stored(runtime).values()) == 2 * BATCH
