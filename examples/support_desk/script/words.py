"""Dates and amounts as people say them, in English and German."""

from datetime import timedelta

from examples.support_desk.shop.times import moment

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MONATE = (
    *("Januar", "Februar", "März", "April", "Mai", "Juni"),
    *("Juli", "August", "September", "Oktober", "November", "Dezember"),
)


_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def count(number: int) -> str:
    """A small number as a word, a larger one in figures."""
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def day(stamp: str) -> str:
    """25 February."""
    at = moment(stamp)
    return f"{at.day} {_MONTHS[at.month - 1]}"


def tag(stamp: str) -> str:
    """25. Februar."""
    at = moment(stamp)
    return f"{at.day}. {_MONATE[at.month - 1]}"


def hour(stamp: str) -> str:
    """13:40."""
    return f"{moment(stamp):%H:%M}"


def later(stamp: str, days: int) -> str:
    """The day so many days after a moment: 13 February."""
    return day((moment(stamp) + timedelta(days=days)).isoformat())


def age(stamp: str, until: str) -> int:
    """Whole days between two dates; the day of the first is day 0."""
    return (moment(until).date() - moment(stamp).date()).days


def komma(amount: str) -> str:
    """129,90."""
    return amount.replace(".", ",")
