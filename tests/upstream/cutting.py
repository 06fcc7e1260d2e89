"""Texts in pieces, as models write them."""

from collections.abc import Iterator

_LENGTH = 8
"""Characters; words and numbers are cut anywhere."""


def pieces(text: object) -> Iterator[str]:
    """The pieces of a text; none of what is no text."""
    if isinstance(text, str):
        yield from (text[at : at + _LENGTH] for at in range(0, len(text), _LENGTH))
