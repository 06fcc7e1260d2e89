"""Tools in the shape of generateContent: all functions in one tool, and what the service itself runs."""

from collections.abc import Sequence

from callsheet.errors import InvalidMessage
from callsheet.wire.arguments import CUSTOM_INPUT
from callsheet.wire.gemini import shapes
from callsheet.wire.gemini.schemas import sendable_schema
from callsheet.wire.gemini.spelling import as_sent
from callsheet.wire.reading import Fields, refuse
from callsheet.wire.tools import Tool, ToolKind


def offered(tools: Sequence[Tool]) -> list[Fields]:
    """The tools as a request offers them: the functions in their order, then the service's own."""
    functions = [_declaration(tool) for tool in tools if tool.kind is not ToolKind.BUILT_IN]
    built_in = [_built_in(tool) for tool in tools if tool.kind is ToolKind.BUILT_IN]
    listed: list[Fields] = [{"functionDeclarations": functions}] if functions else []
    return [*listed, *built_in]


def _declaration(tool: Tool) -> Fields:
    if not shapes.is_name(tool.name):
        refuse(
            "must be 1 to 128 letters, digits, '_', '-', '.' or ':', the first a letter or '_'",
            tool.name,
            f"{tool.where}.name",
        )
    if tool.wire == shapes.WIRE:
        return as_sent(tool.given)
    written: Fields = {"name": tool.name}
    if tool.description is not None:
        written["description"] = tool.description
    schema = tool.schema
    if tool.kind is ToolKind.CUSTOM:
        schema = {"type": "object", "properties": {CUSTOM_INPUT: {"type": "string"}}, "required": [CUSTOM_INPUT]}
    if schema is not None:
        written["parametersJsonSchema"] = sendable_schema(schema)
    return written


def _built_in(tool: Tool) -> Fields:
    if tool.wire != shapes.WIRE:
        raise InvalidMessage(f"{tool.name!r} is built in at {tool.wire} and cannot be offered here", where=tool.where)
    return as_sent(tool.given)
