"""How many tokens a text has at the least, told without tokenizing it: what is far too long is refused unread.

Two bounds that hold for both encodings. A token has at most so many bytes. And both split a text by a pattern before
they merge, in which a space stands beside what is no white space only as the first character of a part: so each space
before such a character begins a token, which is the better bound for what people write.
"""

import re

LONGEST_TOKEN = 128
"""Bytes of the longest token of either encoding: a run of spaces, or of one sign."""

_BEGINS = re.compile(r" (?=\S)")


def least_tokens(text: str, enough: int) -> int:
    """A number that the tokens of a text are not below. Looks no further once it is above `enough`."""
    by_length = len(text) // LONGEST_TOKEN
    if len(text) <= enough or by_length > enough:
        return by_length
    found = 0
    for found, _ in enumerate(_BEGINS.finditer(text), 1):
        if found > enough:
            break
    return max(found, by_length)
