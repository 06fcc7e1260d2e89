"""Holds what a model wrote as a summary against what it summarises. What does not pass is not used."""

import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from callsheet.derive import entities
from callsheet.derive.attributing import attributed, put_in_mouth
from callsheet.derive.claiming import Said, claims_done
from callsheet.derive.counting import miscounted
from callsheet.derive.entities import Entity, EntityKind
from callsheet.derive.exchanging import exchanged, pieces, said_of, stands
from callsheet.derive.negating import turned
from callsheet.derive.notation import puts_words
from callsheet.derive.quoting import misquoted, unknown_name
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
    #: It names somebody or something that its material does not, or counts otherwise.
    UNKNOWN_NAME = "unknown_name"
    MISCOUNTED = "miscounted"
    #: Words stand in quotation marks that its material does not hold.
    MISQUOTED = "misquoted"
    #: It denies what its material affirms, or the other way round.
    NEGATED = "negated"
    #: It tells as done what its material only asks for, allows, expects or does not know of.
    UNDONE = "undone"
    #: Identifiers or numbers have changed places.
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


_CAN = "(?:kann|darf|möchte|werde)"
_THAT = r"(?:das|dies|so etwas|dabei|hierbei|damit|diese[nrs]? [a-zäöüß]+|den [a-zäöüß]+|die [a-zäöüß]+) "
_REFUSAL = re.compile(
    r"\A\W{0,4}(?:(?:i['’]?m |i am |(?:es )?tut mir )?(?:sorry|leid)\b|i (?:can['’]?t|can ?not|won['’]?t)"
    r"|i (?:am (?:unable|not able)|must decline|apologi[sz]e)|as an ai|unfortunately,? i|als (?:eine? )?ki\b"
    rf"|leider {_CAN} ich"
    r"|leider (?:ist es mir|bin ich) nicht|es ist mir (?:leider )?nicht (?:möglich|erlaubt|gestattet)"
    r"|ich kann (?:das |dir |ihnen |diese[nrs]? )?(?:leider )?nicht"
    r"|ich bin (?:leider )?nicht (?:in der lage|befugt|imstande)"
    rf"|(?:ich {_CAN}|{_THAT}{_CAN} ich) (?:(?:das|dies|dir|ihnen|euch|diese[nrs]?|den|die|keine?n?) (?:[a-zäöüß]+ )?)?"
    r"(?:leider |so |hier |auch |nicht |keine?n? ){1,3}"
    r"(?:[a-zäöüß]+ ){0,3}"
    r"(?:zusammenfass|erstell|geben|schreib|helf|erfüll|bearbeit|tun\b|machen\b|beantwort|weiterhelf))",
    re.IGNORECASE,
)
LONGEST_TOKEN = 128
"""Characters that one token has at most, as a run of spaces in o200k_base: so what is far too long is never counted."""

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
    if far_too_long(text, limit):
        return Flaw.TOO_LONG
    if not storable(text):
        return Flaw.INVALID
    if _REFUSAL.match(text):
        return Flaw.REFUSED
    if count(text) > limit:
        return Flaw.TOO_LONG
    whole = "\n".join(one.text for one in material)
    named, values = _checked(whole), _checked(text)
    # Whoever writes a date in words gives its year alone.
    years = {_normal(one)[:4] for one in named if one.kind is EntityKind.DATE}
    known = {*map(_normal, named), *years}
    if any(_normal(one) not in known and not stands(one.value, whole) for one in values):
        return Flaw.UNKNOWN_VALUE
    if any(pieces(text, whole)):
        return Flaw.UNKNOWN_VALUE
    if puts_words(text):
        return Flaw.MISATTRIBUTED
    stated = [text[start:end] for start, end in sentences(text)]
    if exchanged(said_of(text, values), said_of(whole, named)):
        return Flaw.SWAPPED
    if _misattributes(stated, material):
        return Flaw.MISATTRIBUTED
    return _claims(text, whole, material)


def _misattributes(stated: Sequence[str], material: Sequence[Material]) -> bool:
    """Whether a sentence lets a person say what only a tool said."""
    told = [one.text for one in material if not one.untrusted]
    vouched = _names(told)
    by_person = [sentence for sentence in stated if attributed(sentence)]
    if any(not _names((sentence,)) <= vouched for sentence in by_person):
        return True
    return put_in_mouth(stated, "\n".join(told), "\n".join(one.text for one in material if one.untrusted))


def _claims(text: str, whole: str, material: Sequence[Material]) -> Flaw | None:
    """What of a summary contradicts its material, the `whole`, or is not in it, beyond identifiers and numbers."""
    if misquoted(text, whole):
        return Flaw.MISQUOTED
    if unknown_name(text, whole):
        return Flaw.UNKNOWN_NAME
    if miscounted(text, whole):
        return Flaw.MISCOUNTED
    if turned(text, whole, "\n".join(one.text for one in material if not one.untrusted)):
        return Flaw.NEGATED
    said = [Said(one.text, one.speaker if one.untrusted else "") for one in material]
    return Flaw.UNDONE if claims_done(text, said) else None


def far_too_long(text: str, limit: int) -> bool:
    """Whether a text has more tokens than `limit` however they are counted, by its length alone."""
    return len(text) > limit * LONGEST_TOKEN


def storable(text: str) -> bool:
    """Whether every store can hold a text: it has no NUL and no lone surrogate."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _checked(text: str) -> list[Entity]:
    return [one for one in entities.mentions(text) if one.kind in _CHECKED]


def _normal(one: Entity) -> str:
    return entities.normal(one.value)


def _names(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(_normal(one) for text in texts for one in _checked(text))
