"""Times carry a zone on the way in and on the way out."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.errors import InvalidTime
from callsheet.graph.times import Instant, instant, isoformat, to_datetime

MOMENTS = st.datetimes(min_value=datetime(1900, 1, 2), max_value=datetime(2900, 1, 1), timezones=st.just(UTC))


@given(MOMENTS, st.integers(-14 * 60, 14 * 60))
def test_a_moment_comes_back_as_it_was_in_whatever_zone_it_came(moment: datetime, minutes: int) -> None:
    elsewhere = moment.astimezone(timezone(timedelta(minutes=minutes)))
    assert to_datetime(instant(elsewhere)) == moment
    assert to_datetime(instant(elsewhere)).tzinfo is UTC
    assert instant(elsewhere) == instant(moment) == instant(moment.isoformat()) == instant(isoformat(instant(moment)))


@given(st.lists(MOMENTS, max_size=5))
def test_instants_sort_as_their_moments(moments: list[datetime]) -> None:
    assert [to_datetime(one) for one in sorted(map(instant, moments))] == sorted(moments)


def test_offsets_z_and_epoch_seconds_are_one_time() -> None:
    p, q = instant("2026-05-01T10:00:00+09:00"), instant("2026-05-01T02:00:00Z")
    assert q == instant(1777600800) == instant(1777600800.0)
    assert q == instant(datetime(2026, 5, 1, 4, tzinfo=ZoneInfo("Europe/Berlin")))
    assert q - p == 3_600_000_000
    assert isoformat(p) == "2026-05-01T01:00:00Z"
    assert isoformat(instant("2026-05-01T01:00:00.000001Z")) == "2026-05-01T01:00:00.000001Z"


@pytest.mark.parametrize(
    "value",
    [
        "2026-05-01T01:30:00",
        datetime(2026, 5, 1, 1, 45),
        "yesterday",
        "",
        float("nan"),
        float("inf"),
        1e300,
        10**30,
        True,
    ],
)
def test_a_time_without_zone_or_none_at_all_is_refused(value: datetime | str | float) -> None:
    with pytest.raises(InvalidTime):
        instant(value)


def test_an_instant_is_microseconds_since_the_epoch() -> None:
    assert instant("1970-01-01T00:00:00Z") == Instant(0)
    assert instant("1969-12-31T23:59:59.999999Z") == Instant(-1)
    assert instant(0.5) == Instant(500_000)
