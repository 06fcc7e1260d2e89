"""Long text in pieces of bounded size, cut where no token can span the cut, so that the pieces count like the whole."""

import re
from collections import deque
from collections.abc import Iterator

#: Characters up to which a text stays whole, and which a piece of a longer one should have.
PIECE = 1 << 18

#: Longest run of white space that is handed to the tokenizer: its pattern matcher panics from 1,000,000 on.
_LONGEST_BLANK = 800_000

#: A piece is cut anywhere once it has grown to this without a place that is safe. A tokenizer call then takes up to
#: 250 MB.
_LONGEST_PIECE = 2_000_000

#: How far back from the wished end a safe place is looked for before the piece is allowed to grow.
_LOOK_BACK = 4_096

# Both encodings first split text by a pattern and then merge bytes within each part. Each alternative is a place that
# always lies between two parts, whatever stands further away on either side:
_SAFE_PLACE = re.compile(
    # before white space that is no line end, after a character that is not white space
    "(?<=\\S)(?=[\t\x0b\x0c \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000])"
    # after a line end; a slash would still belong to the part before it
    "|(?<=[\r\n])(?=[^\\s/])"
    # between digits and letters, such as everywhere in base64
    "|(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])"
    # between a Japanese, Chinese or Korean letter and the punctuation after it
    "|(?<=[\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fef\uac00-\ud7a3])(?=[\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f])"
)
_BLANK = re.compile(r"\s++")


def pieces(text: str, size: int = PIECE) -> Iterator[str]:
    """The text in order, in pieces of about `size` characters.

    Token ids of the pieces, one after another, are those of the whole text. Two exceptions: white space longer than
    800,000 characters, which could not be tokenized at all, and two million characters without any safe place (one
    letter repeated, say). Those are cut as they stand: for white
    space about one token more at each cut, for the others a token or two either way.
    """
    start = 0
    while len(text) - start > size:
        cut = _cut(text, start, start + size)
        yield from _without_long_blanks(text[start:cut])
        start = cut
    if start < len(text) or not text:
        yield from _without_long_blanks(text[start:])


def _cut(text: str, start: int, wished: int) -> int:
    """The last safe place shortly before the wished end, else the first one after it."""
    shortly_before = deque(_SAFE_PLACE.finditer(text, max(start + 1, wished - _LOOK_BACK), wished), maxlen=1)
    place = shortly_before[0] if shortly_before else _SAFE_PLACE.search(text, wished, start + _LONGEST_PIECE)
    return place.start() if place is not None else min(len(text), start + _LONGEST_PIECE)


def _without_long_blanks(piece: str) -> Iterator[str]:
    start = 0
    if len(piece) > _LONGEST_BLANK:
        for blank in _BLANK.finditer(piece):
            for cut in range(blank.start() + _LONGEST_BLANK, blank.end(), _LONGEST_BLANK):
                yield piece[start:cut]
                start = cut
    yield piece[start:]
