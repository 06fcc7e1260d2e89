"""Parts of a conversation as rows: a table for people, JSON Lines for programs, both with the same fields."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from callsheet.cli.output import Output, shortened, table
from callsheet.errors import NotFound

if TYPE_CHECKING:
    from callsheet.runtime.conversation import Conversation
    from callsheet.runtime.runtime import Runtime

Row: TypeAlias = Mapping[str, object]

_WIDEST = 44
"""Characters of a cell that people are shown; programs get all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One part of a conversation."""

    name: str
    #: For the help.
    what: str
    rows: Callable[["Runtime", "Conversation"], Iterator[Row]]
    #: The fields that people are shown.
    columns: tuple[str, ...]


def viewed(talk: "Conversation", branch: str, reader: str | None) -> "Conversation":
    """The view of a branch, as a participant or sub-agent sees it. Raises `NotFound`; nothing is begun."""
    view = talk.on(branch)
    if reader is None:
        return view
    if reader in talk.participants():
        return view.participant(reader)
    if any(reader in (child.name, child.id) for child in view.children()):
        return view.child(reader)
    known = [*talk.participants(), *(child.name for child in view.children())]
    raise NotFound(f"no participant or sub-agent {reader!r} here; there are: {', '.join(known) or 'none'}")


def tell(part: Part, runtime: "Runtime", talk: "Conversation", out: Output) -> None:
    """Print one part."""
    rows = list(part.rows(runtime, talk))
    if out.as_json:
        for row in rows:
            out.json_line({name: _plain(value) for name, value in row.items()})
        return
    if not rows:
        out.text(f"No {part.name}.")
        return
    cells = [[_cell(row[column]) for column in part.columns] for row in rows]
    figures = {at for at, column in enumerate(part.columns) if all(isinstance(row[column], int) for row in rows)}
    left = tuple(at for at in range(len(part.columns)) if at not in figures)
    out.text(table([column.replace("_", " ") for column in part.columns], cells, left=left))


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return [_plain(one) for one in value] if isinstance(value, Sequence) and not isinstance(value, str) else value


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return shortened(", ".join(map(str, value)), _WIDEST)
    return shortened(str(value), _WIDEST)
