"""Where the values that a memory states stand in its sources: locators for the first place where each stands."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from callsheet.derive import entities, locators
from callsheet.derive.jsonspans import Found
from callsheet.derive.jsonspans import values as values_in
from callsheet.graph.canonical import content_digest
from callsheet.graph.ids import RecordId
from callsheet.graph.values import Locator

MOST_VALUES = 64
"""Stated values that are looked for."""

_PARSED = 262_144
"""Bytes of content that is looked into as JSON."""

_LONGEST = 1_000
"""Bytes of a value that is looked for."""

_OFTEN = 64
"""Occurrences above which what has moved is not looked for: it is in no one place."""

_TELLING = 3
"""Characters below which a value may stand anywhere by chance: it counts under its own key alone."""


class Stated(NamedTuple):
    """One value that a memory states."""

    #: The key that it stands under in the payload; None: it stands in the summary.
    key: str | None
    #: As text, and as JSON where it came from the payload.
    text: bytes
    json: bytes | None = None


class Part(NamedTuple):
    """The bytes of one part of a source."""

    source: RecordId
    part: int
    content: bytes


def stated(summary: str, payload: object) -> tuple[Stated, ...]:
    """The values of a payload and the identifiers of a summary, distinct, at most `MOST_VALUES`."""
    found: dict[Stated, None] = {}
    for value in chain(_leaves(payload), _named(summary)):
        if len(value.text) > _LONGEST:
            continue
        found[value] = None
        if len(found) >= MOST_VALUES:
            break
    return tuple(found)


def _named(summary: str) -> Iterator[Stated]:
    for entity in entities.mentions(summary):
        yield Stated(key=None, text=_bytes(entity.value))


def _leaves(payload: object) -> Iterator[Stated]:
    """The values of a payload in its order, with their keys; an item of a list has the key of the list."""
    open_: list[tuple[str, object]] = [("", payload)]
    while open_:
        key, value = open_.pop()
        if isinstance(value, Mapping):
            open_ += [(str(name), inner) for name, inner in reversed(list(value.items()))]
        elif isinstance(value, list | tuple):
            open_ += [(key, inner) for inner in reversed(value)]
        elif isinstance(value, str) and value.strip():
            yield Stated(key=key, text=_bytes(value), json=_json(value))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield Stated(key=key, text=_json(value), json=_json(value))


def located(values: Iterable[Stated], parts: Sequence[Part]) -> tuple[tuple[Stated, Locator], ...]:
    """Each value that stands there, with a locator of its first place in the first source that holds it."""
    asked = tuple(values)
    keyed = [_by_key(asked, part) for part in parts]
    found: list[tuple[Stated, Locator]] = []
    for value in asked:
        for part, by_key in zip(parts, keyed, strict=True):
            locator = by_key.get(value) or _by_text(value, part)
            if locator is not None:
                found.append((value, locator))
                break
    return tuple(found)


def _by_key(asked: Sequence[Stated], part: Part) -> dict[Stated, Locator]:
    """Those that stand under their own key of JSON content, written as the same JSON; read in two passes."""
    content = part.content
    wanted: dict[tuple[str | None, bytes], Stated] = {
        (value.key, value.json): value for value in asked if value.key and value.json
    }
    json_like = content[:64].lstrip()[:1] in (b"{", b"[")
    if not wanted or len(content) > _PARSED or not json_like:
        return {}
    first: dict[Stated, Found] = {}
    for found in values_in(content):
        if found.end - found.start <= 2 * _LONGEST:
            value = wanted.get((found.name, content[found.start : found.end]))
            if value is not None:
                first.setdefault(value, found)
    last = _last_places({found.name for found in first.values()}, {one.pointer() for one in first.values()}, content)
    return {
        value: Locator(
            source=part.source,
            part=part.part,
            pointer=found.pointer(),
            digest=content_digest(content[found.start : found.end]),
        )
        for value, found in first.items()
        if last.get(found.pointer()) == found.start
    }


def _last_places(names: Collection[str | None], pointers: Collection[str], content: bytes) -> dict[str, int]:
    """Where the values of these pointers begin: of equal keys the last counts. Nothing for paths beyond measure."""
    last: dict[str, int] = {}
    room = 2 * len(content) + _PARSED
    for found in values_in(content) if pointers else ():
        if found.name in names:
            pointer = found.pointer()
            room -= len(pointer)
            if room < 0:
                return {}
            if pointer in pointers:
                last[pointer] = found.start
    return last


def _by_text(value: Stated, part: Part) -> Locator | None:
    """As text that does not continue a longer word or number."""
    if len(value.text) < _TELLING:
        return None
    return locators.first_place(part.content, value.text, source=part.source, part=part.part)


def sought(locator: Locator, content: bytes, what: bytes | None) -> Locator | None:
    """See `locators.repair`; what stands in too many places is not looked for, so that time stays linear."""
    rare = what is not None and content.count(what) <= _OFTEN
    return locators.repair(locator, content, what if rare else None)


def was(values: Iterable[Stated], digest: str) -> bytes | None:
    """What stood where a locator with this digest points, if it is one of these values."""
    for value in values:
        for form in (value.text, value.json):
            if form is not None and content_digest(form) == digest:
                return form
    return None


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
