"""What keys may spend, and what they have spent: counted from the list of requests, which survives a restart."""

from dataclasses import dataclass
from datetime import UTC, datetime

from callsheet.serve.proxy.credentials import Asker
from callsheet.serve.proxy.journal import Journal
from callsheet.serve.proxy.settings import Price, Settings, Spending
from callsheet.serve.proxy.turned import Turned
from callsheet.wire.failure import Failure

SECOND = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Purse:
    """The limits of keys.

    A request is let through as long as what was spent, with what is reserved for requests that are not over, is below
    the limit; so the last one may go over it by what it costs, and many at once by no more.
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
                raise Turned(
                    429,
                    Failure.SPENT,
                    f"callsheet: key {asker.name} has spent ${spent:.4f} of the ${limit:.2f} that it may spend in a "
                    f"{name} (UTC)",
                    retry_after=_until_next(name, now),
                )
        if model and price is None:
            raise Turned(
                429,
                Failure.SPENT,
                f"callsheet: key {asker.name} has a spend limit, and no price is known for this model; "
                "the operator can say one under models",
            )


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
