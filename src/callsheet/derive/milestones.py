"""What must outlive every summary: what somebody laid down or decided, and the sentences with ids and numbers.

Each is an exact excerpt, so it can be held against its source at any time.
"""

import re
from enum import StrEnum
from typing import NamedTuple

from callsheet.derive import entities
from callsheet.derive.entities import EntityKind
from callsheet.derive.summarising.sentences import sentences

MOST = 32
"""Milestones of one text at most: what was laid down first, then what was decided, then the rest in its order."""

LONGEST = 400
"""Characters of an excerpt, which is one sentence."""

_VALUES = 16


class Kind(StrEnum):
    """What a milestone is. Values are stored."""

    #: What somebody laid down for what follows: what must, may and must not be.
    CONSTRAINT = "constraint"
    #: What was decided, agreed or changed.
    DECISION = "decision"
    #: A sentence with identifiers, numbers, dates, paths or addresses.
    VALUES = "values"
    #: The line of a tool's result, with its values.
    FOUND = "found"


class Excerpt(NamedTuple):
    """One milestone. ``text[start:end]`` of the source is the excerpt; `values` are distinct, as they stand in it."""

    kind: Kind
    start: int
    end: int
    values: tuple[str, ...]


_LAID_DOWN = re.compile(
    r"\b(?:never|always|must(?:n't| not)?|under no circumstances|no (?:more|less|later|earlier) than"
    r"|at (?:most|least)"
    r"|from now on|not allowed|is forbidden|make sure|has to|have to"
    r"|niemals|nie|immer|(?:darf|dürfen) (?:nicht|kein\w*|nur)|auf keinen fall|höchstens|mindestens"
    r"|ab (?:jetzt|sofort)|ausschließlich|unbedingt|verboten|muss|müssen)\b"
    r"|^(?:please |bitte )?(?:do not|don'?t|only|avoid|stop|keep|use)\b"
    r"|\b(?:budget|limit|cap|deadline|quota|frist|obergrenze|termin)\b[^.!?\n]{0,60}(?:\bis\b|\bist\b|[:=]|\bof\b|\d)",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"\b(?:decided|agreed|settled on|we(?:'ll| will) (?:go with|take|use)|go with|chose|chosen|approved|confirmed"
    r"|changed? to|moved? to|replaced by|instead of|is now|cancel(?:led|ed)|postponed"
    r"|entschieden|beschlossen|vereinbart|einigen uns|geändert|verschoben|abgesagt|genehmigt|bestätigt"
    r"|heißt jetzt|lautet jetzt)\b",
    re.IGNORECASE,
)
_LOOSE = frozenset({EntityKind.NAME, EntityKind.TIME})
_ORDER = {Kind.CONSTRAINT: 0, Kind.DECISION: 1, Kind.VALUES: 2}


def milestones(text: str, *, lays_down: bool) -> list[Excerpt]:
    """The milestones of what somebody said, in order. `lays_down`: whether the speaker may lay down what holds.

    A user may; what models and tools say never becomes a constraint. A question is none either.
    """
    found: list[Excerpt] = []
    for start, end in sentences(text):
        sentence = text[start:end]
        settled = _settled(sentence, lays_down=lays_down)
        mentions = [one for one in entities.mentions(sentence) if one.kind not in _LOOSE]
        values = tuple(dict.fromkeys(one.value for one in mentions))[:_VALUES]
        kind = settled or (Kind.VALUES if values else None)
        if kind is None:
            continue
        found.append(Excerpt(kind, start, end, values))
    if len(found) <= MOST:
        return found
    kept = sorted(found, key=lambda one: (_ORDER[one.kind], one.start))[:MOST]
    return sorted(kept, key=lambda one: one.start)


def settles(sentence: str, *, lays_down: bool) -> bool:
    """Whether a sentence lays something down, where its speaker may, or says what was decided."""
    return _settled(sentence, lays_down=lays_down) is not None


def _settled(sentence: str, *, lays_down: bool) -> Kind | None:
    if sentence.endswith(("?", "？")):
        return None
    if lays_down and _LAID_DOWN.search(sentence):
        return Kind.CONSTRAINT
    return Kind.DECISION if _DECIDED.search(sentence) else None
