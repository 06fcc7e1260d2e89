"""Turns text into the terms that BM25 counts: folded, stemmed in English or German, without stop words.

German compounds are found by their parts too, and what is written without spaces by each pair of its characters.

Two texts are comparable only if the same analyser made their terms; ``ANALYSER`` names it and its version.
"""

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache, lru_cache, partial
from importlib import import_module
from itertools import chain

from callsheet.derive import compounds
from callsheet.derive.remembered import Remembered
from callsheet.derive.stopwords import ENGLISH, GERMAN, NAMES

ANALYSER = "snowball-en-de:5"
"""Name and version of the analyser. The version changes whenever some text or call gets other terms."""

LIMIT = 512
"""Distinct terms that are kept of one text unless the caller says otherwise."""

MOST = 4_000_000
"""Characters that are analysed of one text. Of longer texts these are the first three quarters of it and the end."""


class Language(StrEnum):
    """The languages with rules of their own; every other one is treated as English, which leaves most of it alone."""

    ENGLISH = "english"
    GERMAN = "german"


_LONGEST = 64
_INFLECTED = 5
_STOP = ENGLISH | GERMAN
_CALLED = {name.casefold(): name for name in sorted(NAMES)}
_REMEMBERED = 1 << 14
_SAMPLE = 2_000
_BLOCK = 1 << 20
_WORD = re.compile(r"\w++")
_BETWEEN = str.maketrans({sign: " " for sign in map(chr, range(128)) if not _WORD.match(sign)})
# Names of one or two letters that a mark tells apart, such as C# and C++. Marks are rare, so they are looked for first.
_MARK = re.compile(r"#(?<=[A-Za-z]#)(?!\w)|\+\+(?<=[A-Za-z]\+\+)(?!\w)")
_MARKED = re.compile(r"(?<![^\W_])[A-Za-z]{1,2}\Z")
_GAP = re.compile(r"\W")
# Scripts that are written without spaces.
_CJK = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
_PIECE = re.compile(rf"[{_CJK}]++|[^{_CJK}]++")
_IS_CJK = re.compile(rf"[{_CJK}]")
_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_IDEOGRAPH = re.compile(rf"[{_IDEOGRAPHS}]")
_KANA = "\u3040-\u30ff"
_ALONE = re.compile(
    rf"(?<![{_IDEOGRAPHS}])[{_IDEOGRAPHS}](?=[{_KANA}])|(?<=[{_KANA}])[{_IDEOGRAPHS}](?![{_IDEOGRAPHS}])"
)
# Particles, auxiliaries and question words of Japanese, behind what they belong to: the stop words of a query.
_PARTICLES = re.compile(
    rf"(?<=[{_IDEOGRAPHS}\u30a0-\u30ff])(?:は|が|を|に|で|と|も|の|へ|や|か|ね|よ|から|まで|より|だ|です|でした|ます|ました|"
    r"ません|どこ|いつ|だれ|なに|なぜ|どれ|どの|どう|ある|あり|いる|する|した|して|ください)+(?![\u3040-\u309f])"
)
_HUMP = re.compile(r"(?<=[a-zß-öø-ÿ0-9])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-Z])(?=[A-Z][a-z])")
_MARKS = re.compile(r"[\u0300-\u036f]+")


def terms(text: str, language: Language | None = None) -> list[str]:
    """The terms of the text in its order. Without a language, the one whose stop words are more frequent is taken."""
    text = _composed(text)
    words = [word for block in _blocks(text) for word in block]
    return list(chain.from_iterable(map(_analyser(language or _language(Counter(words), text)), words)))


def query_terms(text: str) -> tuple[str, ...]:
    """The distinct terms to look for: those of both languages, since short questions seldom tell their language."""
    found: dict[str, None] = {}
    text = _asked(text)
    for language in Language:
        found.update(dict.fromkeys(terms(text, language)))
    found.update(dict.fromkeys(_ALONE.findall(text)))
    wanted = dict.fromkeys(term for word in query_words(text) for term in word)
    # What only a query of nothing but stop words looks for stands in `wanted` alone.
    return (*(term for term in found if term in wanted), *(term for term in wanted if term not in found))


def query_words(text: str) -> tuple[tuple[str, ...], ...]:
    """What to look for, word by word: the terms of each in both languages, by any of which it is found.

    Stop words are not looked for, but where nothing else is left those that may be names, however they are written.
    """
    words = list(dict.fromkeys(word for block in _blocks(_asked(text)) for word in block))
    # The first word of a sentence has a capital whatever it is.
    found = _looked_for(words, but=words[0] if len(words) > 1 and words[0].istitle() else "")
    return tuple(found or _looked_for([_CALLED.get(word.casefold(), word) for word in words]))


def _looked_for(words: Iterable[str], but: str = "") -> dict[tuple[str, ...], None]:
    found: dict[tuple[str, ...], None] = {}
    for word in words:
        stops = _without_marks(word.casefold()) in _STOP and (word not in NAMES or word == but)
        each = dict.fromkeys(term for language in Language for term in _analyser(language)(word))
        # Of a name in parts each part may be a stop word. A stem that looks like one is none: of "Ware", "war".
        whole = len(_pieces(word)) == 1
        kept = tuple(sorted(term for term in each if not stops and (whole or term not in _STOP)))
        if kept:
            found[kept] = None
        # One ideograph before a particle or an ending is a word, which stands before others elsewhere.
        found.update(((single,), None) for single in _ALONE.findall(word) if (single,) not in found)
    return found


def _asked(text: str) -> str:
    """A query without the particles that join its words or make a question of them."""
    return _PARTICLES.sub(" ", _composed(text)) if not text.isascii() else text


def query_characters(text: str) -> tuple[tuple[str, ...], ...]:
    """The ideographs of a query, each as a word: to look for where none of its pairs of them is found."""
    return tuple((character,) for character in dict.fromkeys(_IDEOGRAPH.findall(_composed(text))))


def compared(terms: Iterable[str]) -> frozenset[str]:
    """The terms of a short text as they are compared with those of another, whichever language either was taken for.

    Of a German compound the whole counts and not its parts, of a verb not which person does it.
    """
    found: set[str] = set()
    parts: set[str] = set()
    for term in terms:
        if term not in _STOP:
            whole, within = _compared(term)
            found.add(whole)
            parts |= within
    return frozenset(found - parts)


@lru_cache(maxsize=_REMEMBERED)
def _compared(term: str) -> tuple[str, frozenset[str]]:
    """A term as it is compared, and so the parts of it."""
    if len(term) > _LONGEST or not term.isalpha() or _IS_CJK.match(term):
        return term, frozenset()
    return _bare(term), frozenset(map(_bare, compounds.parts(_without_marks(term))))


def _bare(word: str) -> str:
    stem = _without_marks(_STEMMERS.stem(Language.GERMAN, compounds.folded(_encodable(word))))
    # He hangs, they hang: "hängt", "hängen", of which the stemmer leaves the "t".
    return stem[:-1] if len(stem) >= _INFLECTED and stem.endswith("t") and stem[-2] not in "aeiouy" else stem


def weighted(fields: Iterable[tuple[str, int]], limit: int = LIMIT) -> tuple[tuple[str, int], ...]:
    """`counted` of several fields, such as a title and a body: each occurrence counts as often as its field weighs.

    Where there are more terms than ``limit``, those of earlier fields are kept, and of one field as `counted` does.
    """
    counts: dict[str, int] = {}
    for text, weight in fields:
        for term, count in counted(text, limit):
            if term in counts or len(counts) < limit:
                counts[term] = counts.get(term, 0) + weight * count
    return tuple(counts.items())


def counted(text: str, limit: int = LIMIT) -> tuple[tuple[str, int], ...]:
    """Each distinct term with how often it occurs, in order of first appearance.

    Where there are more than ``limit``, the most frequent are kept, of equal ones the earlier.
    """
    text = _composed(text)
    words: Counter[str] = Counter()
    for block in _blocks(text):
        words.update(block)
    analyse = _analyser(_language(words, text))
    counts: dict[str, int] = {}
    for word, count in words.items():
        for term in analyse(word):
            counts[term] = counts.get(term, 0) + count
    if len(counts) < limit and not text.isascii():
        # Where there is room, also by single characters: some of them are words.
        singles = Counter(character for word, count in words.items() for character in _IS_CJK.findall(word) * count)
        for character, count in list(singles.items())[: limit - len(counts)]:
            counts.setdefault(character, count)
    if len(counts) <= limit:
        return tuple(counts.items())
    kept = set(sorted(counts, key=lambda term: -counts[term])[:limit])
    return tuple((term, count) for term, count in counts.items() if term in kept)


def language_of(text: str) -> Language:
    """The language by its stop words near the beginning; English where nothing tells."""
    return _told(_composed(text))


def _language(words: Counter[str], text: str) -> Language:
    """The language of a text, which has these words."""
    return _told_by(words, text) if len(text) <= 8 * _SAMPLE and words.total() <= _SAMPLE else _told(text)


def _told(text: str) -> Language:
    return _told_by(Counter(_words(text[: 8 * _SAMPLE])[:_SAMPLE]), text)


def _told_by(words: Mapping[str, int], text: str) -> Language:
    """The language of a text that has these words near its beginning."""
    german = english = 0
    for word in filter(_TELLING.__getitem__, words):
        languages, count = _TELLING[word], words[word]
        german += count if Language.GERMAN in languages else 0
        english += count if Language.ENGLISH in languages else 0
    if german == english:
        return Language.GERMAN if re.search("[äöüßÄÖÜ]", text[: 8 * _SAMPLE]) else Language.ENGLISH
    return Language.GERMAN if german > english else Language.ENGLISH


def _stops(word: str) -> tuple[Language, ...]:
    """The languages whose stop word it is."""
    plain = _without_marks(word.casefold())
    if plain not in _STOP:
        return ()
    return tuple(
        language for language, stop in ((Language.GERMAN, GERMAN), (Language.ENGLISH, ENGLISH)) if plain in stop
    )


_TELLING = Remembered(_stops)


def _composed(text: str) -> str:
    """Letters with their marks as one character each: a mark on its own is no part of a word."""
    return text if text.isascii() or unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def _blocks(text: str) -> Iterator[list[str]]:
    """The words of the text, a block at a time so that memory stays bounded."""
    size = len(text)
    spans: Iterable[tuple[int, int]] = [(0, size)]
    if size > MOST:
        spans = [(0, MOST * 3 // 4), (size - MOST // 4, size)]
    for start, stop in spans:
        at = start
        while at < stop:
            gap = _GAP.search(text, min(at + _BLOCK, stop), stop)
            end = gap.start() if gap else stop
            yield _words(text[at:end])
            at = end
        if "#" in text or "++" in text:
            yield list(_marked(text, start, stop))


def _words(text: str) -> list[str]:
    """The runs of word characters."""
    # Most text is plain, and parted several times as fast by what can only stand between its words.
    return text.translate(_BETWEEN).split() if text.isascii() else _WORD.findall(text)


def _marked(text: str, start: int, stop: int) -> Iterator[str]:
    for mark in _MARK.finditer(text, start, stop):
        name = _MARKED.search(text, max(start, mark.start() - 2), mark.start())
        if name is not None:
            yield name[0] + mark[0]


class _Stemmers(threading.local):
    """Of each language one for each thread: a stemmer may not be shared between them."""

    def __init__(self) -> None:
        self._known: dict[Language, Callable[[str], str]] = {}

    def stem(self, language: Language, word: str) -> str:
        known = self._known.get(language)
        if known is None:
            known = self._known[language] = import_module("Stemmer").Stemmer(language.value, maxCacheSize=0).stemWord
        return known(word)


_STEMMERS = _Stemmers()


@cache
def _analyser(language: Language) -> Callable[[str], tuple[str, ...]]:
    """What makes the terms of a word."""
    known: Remembered[tuple[str, ...]] = Remembered(_working_out(language, lambda word: known[word]))
    return known.__getitem__


def _working_out(language: Language, known: Callable[[str], tuple[str, ...]]) -> Callable[[str], tuple[str, ...]]:
    """The same without what is `known`, which is asked for the parts of names in several."""
    stem = partial(_STEMMERS.stem, language)
    german = language is Language.GERMAN
    stop = GERMAN if german else ENGLISH

    def joined(plain: str) -> tuple[str, ...]:
        parts = [part for part in compounds.parts(plain) if part not in stop]
        stems = [_without_marks(stem(part)) for part in parts]
        # The stemmer takes the end of Gans for an ending, and leaves it in Gänse.
        return (*stems, *(part for part in parts if part.endswith("s") and part not in stems))

    def analyse(word: str) -> tuple[str, ...]:
        if len(word) > _LONGEST:
            return ()
        if word.isascii() and word.isdigit():
            return (word,)
        if word[-1] in "#+":
            return (word.lower(),)
        if word.isascii() and (word.islower() or word.istitle() or word.isupper()) and word.isalpha():
            # Most words: what follows comes to this for them.
            lowered = word.lower()
            if (lowered in stop and word not in NAMES) or len(lowered) == 1:
                return ()
            return (stem(lowered), *joined(lowered)) if german else (stem(lowered),)
        if not word.isascii():
            word = _composed(word)
            if _IS_CJK.search(word):
                return _grams(word)
        pieces = _pieces(word)
        if len(pieces) > 1:
            return (word.casefold().strip("_"), *chain.from_iterable(map(known, pieces)))
        return of_one(pieces[0]) if pieces else ()

    def of_one(piece: str) -> tuple[str, ...]:
        folded = piece.casefold()
        plain = _without_marks(folded)
        # One letter says nothing, one digit may be a number of something.
        if (plain in stop and piece not in NAMES) or (len(plain) == 1 and not plain.isdigit()):
            return ()
        found = plain if plain[0].isdigit() else _without_marks(stem(_encodable(folded)))
        return (found, *joined(plain)) if german else (found,)

    return analyse


def _pieces(word: str) -> list[str]:
    if "_" not in word and (word.islower() or word.isupper() or word.istitle()):
        return [word]
    return [hump for part in word.split("_") if part for hump in _HUMP.split(part) if hump]


def _grams(word: str) -> tuple[str, ...]:
    """Overlapping pairs of a run that is written without spaces; what stands between such runs as it is."""
    found: list[str] = []
    for run in _PIECE.findall(word):
        folded = run.casefold().strip("_")
        if len(folded) > 2 and _IS_CJK.match(folded):
            found += (folded[at : at + 2] for at in range(len(folded) - 1))
        elif folded:
            found.append(folded)
    return tuple(found)


def _without_marks(word: str) -> str:
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", word)))


def _encodable(word: str) -> str:
    """The stemmer works on UTF-8, which has no lone surrogates."""
    return word if word.isascii() else word.encode("utf-8", "replace").decode("utf-8")
