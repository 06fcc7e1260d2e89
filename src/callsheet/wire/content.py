"""The content of a message, as formats have it alike: text, null, nothing, or a list of parts, results among them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from callsheet.assemble.blocks import Answer, Block, Call, Content, Media, Part, Said, Text
from callsheet.errors import InvalidMessage
from callsheet.graph.enums import Defect, Role
from callsheet.graph.values import BINARY
from callsheet.wire import defects, media
from callsheet.wire.cleaning import clean
from callsheet.wire.jsontext import decode_object, extras
from callsheet.wire.names import Wire
from callsheet.wire.reading import MISSING, Fields, fields, items, refuse

STRING, PARTS, NULL, ABSENT = "string", "parts", "null", "absent"
"""The forms in which content stands."""

MESSAGE = "message"
"""In the extras of the first result of a message that holds results alone: the message's own extras."""

_PLACES = "@"
"""Before the places of the results, in the form of parts among which results stood."""

P = TypeVar("P")

ReadPart = Callable[[Fields, str, str], P]
"""Reads a part from its fields, its type (which is among them) and its place."""


def take_content(found: Fields, read: ReadPart[P], where: str, key: str = "content") -> tuple[str, list[Text | P]]:
    """Take the content out of a message: its form, and its parts. The empty text has no part."""
    content = found.pop(key, MISSING)
    if isinstance(content, str):
        return STRING, [Text(text=content)] if content else []
    if content is None:
        return NULL, []
    if content is MISSING:
        return ABSENT, []
    if not isinstance(content, list | tuple):
        refuse("must be text or a list of parts", content, f"{where}.{key}")
    place = f"{where}.{key}"
    return PARTS, [_read_part(part, read, f"{place}[{at}]") for at, part in enumerate(items(content, place))]


def is_parts(form: str) -> bool:
    """Whether the content stood as a list of parts."""
    return form.partition(_PLACES)[0] == PARTS


def with_places(form: str, places: Sequence[int]) -> str:
    """The form of parts among which tool results stood at these places, where they are kept as blocks before it."""
    return form + _PLACES + ",".join(map(str, places))


def places_of(form: str) -> list[int]:
    """The places of the results in the content, ascending; none where all results stood first."""
    _, _, places = form.partition(_PLACES)
    return [int(place) for place in places.split(",")] if places else []


def mixed(results: Sequence[Fields], said: Sequence[Fields], places: Sequence[int]) -> list[Fields]:
    """The content of a message: its results at their places, and before it those of others."""
    others = max(len(results) - len(places), 0)
    at = dict(zip(places, results[others:], strict=False))
    waiting = iter(said)
    mixed = list(results[:others])
    for place in range(len(at) + len(said)):
        found = at.pop(place, None) or next(waiting, None)
        if found is not None:
            mixed.append(found)
    return [*mixed, *at.values()]


def _read_part(part: object, read: ReadPart[P], where: str) -> P:
    found = fields(part, where)
    type = found.get("type", MISSING)
    if type is MISSING:
        raise InvalidMessage("has no type", where=where)
    if not isinstance(type, str) or not type:
        refuse("must be a text that is not empty", type, f"{where}.type")
    return read(found, type, where)


def take_result(
    found: Fields, read: ReadPart[Content], where: str, key: str = "content"
) -> tuple[str, tuple[Content, ...], tuple[Defect, ...]]:
    """Take the content out of a tool result, where it may be bytes too: form, parts, and what is odd about them."""
    raw = found.get(key)
    if not isinstance(raw, bytes):
        form, parts = take_content(found, read, where, key)
        return form, tuple(parts), defects.of_content(parts, empty=True)
    del found[key]
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return STRING, (Media(mime=BINARY, data=raw),), (Defect.INVALID_UTF8,)
    shown = (Text(text=text),) if text else ()
    return STRING, shown, defects.of_content(shown, empty=True)


def shown_texts(parts: Iterable[Part | Content]) -> Iterator[str]:
    """What is shown of parts where only text may stand: no blank texts, words for media, nothing of the rest."""
    for part in parts:
        if isinstance(part, Text):
            if part.text.strip():
                yield clean(part.text)
        elif isinstance(part, Media):
            yield clean(media.text_of(part) or media.standin(part))


def put_content(message: Fields, form: str, parts: Sequence[Part | Content], written: Sequence[Fields]) -> None:
    """Put content back into a message in its form, as far as its parts allow. `written` are the parts as the format has
    them; those it cannot have are not among them.
    """
    only = parts[0] if len(parts) == 1 else None
    if is_parts(form):
        message["content"] = list(written)
    elif isinstance(only, Text) and not only.extras:
        message["content"] = only.text
    elif written:
        message["content"] = list(written)
    elif form != ABSENT:
        message["content"] = "" if form == STRING else None


def results_first(
    role: Role, form: str, parts: Sequence[Part | Answer], found: Fields, where: str, *, wire: Wire
) -> tuple[Block, ...]:
    """The blocks of a message that may hold results among its parts: these first, then what was said beside them.

    `found` is what else the message says. Where it holds results alone, the first of them keeps that.
    """
    answers = [part for part in parts if isinstance(part, Answer)]
    rest = tuple(part for part in parts if not isinstance(part, Answer))
    if answers and not rest:
        if found:
            first = decode_object(answers[0].extras) | {MESSAGE: found}
            answers[0] = replace(answers[0], extras=extras(first, where))
        return tuple(answers)
    places = [at for at, part in enumerate(parts) if isinstance(part, Answer)]
    said = Said(
        role=role,
        parts=rest,
        form=form if places == [*range(len(places))] else with_places(form, places),
        wire=wire,
        extras=extras(found, where),
        defects=defects.of_content(rest, empty=not any(isinstance(part, Call) for part in rest)),
    )
    return (*answers, said)
