"""Plain text in any language: paragraphs and sentences, or lines where nothing else is known."""

import re
from itertools import islice

from callsheet.derive.document import ContentKind
from callsheet.derive.prose.blobs import blobs, masked
from callsheet.derive.prose.important import endings, errors, viewed
from callsheet.derive.prose.pieces import cuts_at, line_cuts, within
from callsheet.derive.prose.written import Written, written

# For text with one character before it: patterns that look for the beginnings of lines at every character take several
# times as long. So the line end that a match begins with stands there where in the text the line behind it begins.
_PARAGRAPH = re.compile(r"\n(?:(?:(?<=\n\n)|(?<=\n\r\n))(?=\S)|(?=#{1,6} ))")
_HEADING = re.compile(r"\n#{1,6} +\S[^\n]{0,200}")
_BUDGET = 1000
_LONGEST = 600
_NAMED = 8


def read_text(text: str) -> Written:
    """Any text, cut at paragraphs where it has them, at lines elsewhere, and at sentences within long lines."""
    lines = text.count("\n") + 1
    in_paragraphs = lines > 1 and text.count("\n\n") * 12 > lines
    cuts = cuts_at(text, _PARAGRAPH, " " + text) if in_paragraphs else line_cuts(text)
    wanted = viewed(text)
    if not in_paragraphs and lines > 2:
        wanted = [*wanted, *endings(text)[1:], *errors(text, plain=True)]
    return written(
        ContentKind.TEXT, text, list(cuts), always=within(wanted, _BUDGET), longest=_LONGEST, shape=_shape(text)
    )


def _shape(text: str) -> str:
    """The first headings, else the beginning of the first line."""
    headings = [match[0].lstrip("\n# ") for match in islice(_HEADING.finditer("\n" + text), _NAMED)]
    if len(headings) > 1:
        return "; ".join(headings)
    head = text[:2000].strip().split("\n", 1)[0]
    head = masked(head, blobs(head))
    return head if len(head) <= 100 else head[:97] + "..."
