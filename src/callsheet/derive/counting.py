"""Finds what a summary counts otherwise than its material does, in figures or in words, English and German.

Codes, dates and numbers of three digits or more are looked at where all values are (see `guarding`).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from callsheet.derive.stopwords import ENGLISH, GERMAN
from callsheet.derive.terms import Language, language_of, terms

FEW = 12
"""Up to here whoever sums up may have counted himself what the material only lists."""

_UNITS = {
    word: value
    for value, words in {
        0: "zero null",
        2: "two zwei zwo",
        3: "three drei",
        4: "four vier",
        5: "five fünf",
        6: "six sechs",
        7: "seven sieben",
        8: "eight acht",
        9: "nine neun",
        10: "ten zehn",
        11: "eleven elf",
        12: "twelve zwölf dozen dutzend",
        13: "thirteen dreizehn",
        14: "fourteen vierzehn",
        15: "fifteen fünfzehn",
        16: "sixteen sechzehn",
        17: "seventeen siebzehn",
        18: "eighteen achtzehn",
        19: "nineteen neunzehn",
    }.items()
    for word in words.split()
}
_TENS = {
    word: value
    for value, words in {
        20: "twenty zwanzig",
        30: "thirty dreißig dreissig",
        40: "forty vierzig",
        50: "fifty fünfzig",
        60: "sixty sechzig",
        70: "seventy siebzig",
        80: "eighty achtzig",
        90: "ninety neunzig",
    }.items()
    for word in words.split()
}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 10**6, "hundert": 100, "tausend": 1_000}
_ONE = {"ein": 1, "one": 1, "eine": 1, "a": 1}
# An article is no number by itself: it counts before what it multiplies, and within a word.
_GERMAN = re.compile(
    rf"(?:(?P<thousands>{'|'.join([*_UNITS, *_TENS, 'ein'])})?(?P<thousand>tausend))?"
    rf"(?:(?P<hundreds>{'|'.join([*_UNITS, 'ein'])})?(?P<hundred>hundert))?(?:und)?"
    rf"(?:(?P<unit>{'|'.join([*_UNITS, 'ein'])})und(?P<tens>{'|'.join(_TENS)})|(?P<ten>{'|'.join(_TENS)})"
    rf"|(?P<alone>{'|'.join(_UNITS)}))?"
)
_TOKEN = re.compile(r"\d+(?:[.,'’]\d+)*|[^\W\d_]+")
_MARKER = re.compile(r"^[ \t]*\(?\d{1,2}[.)](?=\s)", re.MULTILINE)
"""The number of an entry of a list."""


class Counted(NamedTuple):
    """A number and what it counts: the stems of the next word or two, if they say anything."""

    value: int
    of: frozenset[str]
    #: Some of more, such as ``two of the lamps``.
    part: bool = False


def miscounted(summary: str, material: str) -> bool:
    """Whether a small number of the summary is none of the material's, or counts what the material counts otherwise.

    A few things may have been counted by whoever summed up, where the material names them and states no number.
    """
    told = language_of(material)
    stated = list(_counted(_MARKER.sub(" ", summary), told, digits=2))
    if not stated:
        return False
    known = list(_counted(material, told, digits=9))
    values = {one.value for one in known} | {int(run) for run in re.findall(r"\d{1,9}", material)}
    named = frozenset(terms(material, told))
    for one in stated:
        others = {other.value for other in known if other.of & one.of}
        if one.value in others or (one.value in values and not others):
            continue
        may_count = one.part or (bool(one.of & named) and not others)
        if not may_count or not 0 < one.value <= FEW:
            return True
    return False


def _counted(text: str, language: Language, *, digits: int) -> Iterator[Counted]:
    """The numbers of a text in words, and those in figures of so many digits at most."""
    tokens = list(_TOKEN.finditer(text))
    words = [found[0].casefold() for found in tokens]
    place = 0
    while place < len(words):
        figure = _figure(words[place], digits) if _stands_alone(text, tokens[place]) else None
        value, length = (figure, 1) if figure is not None else _in_words(words, place)
        if not length:
            place += 1
            continue
        place += length
        behind: list[str] = []
        for before, word in zip(tokens[place - 1 : place + 1], tokens[place : place + 2], strict=False):
            if text[before.end() : word.start()].strip(" -"):
                break
            behind.append(word[0].casefold())
        yield Counted(value, _of(behind, language), part=behind[:1] in _PARTITIVE)


def _figure(word: str, digits: int) -> int | None:
    """A whole number in figures of so many digits at most, with marks between its thousands or cents behind them."""
    whole = _CENTS.sub("", word)
    bare = _MARKS.sub("", whole) if _GROUPED.fullmatch(whole) else whole
    return int(bare) if bare.isdecimal() and len(bare) <= digits else None


_CENTS = re.compile(r"(?<=\d)[.,]\d{1,2}\Z")
_GROUPED = re.compile(r"\d{1,3}(?:[.,'’]\d{3})+")
_MARKS = re.compile(r"[.,'’]")

_PARTITIVE = (["of"], ["von"], ["davon"], ["der"])


def _of(words: list[str], language: Language) -> frozenset[str]:
    if not words or words[0] in ENGLISH or words[0] in GERMAN:
        return frozenset()
    said = (word for word in words if word not in ENGLISH and word not in GERMAN)
    return frozenset(term for word in said for term in terms(word, language))


def _stands_alone(text: str, found: re.Match[str]) -> bool:
    """Whether a figure is no piece of a code, date, time or address."""
    before, after = text[max(0, found.start() - 1) : found.start()], text[found.end() : found.end() + 2]
    return not re.match(r"[\w\-./:@#_]", before) and not re.match(r"\w|[\-./:@_]\w", after)


def _in_words(words: list[str], place: int) -> tuple[int, int]:
    """The number that begins at a place, and how many words it takes; 0: none does."""
    total = part = 0
    at = place
    while at < len(words):
        word = words[at]
        value = _UNITS.get(word, _TENS.get(word))
        following = words[at + 1] if at + 1 < len(words) else ""
        if value is None and word in _ONE and following in _SCALES:
            value = 1
        if value is not None and (at == place or part == 0 or _joins(part, value)):
            part += value
        elif word in _SCALES and (at > place or word not in ("hundert", "tausend")):
            if at == place:
                break
            part, total = (part * 100, total) if _SCALES[word] == 100 else (0, total + max(part, 1) * _SCALES[word])
        elif not (word == "and" and at > place and following in (*_UNITS, *_TENS) and (total or part >= 100)):
            break
        at += 1
    if at > place:
        return total + part, at - place
    compound = _GERMAN.fullmatch(words[place])
    return (_composed(compound), 1) if compound is not None and words[place] else (0, 0)


def _joins(part: int, value: int) -> bool:
    """Whether a word goes on with a number: twenty, five; one hundred, twenty."""
    return (part % 100 == 0 and value < 100) or (part % 10 == 0 and part % 100 >= 20 and value < 10)


def _composed(found: re.Match[str]) -> int:
    known = {**_UNITS, **_TENS, "ein": 1}

    def of(name: str, default: int = 0) -> int:
        return known[found[name]] if found[name] else default

    thousands = of("thousands", 1) * 1_000 if found["thousand"] else 0
    hundreds = of("hundreds", 1) * 100 if found["hundred"] else 0
    return thousands + hundreds + of("unit") + of("tens") + of("ten") + of("alone")
