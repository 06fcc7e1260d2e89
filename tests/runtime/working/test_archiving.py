"""Archiving what is idle: the longest idle first, never what is in use, and once whoever does it."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import callsheet
from callsheet import Runtime
from callsheet.errors import InvalidOption
from callsheet.graph.changes import LifecycleChanged
from callsheet.graph.enums import Lifecycle, StreamKind
from callsheet.graph.ids import TenantId
from callsheet.graph.query import NodeQuery
from callsheet.runtime.working.archiving import Archiving
from callsheet.runtime.working.work import Outcome
from callsheet.runtime.working.workshop import Workshop
from callsheet.testing import FixedClock, SequenceIds

DAY = 86_400


def opened(
    clock: FixedClock, location: str = ":memory:", *, idle: float | None = DAY, tenant: str = "local"
) -> Runtime:
    return callsheet.open(location, ids=SequenceIds(), clock=clock, idle=idle, tenant=tenant)


def say(runtime: Runtime, name: str, **terms: str) -> None:
    runtime.conversation(name).record({"role": "user", "content": "Where is the barge?"}, at=terms.get("at"))


def archiving(runtime: Runtime) -> Archiving:
    shop = runtime._workshop
    assert shop.idle is not None
    return Archiving(workshop=shop, idle=shop.idle)


def archived(runtime: Runtime, name: str) -> int:
    """How often a conversation was put away."""
    stream = runtime.ledger.stream(TenantId(runtime.tenant), StreamKind.CONVERSATION, name)
    assert stream is not None
    found = runtime.ledger.nodes(stream.key, NodeQuery(kinds=("lifecycle_changed",)))
    bodies = [record.body for record in found if isinstance(record.body, LifecycleChanged)]
    return sum(body.status is Lifecycle.ARCHIVED for body in bodies)


def test_what_nothing_has_happened_in_is_put_away_and_what_is_in_use_is_not() -> None:
    clock = FixedClock()
    with opened(clock) as runtime:
        say(runtime, "old")
        runtime.conversation("never used")
        clock.advance(DAY - 1)
        say(runtime, "new")
        assert runtime.work()[0].done == 0
        clock.advance(1)
        (worked,) = runtime.work()
        assert (worked.work, worked.done, worked.failed, worked.left) == ("archiving", 2, 0, False)
        assert runtime.conversations(status="archived") == ["old", "never used"]
        # What is put away is not found again, neither by a kept look nor by a fresh one.
        assert archiving(runtime).pending(9) == runtime._works.named()[0].pending(9) == []
        say(runtime, "old")
        assert runtime.conversations(status="archived") == ["never used"]
        assert runtime.work()[0].done == 0
        clock.advance(DAY)
        assert runtime.work()[0].done == 2
        assert runtime.conversations(status="active") == []
        clock.advance(DAY)
        assert archiving(runtime).pending(9) == []
        (worked,) = runtime.work()
        assert (worked.done, worked.nothing) == (0, 0)


def test_the_longest_idle_come_first_and_the_limit_holds() -> None:
    clock = FixedClock()
    with opened(clock) as runtime:
        for name in ("c", "a", "b"):
            say(runtime, name)
            clock.advance(60)
        say(runtime, "c")
        clock.advance(DAY)
        (worked,) = runtime.work(limit=2)
        assert (worked.done, worked.left) == (2, True)
        assert runtime.conversations(status="archived") == ["a", "b"]


def test_what_was_imported_under_old_dates_is_not_idle_at_once() -> None:
    clock = FixedClock()
    with opened(clock) as runtime:
        say(runtime, "imported", at="2019-01-01T00:00:00Z")
        assert runtime.work()[0].done == 0
        clock.advance(DAY)
        assert runtime.work()[0].done == 1
        say(runtime, "imported", at="2019-01-02T00:00:00Z")
        assert runtime.work()[0].done == 0
        runtime.conversation("imported").archive()
        runtime.conversation("imported").reopen()
        assert runtime.work()[0].done == 0


def test_a_result_that_comes_late_counts_as_something_that_happened() -> None:
    clock = FixedClock()
    with opened(clock) as runtime:
        talk = runtime.conversation("survey")
        function = {"name": "sound", "arguments": "{}"}
        talk.record({"role": "assistant", "content": None, "tool_calls": [
            {"id": "c", "type": "function", "function": function}]})  # fmt: skip
        clock.advance(DAY - 1)
        talk.record({"role": "tool", "tool_call_id": "c", "content": "4 m"})
        clock.advance(DAY - 1)
        assert runtime.work()[0].done == 0


@settings(max_examples=40, deadline=None)
@given(
    acts=st.lists(
        st.tuples(st.sampled_from(["say", "archive", "reopen", "work"]), st.sampled_from("abc"), st.integers(0, 9)),
        max_size=25,
    )
)
def test_a_kept_look_finds_what_a_fresh_one_finds(acts: list[tuple[str, str, int]]) -> None:
    """What the work remembers between two looks spares looking and leaves nothing out."""
    clock = FixedClock()
    with opened(clock, idle=10) as runtime:
        kept = archiving(runtime)
        for act, name, seconds in acts:
            clock.advance(seconds)
            match act:
                case "say":
                    say(runtime, name)
                case "archive":
                    runtime.conversation(name).archive()
                case "reopen":
                    runtime.conversation(name).reopen()
                case _:
                    runtime.work()
            assert kept.pending(9) == archiving(runtime).pending(9)


def test_doing_a_piece_again_or_too_late_changes_nothing() -> None:
    clock = FixedClock()
    with opened(clock) as runtime:
        say(runtime, "a")
        say(runtime, "b")
        clock.advance(DAY)
        work = archiving(runtime)
        one, other = work.pending(9)
        assert [work.do(one), work.do(one)] == [Outcome.DONE, Outcome.NOTHING]
        say(runtime, "b")
        assert work.do(other) is Outcome.NOTHING
        assert (archived(runtime, "a"), archived(runtime, "b")) == (1, 0)


def test_works_are_named_and_those_without_means_are_refused() -> None:
    with opened(FixedClock(), idle=None) as runtime:
        assert [worked.work for worked in runtime.work() if worked.work == "archiving"] == []
        with pytest.raises(InvalidOption, match="opened without what work 'archiving' works with"):
            runtime.work(works=["archiving"])
    with opened(FixedClock()) as runtime:
        assert [worked.work for worked in runtime.work(works=["archiving"])] == ["archiving"]
        assert [worked.work for worked in runtime.work(works="archiving")] == ["archiving"]  # one, given as text
        with pytest.raises(InvalidOption, match="no work 'dusting'; there are: archiving"):
            runtime.work(works=["archiving", "dusting"])


@pytest.mark.parametrize("idle", [0, -1, float("nan"), float("inf"), True, "60", 10**11, timedelta(days=1)])
def test_a_length_of_time_that_is_none_is_refused_before_a_store_is_made(tmp_path: Path, idle: float) -> None:
    with pytest.raises(InvalidOption, match="idle is"):
        callsheet.open(tmp_path / "a.db", idle=idle)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("limit", [0, -1, True, 1.5])
def test_a_limit_that_is_none_is_refused(limit: int) -> None:
    with opened(FixedClock()) as runtime, pytest.raises(InvalidOption, match="limit is"):
        runtime.work(limit=limit)


def test_another_tenants_conversations_are_left_alone(tmp_path: Path) -> None:
    clock, path = FixedClock(), str(tmp_path / "two.db")
    with opened(clock, path, tenant="north") as north, callsheet.open(path, tenant="south", clock=clock) as south:
        say(north, "barge")
        say(south, "barge")
        clock.advance(DAY)
        assert north.work()[0].done == 1
        assert south.conversations(status="active") == ["barge"]


def test_a_unit_of_another_tenant_is_not_done(tmp_path: Path) -> None:
    clock, path = FixedClock(), str(tmp_path / "two.db")
    with opened(clock, path, tenant="north") as north, opened(clock, path, tenant="south") as south:
        say(north, "tug")
        say(south, "barge")
        (one,), (other,) = (runtime._workshop.conversations() for runtime in (north, south))
        assert one.id == other.id
        clock.advance(DAY)
        shop = Workshop(ledger=south.ledger, tenant=TenantId("south"), ids=SequenceIds(), clock=clock, idle=DAY)
        (unit,) = Archiving(workshop=shop, idle=DAY).pending(9)
        with pytest.raises(callsheet.CallsheetError, match="of this tenant"):
            archiving(north).do(unit)


# ------------------------------------------------------------------------------------------ several at once

MANY = 40


def _idle_store(path: Path) -> None:
    clock = FixedClock()
    with opened(clock, str(path)) as runtime:
        for number in range(MANY):
            say(runtime, f"barge {number}")


def test_two_threads_put_each_conversation_away_once(tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    _idle_store(path)
    clock = FixedClock("2026-02-01T00:00:00Z")
    gate = threading.Barrier(2)

    def drain(_: int) -> tuple[int, int, int]:
        with callsheet.open(path, clock=clock, idle=DAY) as runtime:
            gate.wait()
            (worked,) = runtime.work()
            return worked.done, worked.nothing, worked.failed

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(drain, range(2))
    assert (one[0] + other[0], one[2] + other[2]) == (MANY, 0)
    with callsheet.open(path) as runtime:
        assert [archived(runtime, name) for name in runtime.conversations()] == [1] * MANY


WORKING = """
import callsheet, sys
with callsheet.open(sys.argv[1], idle=float(sys.argv[2])) as runtime:
    sys.stdin.readline()  # both begin together
    for worked in runtime.work(works=["archiving"]):
        print(worked.done, worked.failed)
"""


def test_two_processes_put_each_conversation_away_once(tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    _idle_store(path)
    # The store was written long ago by a clock of its own; here the system's counts.
    idle = str((datetime.now().astimezone() - datetime.fromisoformat("2026-01-01T00:00:00Z")).total_seconds() / 2)
    both = [
        subprocess.Popen(
            [sys.executable, "-c", WORKING, str(path), idle], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for each in both:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    told = [each.communicate()[0].split() for each in both]
    assert [each.returncode for each in both] == [0, 0]
    assert sum(int(done) for done, _ in told) == MANY
    assert [failed for _, failed in told] == ["0", "0"]
    with callsheet.open(path) as runtime:
        assert [archived(runtime, name) for name in runtime.conversations()] == [1] * MANY


KILLED = """
import callsheet, os, sys
from callsheet.testing import FixedClock
clock = FixedClock("2026-02-01T00:00:00Z")
runtime = callsheet.open(sys.argv[1], idle=86_400, clock=clock)
runtime.work(progress=lambda worked: worked.done == 7 and os._exit(9))
"""


def test_what_a_killed_worker_left_is_done_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    _idle_store(path)
    assert subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False).returncode == 9
    with callsheet.open(path, clock=FixedClock("2026-02-01T00:00:00Z"), idle=DAY) as runtime:
        assert len(runtime.conversations(status="archived")) == 7
        assert runtime.work()[0].done == MANY - 7
        assert [archived(runtime, name) for name in runtime.conversations()] == [1] * MANY
