"""The embedded worker: begun only where it is asked for, stopped when the store is closed, its errors visible."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

import callsheet
from callsheet.graph.ids import StreamId, TenantId
from callsheet.graph.record import StreamKey
from callsheet.runtime.working import worker as worker_module
from callsheet.runtime.working.work import Outcome, Unit
from callsheet.runtime.working.worker import Worker
from callsheet.testing import FixedClock

KEY = StreamKey(tenant=TenantId("local"), stream=StreamId("stream_1"))
SOON = 30.0
"""Seconds after which something that happens at once counts as not happening."""


class Rounds:
    """A work with one piece in every look, which tells when it is done and how often."""

    name = "rounds"

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.looks = 0
        self.second = threading.Event()

    def pending(self, limit: int) -> list[Unit]:
        return [Unit(work=self.name, stream=KEY, target=str(self.looks))][:limit]

    def do(self, unit: Unit) -> Outcome:
        self.looks += 1
        if self.looks == 2:
            self.second.set()
        if self.error is not None:
            raise self.error
        return Outcome.DONE


def workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "callsheet worker"]


def test_no_thread_begins_unless_it_is_asked_for(tmp_path: Path) -> None:
    with callsheet.open(tmp_path / "a.db", idle=1) as runtime:
        assert (runtime.worker, workers()) == (None, [])


def test_it_works_beside_the_program_and_ends_with_the_store(tmp_path: Path) -> None:
    path, clock = tmp_path / "a.db", FixedClock()
    with callsheet.open(path, clock=clock) as runtime:
        runtime.conversation("barge").record({"role": "user", "content": "Where is it?"})
    clock.advance(60)
    runtime = callsheet.open(path, clock=clock, idle=60, worker=True)
    worker = runtime.worker
    assert worker is not None
    assert worker.looked.wait(SOON)
    assert runtime.conversations(status="archived") == ["barge"]
    assert [(worked.work, worked.done, worked.errors) for worked in worker.worked] == [("archiving", 1, ())]
    assert len(workers()) == 1
    runtime.close()
    runtime.close()
    assert (worker.alive, workers()) == (False, [])


def test_errors_are_counted_by_class_and_do_not_end_it() -> None:
    work = Rounds(ValueError("the pin is 4711"))
    worker = Worker([work], pause=0.001)
    worker.start()
    assert work.second.wait(SOON)
    assert worker.alive
    worker.stop()
    (worked,) = worker.worked
    assert worked.failed == work.looks >= 2
    assert worked.errors == (("ValueError", work.looks),)
    assert "4711" not in repr(worker.worked)


def test_stopping_waits_for_the_piece_in_hand_and_begins_no_other() -> None:
    entered, let_go = threading.Event(), threading.Event()

    class Long(Rounds):
        def do(self, unit: Unit) -> Outcome:
            entered.set()
            assert let_go.wait(SOON)
            return super().do(unit)

    work = Long()
    worker = Worker([work], pause=0.001)
    worker.start()
    assert entered.wait(SOON)
    stopping = threading.Thread(target=worker.stop)
    stopping.start()
    let_go.set()
    stopping.join(SOON)
    assert not worker.alive
    assert work.looks == 1
    assert worker.worked[0].done == 1


def test_what_hangs_does_not_keep_the_store_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "PATIENCE", 0.01)
    entered, let_go = threading.Event(), threading.Event()

    class Hangs(Rounds):
        def do(self, unit: Unit) -> Outcome:
            entered.set()
            let_go.wait(SOON)
            return Outcome.DONE

    worker = Worker([Hangs()])
    worker.start()
    assert entered.wait(SOON)
    worker.stop()
    assert worker.alive
    let_go.set()


def test_stopping_one_that_never_began_or_from_within_is_fine() -> None:
    Worker([]).stop()
    done = threading.Event()

    class Stops(Rounds):
        def do(self, unit: Unit) -> Outcome:
            worker.stop()
            done.set()
            return Outcome.DONE

    worker = Worker([Stops()])
    worker.start()
    assert done.wait(SOON)
    worker.stop()
    assert not worker.alive


FORGOTTEN = """
import callsheet, sys
runtime = callsheet.open(sys.argv[1], worker=True, idle=60)
runtime.conversation("barge").record({"role": "user", "content": "Where is it?"})
print("recorded")
"""


def test_a_program_that_forgets_to_close_ends_all_the_same(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", FORGOTTEN, str(tmp_path / "a.db")],
        capture_output=True,
        text=True,
        timeout=SOON,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "recorded\n", "")


async def _lived(path: Path) -> bool:
    async with await callsheet.open_async(path, worker=True) as runtime:
        assert runtime.worker is not None
        assert runtime.worker.alive
        worker = runtime.worker
    return worker.alive


def test_the_asynchronous_face_has_one_too(tmp_path: Path) -> None:
    import asyncio

    assert not asyncio.run(_lived(tmp_path / "a.db"))
