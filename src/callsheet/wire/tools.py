"""The tools that a request offers, read from either provider's shape and checked."""

import json
import marshal
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from callsheet.errors import InvalidMessage
from callsheet.wire.cleaning import MergedKeys, clean_value
from callsheet.wire.jsonvalue import json_fields
from callsheet.wire.names import Wire, allowed_name
from callsheet.wire.reading import Fields, fields, items, refuse, shortened, take_text


class ToolKind(StrEnum):
    """What a tool takes."""

    #: A JSON object.
    FUNCTION = "function"
    #: Free text.
    CUSTOM = "custom"
    #: What its provider defines; no other provider has it.
    BUILT_IN = "built_in"


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """One tool as it was given."""

    name: str
    kind: ToolKind
    description: str | None
    #: The JSON schema of its arguments, an object's; None: it takes no arguments, or is no function.
    schema: Fields | None
    strict: bool
    #: Whose shape it was given in.
    wire: Wire
    #: All that was given, cleaned. A function of OpenAI's without its envelope.
    given: Fields
    where: str


def read_tools(tools: object) -> list[Tool]:
    """Read a list of tools in OpenAI's or Anthropic's shape.

    Raises `InvalidMessage` for what is no list, for a tool of another shape, and for a repeated name.
    """
    if not isinstance(tools, list | tuple):
        raise InvalidMessage(f"tools must be a list, not {shortened(tools)}")
    read: dict[str, Tool] = {}
    for at, given in enumerate(items(tools, "tools")):
        tool = read_tool(given, f"tools[{at}]")
        if tool.name in read:
            raise InvalidMessage(f"{tool.name!r} is offered twice", where=f"{tool.where}.name")
        read[tool.name] = tool
    return list(read.values())


def read_tool(given: object, where: str) -> Tool:
    """Read one tool."""
    found = sendable(given, where)
    kind = found.get("type")
    for envelope in ToolKind.FUNCTION, ToolKind.CUSTOM:
        if envelope in found and kind in (None, envelope):
            inside = f"{where}.{envelope}"
            return _tool(fields(found[envelope], inside), envelope, Wire.OPENAI, inside)
    if kind == ToolKind.FUNCTION:
        del found["type"]
        return _tool(found, ToolKind.FUNCTION, Wire.OPENAI, where)
    if "input_schema" in found:
        return _tool(found, ToolKind.FUNCTION, Wire.ANTHROPIC, where)
    if isinstance(kind, str) and "name" in found:
        return _tool(found, ToolKind.BUILT_IN, Wire.ANTHROPIC, where)
    raise InvalidMessage("is no tool: it has neither 'function' (OpenAI) nor 'input_schema' (Anthropic)", where=where)


def check_name(tool: Tool, longest: int) -> None:
    """Refuse a name that the provider would: it is the caller's, so it cannot be changed silently."""
    if allowed_name(tool.name, longest) != tool.name:
        refuse(f"must be 1 to {longest} letters, digits, '_' or '-'", tool.name, f"{tool.where}.name")


def sendable(given: object, where: str) -> Fields:
    """A tool as plain JSON that every provider can decode; `InvalidMessage`, naming the tool, where there is none.

    The same tools come with every request, so what a tool comes to is kept.
    """
    if not isinstance(given, dict):
        return _cleaned(given, where)
    try:
        # Unlike JSON it tells apart whatever Python does, and takes nothing but plain values.
        key = marshal.dumps(given, _PLAIN)
    except ValueError:
        return _cleaned(given, where)
    known = _KNOWN.get(key)
    if known is None:
        cleaned = _cleaned(given, where)
        if len(key) <= _LONGEST_KEPT:
            if len(_KNOWN) >= _MOST_KEPT:
                _KNOWN.clear()
            _KNOWN[key] = marshal.dumps(cleaned, _PLAIN)
        return cleaned
    # A copy, for whoever reads it may change it.
    copy: Fields = marshal.loads(known)
    return copy


_PLAIN = 0
"""The version of Python's own format that depends on values alone, not on how they are shared."""

_KNOWN: Final[dict[bytes, bytes]] = {}
_MOST_KEPT = 1_024
"""Tools whose cleaned form is kept."""

_LONGEST_KEPT = 65_536
"""Bytes of such a tool."""


def _cleaned(given: object, where: str) -> Fields:
    found = fields(given, where)
    name = _named(found)
    plain = json_fields(found, where, name)
    try:
        json.dumps(plain, allow_nan=False)
        return clean_value(plain)
    except MergedKeys:
        problem = "has keys that differ in characters alone that no provider takes"
    except ValueError as error:
        problem = f"cannot be written as JSON ({error})"
    raise InvalidMessage(f"{name} {problem}" if name else problem, where=where)


def _named(found: Fields) -> str:
    """How a tool is called in an error that says what is wrong with it; empty where it has no name."""
    inside = (found.get(envelope) for envelope in (ToolKind.FUNCTION, ToolKind.CUSTOM))
    names = (part.get("name") for part in (found, *inside) if isinstance(part, dict))
    return next((shortened(name) for name in names if isinstance(name, str)), "")


def _tool(found: Fields, kind: ToolKind, wire: Wire, where: str) -> Tool:
    given = dict(found)
    name = take_text(found, "name", where)
    if name is None:
        raise InvalidMessage("has no name", where=f"{where}.name")
    return Tool(
        name=name,
        kind=kind,
        description=take_text(found, "description", where),
        schema=_schema(given, wire, where) if kind is ToolKind.FUNCTION else None,
        strict=given.get("strict") is True,
        wire=wire,
        given=given,
        where=where,
    )


def _schema(given: Fields, wire: Wire, where: str) -> Fields | None:
    key = "input_schema" if wire is Wire.ANTHROPIC else "parameters"
    if given.get(key) is None:
        return None
    schema = fields(given[key], f"{where}.{key}")
    if schema.setdefault("type", "object") != "object":
        refuse("must be the schema of an object", schema["type"], f"{where}.{key}.type")
    return schema
