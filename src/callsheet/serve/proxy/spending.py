"""What keys may spend, and what they have spent: counted from the list of requests, which survives a restart."""

from dataclasses import dataclass
from datetime import UTC, datetime

from callsheet.serve.proxy.credentials import Asker
from callsheet.serve.proxy.journal import Journal
from callsheet.serve.proxy.pricing import MILLION, Tokens, dollars
from callsheet.serve.proxy.settings import Price, Settings, Spending
from callsheet.serve.proxy.turned import Turned
from callsheet.wire.failure import Failure
from callsheet.wire.gemini.spelling import said

SECOND = 1_000_000
_SOON = 5
"""Seconds after which one may ask again where what is held for other requests is in the way."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Purse:
    """The limits of keys.

    A request is let through as long as what was spent, with what is reserved for requests that are not over, is below
    the limit; so the last one may go over it by what it costs, and many at once by no more: see `reserved`. The caller
    lets one request of a key after the other be checked and noted.
    """

    journal: Journal
    settings: Settings

    def limits_of(self, asker: Asker) -> Spending:
        """What a key may spend: as its own entry says, else as all that have none."""
        if asker.key is not None and asker.key.spending.limited:
            return asker.key.spending
        return self.settings.spending

    def check(self, asker: Asker, now: int, price: Price | None, model: str, *, more: float = 0.0) -> None:
        """Raise `Turned` where the key may not spend more, or where nobody knows what it would spend.

        `model`: what a model is to answer; empty: a request that no model answers, whose price is never known. `more`:
        dollars that were spent and are not in the list of requests yet.
        """
        limits = self.limits_of(asker)
        if not limits.limited:
            return
        for name, limit, since in (
            ("day", limits.day, day_of(now)),
            ("month", limits.month, month_of(now)),
        ):
            if limit is None:
                continue
            spent = self.journal.spent(asker.digest, since) + more
            if spent >= limit:
                held = self.journal.held(asker.digest, since)
                waits = spent - held < limit
                beside = f", ${held:.4f} of it held for requests that are not over" if held else ""
                raise Turned(
                    429,
                    Failure.SPENT,
                    f"callsheet: key {asker.name} has spent ${spent:.4f} of the ${limit:.2f} that it may spend in a "
                    f"{name} (UTC){beside}",
                    retry_after=_SOON if waits else _until_next(name, now),
                )
        if model and price is None:
            raise Turned(
                429,
                Failure.SPENT,
                f"callsheet: key {asker.name} has a spend limit, and no price is known for this model; "
                "the operator can say one under models",
            )


_BYTES = 4
"""Bytes for each token, for what is reserved until it is known better."""

_ALLOWANCES = ("max_completion_tokens", "max_tokens", "max_output_tokens")
_SEVERAL = 128
"""Answers that a provider gives to one request, at the most."""


def reserved(price: Price | None, body: object, size: int, *, reply: int, window: int | None) -> float:
    """Dollars for a request of `size` bytes and for the longest answers that it allows; none where no price is known.

    `reply`: tokens of an answer whose length the client leaves open. `window`: tokens that no answer is longer than;
    None: not known, and taken for a million.
    """
    if price is None:
        return 0.0
    asked = body if isinstance(body, dict) else {}
    config = said(asked, "generationConfig")
    config = config if isinstance(config, dict) else {}
    allowed = [_whole(asked.get(name)) for name in _ALLOWANCES] + [_whole(said(config, "maxOutputTokens"))]
    output = max(allowed) or reply
    output = min(output, window if window is not None else MILLION)
    several = min(max(1, _whole(asked.get("n")), _whole(said(config, "candidateCount"))), _SEVERAL)
    return dollars(price, Tokens(input=size // _BYTES, output=output * several))


def _whole(given: object) -> int:
    """A number of something; 0 for what is none."""
    return given if isinstance(given, int) and not isinstance(given, bool) and given > 0 else 0


def day_of(now: int) -> int:
    """When the day of a time began, in UTC."""
    return _micros(_date(now).replace(hour=0, minute=0, second=0, microsecond=0))


def month_of(now: int) -> int:
    """When the month of a time began, in UTC."""
    return _micros(_date(now).replace(day=1, hour=0, minute=0, second=0, microsecond=0))


def _until_next(name: str, now: int) -> int:
    date = _date(now)
    if name == "day":
        return 86_400 - (now - day_of(now)) // SECOND
    year, month = (date.year + 1, 1) if date.month == 12 else (date.year, date.month + 1)
    return (_micros(datetime(year, month, 1, tzinfo=UTC)) - now) // SECOND


def _date(now: int) -> datetime:
    return datetime.fromtimestamp(now // SECOND, UTC)


def _micros(date: datetime) -> int:
    return int(date.timestamp()) * SECOND
