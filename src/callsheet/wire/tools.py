"""The tools that a request offers, read from any provider's shape and checked."""

import json
import marshal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from callsheet.errors import InvalidMessage
from callsheet.wire.cleaning import MergedKeys, clean_value
from callsheet.wire.gemini.schemas import json_schema
from callsheet.wire.gemini.spelling import camel, said, spelled
from callsheet.wire.jsonvalue import json_fields
from callsheet.wire.names import Wire, allowed_name
from callsheet.wire.reading import Fields, fields, items, plain, refuse, shortened, take_text


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
    """Read a list of tools in the shape of any format. One of Gemini's may hold several: each counts by itself.

    Raises `InvalidMessage` for what is no list, for a tool of another shape, and for a repeated name.
    """
    if not isinstance(tools, list | tuple):
        raise InvalidMessage(f"tools must be a list, not {shortened(tools)}")
    read: dict[str, Tool] = {}
    for at, given in enumerate(singly(items(tools, "tools"))):
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
    if "input_schema" in found and kind != ToolKind.FUNCTION:
        return _tool(found, ToolKind.FUNCTION, Wire.ANTHROPIC, where)
    if kind in (ToolKind.FUNCTION, ToolKind.CUSTOM):
        del found["type"]
        return _tool(found, ToolKind(str(kind)), Wire.OPENAI_RESPONSES, where)
    if isinstance(kind, str) and kind in _RESPONSES_OWN:
        return _unnamed(found, kind, where)
    if isinstance(kind, str) and "name" in found:
        return _tool(found, ToolKind.BUILT_IN, Wire.ANTHROPIC, where)
    if (of_gemini := _of_gemini(found, where)) is not None:
        return of_gemini
    raise InvalidMessage(
        "is no tool: it has neither 'function' (OpenAI) nor 'input_schema' (Anthropic) nor 'functionDeclarations' "
        "(Gemini)",
        where=where,
    )


def _of_gemini(found: Fields, where: str) -> Tool | None:
    """A tool of Gemini's with one function, a function of its alone, or one of those that run at Google."""
    if (declared := spelled(found, _DECLARATIONS)) in found:
        inside = f"{where}.{declared}"
        given = items(found[declared], inside)
        if len(given) != 1 or len(found) > 1:
            refuse("must be one function by itself", found, where)
        return _tool(fields(given[0], f"{inside}[0]"), ToolKind.FUNCTION, Wire.GEMINI, f"{inside}[0]")
    if "name" in found and any(said(found, key) is not None for key in _PARAMETERS):
        return _tool(found, ToolKind.FUNCTION, Wire.GEMINI, where)
    if len(found) != 1 or (name := camel(next(iter(found)))) not in _GEMINI_OWN:
        return None
    return Tool(
        name=name,
        kind=ToolKind.BUILT_IN,
        description=None,
        schema=None,
        strict=False,
        wire=Wire.GEMINI,
        given=found,
        where=where,
    )


def singly(tools: Sequence[object]) -> list[object]:
    """The tools, with each function and each built-in tool of one of Gemini's as a tool of its own."""
    return [each for at, tool in enumerate(tools) for each in _each(tool, f"tools[{at}]")]


def tools_named(tools: Sequence[object], wanted: Callable[[str], bool]) -> list[Fields]:
    """The tools of a list, as they are, whose names are wanted; of one of Gemini's with several those of its tools."""
    found: list[Fields] = []
    for at, tool in enumerate(tools):
        each = [fields(one, f"tools[{at}]") for one in singly([tool])]
        kept = [one for one in each if wanted(read_tool(one, f"tools[{at}]").name)]
        functions = [function for one in kept for function in items(one.get(_DECLARATIONS, []), f"tools[{at}]")]
        found += [{_DECLARATIONS: functions}] if functions else []
        found += [one for one in kept if _DECLARATIONS not in one]
    return found


def _each(tool: object, where: str) -> list[object]:
    found = plain(tool, where)
    if not isinstance(found, Mapping) or not found or not all(map(_is_of_gemini, found)):
        return [tool]
    each: list[object] = []
    for key, value in found.items():
        if camel(key) == _DECLARATIONS and isinstance(value, list | tuple):
            each += [{key: [one]} for one in value]
        elif value is not None:
            each.append({key: value})
    return each


def _is_of_gemini(key: object) -> bool:
    return isinstance(key, str) and (camel(key) in _GEMINI_OWN or camel(key) == _DECLARATIONS)


_DECLARATIONS: Final = "functionDeclarations"
_PARAMETERS: Final = ("parametersJsonSchema", "parameters")
"""The schema of a function of Gemini's: JSON Schema, or a dialect of its own."""

_GEMINI_OWN: Final = frozenset(
    {
        "codeExecution",
        "computerUse",
        "enterpriseWebSearch",
        "exaAiSearch",
        "fileSearch",
        "googleMaps",
        "googleSearch",
        "googleSearchRetrieval",
        "mcpServers",
        "parallelAiSearch",
        "retrieval",
        "urlContext",
    }
)
"""Tools that run at Google, each with its settings under its name."""


_RESPONSES_OWN: Final = frozenset(
    {
        "apply_patch",
        "code_interpreter",
        "computer",
        "computer_use_preview",
        "file_search",
        "image_generation",
        "local_shell",
        "mcp",
        "namespace",
        "programmatic_tool_calling",
        "shell",
        "tool_search",
        "web_search",
        "web_search_2025_08_26",
        "web_search_preview",
        "web_search_preview_2025_03_11",
    }
)
"""The types of the tools that OpenAI Responses defines. Most have no name."""


def _unnamed(found: Fields, kind: str, where: str) -> Tool:
    """A tool of the service; what tells it from others of its type becomes part of its name here."""
    named = (found.get(key) for key in ("name", "server_label"))
    label = next((name for name in named if isinstance(name, str) and name), "")
    return Tool(
        name=f"{kind}:{label}" if label else kind,
        kind=ToolKind.BUILT_IN,
        description=None,
        schema=None,
        strict=False,
        wire=Wire.OPENAI_RESPONSES,
        given=found,
        where=where,
    )


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
    if wire is Wire.GEMINI:
        key = next((spelled(given, each) for each in _PARAMETERS if said(given, each) is not None), key)
    if given.get(key) is None:
        return None
    schema = fields(given[key], f"{where}.{key}")
    if wire is Wire.GEMINI and key == "parameters":
        schema = json_schema(schema)
    if schema.setdefault("type", "object") != "object":
        refuse("must be the schema of an object", schema["type"], f"{where}.{key}.type")
    return schema
