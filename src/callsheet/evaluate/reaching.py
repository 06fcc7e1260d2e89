"""Whether a value that a request lacks comes back by one call of its recall tool.

What was asked for stands in the first line of an answer, so only what follows it counts.
"""

from collections.abc import Iterator
from enum import StrEnum

from callsheet.evaluate.candidates import Fetch
from callsheet.evaluate.haystack import stands_in
from callsheet.evaluate.values import Value


class Fetched(StrEnum):
    """Which call brought a value back."""

    #: One that reads a record to which the request refers.
    REFERENCE = "reference"
    #: A search for the value.
    QUERY = "query"


class Unfetched(StrEnum):
    """Why none did."""

    #: The request offers no recall.
    NOT_OFFERED = "not_offered"
    #: A search finds the record that holds it, but does not show it: reading that record is the second call.
    SECOND_CALL = "second_call"
    NOT_FOUND = "not_found"


class Reaching:
    """Asks for the values of one conversation, one after the other; what a record holds is read once.

    Calls are tried one by one, each as the first and only one: reading each record to which the request refers, then a
    search for the value in each of its spellings, then each of those records for the part that holds the value.
    """

    def __init__(self) -> None:
        self._read: dict[str, str] = {}

    def reach(self, value: Value, fetch: Fetch | None) -> Fetched | Unfetched:
        """What fetching the value comes to."""
        if fetch is None:
            return Unfetched.NOT_OFFERED
        references = fetch.references()
        if any(stands_in(value.spellings, self._whole(fetch, reference)) for reference in references):
            return Fetched.REFERENCE
        found = [_answer(fetch, query=spelling) for spelling in value.spellings]
        if any(stands_in(value.spellings, answer) for answer in found):
            return Fetched.QUERY
        if any(_part_holds(fetch, reference, value) for reference in references):
            return Fetched.REFERENCE
        named = dict.fromkeys(reference for answer in found for reference in _named(answer))
        for reference in named:
            if stands_in(value.spellings, self._whole(fetch, reference)) or _part_holds(fetch, reference, value):
                return Unfetched.SECOND_CALL
        return Unfetched.NOT_FOUND

    def _whole(self, fetch: Fetch, reference: str) -> str:
        known = self._read.get(reference)
        if known is None:
            known = self._read[reference] = _answer(fetch, reference=reference)
        return known


def _part_holds(fetch: Fetch, reference: str, value: Value) -> bool:
    answers = (_answer(fetch, reference=reference, part=f'"{spelling}"') for spelling in value.spellings)
    return any(stands_in(value.spellings, answer) for answer in answers)


def _answer(fetch: Fetch, **arguments: str) -> str:
    return fetch.recall(arguments).partition("\n")[2]


def _named(answer: str) -> Iterator[str]:
    """The references with which the lines of a search begin."""
    for line in answer.splitlines():
        yield line.partition(" ")[0]
