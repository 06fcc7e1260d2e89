"""Times: microseconds since 1970-01-01T00:00Z, always with a zone on the way in and on the way out."""

from datetime import UTC, datetime, timedelta
from typing import NewType

from callsheet.errors import InvalidTime

Instant = NewType("Instant", int)
"""Microseconds since the epoch, UTC."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


def instant(value: datetime | str | int | float) -> Instant:
    """Read a point in time.

    Takes an aware datetime, ISO 8601 text with an offset (or ``Z``), or epoch seconds.
    A time without zone is refused, when stored and when asked for alike (`InvalidTime`).
    """
    if isinstance(value, bool):
        raise InvalidTime(f"{value!r} is not a time")
    if isinstance(value, int | float):
        return _from_epoch(value)
    if isinstance(value, str):
        text = value[:60]
        try:
            value = datetime.fromisoformat(value.upper())
        except ValueError:
            raise InvalidTime(f"{text!r} is not an ISO 8601 time") from None
    if not isinstance(value, datetime):
        raise InvalidTime(f"a {type(value).__name__} is not a time")
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidTime(f"{value.isoformat()} has no zone: add one, such as {value.isoformat()}+00:00")
    moment = Instant((value - _EPOCH) // _MICROSECOND)
    if not _FIRST <= moment <= _LAST:
        raise InvalidTime(f"{value.isoformat()} is out of range: in UTC it is before the year 1 or after 9999")
    return moment


def _from_epoch(seconds: int | float) -> Instant:
    try:
        moment = _EPOCH + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        raise InvalidTime("a number is out of range for epoch seconds") from None
    return Instant((moment - _EPOCH) // _MICROSECOND)


def to_datetime(moment: Instant) -> datetime:
    """The same point as an aware datetime in UTC."""
    return _EPOCH + timedelta(microseconds=moment)


def isoformat(moment: Instant) -> str:
    """The same point as ISO 8601 text in UTC, ending in ``Z``."""
    return to_datetime(moment).isoformat().replace("+00:00", "Z")
