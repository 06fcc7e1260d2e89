"""What would have been paid, as values and as a table for people, with how it was counted."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from msgspec import Struct

from callsheet.evaluate.costs import Cost
from callsheet.evaluate.paying import Paid
from callsheet.evaluate.replay import PLAIN_REPLAY
from callsheet.evaluate.report import aligned
from callsheet.wire.catalogue import catalogue

ROWS = 40
"""Conversations that are shown to people; the rest is in the total, and in JSON."""

_WIDTH = 110
"""Columns of what is said below the tables, about as wide as these."""

NEAR = 0.1
"""Share of what was paid by which plain replay may miss it; it builds what the agent sent, so that more says that the
log tells too little of the requests, or something else than what was billed."""

METHOD = (
    "as sent: usage as the provider reported it, where the log has it; else the texts in the log, counted in o200k_base"
    " times the factor of the model's family, cached as far as a request begins as the one before it",
    "built: the texts of the request, counted alike, plus what the log does not show of the one that was sent (system"
    " prompt, tool schemas, pictures: reported less counted); the answer is the same",
    "cached: of what a request shares with the beginning of the one before, the part that the cache served when it was"
    " sent; where no usage is reported, all of it if the one before is no older than the cache lives (Anthropic 5"
    " minutes, others 10). The rest is new, and written to the cache where the agent wrote to it",
    "prices: base list prices, cache writes at the shortest life; requests by which a model would recall something are"
    " not counted",
)
"""How the figures come about."""


_WARNING = (
    "Plain replay, which builds what the agent sent, comes to {:.0%} of what was paid: the log does not tell what the"
    " requests were, so what would have been paid cannot be held against what was. Shares are of plain replay."
)


class PayingReport(Struct, frozen=True, kw_only=True):
    """Conversations of logs, priced."""

    rows: tuple[Paid, ...]
    #: Candidates in order; the first is shown by conversation.
    candidates: tuple[str, ...]
    #: Requests whose answers stood in the logs more than once; each counts once.
    repeated: int = 0

    @property
    def sent(self) -> Cost:
        """All requests as they were sent."""
        return sum((row.sent for row in self.rows), Cost())

    def built(self, candidate: str) -> Cost:
        """All requests as a candidate builds them."""
        return sum((row.candidates[candidate] for row in self.rows), Cost())

    @property
    def fit(self) -> float | None:
        """What plain replay comes to, as a share of what was paid; None: there is no price, or it was not built."""
        if PLAIN_REPLAY not in self.candidates or not self.sent.dollars:
            return None
        return self.built(PLAIN_REPLAY).dollars / self.sent.dollars

    @property
    def fits(self) -> bool:
        """Whether what is built can be compared with what was paid; else plain replay is what it is compared with."""
        return self.fit is None or abs(self.fit - 1) <= NEAR

    def as_dict(self) -> dict[str, object]:
        """The report as JSON values."""
        return {
            "prices": catalogue().name,
            "method": list(METHOD),
            "repeated_requests": self.repeated,
            "conversations": [
                {
                    "file": row.file,
                    "conversation": row.conversation,
                    "sent": row.sent.as_dict(),
                    "built": {name: row.candidates[name].as_dict() for name in self.candidates},
                }
                for row in self.rows
            ],
            "total": {
                "sent": self.sent.as_dict(),
                "built": {name: self.built(name).as_dict() for name in self.candidates},
                "plain_replay_of_paid": round(self.fit, 4) if self.fit is not None else None,
            },
        }

    def as_text(self) -> str:
        """A table by conversation for the first candidate, one of totals for all, and how they were counted."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        first = self.candidates[0]
        yield f"What was paid, and what would have been with {first} (input tokens, dollars):"
        header = ("conversation", "requests", "reported", "tokens sent", "paid $", "tokens built", "would pay $")
        shown = self.rows[:ROWS]
        table = [
            (_shortened(row.conversation), *_cells(row.sent, row.candidates[first], self._measure(row)))
            for row in shown
        ]
        total = ("total", *_cells(self.sent, self.built(first), self._whole))
        yield from aligned([(*header, "%" if self.fits else self._share), *table, total])
        if len(self.rows) > ROWS:
            yield f"  and {len(self.rows) - ROWS:,} further conversations, which are in the total"
        if len(self.candidates) > 1:
            yield ""
            yield "All ways to build the requests:"
            totals = [("as sent", self.sent), *((name, self.built(name)) for name in self.candidates)]
            rows = [(name, *_total(cost, self._whole)) for name, cost in totals]
            yield from aligned([("candidate", "tokens", "cached", "dollars", self._share), *rows])
        if not self.fits and self.fit is not None:
            yield ""
            yield from wrap(_WARNING.format(self.fit), width=_WIDTH)
        yield ""
        yield from self._method()

    @property
    def _share(self) -> str:
        return "% of paid" if self.fits else "% of plain"

    @property
    def _whole(self) -> Cost:
        """What all of it is a share of."""
        return self.sent if self.fits else self.built(PLAIN_REPLAY)

    def _measure(self, row: Paid) -> Cost:
        """What a conversation is a share of."""
        return row.sent if self.fits else row.candidates[PLAIN_REPLAY]

    def _method(self) -> Iterator[str]:
        sent = self.sent
        yield f"  {sent.reported:,} of {sent.requests:,} requests with reported usage; prices of {catalogue().name}"
        if sent.unpriced:
            yield f"  {sent.unpriced:,} requests of models without a known price are not in the dollars (see --model)"
        if self.repeated:
            yield f"  {self.repeated:,} requests whose answers stand in the logs more than once count once"
        for line in METHOD:
            yield from wrap(line, width=_WIDTH, initial_indent="  ", subsequent_indent="    ")


def _cells(sent: Cost, built: Cost, measure: Cost) -> Sequence[str]:
    return (
        f"{sent.requests:,}",
        f"{sent.reported:,}",
        f"{sent.input:,}",
        _dollars(sent),
        f"{built.input:,}",
        _dollars(built),
        _percent(built, measure),
    )


def _total(cost: Cost, measure: Cost) -> Sequence[str]:
    return f"{cost.input:,}", f"{cost.cached:,}", _dollars(cost), _percent(cost, measure)


def _dollars(cost: Cost) -> str:
    known = cost.known
    return "–" if known is None else f"{known:,.4f}"


def _percent(built: Cost, measure: Cost) -> str:
    return f"{100 * built.dollars / measure.dollars:.1f}" if measure.dollars else "–"


def _shortened(name: str) -> str:
    """A name that leaves room for the figures; its end tells branches and sub-agents apart."""
    return name if len(name) <= 44 else f"{name[:12]}…{name[-31:]}"
