"""An extract of a stretch of a conversation: three to five points of its most telling sentences, word for word.

It begins with what people ask for and what came of it: up to a quarter of the sentences are people's, the first of
them that says something and the best of the rest, and up to a quarter the last in which somebody else says what was
done or settled. Then comes what tells the most (see `telling`), of equal worth by TextRank. What says the same is said
once.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

from callsheet.derive import entities
from callsheet.derive.entities import EntityKind
from callsheet.derive.summarising.ranking import ranked
from callsheet.derive.summarising.sentences import sentences
from callsheet.derive.summarising.telling import FEW, worth, worth_of_result
from callsheet.derive.terms import Language, language_of, terms

SENTENCES = 8
"""Sentences of an extract at most."""

POINTS = 5
"""Points of an extract at most: sentences that one speaker said in one go."""

ENOUGH = 3
"""Points from which on nothing is added that tells nothing, unless so little was said that all of it may stand."""

LIMIT = 300
"""Tokens of an extract at most, unless the caller says otherwise."""

RESULTS = 2
"""Lines of results among them at most, and characters of each: results are told by themselves where they are needed."""

_LINE = 160
_CUT = " …"

NAMED = 24
"""Names that an extract lists beside its sentences at most."""

_LOOKED_AT = 600
"""Sentences that are ranked of one stretch, the first half of them and the last."""

_LOOSE = frozenset({EntityKind.NAME, EntityKind.TIME})
_ITEM = re.compile(r"\A(?:\d{1,3}[.)]|[-*•])\s+")
"""The mark before an item of a list."""

_BARE = _LOOSE | {EntityKind.NUMBER, EntityKind.DATE}
"""What tells nothing without the words that it stood with."""

_NOT_PEOPLE = ("assistant: ", "result of ", "also named: ")

_ALIKE = 0.6
"""Share of the terms of two sentences from which on one of them is enough."""


class Told(NamedTuple):
    """What one message or result of the stretch says."""

    #: Who says it, as it stands before a point: ``user``, ``assistant``, the name of a tool.
    speaker: str
    text: str
    #: Whether it is a line that stands for a result, which is one sentence whatever it holds.
    whole: bool = False
    #: Whether a person says it, for whom all the rest is done.
    person: bool = False


class _Candidate(NamedTuple):
    place: int
    told: int
    text: str
    score: float
    terms: frozenset[str]
    #: How much it tells.
    worth: int


def extract(told: Sequence[Told], count: Callable[[str], int], *, limit: int = LIMIT, most: int = SENTENCES) -> str:
    """At most five lines ``- speaker: sentences``, then what is named beside; at most `limit` tokens by `count`.

    The sentences, at most `most`, stand in their order and word for word, with white space folded; so each identifier
    and number in it stands in what was told, under whoever said it. Empty where nothing was told.
    """
    candidates = _candidates(told)
    best = sorted(candidates, key=lambda one: (-one.worth, -one.score, one.place))
    people = [one for one in best if told[one.told].person]
    asked = [one for one in candidates if told[one.told].person and _words(one.terms) >= FEW][:1]
    came = [one for one in reversed(candidates) if one.worth > 1 and not told[one.told].person][: most // 4]
    chosen: list[_Candidate] = []
    points: list[str] = []
    for candidate in dict.fromkeys([*list(dict.fromkeys([*asked, *people]))[: most // 4], *came, *best]):
        if len(chosen) >= most or (len(candidates) > most and candidate.worth < 0 and len(points) >= ENOUGH):
            break
        if any(_alike(candidate.terms, one.terms) for one in chosen):
            continue
        if told[candidate.told].whole and sum(told[one.told].whole for one in chosen) >= RESULTS:
            continue
        more = sorted([*chosen, candidate], key=lambda one: one.place)
        longer = _points(told, more)
        if len(longer) <= POINTS and count("\n".join(longer)) <= limit:
            chosen, points = more, longer
    return _with_names(told, "\n".join(points), count, limit)


def first_point(extracted: str, longest: int = 200) -> str:
    """The first point of an extract that is a person's, else its first, in one line of so many characters at most."""
    points = [line.removeprefix("- ") for line in extracted.split("\n")]
    line = next((point for point in points if not point.startswith(_NOT_PEOPLE)), points[0])
    return line if len(line) <= longest else line[:longest].rstrip() + " …"


def _candidates(told: Sequence[Told]) -> list[_Candidate]:
    pieces: list[tuple[int, str]] = []
    for index, one in enumerate(told):
        stated = [one.text] if one.whole else [one.text[span.start : span.end] for span in sentences(one.text)]
        folded = (" ".join(text.split()) for text in stated)
        pieces += [(index, _line(text) if one.whole else text) for text in folded if text]
    if len(pieces) > _LOOKED_AT:
        pieces = [*pieces[: _LOOKED_AT // 2], *pieces[-(_LOOKED_AT // 2) :]]
    # One language for all: else the same word of two sentences could come to two terms.
    language: Language = language_of("\n".join(text for _, text in pieces))
    analysed = [terms(text, language) for _, text in pieces]
    scores = ranked(analysed)
    distinct = [frozenset(one) for one in analysed]
    said = Counter(distinct)
    found: list[_Candidate] = []
    for place, ((index, text), score) in enumerate(zip(pieces, scores, strict=True)):
        if told[index].whole:
            # What a result names is found by that name anyway.
            tells = worth_of_result(text, cut=text.endswith(_CUT))
        else:
            tells = worth(
                text,
                person=told[index].person,
                specific=any(one.kind not in _LOOSE for one in entities.mentions(_ITEM.sub("", text))),
                terms=_words(distinct[place]),
                like=said[distinct[place]] - 1,
                language=language,
            )
        found.append(_Candidate(place, index, text, score, distinct[place], tells))
    return found


def _words(terms: frozenset[str]) -> int:
    """The terms that are no bare numbers, as before the items of a list."""
    return sum(not term.isdigit() for term in terms)


def _line(text: str) -> str:
    return text if len(text) <= _LINE else f"{text[:_LINE].rsplit(' ', 1)[0]}{_CUT}"


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    every = one | other
    return not every or len(one & other) >= _ALIKE * len(every)


def _points(told: Sequence[Told], chosen: Sequence[_Candidate]) -> list[str]:
    return [
        f"- {told[index].speaker}: {' '.join(one.text for one in of)}"
        for index, of in groupby(chosen, key=lambda one: one.told)
    ]


def _with_names(told: Sequence[Told], text: str, count: Callable[[str], int], limit: int) -> str:
    """The extract with the identifiers beside it that were said, the first first, as far as they fit."""
    shown = {entities.normal(one.value) for one in entities.mentions(text)}
    names: dict[str, str] = {}
    for one in told:
        for mention in entities.mentions(one.text) if not one.whole else ():
            name = entities.normal(mention.value)
            if mention.kind not in _BARE and name not in shown:
                names.setdefault(name, mention.value)
        if len(names) >= NAMED:
            break
    listed = list(names.values())[:NAMED]
    while listed:
        line = f"- also named: {', '.join(listed)}"
        more = f"{text}\n{line}" if text else line
        if count(more) <= limit:
            return more
        listed = listed[: len(listed) // 2]
    return text
