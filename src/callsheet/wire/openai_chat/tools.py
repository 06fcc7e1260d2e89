"""Tools in the shape of Chat Completions."""

from callsheet.errors import InvalidMessage
from callsheet.wire.openai_chat import shapes
from callsheet.wire.reading import Fields
from callsheet.wire.tools import Tool, ToolKind, check_name


def offered(tool: Tool) -> Fields:
    """The tool as a request offers it."""
    check_name(tool, shapes.LONGEST_NAME)
    if tool.kind is ToolKind.BUILT_IN:
        raise InvalidMessage(f"{tool.name!r} is built in at {tool.wire} and cannot be offered here", where=tool.where)
    if tool.kind is ToolKind.CUSTOM:
        return {"type": "custom", "custom": tool.given}
    if tool.wire == shapes.WIRE:
        # Without null schemas, which the service refuses.
        return {"type": "function", "function": {key: value for key, value in tool.given.items() if value is not None}}
    function: Fields = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.schema is not None:
        function["parameters"] = tool.schema
    if tool.strict:
        function["strict"] = True
    return {"type": "function", "function": function}
