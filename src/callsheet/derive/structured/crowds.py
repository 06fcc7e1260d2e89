"""How many parts a text would have as values: a part takes a hundred bytes or more, however few characters it has."""

MOST = 1_000_000
"""Parts that are always read."""

WRITTEN = 300_000
"""Parts up to which a value is written anew: that takes several times the memory of reading it."""

JSON_SIGNS = ",[{"
"""One of these stands before or after every part of JSON."""

_ROOMY = 12
"""Characters for each part from which on values take a small multiple of the text's own memory."""


def parts(text: str, signs: str) -> int:
    """How many parts there are at most, where these signs stand between them or begin one."""
    return 1 + sum(map(text.count, signs))


def crowded(text: str, signs: str) -> bool:
    """Whether the values of a text would take many times its memory: it is then read in no more detail than text."""
    if len(text) <= MOST:
        return False
    count = parts(text, signs)
    return count > MOST and len(text) < _ROOMY * count
