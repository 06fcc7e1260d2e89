"""Which specific values a recorded assistant message wrote: in its calls' arguments or, without calls, in its text."""

from collections.abc import Iterator

from msgspec import Struct

from callsheet.evaluate.messages import Message, leaves, parsed
from callsheet.evaluate.values import MIN_CHARS, Kind, Value, kind_of, number, scan, value

MAX_CHARS = 200
"""A longer argument is not one value: its lines are looked at."""

MIN_LINE = 12
"""A shorter line of a long argument is not a value by itself."""


class Mention(Struct, frozen=True, kw_only=True):
    """A piece of a message that may have been copied from earlier ones."""

    #: The piece as one value. If it stands in an earlier message, it counts alone.
    whole: Value | None
    #: Otherwise the values found in this text count.
    parts: str = ""


def mentions(message: Message) -> Iterator[Mention]:
    """The pieces of one assistant message, in order."""
    if not message.calls:
        for found in scan(message.text, quoted=False):
            yield Mention(whole=found)
    for call in message.calls:
        for leaf in leaves(parsed(call.arguments)):
            yield from _argument(leaf)


def _argument(leaf: object) -> Iterator[Mention]:
    if isinstance(leaf, str):
        text = leaf.strip()
        if len(text) < MIN_CHARS:
            yield from _whole(number(text) if text.isdigit() else None)
        elif len(text) <= MAX_CHARS and "\n" not in text:
            yield from _short(text)
        else:
            for line in map(str.strip, text.split("\n")):
                whole = value(Kind.LINE, line) if len(line) >= MIN_LINE else None
                yield Mention(whole=whole, parts=line)
    elif isinstance(leaf, int | float) and not isinstance(leaf, bool):
        yield from _whole(number(str(leaf)))


def _short(text: str) -> Iterator[Mention]:
    kind = kind_of(text)
    whole = number(text) if kind is Kind.NUMBER else value(kind, text)
    if whole is not None:
        yield Mention(whole=whole, parts=text)


def _whole(found: Value | None) -> Iterator[Mention]:
    if found is not None:
        yield Mention(whole=found)
