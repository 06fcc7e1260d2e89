"""References as people and models write them: whole ids, their beginnings, and the short forms that requests show."""

import re

from callsheet.graph.ids import RecordId

AROUND = " \t\r\n[](){}<>\"'`.,;:#"
"""What models put around a reference."""

SEARCHED = "(query "
"""How the answer of a search begins."""

_TURNS = re.compile(r"turns?\s+(\d{1,9})(?:\s*(?:to|-|–|:)\s*(\d{1,9}))?", re.IGNORECASE)
TOLD = ("(turn ", "(turns ")
"""How the answer of a recall begins that gives turns."""

_NAMED = re.compile(r"\(([\w.:\-]{1,512}), ")


def means(id: RecordId, wanted: str) -> bool:
    """Whether an id begins with this text, with or without the prefix that says its kind."""
    return bool(wanted) and (id.startswith(wanted) or id.partition("_")[2].startswith(wanted))


def turns_of(wanted: str) -> tuple[int, int] | None:
    """The first and last turn that a text names as the lines of episodes do, such as ``turns 3 to 17``; None: none."""
    found = _TURNS.fullmatch(wanted)
    if found is None:
        return None
    first, last = int(found[1]), int(found[2] or found[1])
    return min(first, last), max(first, last)


def written_turns(first: int, last: int) -> str:
    """How answers name turns; `turns_of` reads it."""
    return f"turns {first} to {last}" if first < last else f"turn {first}"


def exactly(id: RecordId, wanted: str) -> bool:
    """Whether the text is the id, with or without the prefix that says its kind."""
    return bool(wanted) and wanted in (id, id.partition("_")[2])


_FOUND = re.compile(r"^([\w.:\-]{1,512}) \(", re.MULTILINE)


def found_in(answer: str) -> tuple[RecordId, ...]:
    """The references that the answer of a search lists; none of what is no such answer."""
    return tuple(map(RecordId, _FOUND.findall(answer))) if answer.startswith(SEARCHED) else ()


def named(answer: str) -> RecordId | None:
    """The reference that the answer of a recall says it serves; None: it serves none, such as a search's."""
    found = _NAMED.match(answer)
    return RecordId(found[1]) if found else None
