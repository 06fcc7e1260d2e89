"""DEV-36: a time without a zone is refused, when kept and when asked for, and every time that comes back has one."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from callsheet import Runtime
from callsheet.errors import InvalidTime
from callsheet.runtime.options import Time
from callsheet.runtime.personalising.listing import KeptMemory
from tests.memories.user_worlds import opened, place, values

NAIVE = datetime(2026, 5, 1, 1, 45)


@pytest.fixture(params=["memory", "sqlite"])
def runtime(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Runtime]:
    with opened(place(request.param, tmp_path)) as runtime:
        yield runtime


def kept(runtime: Runtime) -> list[KeptMemory]:
    given: list[tuple[str, Time]] = [
        ("P", "2026-05-01T10:00:00+09:00"),
        ("Q", "2026-05-01T02:00:00Z"),
        ("R", datetime(2026, 5, 1, 1, 30, tzinfo=UTC)),
        ("S", 1777600800),
    ]
    return [runtime.remember("mia", name, observed=at) for name, at in given]


def test_memories_come_in_order_of_time_whatever_zone_they_were_given_in(runtime: Runtime) -> None:
    kept(runtime)

    assert values(runtime.memories("mia")) == ["P", "R", "Q", "S"]
    assert all(one.observed.tzinfo is not None for one in runtime.memories("mia"))
    assert [one.observed.hour for one in runtime.memories("mia")] == [1, 1, 2, 2]
    assert values(runtime.memories("mia", as_of="2026-05-01T03:15:00+02:00")) == ["P"]


ASKS: list[tuple[str, Callable[[Runtime, str], object]]] = [
    ("kept", lambda runtime, id: runtime.remember("mia", "R", observed=NAIVE)),
    ("kept as text", lambda runtime, id: runtime.remember("mia", "R", observed="2026-05-01T01:30:00")),
    ("valid until", lambda runtime, id: runtime.remember("mia", "R", valid_until=datetime(2030, 1, 1))),
    ("stale after", lambda runtime, id: runtime.remember("mia", "R", stale_after="2030-01-01T00:00:00")),
    ("edited", lambda runtime, id: runtime.update("mia", id, "R", observed=NAIVE)),
    ("proposed", lambda runtime, id: runtime.propose("mia", "R", observed=NAIVE)),
    ("asked", lambda runtime, id: runtime.memories("mia", as_of=NAIVE)),
    ("forgotten", lambda runtime, id: runtime.forget("mia", before=NAIVE)),
    ("forgotten with one", lambda runtime, id: runtime.forget("mia", id, before="2026-05-01T01:45:00")),
    ("seen", lambda runtime, id: runtime.conversation("c", user="mia").user_memories(as_of=NAIVE)),
]


@pytest.mark.parametrize("act", [case[1] for case in ASKS], ids=[case[0] for case in ASKS])
def test_a_time_without_zone_is_refused_everywhere_and_changes_nothing(
    runtime: Runtime, act: Callable[[Runtime, str], object]
) -> None:
    first, *_ = kept(runtime)
    before = runtime.memories("mia", history=True)

    with pytest.raises(InvalidTime, match="no zone"):
        act(runtime, first.id)

    assert runtime.memories("mia", history=True) == before
    assert len(before) == 4


def test_what_is_older_than_a_time_is_forgotten_by_the_instant_and_not_by_its_spelling(runtime: Runtime) -> None:
    p, _, r, _ = kept(runtime)

    done = runtime.forget("mia", before="2026-05-01T10:45:00+09:00")

    assert done.gone == (p.id, r.id)
    assert values(runtime.memories("mia", history=True)) == ["Q", "S"]
    assert str(runtime.forget("mia", before="2026-05-01T10:45:00+09:00")) == "nothing to forget"
