"""Which short texts say the same in other words, so that one of them can stand for all where room is short.

Two texts are held to be alike only if nearly all their words are the same, they name the same numbers and identifiers,
and as many of their words deny. What is alike goes behind what is not; nothing is left out for it.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from callsheet.graph.ids import RecordId

LONGEST = 64
"""Distinct terms of a text that is compared: in longer ones a difference that matters is a small part of the whole."""

_NUMBERS = """
one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 ten 10 eleven 11 twelv 12
ein 1 eins 1 zwei 2 drei 3 vier 4 funf 5 sech 6 sechs 6 sieb 7 sieben 7 acht 8 neun 9 zehn 10 elf 11 zwolf 12
"""
_WRITTEN = dict(zip(_NUMBERS.split()[::2], _NUMBERS.split()[1::2], strict=True))
"""Numbers in words, as the analyser leaves them."""

_DENYING = re.compile(
    r"\b(?:not?|never|neither|nor|none|nobody|nothing|without|cannot|nicht|nie(?:mals|mand)?|nichts|kein\w*|ohne|weder)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Saying:
    """What of a text is compared."""

    id: RecordId
    words: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]


def saying(id: RecordId, terms: Iterable[str], entities: Iterable[str] = ()) -> Saying | None:
    """A text by its terms and the identifiers in it; None: it is too long to be compared."""
    given = frozenset(terms)
    if not given or len(given) > LONGEST:
        return None
    numbers = {_WRITTEN.get(term) or (term.lstrip("0") if term.isdecimal() else "") for term in given}
    words = frozenset(term for term in given if term not in _WRITTEN and not term.isdecimal())
    # "06:00" and "6" are the same number, and an identifier is none of which only the digits are compared.
    names = frozenset(name for name in entities if any(map(str.isalpha, name)))
    return Saying(id=id, words=words, numbers=frozenset(filter(None, numbers)), names=names)


def close(one: Saying, other: Saying) -> bool:
    """Whether two texts have the same numbers and identifiers, and two thirds of the words of both in common.

    Whether they deny the same is for `denials` to tell, from their texts.
    """
    if one.numbers != other.numbers or one.names != other.names:
        return False
    shared = len(one.words & other.words)
    return shared > 0 and 3 * (shared + len(one.numbers)) >= 2 * (len(one.words | other.words) + len(one.numbers))


def denials(text: str) -> int:
    """How many words of a text deny."""
    return len(_DENYING.findall(text))


def apart(ranked: Iterable[Saying | None], text: Callable[[RecordId], str], wanted: int) -> list[int]:
    """Places of those that say something new, given best first, and then of those that say the same as one of them.

    No more are looked at than it takes to find as many new ones as are wanted.
    """
    first: list[tuple[Saying, list[int]]] = []
    order: list[int] = []
    again: list[int] = []
    for place, one in enumerate(ranked):
        if len(order) >= wanted:
            break
        if one is None:
            order.append(place)
            continue
        # A text is read when something is close to it, and then once.
        own: list[int] = []
        for other, denied in first:
            if close(one, other):
                own = own or [denials(text(one.id))]
                if not denied:
                    denied.append(denials(text(other.id)))
                if own == denied:
                    again.append(place)
                    break
        else:
            first.append((one, own))
            order.append(place)
    return order + again
