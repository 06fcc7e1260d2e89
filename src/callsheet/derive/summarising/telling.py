"""How much a sentence tells of what happened, by what it does in a conversation: stated, not fitted.

TextRank alone prefers what is said often, which in a conversation is courtesy, and what is asked back.
"""

import re

from callsheet.derive.claiming import tells_of_act
from callsheet.derive.milestones import settles
from callsheet.derive.terms import Language

FEW = 4
"""Distinct terms below which a sentence says nothing by itself, unless a person lays something down with it."""

OFTEN = 2
"""Other sentences like it from which on a sentence is a formula."""

_FAILED = re.compile(r"\) failed\b|\Afailed: ")


def worth(text: str, *, person: bool, specific: bool, terms: int, like: int, language: Language) -> int:
    """From -2 (asked back, a formula) over 0 to 4: what was settled, what was done, and with which values.

    `specific`: it holds an identifier, a number or a date; `terms`: its distinct terms without bare numbers; `like`:
    the other sentences of the same terms.
    """
    if not person and text.endswith(("?", "？")):
        # What a model asks back is answered by what follows.
        return -2
    settled = settles(text, lays_down=person)
    if terms < FEW and not (person and settled):
        # A heading, an item of a list, a word of thanks.
        return 1 if specific else -1
    found = 2 * settled + specific + (not person and tells_of_act(text, language))
    return found if found else -(like >= OFTEN)


def worth_of_result(line: str, *, cut: bool) -> int:
    """The same of the line of a result: a failure tells what came of something, a line without its end little."""
    return 1 if _FAILED.search(line) else -cut
