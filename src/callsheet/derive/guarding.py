"""Holds what a model wrote as a summary against what it summarises. What does not pass is not used."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

from callsheet.derive import entities
from callsheet.derive.entities import Entity, EntityKind
from callsheet.derive.notation import puts_words
from callsheet.derive.summarising.sentences import sentences


class Flaw(StrEnum):
    """Why a summary is rejected. Codes, so that nothing of its content stands where it is recorded."""

    EMPTY = "empty"
    #: The model says that it will or can not.
    REFUSED = "refused"
    #: It is no text that can be stored.
    INVALID = "invalid"
    TOO_LONG = "too_long"
    #: An identifier or number stands in it that its material does not hold.
    UNKNOWN_VALUE = "unknown_value"
    #: Two identifiers have changed places.
    SWAPPED = "swapped"
    #: What only a tool said is put into a person's mouth; or a line reads like one of a note, which says who said it.
    MISATTRIBUTED = "misattributed"
    #: Its material contradicts itself, which a summary may not smooth over.
    CONFLICT = "conflict"


class Material(NamedTuple):
    """What a summary was made of."""

    #: Who said it: ``user``, ``assistant``, or the name of a tool.
    speaker: str
    text: str
    #: Whether it is output of tools, which nobody vouches for.
    untrusted: bool = False


_REFUSAL = re.compile(
    r"\A\W{0,4}(?:(?:i'?m |i am |es tut mir )?(?:sorry|leid)\b|i (?:can'?t|can ?not|won'?t|am (?:unable|not able))"
    r"|as an ai|unfortunately,? i|ich kann (?:das |dir |ihnen |diese[nrs]? )?(?:leider )?nicht|leider kann ich)",
    re.IGNORECASE,
)
_BY_USER = re.compile(
    r"\b(?:user|customer|client|they|he|she|nutzer(?:in)?|benutzer(?:in)?|kund(?:e|in)|anwender(?:in)?)\b"
    r"[^.!?\n]{0,40}?\b(?:want(?:s|ed)?|ask(?:s|ed)?|prefer(?:s|red)?|request(?:s|ed)?|said|says|told|wish(?:es|ed)?|insist(?:s|ed)?"
    r"|requires?d?|will|möchte|wünscht|bittet|bat|verlangt|sagt\w*|bevorzugt)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_BEFORE = 2
"""Words before an identifier that tell what it is to the sentence."""

_CHECKED = frozenset(EntityKind) - {EntityKind.NAME, EntityKind.TIME}


def flaw(
    summary: object, material: Sequence[Material], count: Callable[[str], int], *, limit: int, conflict: bool = False
) -> Flaw | None:
    """What is wrong with a summary of this material; None: it may be used, as second-hand.

    `limit` is in tokens by `count`; `conflict` says that records of the material contradict each other. Never raises.
    """
    if conflict:
        return Flaw.CONFLICT
    if not isinstance(summary, str):
        return Flaw.INVALID
    text = summary.strip()
    if not text:
        return Flaw.EMPTY
    if not storable(text):
        return Flaw.INVALID
    if _REFUSAL.match(text):
        return Flaw.REFUSED
    if count(text) > limit:
        return Flaw.TOO_LONG
    whole = "\n".join(one.text for one in material)
    known = _labelled(whole)
    if any(_normal(one) not in known and one.value not in whole for one in _checked(text)):
        return Flaw.UNKNOWN_VALUE
    if puts_words(text):
        return Flaw.MISATTRIBUTED
    stated = [text[start:end] for start, end in sentences(text)]
    if any(_swapped(_labelled(sentence), known) for sentence in stated):
        return Flaw.SWAPPED
    vouched = _names(one.text for one in material if not one.untrusted)
    if any(_BY_USER.search(sentence) and not _names((sentence,)) <= vouched for sentence in stated):
        return Flaw.MISATTRIBUTED
    return None


def storable(text: str) -> bool:
    """Whether every store can hold a text: it has no NUL and no lone surrogate."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _checked(text: str) -> list[Entity]:
    return [one for one in entities.mentions(text) if one.kind in _CHECKED]


def _normal(one: Entity) -> str:
    return entities.normal(one.value)


def _names(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(_normal(one) for text in texts for one in _checked(text))


def _labelled(text: str) -> Mapping[str, frozenset[str]]:
    """The identifiers of a text, each with the words that stand directly before it anywhere, none beyond another."""
    found: dict[str, set[str]] = {}
    behind = 0
    for one in _checked(text):
        before = text[max(behind, one.start - 80) : one.start]
        line = before[max(before.rfind("\n"), before.rfind(". ")) + 1 :]
        words = [word.casefold() for word in _WORD.findall(line)][-_BEFORE:]
        found.setdefault(_normal(one), set()).update(words)
        behind = one.end
    return {name: frozenset(words) for name, words in found.items()}


def _swapped(stated: Mapping[str, frozenset[str]], known: Mapping[str, frozenset[str]]) -> bool:
    """Whether each of two identifiers of a sentence is called what only the other one is called in the material."""
    there = [name for name in stated if name in known]
    return any(
        _called(stated[one], known[other], known[one]) and _called(stated[other], known[one], known[other])
        for one, other in combinations(there, 2)
    )


def _called(words: frozenset[str], others: frozenset[str], own: frozenset[str]) -> bool:
    """Whether the words tell the other from this one; those that both are called tell neither."""
    return bool(words & (others - own)) and not words & (own - others)
