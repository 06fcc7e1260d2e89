"""Finds what a summary denies that its material affirms, or the other way round, in English and German.

Decided is only what can be without understanding: one word that one side denies wherever it stands, and the other
never. What is asked or holds under a condition counts for both. What a tool says takes back nothing that people say.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from callsheet.derive.stopwords import ENGLISH, GERMAN
from callsheet.derive.terms import Language, language_of, terms

_CLAUSE = re.compile(
    r"(?<=[.!?;:\n])\s*|,\s|\s[–—-]\s"
    r"|\b(?:and|but|or|while|whereas|so|then|because|und|aber|oder|sondern|doch|während|weil)\b",
    re.IGNORECASE,
)
_OPEN = {
    Language.ENGLISH: re.compile(r"\?\s*\Z|\b(?:if|unless|whether|until|before|in case)\b", re.IGNORECASE),
    Language.GERMAN: re.compile(r"\?\s*\Z|\b(?:wenn|falls|sofern|ob|bis|bevor|solange)\b", re.IGNORECASE),
}
_NEGATOR = re.compile(
    r"\b(?:not|never|cannot|no|neither|none|nobody|\w+n['’]t|nicht|nie|niemals|kein(?:e[nmrs]?)?)\b(?!\s+(?:only|nur|just)\b)",
    re.IGNORECASE,
)
# What is denied in any way: a clause with one of these affirms nothing for sure.
_DENIES = {
    Language.ENGLISH: re.compile(
        r"\b(?:not|never|cannot|no|none|nobody|nothing|without|neither|nor|\w+n['’]t|unable|fail\w*|refus\w*|declin\w*"
        r"|den(?:y|ied|ies)\w*|reject\w*|forbid\w*|forbade|prohibit\w*|ban(?:s|ned)?|avoid\w*|stop\w*|cancel\w*|lack\w*"
        r"|missing|absent|impossible|except\w*|against|instead|rather|outstanding|pending|un(?!der|til|i)[a-z]{4,})\b",
        re.IGNORECASE,
    ),
    Language.GERMAN: re.compile(
        r"\b(?:nicht\w*|nie|niemals|niemand\w*|nichts|kein\w*|ohne|weder|noch|unmöglich|verbiete\w*|verbot\w*|untersag\w*"
        r"|vermeid\w*|vermied\w*|verweiger\w*|ablehn\w*|abgelehnt\w*|fehl(?:t|en|te|ten)|storn\w*|statt|außer|aussteh\w*"
        r"|ausgesetzt\w*|verzicht\w*|un(?!ser|ter|d\b)[a-zäöüß]{4,})\b",
        re.IGNORECASE,
    ),
}
# A denial with one of these says what is to be, rather than what is.
_FORBIDS = {
    Language.ENGLISH: re.compile(
        r"\A\W*(?:please\s+)?(?:do\s+not|don['’]t|never)\b|\b(?:must|should|shall|may)(?:\s+not|n['’]t|\s+never)\b"
        r"|\b(?:is|are)\s+(?:not|never)\s+to\b",
        re.IGNORECASE,
    ),
    Language.GERMAN: re.compile(
        r"\A\W*(?:bitte\s+)?(?:nicht|nie|niemals|kein(?:e[nmrs]?)?)\b|\b(?:darf|dürfen|soll(?:en|te|ten)?)\b",
        re.IGNORECASE,
    ),
}
_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_WRITTEN = re.compile(r"\w+")

_RAISING = frozenset({"want", "wants", "wanted", "need", "needs", "think", "thinks", "wish", "like", "know", "seem"})
"""Of whom does not want or think, something else is denied."""

_BEHIND = frozenset({"nicht", "nie", "niemals"})
"""May stand behind the verb that they deny."""

_BETWEEN = """
yet been be being have has had any anything fully really actually again ever still longer already do does did get
got more much very so too able allowed allow sure problem problems worry worries matter doubt bad idea least later
thanks thank way reason mehr noch schon ganz wirklich wieder immer jemals sehr werden worden sein haben können
müssen sollen dürfen ahnung sorge grund
"""
_LIGHT = frozenset(_BETWEEN.split())
"""Stand between a negation and what it denies, or make a phrase with it that denies nothing."""


class _Polarity(NamedTuple):
    """The stems that a text denies, of these those that it forbids, those that it affirms, and those it leaves open."""

    denied: frozenset[str]
    forbidden: frozenset[str]
    affirmed: frozenset[str]
    open: frozenset[str]


def turned(summary: str, material: str, vouched: str) -> bool:
    """Whether a summary says of something that it is not so where its material only says that it is, or the reverse.

    `vouched` is what people and models said of the material. Against what they only deny no tool counts, nor does any
    against what they only affirm, where the summary forbids it: tools may tell what was not done, not what is to be.
    Of a summary in another language than its material that is not known.
    """
    return _turned(summary, material) or (vouched != material and _turned(summary, vouched, strict=True))


def _turned(summary: str, material: str, *, strict: bool = False) -> bool:
    """The same of one material; `strict`: of what the summary denies what it forbids counts, and of words the whole."""
    language = language_of(material)
    if language_of(summary) is not language:
        return False
    stated, known = _polarity(summary, language, whole=strict), _polarity(material, language)
    denied = (stated.forbidden if strict else stated.denied) & known.affirmed - known.denied - known.open
    affirmed = stated.affirmed & known.denied - known.affirmed - known.open
    return bool(denied or affirmed)


def _polarity(text: str, language: Language, *, whole: bool = False) -> _Polarity:
    """`whole`: words count as they are written, and no parts of them, such as of a compound or of a tool's name."""
    denied: set[str] = set()
    forbidden: set[str] = set()
    affirmed: set[str] = set()
    left: set[str] = set()
    for clause in _CLAUSE.split(text):
        words = frozenset(_terms(clause or "", language, whole=whole))
        if _OPEN[language].search(clause or ""):
            left |= words
            continue
        here = [term for word in _denied(clause or "") for term in terms(word, language)]
        denied.update(here)
        if _FORBIDS[language].search(clause or ""):
            forbidden.update(here)
        if not _DENIES[language].search(clause or ""):
            affirmed |= words
    return _Polarity(frozenset(denied), frozenset(forbidden), frozenset(affirmed), frozenset(left))


def _terms(clause: str, language: Language, *, whole: bool) -> Iterable[str]:
    if not clause.strip():
        return ()
    if not whole:
        return terms(clause, language)
    return (term for word in _WRITTEN.findall(clause) for term in terms(word, language)[:1])


def _denied(clause: str) -> Iterator[str]:
    """The words that negations of a clause deny: the next that says something; in German also the verb before."""
    for found in _NEGATOR.finditer(clause):
        after = _said(clause[found.end() :])
        if after and after[0].casefold() not in _RAISING:
            yield after[0]
        elif not after and found[0].casefold() in _BEHIND:
            yield from [word for word in _said(clause[: found.start()]) if word[0].islower()][:1]


def _said(text: str) -> list[str]:
    words = [found[0] for found in _WORD.finditer(text)]
    return [word for word in words if word.casefold() not in ENGLISH | GERMAN | _LIGHT]
