"""Draining: what is pending is done once, what fails keeps nothing else from being done, and nobody loops for ever."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.errors import StoreBusy, StoreClosed
from callsheet.graph.ids import StreamId, TenantId
from callsheet.graph.record import StreamKey
from callsheet.runtime.working import draining
from callsheet.runtime.working.draining import Draining, Worked
from callsheet.runtime.working.work import Outcome, Unit

KEY = StreamKey(tenant=TenantId("local"), stream=StreamId("stream_1"))
SECRET = "the pin is 4711"


def unit(number: int) -> Unit:
    return Unit(work="sums", stream=KEY, target=str(number))


@dataclass
class Sums:
    """A work whose pieces end as they are told to, and are pending until they are done or refused."""

    ends: dict[int, Outcome | Exception]
    #: Pieces that stay pending whatever came of them.
    stubborn: bool = False
    tried: list[int] = field(default_factory=list)
    name: str = "sums"

    def pending(self, limit: int) -> list[Unit]:
        return [unit(number) for number in self.ends][:limit]

    def do(self, unit: Unit) -> Outcome:
        number = int(unit.target)
        self.tried.append(number)
        end = self.ends[number]
        if isinstance(end, Exception):
            raise end
        if not self.stubborn and end is not Outcome.FAILED:
            del self.ends[number]
        return end


ENDS = st.sampled_from([*Outcome, StoreBusy("busy"), ValueError(SECRET)])


@given(ends=st.lists(ENDS, max_size=200), stubborn=st.booleans(), limit=st.none() | st.integers(1, 120))
def test_each_piece_is_tried_once_oldest_first_up_to_the_limit(
    ends: list[Outcome | Exception], stubborn: bool, limit: int | None
) -> None:
    work = Sums(dict(enumerate(ends)), stubborn=stubborn)
    worked = Draining(work=work, limit=limit).drain()
    most = len(ends) if limit is None else min(limit, len(ends))
    assert work.tried == list(range(most))
    assert worked.done + worked.nothing + worked.refused + worked.failed == most
    assert worked.failed == sum(isinstance(end, Exception) or end is Outcome.FAILED for end in ends[:most])
    assert sum(count for _, count in worked.errors) == sum(isinstance(end, Exception) for end in ends[:most])
    assert worked.left == bool(work.ends)


def test_what_fails_in_front_keeps_nothing_behind_it_from_being_done() -> None:
    many = 3 * draining._AT_ONCE
    ends: dict[int, Outcome | Exception] = dict.fromkeys(range(many), StoreBusy("busy"))
    work = Sums({**ends, **dict.fromkeys(range(many, 2 * many), Outcome.DONE)})
    assert Draining(work=work).drain() == Worked(
        work="sums", done=many, failed=many, errors=(("StoreBusy", many),), left=True
    )


def test_what_failed_is_tried_again_the_next_time() -> None:
    work = Sums({1: StoreBusy("busy"), 2: Outcome.DONE})
    assert Draining(work=work).drain() == Worked(work="sums", done=1, failed=1, errors=(("StoreBusy", 1),), left=True)
    work.ends[1] = Outcome.DONE
    assert Draining(work=work).drain() == Worked(work="sums", done=1)


def test_what_comes_meanwhile_is_done_too() -> None:
    work = Sums({1: Outcome.DONE})

    def more(worked: Worked) -> None:
        if worked.done < draining._AT_ONCE + 3:
            work.ends[worked.done + 1] = Outcome.DONE

    assert Draining(work=work, told=more).drain().done == draining._AT_ONCE + 3


def test_errors_are_told_by_their_class_and_never_by_what_they_say(caplog: pytest.LogCaptureFixture) -> None:
    work = Sums({1: ValueError(SECRET), 2: ValueError(SECRET), 3: KeyError(SECRET)})
    with caplog.at_level(logging.DEBUG):
        worked = Draining(work=work).drain()
    assert worked.errors == (("KeyError", 1), ("ValueError", 2))
    assert "ValueError" in caplog.text
    assert "stream_1" in caplog.text
    assert "4711" not in caplog.text + repr(worked)


def test_a_query_that_fails_ends_this_work_alone_and_is_counted() -> None:
    class Unreadable(Sums):
        def pending(self, limit: int) -> list[Unit]:
            raise StoreBusy("busy")

    assert Draining(work=Unreadable({})).drain() == Worked(work="sums", errors=(("StoreBusy", 1),), left=True)


@pytest.mark.parametrize("where", ["pending", "do"])
def test_a_closed_store_ends_it(where: str) -> None:
    work = Sums({1: StoreClosed("closed")})
    if where == "pending":

        def closed(limit: int) -> list[Unit]:
            raise StoreClosed("closed")

        work.pending = closed  # type: ignore[method-assign]
    with pytest.raises(StoreClosed):
        Draining(work=work).drain()


def test_it_stops_before_the_next_piece() -> None:
    work = Sums(dict.fromkeys(range(10), Outcome.DONE))
    stopped: Callable[[], bool] = lambda: len(work.tried) >= 3  # noqa: E731
    assert Draining(work=work, stopped=stopped).drain() == Worked(work="sums", done=3, left=True)


def test_what_came_of_two_rounds_adds_up() -> None:
    one = Worked(work="sums", done=1, nothing=2, refused=3, failed=4, errors=(("A", 1), ("B", 2)), left=True)
    other = Worked(work="sums", done=10, failed=1, errors=(("B", 1),))
    assert one.with_(other) == Worked(
        work="sums", done=11, nothing=2, refused=3, failed=5, errors=(("A", 1), ("B", 3)), left=False
    )
