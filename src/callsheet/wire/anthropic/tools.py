"""Tools in the shape of Anthropic Messages."""

from collections.abc import Iterable

from callsheet.errors import InvalidMessage
from callsheet.wire import standins
from callsheet.wire.anthropic import shapes
from callsheet.wire.anthropic.shapes import Message
from callsheet.wire.arguments import CUSTOM_INPUT
from callsheet.wire.reading import Fields
from callsheet.wire.tools import Tool, ToolKind, check_name


def _schema(tool: Tool) -> Fields:
    if tool.kind is ToolKind.CUSTOM:
        return {"type": "object", "properties": {CUSTOM_INPUT: {"type": "string"}}, "required": [CUSTOM_INPUT]}
    return tool.schema if tool.schema is not None else {"type": "object", "properties": {}}


def offered(tool: Tool) -> Fields:
    """The tool as a request offers it."""
    if tool.kind is ToolKind.BUILT_IN and tool.wire != shapes.WIRE:
        raise InvalidMessage(f"{tool.name!r} is built in at {tool.wire} and cannot be offered here", where=tool.where)
    check_name(tool, shapes.LONGEST_NAME)
    if tool.kind is ToolKind.BUILT_IN:
        return tool.given
    if tool.wire == shapes.WIRE:
        return tool.given | {"input_schema": _schema(tool)}
    written: Fields = {"name": tool.name}
    if tool.description is not None:
        written["description"] = tool.description
    written["input_schema"] = _schema(tool)
    if tool.strict:
        written["strict"] = True
    return written


def remembered(messages: Iterable[Message]) -> list[Fields]:
    """A minimal tool for each that the messages call: the service refuses calls in a request without tools."""
    blocks = (block for message in messages for block in message["content"])
    called = dict.fromkeys(block.get("name") for block in blocks if block["type"] == "tool_use")
    return [{"name": name, "description": standins.OLD_TOOL, "input_schema": {"type": "object"}} for name in called]
