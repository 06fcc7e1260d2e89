"""When two requests are equivalent: they say the same in the same order, and everything else in them is equal.

What they say is a sequence of atoms: each text, call, result, picture, thinking block and kept block, by itself and
with who said it. Not among them: blank texts, what rendering puts where nothing is, how texts are cut into messages
and parts, the ids of calls (but which result belongs to which call), and cache marks.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from callsheet.assemble import standins as composing
from callsheet.assemble.blocks import Answer, Block, Call, Content, Media, Opaque, Part, Reasoning, Text
from callsheet.wire import media, standins
from callsheet.wire.arguments import exact_object
from callsheet.wire.asked import Asked
from callsheet.wire.cleaning import clean
from callsheet.wire.jsontext import decode_object

Atom: TypeAlias = tuple[str, ...]

_OWN_WORDS = frozenset({composing.BEGINNING, composing.EMPTY, composing.NO_OUTPUT, standins.CONTINUE})


def atoms(blocks: Sequence[Block]) -> list[Atom]:
    """What the blocks say."""
    calls: dict[str, int] = {}
    found: list[Atom] = []
    for block in blocks:
        if isinstance(block, Answer):
            of = str(calls.get(block.call or "", "none"))
            found += [("result", of, str(bool(block.failed)), *atom) for atom in _all(block.content, calls)] or [
                ("result", of, str(bool(block.failed)))
            ]
        else:
            found += [(block.role.value, *atom) for atom in _all(block.parts, calls)]
    return found


def says_the_same(first: Asked, second: Asked) -> bool:
    """Whether two requests are equivalent."""
    return (
        first.wire is second.wire
        and first.model == second.model
        and atoms(first.instructions) == atoms(second.instructions)
        and atoms(first.blocks) == atoms(second.blocks)
        and first.tools == second.tools
        and first.choice is second.choice
        and first.stream is second.stream
        and first.rest == second.rest
    )


def _all(parts: Sequence[Part | Content], calls: dict[str, int]) -> Iterator[Atom]:
    for part in parts:
        yield from _atoms(part, calls)


def _atoms(part: Part | Content, calls: dict[str, int]) -> Iterator[Atom]:
    match part:
        case Text():
            if part.text.strip() and part.text not in _OWN_WORDS:
                yield ("text", clean(part.text))
        case Call():
            calls[part.id or ""] = len(calls)
            given = exact_object(part.arguments) if part.arguments.strip() else {}
            yield ("call", part.tool, part.arguments if given is None else _canonical(given))
        case Media():
            if (text := media.text_of(part)) is not None:
                yield ("text", text)
            else:
                shown = hashlib.sha256(part.data).hexdigest() if part.data is not None else part.url or ""
                yield ("media", shown or _canonical(decode_object(part.extras)))
        case Reasoning():
            said = decode_object(part.raw)
            # Null says nothing, and Responses refuses it in some places of these items.
            yield ("reasoning", _canonical({key: value for key, value in said.items() if value is not None}))
        case Opaque():
            kept = decode_object(part.raw)
            kept.pop("cache_control", None)
            yield ("kept", _canonical(kept))


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def own_blocks(asked: Asked) -> list[Block]:
    """All blocks of a request, instructions first, as `formats.render` takes them."""
    return [*asked.instructions, *asked.blocks]


def everything(text: str) -> bool:
    """For `write_request`: all that the client sent may go out."""
    return True
