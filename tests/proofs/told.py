"""Everything of a request that its reader is told."""

from typing import NamedTuple

from callsheet import Sheet
from callsheet.graph.enums import Reason
from callsheet.graph.nodes import Selection

HIDDEN = frozenset({Reason.BRANCH, Reason.PARTICIPANT_PRIVATE, Reason.AUDIT_ONLY, Reason.NOT_RELEASED})
"""Counted for whoever runs the program, apart from what was left out for want of room; no part of a request."""


class Told(NamedTuple):
    """Everything of a request that its reader is told."""

    blocks: tuple[bytes, ...]
    selections: tuple[Selection, ...]
    figures: tuple[object, ...]
    references: tuple[object, ...]


def told(sheet: Sheet) -> Told:
    made = sheet.record
    return Told(
        blocks=sheet.blocks,
        selections=sheet.selections,
        figures=(
            *(made.tokens, made.tokens_billed, made.tokens_replayed, made.history_o200k, made.rewritten, made.unlisted),
            *(made.messages_replayed, made.messages_assembled, made.turns, made.results, made.reused, made.episode),
            *(made.carried, made.used, made.boundary, made.pins, made.tools, made.artifacts),
            tuple(one for one in made.omitted if one[0] not in HIDDEN),
        ),
        references=sheet.references(),
    )


def same(one: Sheet | None, other: Sheet | None) -> bool:
    """Whether two requests are the same to the byte, and came about the same way."""
    if one is None or other is None:
        return one is other
    figures = ("tokens", "tokens_replayed", "omitted", "rewritten", "carried", "episode", "boundary", "pins")
    return (one.blocks, one.selections) == (other.blocks, other.selections) and all(
        getattr(one.record, figure) == getattr(other.record, figure) for figure in figures
    )
