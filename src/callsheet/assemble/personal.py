"""Memories of the user in a request: a line each, in notes of their own, which stand as they stood like all else.

They are derived text outside the role of a tool, so the note says whose word it is and that it is data. Never a part of
the instructions, whatever they say.
"""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from callsheet.assemble import standins
from callsheet.graph.enums import Level, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection, UserMemory
from callsheet.graph.times import Instant, to_datetime

HEAD = standins.PERSONAL
"""Opens such a note."""

LONGEST = 400
"""Characters of what one memory says that a line shows."""


def about(body: UserMemory, text: str) -> str:
    """What a memory is about and what it says, on one line; what nobody vouches for in quotes."""
    said = " ".join(text.split())
    said = said if len(said) <= LONGEST else said[: LONGEST - 1].rstrip() + "…"
    return f"{_named(body)}: {_quoted(said) if body.tainted else said}"


def line(selection: Selection, body: UserMemory, text: str) -> str:
    """The line of a memory at the level of its selection, with the day that it was observed."""
    day = _day(body.observed)
    if selection.reason is Reason.SUPERSEDED:
        return f"- {_named(body)}: {standins.holds_no_more(day)}"
    if selection.level is Level.STALE:
        return f"- {_named(body)}: {standins.out_of_date(day)}"
    marks = [day]
    if body.tainted:
        marks.append(standins.UNVOUCHED)
    if selection.reason is Reason.CONFLICT:
        marks.append(standins.SAID_OTHERWISE)
    return f"- {about(body, text)} ({'; '.join(marks)})"


def note(lines: Sequence[str]) -> str:
    """A note of these lines, none twice: of several that hold no more one line says it."""
    return "\n".join((HEAD, *dict.fromkeys(lines)))


def _named(body: UserMemory) -> str:
    return ", ".join(" ".join(name.split()) for name in (body.entity, body.attribute) if name)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', "'") + '"'


def _day(moment: Instant) -> str:
    return f"{to_datetime(moment):%Y-%m-%d}"


# ---------------------------------------------------------------------------------------------- their place


def bare(selections: Sequence[Selection]) -> tuple[Selection, ...]:
    """What stands there beside memories of the user."""
    return tuple(one for one in selections if one.stream is None)


def appended(
    planned: Sequence[Selection],
    standing: Sequence[Selection],
    new: Sequence[Selection],
    asks: Callable[[RecordId], bool],
) -> tuple[Selection, ...]:
    """A request that goes on from `standing`, which may hold memories, with `new` ones before the user's newest turn.

    `planned` is what was planned without any: it begins with what stood beside them.
    """
    rest = planned[len(bare(standing)) :]
    used = {one.note for one in standing if one.note}
    highest = max(used, default=0)
    if any(one.note in used for one in rest if one.note):
        # Notes of memories have numbers too.
        highest += 1
        rest = [replace(one, note=highest) if one.note else one for one in rest]
    highest = max((highest, *(one.note for one in rest)))
    place = len(rest)
    if rest and not rest[-1].note and asks(rest[-1].record):
        place -= 1
    return (*standing, *rest[:place], *_numbered(new, highest), *rest[place:])


def anew(
    planned: Sequence[Selection], chosen: Sequence[Selection], instructs: Callable[[RecordId], bool]
) -> tuple[Selection, ...]:
    """A request that was written anew, with memories behind the instructions."""
    front = 0
    while front < len(planned) and not planned[front].note and instructs(planned[front].record):
        front += 1
    highest = max((one.note for one in planned), default=0)
    return (*planned[:front], *_numbered(chosen, highest), *planned[front:])


def _numbered(selections: Sequence[Selection], highest: int) -> tuple[Selection, ...]:
    # The number 1 is for the first note of the conversation, which tells how much is not listed.
    return tuple(replace(one, note=max(1, highest) + 1) for one in selections)
