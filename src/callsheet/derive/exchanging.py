"""Finds values that have changed places: a summary says of one what its material says of another.

What is said of a value are the words of its clause before and after it, as far as the next value.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from callsheet.derive import entities
from callsheet.derive.entities import Entity

_WORD = re.compile(r"\w+")
_CLAUSE = re.compile(
    r"[.!?;,…](?=\s|\Z)|[\n。！？；、，]|\s[–—]\s|\b(?:and|but|or|while|whereas|und|aber|oder|sowie|während)\b",
    re.IGNORECASE,
)
_LISTED = re.compile(r"[ ,/&]*(?:\b(?:and|or|und|oder)\b[ ]*)?", re.IGNORECASE)
_BEFORE, _AFTER = 6, 4
"""Words on each side: as many as stand between a name or verb and its value in a plain clause."""

_REACH = 120
"""Characters on each side in which these are looked for."""

# They stand beside any value and tell none from another.
_ENGLISH = "a an the this that it is are was were be been has have had will would which"
_GERMAN = "der die das den dem des ein eine einen einem einer es ist sind war waren hat haben wird wurde"
_FUNCTION = frozenset(f"{_ENGLISH} {_GERMAN}".split())


class Said(NamedTuple):
    """The words around a value, wherever it stands: with the side on which they stand, and without."""

    sided: frozenset[str]
    plain: frozenset[str]


def said_of(text: str, mentions: Sequence[Entity]) -> Mapping[str, Said]:
    """What a text says of each of its values, by their normal forms. `mentions` are those of the text, in order."""
    found: dict[str, set[tuple[str, str]]] = {}
    for first, last in _series(text, mentions):
        start, stop = mentions[first].start, mentions[last].end
        begin = max(start - _REACH, mentions[first - 1].end if first else 0)
        end = min(stop + _REACH, mentions[last + 1].start if last + 1 < len(mentions) else len(text))
        before, after = _CLAUSE.split(text[begin:start]), _CLAUSE.split(text[stop:end], maxsplit=1)
        around = {("<", word) for word in _words(before[-1])[-_BEFORE:]}
        around |= {(">", word) for word in _words(after[0])[:_AFTER]}
        # A value beside it in its clause is said of it too, such as the order that an amount is of.
        if first and len(before) == 1 and begin == mentions[first - 1].end:
            around.add(("<", entities.normal(mentions[first - 1].value)))
        if last + 1 < len(mentions) and len(after) == 1 and end == mentions[last + 1].start:
            around.add((">", entities.normal(mentions[last + 1].value)))
        for one in mentions[first : last + 1]:
            found.setdefault(entities.normal(one.value), set()).update(around)
    return {
        value: Said(frozenset(side + word for side, word in around), frozenset(word for _, word in around))
        for value, around in found.items()
    }


def _series(text: str, mentions: Sequence[Entity]) -> Iterator[tuple[int, int]]:
    """The first and last place of each run of values that look alike and stand in one list: the same is said of all."""
    first = 0
    for place in range(1, len(mentions) + 1):
        if place < len(mentions):
            one, other = mentions[place - 1], mentions[place]
            alike = _shape(entities.normal(one.value)) == _shape(entities.normal(other.value))
            if alike and _LISTED.fullmatch(text, one.end, other.start):
                continue
        yield first, place - 1
        first = place


def exchanged(stated: Mapping[str, Said], known: Mapping[str, Said]) -> bool:
    """Whether a value is called what only another is called in the material, and not what it is called itself.

    Of values that look alike one such is enough; others need to be called by each other's words.
    """
    there = [value for value in stated if value in known]
    if any(_each_other(stated, known, one, other) for one, other in combinations(there, 2)):
        return True
    # What is said of many values, as in long tables, is looked at once, and only where it shares a word.
    wanted = {_shape(value) for value in there}
    alike: dict[tuple[str, str], set[Said]] = {}
    for value, said in known.items():
        if (shape := _shape(value)) in wanted:
            for word in said.plain:
                alike.setdefault((shape, word), set()).add(said)
    for value in there:
        own, words = known[value], stated[value]
        told = {word[1:] for word in words.sided - own.sided}
        others = {said for word in told for said in alike.get((_shape(value), word), ())}
        if any(_called(words, other, own) for other in others):
            return True
    return False


def _each_other(stated: Mapping[str, Said], known: Mapping[str, Said], one: str, other: str) -> bool:
    """Whether each of two values is called by the words of the other; that they stand together tells nothing."""
    beside = frozenset(side + value for side in ("<", ">", "") for value in (one, other))
    said = [Said(words.sided - beside, words.plain - beside) for words in (stated[one], stated[other])]
    there = [Said(words.sided - beside, words.plain - beside) for words in (known[one], known[other])]
    return _called(said[0], there[1], there[0]) and _called(said[1], there[0], there[1])


def _called(words: Said, other: Said, own: Said) -> bool:
    """Whether words fit the other value better than this one; those that fit both tell nothing."""
    for stated, of_other, of_own in zip(words, other, own, strict=True):
        theirs, its = len(stated & (of_other - of_own)), len(stated & (of_own - of_other))
        if theirs or its:
            return theirs > its
    return False


def _shape(value: str) -> str:
    """The form of a value: its letters before the first digit, and whether it has digits alone."""
    return re.split(r"\d", value, maxsplit=1)[0] if not value.replace(".", "").isdigit() else "0"


def _words(text: str) -> list[str]:
    return [word for found in _WORD.findall(text) if (word := found.casefold()) not in _FUNCTION]


_WIDE = r"\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff66-\uff9f"
"""Scripts that are written without spaces: a value ends where they begin."""

_NARROW = rf"[^\W{_WIDE}]"
_JOINED = r"[.@\-\u2010\u2011'’\\]"
_BEGINS = rf"(?<!{_NARROW})(?<!{_NARROW}{_JOINED})(?<!\d[,:/])"
_ENDS = rf"(?!{_NARROW}|{_JOINED}{_NARROW}|[,:/]\d)"
_HEX = re.compile(r"(?<![\w-])(?=[\da-f]{6,64}(?![\w-]))[\da-f]+", re.IGNORECASE)


def stands(value: str, text: str) -> bool:
    """Whether a value stands in a text as a whole, and not as a piece of a longer number, code, date or address."""
    if value not in text:
        return False
    head = _BEGINS if re.match(_NARROW, value) else ""
    tail = _ENDS if re.match(_NARROW, value[-1]) else ""
    return re.search(f"{head}{re.escape(value)}{tail}", text) is not None


def pieces(text: str, material: str) -> Iterator[str]:
    """The words of a text that are pieces of hexadecimal codes of the material, also where they have no digit."""
    folded = material.casefold()
    for found in dict.fromkeys(one[0].casefold() for one in _HEX.finditer(text)):
        if found in folded and not stands(found, folded):
            yield found
