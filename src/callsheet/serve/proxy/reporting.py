"""What the proxy saved in a period: tokens and money, with the method by which it was reckoned."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from callsheet.errors import InvalidOption, NotFound
from callsheet.serve.proxy.credentials import folder_of
from callsheet.serve.proxy.journal import FILE, Journal, Outcome, Row, Sent
from callsheet.serve.proxy.placed import How
from callsheet.serve.proxy.pricing import table

_COST = (Outcome.ANSWERED, Outcome.CUT_OFF, Outcome.BROKEN)
"""Requests that the provider charges for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """The requests of one model, or of whatever else they are added up by."""

    name: str
    requests: int
    #: Of those, by what was sent.
    assembled: int
    #: Counted tokens of the clients' own requests, and of those that were sent in their place.
    asked_tokens: int
    sent_tokens: int
    #: Input as the providers reported it, and how much of it they read from their caches.
    reported: int
    input: int
    cached: int
    output: int
    #: Of those for which a price is known: what was spent, and what the clients' own requests would have cost.
    priced: int
    spent: float
    would: float
    #: The same for what observe-only mode did not send: what the assembled requests would have cost.
    observed: int
    observed_tokens: int
    observed_spent: float
    observed_would: float

    @property
    def saved_tokens(self) -> int:
        """Input tokens that were not sent."""
        return self.asked_tokens - self.sent_tokens

    @property
    def saved(self) -> float:
        """Dollars."""
        return self.would - self.spent

    @property
    def cached_share(self) -> float | None:
        """The part of the input that was read from caches; None: no usage was reported."""
        return self.cached / self.input if self.input else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """One period."""

    since: datetime
    until: datetime
    lines: tuple[Line, ...]
    total: Line
    #: How many requests ended in which way: also those of which nothing was sent, which stand in no line.
    outcomes: tuple[tuple[str, int], ...]
    method: tuple[str, ...]
    #: Requests that began a conversation since their history may have been that of several.
    ambiguous: int = 0


def report(
    database: str,
    *,
    since: datetime,
    until: datetime,
    tenant: str | None = None,
    key: str | None = None,
    by: str = "model",
) -> Report:
    """What was asked, sent and saved. `by` is ``model``, ``key`` or ``tenant``. Raises `NotFound` without a list."""
    name = _BY.get(by)
    if name is None:
        raise InvalidOption(f"by is {by!r}; it must be one of: {', '.join(_BY)}")
    if since >= until:
        raise InvalidOption("the period ends before it begins")
    folder = folder_of(database)
    if folder is None or not (folder / FILE).exists():
        raise NotFound(f"no proxy has answered anything with {database} yet")
    journal = Journal(folder)
    try:
        start, end = _micros(since), _micros(until)
        rows = journal.rows(since=start, until=end, tenant=tenant, key=key)
        ambiguous = journal.placed(How.AMBIGUOUS.value, since=start, until=end, tenant=tenant, key=key)
    finally:
        journal.close()
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row.sent is not Sent.PASSED and (row.sent is not Sent.NOTHING or row.outcome is Outcome.OPEN):
            groups.setdefault(name(row), []).append(row)
    lines = [_line(each, found) for each, found in groups.items()]
    outcomes: dict[str, int] = {}
    for row in rows:
        outcomes[row.outcome.value] = outcomes.get(row.outcome.value, 0) + row.requests
    return Report(
        since=since,
        until=until,
        lines=tuple(sorted(lines, key=lambda line: (-line.requests, line.name))),
        total=_line("total", [row for found in groups.values() for row in found]),
        outcomes=tuple(sorted(outcomes.items())),
        method=method(),
        ambiguous=ambiguous,
    )


def method() -> tuple[str, ...]:
    """How the figures come about, in sentences."""
    return (
        f"Prices: {table()}, or what the configuration says of a model.",
        "Spent: the usage that providers reported, at these prices; counted tokens where a stream reported none.",
        "Without: the client's own request, counted as the one that was sent was counted, and scaled by what the "
        "provider reported for that one.",
        "Of it counts as read from the cache the longest beginning that it shares with any of the own requests of the "
        "same key within the life of the provider's cache, but for as many tokens as the provider left unread of what "
        "it could have read of the one that was sent.",
        "Where it read nothing of that one, so much less by its share; where it could read nothing, since that was "
        "written anew or smaller than what providers cache, by the mean share of the model's requests before; without "
        "any, all of it.",
        "Assembled, of what was sent as clients sent it: counted and scaled in the same way. In observe-only mode what "
        "it shares with the assembled ones before it counts as read from the cache.",
        "The answer is taken to have been as long.",
    )


_BY: dict[str, Callable[[Row], str]] = {
    "model": lambda row: row.model or "-",
    "key": lambda row: row.key,
    "tenant": lambda row: row.tenant,
}


def _line(name: str, rows: Sequence[Row]) -> Line:
    charged = [row for row in rows if row.outcome in _COST]
    sheets = [row for row in charged if row.sent is Sent.SHEET]
    own = [row for row in charged if row.sent is Sent.OWN]
    # Own requests smaller than what was assembled are no loss that was avoided; what they would have saved is nothing.
    return Line(
        name=name,
        requests=sum(row.requests for row in rows),
        assembled=sum(row.requests for row in rows if row.sent is Sent.SHEET),
        asked_tokens=_sum(row.asked for row in charged),
        sent_tokens=_sum(row.assembled for row in sheets) + _sum(row.asked for row in own),
        reported=_sum(row.reported for row in charged),
        input=_sum(row.input for row in charged),
        cached=_sum(row.cached for row in charged),
        output=_sum(row.output for row in charged),
        priced=_sum(row.priced for row in charged),
        spent=sum(row.cost for row in charged),
        would=sum(row.plain_cost for row in charged),
        observed=_sum(row.requests for row in own),
        observed_tokens=_sum(row.assembled for row in own),
        observed_spent=sum(row.cost for row in own),
        observed_would=sum(row.assembled_cost for row in own),
    )


def _sum(figures: Iterable[int]) -> int:
    return sum(figures)


def _micros(at: datetime) -> int:
    return (at - datetime.fromtimestamp(0, at.tzinfo)) // timedelta(microseconds=1)
