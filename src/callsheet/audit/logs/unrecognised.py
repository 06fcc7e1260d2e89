"""A file of which no line holds a conversation: told once, with what it could be, instead of line by line."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from callsheet.audit.logs.formats import NAMES
from callsheet.errors import InvalidLine

_T = TypeVar("_T")


def told_once(outcomes: "Iterable[_T | InvalidLine]", problem: str) -> "Iterator[_T | InvalidLine]":
    """What the lines of a file came to, in order; where all were refused, those refused for `problem` are told as one.

    Whatever is no `InvalidLine` shows that the file is what it was taken for.
    """
    held: list[InvalidLine] = []
    left = iter(outcomes)
    for outcome in left:
        if not isinstance(outcome, InvalidLine):
            yield from held
            yield outcome
            yield from left
            return
        held.append(outcome)
    alike = [line for line in held if line.problem == problem]
    if alike:
        yield InvalidLine(_words(len(alike)), file=alike[0].file, line=alike[0].line)
    yield from (line for line in held if line.problem != problem)


def _words(lines: int) -> str:
    counted = f"{lines:,} lines have" if lines > 1 else "this line has"
    return f"{counted} no messages; not recognised as any of: {', '.join(NAMES)}; try --format"
