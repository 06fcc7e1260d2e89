"""What may be said of a memory when it is kept: as values, checked before anything is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from callsheet.errors import InvalidOption
from callsheet.graph.enums import Freshness, Privacy
from callsheet.graph.ids import RecordId
from callsheet.graph.times import Instant, instant, isoformat
from callsheet.graph.values import Attribute
from callsheet.runtime.deciding import LIFETIME, SHORT_LIVED
from callsheet.runtime.options import Time, choice, label, shown, texts

LONGEST = 2_000
"""Characters of what a memory says: it is a statement, not a document. So it stands in its record, and goes with it."""


class MemoryKind(StrEnum):
    """What kind of thing is kept of a user."""

    PREFERENCE = "preference"
    FACT = "fact"
    #: What happened, in short.
    EPISODE = "episode"


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """What is to be kept, checked."""

    value: str
    #: None, like the next: as that of the memory that it takes the place of.
    kind: MemoryKind | None = None
    entity: str | None = None
    attribute: str | None = None
    #: None: now.
    observed: Instant | None = None
    valid_until: Instant | None = None
    freshness: Freshness | None = None
    stale_after: Instant | None = None
    #: None: as that of the memory that it takes the place of, else certain.
    confidence: float | None = None
    privacy: Privacy | None = None
    attributes: tuple[Attribute, ...] = ()
    source: RecordId | None = None
    sources: tuple[RecordId, ...] = ()
    participant: str | None = None
    always: bool = False
    contradicts: tuple[RecordId, ...] = field(default=())


def statement(
    value: object,
    *,
    kind: MemoryKind | str | None,
    entity: str | None,
    attribute: str | None,
    confidence: float | None,
    attributes: Mapping[str, str] | None,
    source: str | None,
    observed: Time | None = None,
    valid_until: Time | None = None,
    freshness: Freshness | str | None = None,
    stale_after: Time | None = None,
    privacy: Privacy | str | None = None,
    sources: Sequence[str] = (),
    participant: str | None = None,
    always: bool = False,
    contradicts: Sequence[str] = (),
) -> Statement:
    """The statement that these arguments make. Raises `InvalidOption`, `InvalidTime`."""
    ages = choice(Freshness, freshness, "freshness") if freshness is not None else None
    if ages is Freshness.SESSION:
        raise InvalidOption("freshness is 'session'; a memory outlives the session that it was made in")
    return Statement(
        value=spoken(value),
        kind=choice(MemoryKind, kind, "kind") if kind is not None else None,
        entity=label(entity, "entity") if entity is not None else None,
        attribute=label(attribute, "attribute") if attribute is not None else None,
        observed=moment(observed),
        valid_until=moment(valid_until),
        freshness=ages,
        stale_after=moment(stale_after),
        confidence=sure(confidence) if confidence is not None else None,
        privacy=choice(Privacy, privacy, "privacy") if privacy is not None else None,
        attributes=_properties(attributes or {}),
        source=RecordId(label(source, "source")) if source is not None else None,
        sources=tuple(map(RecordId, dict.fromkeys(texts(sources, "sources")))),
        participant=label(participant, "participant") if participant is not None else None,
        always=always,
        contradicts=tuple(map(RecordId, dict.fromkeys(texts(contradicts, "contradicts")))),
    )


def moment(given: Time | None) -> Instant | None:
    """A point in time; without a zone it is refused, here as everywhere. Raises `InvalidTime`."""
    return instant(given) if given is not None else None


def spoken(value: object) -> str:
    """What a memory says. Raises `InvalidOption`."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidOption(f"value is {shown(value)}; it must be text and not empty")
    if len(value) > LONGEST:
        raise InvalidOption(f"value has {len(value):,} characters; a memory has at most {LONGEST:,}")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise InvalidOption(f"value is {shown(value)}; NUL and lone surrogates are not allowed")
    return value


def sure(confidence: object) -> float:
    """How sure it is, from 0 to 1. Raises `InvalidOption`."""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise InvalidOption(f"confidence is {shown(confidence)}; it must be a number from 0 to 1")
    return float(confidence)


def in_order(observed: Instant, now: Instant, valid_until: Instant | None, stale_after: Instant | None) -> None:
    """Raise `InvalidOption` for what was observed in the future, and for what ended before it began."""
    if observed > now:
        raise InvalidOption(f"observed is {isoformat(observed)}, which is yet to come")
    for name, end in (("valid_until", valid_until), ("stale_after", stale_after)):
        if end is not None and end <= observed:
            raise InvalidOption(f"{name} is {isoformat(end)}, not after it was observed, {isoformat(observed)}")


def _properties(given: Mapping[str, str]) -> tuple[Attribute, ...]:
    found = tuple(
        Attribute(name=label(name, "the name of an attribute"), value=label(value, f"attribute {name!r}"))
        for name, value in sorted(given.items())
    )
    for one in found:
        if one.name == LIFETIME and one.value in SHORT_LIVED:
            raise InvalidOption(f"{LIFETIME} is {one.value!r}; a memory of a user outlives tasks and sessions")
    return found
