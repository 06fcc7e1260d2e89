"""The record of a sheet, stored as what it adds to the sheet before it.

A sheet that extends another names it and how much of it stands unchanged in front. A sheet is stored whole when the
sheets since the last whole one have added as much as it holds, so that all sheets of a conversation together take room
in proportion to its length, not to its square; and after `LONGEST` links, so that walking back is bounded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ContextAssembly, Selection

SHORTEST, LONGEST = 64, 1024
"""Links between two sheets that are stored whole: so many at least, and so many at most."""

_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Whole:
    """A sheet's selections and block addresses in full, and how far it is from the last sheet stored whole."""

    id: RecordId
    sheet: ContextAssembly
    selected: tuple[Selection, ...]
    blocks: tuple[str, ...]
    #: The turn in which a record was last used, where that is later than its own.
    used: Mapping[RecordId, int]
    #: Links to the last sheet stored whole, and what they added to it.
    depth: int
    added: int = 0

    @property
    def size(self) -> int:
        """Selections and addresses that storing it whole takes."""
        return len(self.selected) + len(self.blocks)


@dataclass(frozen=True, kw_only=True, slots=True)
class Delta:
    """What of a sheet must be stored."""

    base: RecordId | None
    kept: int
    kept_blocks: int
    selected: tuple[Selection, ...]
    blocks: tuple[str, ...]


def common_prefix(new: Sequence[_T], old: Sequence[_T]) -> int:
    """How many leading elements are equal."""
    length = min(len(new), len(old))
    if new[:length] == old[:length]:
        return length
    return next(index for index in range(length) if new[index] != old[index])


def delta(selected: tuple[Selection, ...], blocks: tuple[str, ...], before: Whole | None) -> Delta:
    """Express a sheet as an extension of the one before, where that is shorter."""
    if before is None or before.depth >= LONGEST or (before.depth >= SHORTEST and before.added >= before.size // 2):
        return Delta(base=None, kept=0, kept_blocks=0, selected=selected, blocks=blocks)
    kept, kept_blocks = common_prefix(selected, before.selected), common_prefix(blocks, before.blocks)
    if kept + kept_blocks == 0:
        return Delta(base=None, kept=0, kept_blocks=0, selected=selected, blocks=blocks)
    return Delta(
        base=before.id,
        kept=kept,
        kept_blocks=kept_blocks,
        selected=selected[kept:],
        blocks=blocks[kept_blocks:],
    )


def whole(id: RecordId, sheet: ContextAssembly, before: Whole | None) -> Whole:
    """Undo `delta`: `before` is the whole of ``sheet.base``."""
    if sheet.base is None or before is None:
        return Whole(id=id, sheet=sheet, selected=sheet.selected, blocks=sheet.blocks, used=dict(sheet.used), depth=0)
    return Whole(
        id=id,
        sheet=sheet,
        used={**before.used, **dict(sheet.used)},
        selected=before.selected[: sheet.kept] + sheet.selected,
        blocks=before.blocks[: sheet.kept_blocks] + sheet.blocks,
        depth=before.depth + 1,
        added=before.added + len(sheet.selected) + len(sheet.blocks),
    )
