"""The figures of a replay as values, and as a table for people."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TypeVar

from msgspec import Struct

from callsheet.evaluate.candidates import MissReason
from callsheet.evaluate.reaching import Fetched, Unfetched
from callsheet.evaluate.validity import Provider, Refusal


class Kept(Struct, frozen=True, kw_only=True):
    """How many of the needed values stood in the requests."""

    needed: int
    kept: int

    @property
    def percent(self) -> float | None:
        """The kept share; None if nothing was needed."""
        return 100 * self.kept / self.needed if self.needed else None


class Reachable(Struct, frozen=True, kw_only=True):
    """How many of the hard values stood in the requests or came back by one call of recall."""

    needed: int
    #: Those that stood in the requests.
    shown: int
    #: Those that came back, by what brought them.
    fetched: Mapping[Fetched, int]
    #: Those that did not, by reason.
    unfetched: Mapping[Unfetched, int]

    @property
    def percent(self) -> float | None:
        """The share that is in the request or one fetch away; None if nothing was needed."""
        return 100 * (self.shown + sum(self.fetched.values())) / self.needed if self.needed else None

    def as_dict(self) -> dict[str, object]:
        """The figures as JSON values."""
        return {
            "needed": self.needed,
            "shown": self.shown,
            "fetched": _named(self.fetched),
            "unfetched": _named(self.unfetched),
            "percent": self.percent,
        }


class Refused(Struct, frozen=True, kw_only=True):
    """Requests that one provider would refuse."""

    requests: int
    #: How many of them for which reason; one request may have several.
    reasons: Mapping[Refusal, int]


class Row(Struct, frozen=True, kw_only=True):
    """One candidate on one file."""

    file: str
    candidate: str
    recordings: int
    steps: int
    #: Means over all steps.
    tokens: float
    billed: float
    #: In percent of plain replay on the same steps.
    tokens_percent: float
    billed_percent: float
    all: Kept
    old: Kept
    hard: Kept
    #: The hard values that stood together with what they belong to.
    in_place: Kept
    refused: Mapping[Provider, Refused]
    #: Values that were needed and missing, by reason.
    misses: Mapping[MissReason, int]
    #: Those of them that were hard.
    hard_misses: Mapping[MissReason, int]
    #: Requests that were larger than their budget, since what must stand in them is.
    over_budget: int
    #: None: fetching was not tried.
    reachable: Reachable | None

    def as_dict(self) -> dict[str, object]:
        """The row as JSON values; shares in percent, None where nothing was needed."""
        return {
            "file": self.file,
            "candidate": self.candidate,
            "recordings": self.recordings,
            "steps": self.steps,
            "tokens": self.tokens,
            "billed": self.billed,
            "tokens_percent": self.tokens_percent,
            "billed_percent": self.billed_percent,
            "evidence": {
                name: {"needed": kept.needed, "kept": kept.kept, "percent": kept.percent}
                for name, kept in self._evidence()
            },
            "refused": {
                str(provider): {"requests": refused.requests, "reasons": _named(refused.reasons)}
                for provider, refused in self.refused.items()
            },
            "misses": _named(self.misses),
            "hard_misses": _named(self.hard_misses),
            "over_budget": self.over_budget,
            "reachable": self.reachable.as_dict() if self.reachable is not None else None,
        }

    def _evidence(self) -> Iterable[tuple[str, Kept]]:
        return ("all", self.all), ("old", self.old), ("hard", self.hard), ("in_place", self.in_place)


class Report(Struct, frozen=True, kw_only=True):
    """The rows of a replay, file by file, plain replay first."""

    rows: tuple[Row, ...]

    def as_dict(self) -> dict[str, object]:
        """The report as JSON values."""
        return {"rows": [row.as_dict() for row in self.rows]}

    def as_text(self) -> str:
        """A table per file, and below it what was missing or would be refused, and why."""
        return "\n\n".join(_section(list(rows)) for _, rows in groupby(self.rows, key=lambda row: row.file))


_Name = TypeVar("_Name", Refusal, MissReason, Fetched, Unfetched)

_HEADER = (
    "candidate", "tokens", "%", "billed", "%", "all %", "old %", "hard %", "in place %", "refused: OpenAI", "Anthropic"
)  # fmt: skip


def _section(rows: Sequence[Row]) -> str:
    first = rows[0]
    title = (
        f"{first.file}: recordings {first.recordings:,}, steps {first.steps:,}; values needed: "
        f"all {first.all.needed:,}, old {first.old.needed:,}, hard {first.hard.needed:,}"
    )
    header = _HEADER if first.reachable is None else (*_HEADER, "reachable %")
    return "\n".join([title, *aligned([header, *map(_cells, rows)]), *_reasons(rows)])


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.candidate,
        f"{row.tokens:,.0f}",
        f"{row.tokens_percent:.1f}",
        f"{row.billed:,.0f}",
        f"{row.billed_percent:.1f}",
        *(_share(kept.percent) for _, kept in row._evidence()),
        *(f"{row.refused[provider].requests:,}" for provider in Provider),
        *((_share(row.reachable.percent),) if row.reachable is not None else ()),
    )


def _share(percent: float | None) -> str:
    return "–" if percent is None else f"{percent:.1f}"


def _reasons(rows: Sequence[Row]) -> Iterable[str]:
    for row in rows:
        if row.misses:
            hard = sum(row.hard_misses.values())
            yield f"  {row.candidate}, missing: {_listed(row.misses)}" + (f"; {hard:,} of them hard" if hard else "")
        if row.reachable is not None and row.reachable.fetched:
            yield f"  {row.candidate}, hard and fetched by: {_listed(row.reachable.fetched)}"
        if row.reachable is not None and row.reachable.unfetched:
            yield f"  {row.candidate}, hard and not fetched: {_listed(row.reachable.unfetched)}"
        if row.over_budget:
            yield f"  {row.candidate}, larger than the budget: {row.over_budget:,} of {row.steps:,} requests"
        for provider, refused in row.refused.items():
            if refused.reasons:
                yield f"  {row.candidate}, refused by {provider}: {_listed(refused.reasons)}"


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines: the first column to the left, the others to the right, a rule below the header."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in table]
    return [lines[0], "-" * max(map(len, lines)), *lines[1:]]


def _listed(counts: Mapping[_Name, int]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in _named(counts).items())


def _named(counts: Mapping[_Name, int]) -> dict[str, int]:
    """By name, the most frequent first."""
    return {str(name): count for name, count in sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))}
