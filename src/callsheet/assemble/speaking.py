"""What another speaker said or found, as it stands in a reader's request: as data, with the speaker's name before it.

A request's assistant is its reader. What anybody else answered stands in the user's role behind a label; calls and
thoughts of others do not stand at all.
"""

from collections.abc import Sequence

from callsheet.assemble import blocks, standins
from callsheet.graph.enums import Role

LONGEST_NAME = 80
"""Characters of a name that a label shows."""

_BRACKETS = str.maketrans("[]", "()")


def label(speaker: str) -> str:
    """What stands before the words of another speaker, in one line whatever the name holds."""
    name = " ".join(speaker.translate(_BRACKETS).split())
    short = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1].rstrip() + "…"
    return f"[{short or '?'}]:"


def said(speaker: str, parts: Sequence[blocks.Part]) -> blocks.Said:
    """The message of another speaker: its first text, or what stands before everything else, has the label."""
    first = parts[0] if parts else blocks.Text(text=standins.EMPTY)
    named = f"{label(speaker)} {first.text}" if isinstance(first, blocks.Text) else label(speaker)
    rest = parts[1:] if isinstance(first, blocks.Text) else parts
    shown = (blocks.Text(text=named), *rest)
    return blocks.Said(role=Role.USER, parts=shown, form="string" if len(shown) == 1 else "parts")


def line(speaker: str, role: Role, told: str) -> str:
    """The line of another speaker's message in a note, from the line that it would have without a speaker."""
    return f"{label(speaker)} {told.removeprefix(f'{role.value}: ')}"


def tool(speaker: str, name: str) -> str:
    """The tool of another's result, with whose it is."""
    return f"{label(speaker)} {name}"


def found(speaker: str, name: str | None, text: str) -> str:
    """The result of another's call, as labelled quoted text."""
    return standins.given(f"{label(speaker)[1:-2]}: result of {name or 'a tool'}", text)
