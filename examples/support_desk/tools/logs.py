"""Searching the application log."""

import re
from typing import Annotated

from msgspec import Meta

from examples.support_desk.shop.shop import Shop
from examples.support_desk.tools.errors import InvalidArguments
from examples.support_desk.tools.toolbox import tool

Moment = Annotated[
    str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?$", description="UTC, such as 2026-03-01T19:30")
]


@tool
def search_log(
    shop: Shop,
    *,
    pattern: Annotated[str, Meta(min_length=3, description="Regular expression, matched within a line")],
    since: Moment | None = None,
    until: Moment | None = None,
    context: Annotated[int, Meta(ge=0, le=20, description="Lines to show after each match")] = 0,
    limit: Annotated[int, Meta(ge=1, le=100, description="Matches to show")] = 50,
) -> str:
    """Search the application log (it starts on 28 February, 00:00 UTC). Returns numbered lines, as grep does."""
    wanted = _compiled(pattern)
    lines = shop.log.read_text(encoding="utf-8").splitlines()
    hits = [n for n, text in enumerate(lines) if wanted.search(text) and _within(text, since, until)]
    head = f"{shop.log.name}: {len(hits)} of {len(lines)} lines match"
    if len(hits) > limit:
        head += f", the first {limit} are shown"
    return "\n".join([head, *_shown(lines, hits[:limit], context)])


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InvalidArguments(f"pattern {pattern!r} is no regular expression: {error}") from error


def _within(text: str, since: str | None, until: str | None) -> bool:
    return (since is None or text[: len(since)] >= since) and (until is None or text[: len(until)] <= until)


def _shown(lines: list[str], hits: list[int], context: int) -> list[str]:
    """The hits with the lines after them, ``N:`` for a hit and ``N-`` for context, each line once."""
    marks: dict[int, str] = {}
    for hit in hits:
        for number in range(hit + 1, min(hit + 1 + context, len(lines))):
            marks.setdefault(number, "-")
        marks[hit] = ":"
    return [f"{number + 1}{marks[number]} {lines[number]}" for number in sorted(marks)]
