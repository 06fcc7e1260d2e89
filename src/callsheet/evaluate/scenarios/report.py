"""The figures of scenarios as a table for people and as data for programs."""

from collections.abc import Iterator, Sequence

from callsheet.evaluate.scenarios.judging import Judged

HEADER = ("scenario", "provider", "K", "replay (target)", "sheet (limit)", "saved", "facts", "reasons", "ok")


def rows(judged: Sequence[Judged]) -> Iterator[tuple[str, ...]]:
    """A row for each request."""
    for one in judged:
        sign = "" if one.exact else "~"
        yield (
            f"{one.scenario}: {one.request}" if one.request else one.scenario,
            one.provider,
            str(one.turns),
            f"{sign}{one.replay:,}{_beside(one.replay_wanted)}",
            f"{sign}{one.sheet:,}{_beside(one.sheet_limit)}",
            f"{100 * (1 - one.sheet / one.replay):.0f} %" if one.replay else "-",
            f"{one.facts} of {one.facts_wanted}",
            f"{one.reasons} of {one.reasons_wanted}",
            "yes" if one.ok else "NO",
        )


def _beside(wanted: int | None) -> str:
    return f" ({wanted:,})" if wanted is not None else ""


def notes(judged: Sequence[Judged]) -> Iterator[str]:
    """Under the table: how it was counted, and every finding."""
    counted = ", ".join(dict.fromkeys(f"{one.model} with {one.tokenizer}" for one in judged))
    policies = ", ".join(dict.fromkeys(one.policy for one in judged))
    yield (
        f"Tokens of whole requests, tools and framing included, counted for {counted}; ~ marks estimates, "
        f"which are not judged. Policy sets: {policies}. K: the last turns that stay verbatim."
    )
    for one in judged:
        name = f"{one.scenario}: {one.request}" if one.request else one.scenario
        yield from (f"{name}, {one.provider}: {finding}" for finding in one.findings)
    failed = sum(not one.ok for one in judged)
    yield f"{len(judged) - failed:,} of {len(judged):,} requests are as expected."


def told(judged: Sequence[Judged]) -> dict[str, object]:
    """All of it as plain data."""
    return {
        "requests": [
            {
                **{name: getattr(one, name) for name in one.__struct_fields__},
                "findings": list(one.findings),
                "ok": one.ok,
            }
            for one in judged
        ],
        "ok": all(one.ok for one in judged),
    }
