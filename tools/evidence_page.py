"""Writes the page and the picture of tokens against evidence from what ``evidence_figures.py`` measured."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from evidence_picture import Series, picture

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "explanation"

PLAIN = "plain replay"
WINDOW = "window of 16k"
CLEARING = "old results cleared"
BOUND = "look-ahead bound"

TARGETS: Mapping[str, tuple[float, float, float]] = {
    "long_sessions": (12, 25, 98),
    "interleaved_sessions": (25, 50, 98),
    "tau_airline": (76, 86, 99),
}
"""What the default policy set is to reach: tokens and billed at most, hard evidence at least, in percent."""

_LOOKS = {
    "balanced": ("#2f80ed", "circle"),
    "lean": ("#d9730d", "square"),
    "faithful": ("#2e9d55", "triangle"),
    "replay": ("#9b6dd6", "ring"),
    PLAIN: ("#808080", "cross"),
    WINDOW: ("#d6457a", "diamond"),
    CLEARING: ("#a58a00", "star"),
    BOUND: ("#808080", "diamond"),
}

_HEAD = """\
<!-- Written by tools/evidence_figures.py. Change tools/evidence_page.py, then run it. -->

# Tokens against evidence

How much of what a model will need still stands in its request, and how many tokens does that take? Measured by replay,
as [What is measured](measuring.md) describes it: at every message of recorded agents the request is made that Callsheet
would have sent, and compared with what the recorded message then used. No model is asked.

![Three panels, one for each file of recordings: tokens in percent of plain replay from left to right, hard evidence
kept in percent from bottom to top.](evidence.svg)

Up and to the left is better. Each line is one policy set, from its largest budget to its smallest.
"""

_SAMPLE = """\
**This is a sample**: one of {every} recordings of each file, from the first on. So few say how settings compare, and
not whether targets are met: sessions differ more from each other than settings do.
"""

_SETTINGS = """\
## What was measured

- **Recordings.** `long_sessions`: recorded tasks one after another in one conversation. `interleaved_sessions`: each
  task is taken up again after all others have begun. `tau_airline`: one customer's request each.
- **Callsheet.** Requests for `gpt-5.2`, one turn a minute, everything else at its default. Each recording goes with a
  table of [how likely results are needed](../assembling.md#how-likely-is-it-needed) that was fitted without the source
  that the recording comes from.
- **Budgets** are what a whole request may take, tool schemas included: none (what the model's window leaves), 16,000,
  8,000 and 4,000 tokens. Instructions and schemas of `tau_airline` alone take 3,466, so its 4,000 leave next to nothing
  for a history. A request that cannot be made within its budget is made as small as it can be, and counted as *over*.
  `replay` shows everything verbatim, so no budget can make it smaller.
- **tokens**, **billed**: in percent of plain replay. Schemas are not counted, as they are the same for all.
- **hard**: of the values that stand in nothing recent and in results of tools alone, how many stood in the request.
- **in place**: together with what they belong to.
- **reachable**: stood in the request or came back by one call of the recall tool that it offers, tried one by one:
  reading a record to which the request refers, or a search for the value itself. So it says that nothing is lost, not
  that a model would think of looking. Without recall nothing comes back.

To measure again: `tools/evidence_figures.py`; `benchmarks/README.md` says how. For your own recordings:
`callsheet replay FILE... --policy ... --budget ... --reachable`.
"""


class Kept(msgspec.Struct, frozen=True):
    """How many values were needed and kept."""

    needed: int
    percent: float | None


class Reach(msgspec.Struct, frozen=True):
    """How many were in the request or one fetch away."""

    percent: float | None
    unfetched: dict[str, int]


class Measured(msgspec.Struct, frozen=True):
    """A row of a replay as far as the page shows it."""

    file: str
    candidate: str
    recordings: int
    steps: int
    tokens_percent: float
    billed_percent: float
    evidence: dict[str, Kept]
    over_budget: int
    reachable: Reach

    @property
    def hard(self) -> float | None:
        """Hard evidence kept, in percent; None: none was needed."""
        return self.evidence["hard"].percent


def setting(policy: str, budget: int | None) -> str:
    """The name of a policy set at a budget."""
    return policy if budget is None else f"{policy}, {budget:,}"


def write(rows: Iterable[Mapping[str, object]], *, every: int) -> None:
    """Write both. `rows` are those of `Row.as_dict`; each `every`-th recording was measured."""
    measured = [msgspec.convert(row, Measured) for row in rows]
    (FOLDER / "evidence.md").write_text(page(measured, every), encoding="utf-8")
    (FOLDER / "evidence.svg").write_text(drawn(measured), encoding="utf-8")


def page(measured: Sequence[Measured], every: int) -> str:
    """The page."""
    parts = [_HEAD, *([_SAMPLE.format(every=every)] if every > 1 else [])]
    for file in TARGETS:
        parts.append("\n".join(_table(file, [row for row in measured if row.file == file])))
    parts.append("\n".join(_short(measured)))
    parts.append(_SETTINGS)
    return "\n".join(parts)


def drawn(measured: Sequence[Measured]) -> str:
    """The picture."""
    series = [
        Series(name, *look, {file: _points(measured, file, name) for file in TARGETS}) for name, look in _LOOKS.items()
    ]
    return picture(
        list(TARGETS),
        series,
        x_label="tokens, % of plain replay",
        y_label="hard evidence kept, %",
        title="Tokens against hard evidence",
    )


def _points(measured: Sequence[Measured], file: str, name: str) -> list[tuple[float, float]]:
    rows = sorted((row for row in measured if row.file == file and _family(row) == name), key=_order)
    return [(row.tokens_percent, row.hard) for row in rows if row.hard is not None]


def _family(row: Measured) -> str:
    return row.candidate.partition(", ")[0]


def _order(row: Measured) -> tuple[int, int]:
    """In the order of the legend, from the largest budget to the smallest."""
    budget = row.candidate.partition(", ")[2].replace(",", "")
    return list(_LOOKS).index(_family(row)), -int(budget) if budget else -(10**9)


def _table(file: str, rows: Sequence[Measured]) -> Iterator[str]:
    first = rows[0]
    needed = first.evidence["hard"].needed
    yield f"## {file}\n"
    yield f"Recordings: {first.recordings:,}; steps: {first.steps:,}; hard values needed: {needed:,}.\n"
    yield "| requests by | tokens % | billed % | hard % | in place % | reachable % | over |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for row in sorted(rows, key=_order):
        figures = (row.tokens_percent, row.billed_percent, row.hard, row.evidence["in_place"].percent)
        shown = [*figures, row.reachable.percent]
        cells = ["–" if figure is None else f"{figure:.1f}" for figure in shown]
        yield f"| {row.candidate} | {' | '.join(cells)} | {row.over_budget:,} |"
    yield ""


def _short(measured: Sequence[Measured]) -> Iterator[str]:
    """Where the default policy set falls short of what it is to reach."""
    yield "## Where it falls short\n"
    yield "What `balanced` is to reach without a budget, and does, in percent:\n"
    yield "| file | tokens | billed | hard | reachable |"
    yield "|---|---|---|---|---|"
    failed: list[str] = []
    for file, (tokens, billed, hard) in TARGETS.items():
        row = next(row for row in measured if row.file == file and row.candidate == "balanced")
        cells = [
            _judged(row.tokens_percent, tokens, "≤"),
            _judged(row.billed_percent, billed, "≤"),
            _judged(row.hard, hard, "≥"),
            _judged(row.reachable.percent, 100, "≥"),
        ]
        failed += [file] if any("**" in cell for cell in cells) else []
        yield f"| {file} | {' | '.join(cells)} |"
    yield ""
    if failed:
        yield f"What is in bold is not reached: {', '.join(failed)}.\n"
    lost = {row.file: row.reachable.unfetched for row in measured if row.candidate == "balanced"}
    for file in TARGETS:
        if lost[file]:
            told = ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in lost[file].items())
            yield f"Not one call away in {file}, under `balanced`: {told}.\n"


def _judged(reached: float | None, target: float, sign: str) -> str:
    if reached is None:
        return f"– ({sign} {target:g})"
    met = reached <= target if sign == "≤" else reached >= target
    told = f"{reached:.1f}"
    return f"{told if met else f'**{told}**'} ({sign} {target:g})"
