"""Finds the names and quotations of a summary that its material does not hold.

A name is a word with a capital where the language has none. German gives every noun one, so there only titles, pairs of
such words and what is said to be a name tell.
"""

import re
from collections.abc import Container, Iterator
from datetime import date
from itertools import pairwise

from callsheet.derive.stopwords import ENGLISH, GERMAN
from callsheet.derive.terms import Language, language_of

_ALIKE = 5
"""Letters that two words share at their beginning, by which one is taken for a form of the other."""

_QUOTED = re.compile(
    r"[\"“”„]([^\"“”„\n]{2,300})[\"“”]|[«»]([^«»\n]{2,300})[«»]|`([^`\n]{2,300})`|「([^」\n]{1,300})」"
)
_GAP = re.compile(r"…|\.{3}|\[[^\]]{0,60}\]")
_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_BEFORE = 12
_OPENS = re.compile(r"(?:[.!?:;…\n•|]|[\-–—*#>]\s|[\"“„«»(\[`])[\s\"“„«»(\[`*_]*\Z")
"""Behind this a capital tells nothing."""

_HEADING = re.compile(r"^[ \t]*(?:[-*•#]+[ \t]*)?(?:\*\*)?(?:[^\W\d_]+[ ]){0,4}[^\W\d_]+(?:\*\*)?[ \t]*:", re.MULTILINE)
_ACRONYM = re.compile(r"[A-Z]{2,5}s?\Z")
_USUAL_WORDS = """
i ok pdf api url id ids faq ai usd eur gbp am pm utc eu us uk json csv html sql http
"""
_USUAL = frozenset(_USUAL_WORDS.split())
_TONGUES_WORDS = """
english german french spanish italian dutch polish portuguese russian chinese japanese korean turkish
"""
_TONGUES = frozenset(_TONGUES_WORDS.split())
_DAYS = (
    "monday montag",
    "tuesday dienstag",
    "wednesday mittwoch",
    "thursday donnerstag",
    "friday freitag",
    "saturday samstag sonnabend",
    "sunday sonntag",
)
_MONTHS = (
    "january januar",
    "february februar",
    "march märz",
    "april",
    "may mai",
    "june juni",
    "july juli",
    "august",
    "september",
    "october oktober",
    "november",
    "december dezember",
)
_CALENDAR = frozenset(name for names in (*_DAYS, *_MONTHS) for name in names.split())
_DATED = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)(?!\d)|\b(\d{1,2})([./])(\d{1,2})[./](\d{4})?")
_ROLES_WORDS = """
user users customer client agent assistant caller owner manager team support model tool system kunde kundin nutzer
nutzerin firma herr frau
"""
_ROLES = frozenset(_ROLES_WORDS.split())
_PERSONS = re.compile(r"\b(?:Herrn?|Frau|Dr\.|Prof\.|Mr\.?|Mrs\.?|Ms\.?|namens|named|heißt)\s+([^\W\d_]+)")
_SUBJECT = re.compile(
    r"[ \t]+(?:was|were|is|has|had|will|would|asked|asks|approved|approves|said|says|told|wants|wanted|confirmed"
    r"|agreed|decided|requested|rejected|promised|signed|paid|sent|called|hat|wird|wurde|möchte|bat|sagte?|will|bestätigte"
    r"|genehmigte|versprach|forderte|\w+ed[ \t]+(?:the|an?|it|this|that|these|those|all|his|her|their|its|our))\b"
)
"""What somebody does; of a word before it that opens a sentence."""

_ABSTRACT = re.compile(
    r"(?:ing|ings|ion|ions|ment|ments|ness|ity|ies|ance|ence|ery|al|age|ure|ung|ungen|heit|keit|schaft"
    r"|tät|s|th|sis|ism|ly)\Z"
)
"""Endings of words that open a sentence without an article and are no names."""

_PARTICIPLE = re.compile(r"(?:ge|be|ver|er|ent|zer)\w{2,}(?:t|en)\Z|\w+iert\Z")
"""With one of these German sentences may open, too."""


def misquoted(summary: str, material: str) -> bool:
    """Whether words stand in quotation marks that the material does not hold; what is left out of them is no matter."""
    whole = _folded(material)
    return any(piece not in whole for piece in _quotations(summary))


def _quotations(text: str) -> Iterator[str]:
    for found in _QUOTED.finditer(text):
        inner = next(group for group in found.groups() if group is not None)
        for piece in _GAP.split(inner):
            words = _folded(piece).strip(" .,;:!?'\"")
            if words:
                yield words


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split())


def unknown_name(summary: str, material: str) -> bool:
    """Whether the summary names somebody or something that its material does not."""
    known = frozenset(word for found in _WORD.finditer(material) for word in _forms(found[0]))
    beginnings = frozenset(word[:_ALIKE] for word in known if len(word) >= _ALIKE)
    text = _HEADING.sub(lambda heading: " " * (len(heading[0]) - 1) + ":", summary)
    dates = _calendar(material, known)

    def strange(word: str) -> bool:
        forms = _forms(word)
        if any(form in known or form in _USUAL or form in _TONGUES for form in forms):
            return False
        if any(len(form) >= _ALIKE and form[:_ALIKE] in beginnings and form not in _CALENDAR for form in forms):
            return False
        if not dates.isdisjoint(forms):
            return False
        return not (_ACRONYM.match(word) and _initials(word.rstrip("s").casefold(), material))

    if any(strange(found[1]) and found[1][0].isupper() for found in _PERSONS.finditer(text)):
        return True
    english = any(found[0].casefold() in ENGLISH - GERMAN for found in _WORD.finditer(summary))
    if any(name in _CALENDAR and name not in dates for name in _days(text)):
        return True
    named = _capitals(text) if english and language_of(summary) is Language.ENGLISH else _pairs(text)
    return any(strange(word) for word in named)


def _calendar(material: str, known: Container[str]) -> frozenset[str]:
    """The names of the days and months that the material names, in English or German, or by a date."""
    found = {name for names in (*_DAYS, *_MONTHS) for name in names.split() if _named_in(names, known)}
    for year, month, day, first, mark, second, last in _DATED.findall(material):
        # Between slashes either may be the month.
        pairs = [(month, day)] if month else [(second, first), *([(first, second)] if mark == "/" else [])]
        for of_year, of_month in pairs:
            if 1 <= int(of_year) <= 12:
                found.update(_MONTHS[int(of_year) - 1].split())
                found.update(_weekday(int(year or last or 0), int(of_year), int(of_month)))
    return frozenset(found)


def _named_in(names: str, known: Container[str]) -> bool:
    return any(name in known or name[:3] in known for name in names.split())


def _weekday(year: int, month: int, day: int) -> list[str]:
    try:
        return _DAYS[date(year, month, day).weekday()].split()
    except ValueError:
        return []


def _days(text: str) -> Iterator[str]:
    """The words with a capital that name a day or month, but for those that open a sentence and may be verbs."""
    for found in _WORD.finditer(text):
        word = found[0].casefold().removesuffix("s")
        if found[0][0].isupper() and not (word in ("may", "march") and _opens(text, found.start())):
            yield word


def _capitals(text: str) -> Iterator[str]:
    """The words with a capital that nothing but a name gives them."""
    for found in _WORD.finditer(text):
        if found[0][0].isupper() and (not _opens(text, found.start()) or _acts(text, found.end(), found[0])):
            yield found[0]


def _opens(text: str, start: int) -> bool:
    """Whether a word opens a sentence, a line or a quotation."""
    return not text[:start].strip() or _OPENS.search(text[max(0, start - _BEFORE) : start]) is not None


def _acts(text: str, end: int, word: str) -> bool:
    """Whether a word that opens a sentence is somebody who does something."""
    folded = word.casefold()
    plain = folded in ENGLISH or folded in GERMAN or folded in _ROLES
    plain = plain or _ABSTRACT.search(folded) is not None or _PARTICIPLE.match(folded) is not None
    return not plain and _SUBJECT.match(text, end) is not None


def _pairs(text: str) -> Iterator[str]:
    """Of two words with capitals beside each other the second, in a language that gives nouns one."""
    words = list(_WORD.finditer(text))
    for one, other in pairwise(words):
        beside = text[one.end() : other.start()] == " "
        if beside and one[0][0].isupper() and other[0][0].isupper() and not _opens(text, one.start()):
            yield other[0]
    for found in words:
        if found[0][0].isupper() and _opens(text, found.start()) and _acts(text, found.end(), found[0]):
            yield found[0]


def _forms(word: str) -> tuple[str, ...]:
    """A word as it may be written elsewhere: without its ending, and its parts."""
    folded = word.casefold().replace("’", "'")
    bare = folded.removesuffix("'s").removesuffix("'")
    parts = bare.split("-") if "-" in bare else []
    return tuple(dict.fromkeys([folded, bare, bare.removesuffix("s"), bare.removesuffix("es"), *parts]))


def _initials(letters: str, material: str) -> bool:
    initials = "".join(found[0][0] for found in _WORD.finditer(material)).casefold()
    return letters in initials
