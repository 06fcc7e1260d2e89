"""From Gemini contents to neutral blocks. Exact: `export` gives every content back."""

from typing import TypeAlias

from callsheet.assemble.blocks import Answer, Block, Call, Media, Opaque, Reasoning, Text
from callsheet.errors import InvalidMessage
from callsheet.graph.enums import Defect, Role
from callsheet.wire import content, defects, media
from callsheet.wire.gemini.results import parse_result
from callsheet.wire.gemini.shapes import CALL, DATA, FILE, KINDS, RESULT, SIGNATURE, TEXT
from callsheet.wire.gemini.spelling import as_json, said, spelled
from callsheet.wire.jsontext import encode, encode_bytes, extras
from callsheet.wire.names import Wire
from callsheet.wire.reading import MISSING, Fields, fields, items, refuse, take_text

Part: TypeAlias = Text | Reasoning | Call | Media | Opaque

_ROLES = {
    "user": Role.USER,
    "model": Role.ASSISTANT,
    "system": Role.SYSTEM,
    # Names under which older clients send results; the service takes them for the user's.
    "function": Role.USER,
    "tool": Role.USER,
}

PLAIN_ROLES = {Role.USER: "user", Role.ASSISTANT: "model", Role.SYSTEM: "system", Role.DEVELOPER: "system"}
"""The names that roles have where the extras of a content say nothing else."""

NO_ROLE = False
"""In the extras of a content, under ``role``: it named none, which means the user."""

ONE = "one"
"""The form of a content whose part stood alone, not in a list. In the extras of a content of results alone, under
``parts``.
"""


def parse_message(value: object, where: str) -> tuple[Block, ...]:
    """Read one content; the results in it come first, as blocks of their own, since no request may hold anything
    between calls and their results. Where they stood in the content, the form of the block behind them keeps.

    Raises `InvalidMessage` for what is not of this shape.
    """
    found = fields(value, where)
    if "parts" not in found and ("role" not in found or "content" in found):
        raise InvalidMessage("is missing", where=f"{where}.parts")
    role = _take_role(found, where)
    form, parts = _take_parts(found, where)
    answers = [part for part in parts if isinstance(part, Answer)]
    rest = tuple(part for part in parts if not isinstance(part, Answer))
    _check_place(role, answers, rest, f"{where}.parts")
    found = _as_json(found, where)
    if form == ONE and answers:
        found["parts"] = ONE
    return content.results_first(role, form, parts, found, where, wire=Wire.GEMINI)


def _take_role(found: Fields, where: str) -> Role:
    """Take the role. One that is not named as usual stays among the extras, or what is no name stands for it there."""
    given = found.pop("role", MISSING)
    if given is MISSING or given is None or given == "":
        found["role"] = NO_ROLE if given is MISSING else given
        return Role.USER
    role = _ROLES.get(given) if isinstance(given, str) else None
    if role is None:
        refuse(f"must be one of {', '.join(sorted(_ROLES))}", given, f"{where}.role")
    if PLAIN_ROLES[role] != given:
        found["role"] = given
    return role


def _take_parts(found: Fields, where: str) -> tuple[str, list[Part | Answer]]:
    parts = found.pop("parts", MISSING)
    place = f"{where}.parts"
    if parts is MISSING:
        return content.ABSENT, []
    if parts is None:
        return content.NULL, []
    if isinstance(parts, list | tuple):
        return content.PARTS, [_part(part, f"{place}[{at}]") for at, part in enumerate(items(parts, place))]
    return ONE, [_part(parts, place)]


def _check_place(role: Role, answers: list[Answer], rest: tuple[Part, ...], where: str) -> None:
    if answers and role is not Role.USER:
        raise InvalidMessage(f"functionResponse parts stand in the user's turns, not in one of {role}", where=where)
    if role is not Role.ASSISTANT and any(isinstance(part, Call) for part in rest):
        raise InvalidMessage(f"functionCall parts stand in the model's turns, not in one of {role}", where=where)


def _part(value: object, where: str) -> Part | Answer:
    found = fields(value, where)
    kind = next((kind for kind in KINDS if said(found, kind) is not None), None)
    if kind == RESULT:
        return parse_result(found, spelled(found, RESULT), where)
    found = _as_json(found, where)
    if kind == TEXT:
        return _text(found, where)
    if kind == CALL:
        return _call(found, spelled(found, CALL), where)
    if kind is None and said(found, SIGNATURE) is not None:
        # Streams send the signature of what came before in a part of its own.
        return Reasoning(wire=Wire.GEMINI, raw=encode_bytes(found, where))
    shown = media.read(found, Wire.GEMINI, where) if kind in (DATA, FILE) else None
    return shown or Opaque(wire=Wire.GEMINI, raw=encode_bytes(found, where))


def _text(found: Fields, where: str) -> Text | Reasoning:
    text = found["text"]
    if not isinstance(text, str):
        refuse("must be text", text, f"{where}.text")
    if found.get("thought") is True or (not text.strip() and said(found, SIGNATURE) is not None):
        return Reasoning(wire=Wire.GEMINI, raw=encode_bytes(found, where))
    del found["text"]
    return Text(text=text, extras=extras(found, where))


def _call(found: Fields, key: str, where: str) -> Call:
    """A call. Its id stays among the extras too: a call without one is as usual, and is sent back without one."""
    inside = f"{where}.{key}"
    inner = fields(found[key], inside)
    id = inner.get("id") or None
    if id is not None and not isinstance(id, str):
        refuse("must be text", id, f"{inside}.id")
    tool = take_text(inner, "name", inside) or ""
    # Without arguments, a call takes none.
    arguments = encode(inner.pop("args"), f"{inside}.args") if inner.get("args") not in (None, {}) else "{}"
    found[key] = inner
    odd = defects.of_call(id, tool, arguments)
    return Call(
        id=id,
        tool=tool,
        arguments=arguments,
        wire=Wire.GEMINI,
        extras=extras(found, where),
        defects=tuple(defect for defect in odd if defect is not Defect.MISSING_ID),
    )


def _as_json(found: Fields, where: str) -> Fields:
    return {key: as_json(item, where) for key, item in found.items()}
