"""Tools in the shape of Chat Completions."""

from typing import Final

from callsheet.errors import InvalidMessage
from callsheet.wire.names import Wire
from callsheet.wire.openai_chat import shapes
from callsheet.wire.reading import Fields
from callsheet.wire.tools import Tool, ToolKind, check_name

_FUNCTION: Final = frozenset({"name", "description", "parameters", "strict"})
_CUSTOM: Final = frozenset({"name", "description", "format"})


def offered(tool: Tool) -> Fields:
    """The tool as a request offers it."""
    if tool.kind is ToolKind.BUILT_IN:
        raise InvalidMessage(f"{tool.name!r} is built in at {tool.wire} and cannot be offered here", where=tool.where)
    check_name(tool, shapes.LONGEST_NAME)
    if tool.kind is ToolKind.CUSTOM:
        return {"type": "custom", "custom": _custom(tool)}
    if tool.wire in (Wire.OPENAI, Wire.OPENAI_RESPONSES):
        # Without null schemas, which the service refuses; flat ones are the same without their envelope.
        keys = tool.given if tool.wire is Wire.OPENAI else _FUNCTION.intersection(tool.given)
        given = {key: value for key, value in tool.given.items() if key in keys and value is not None}
        return {"type": "function", "function": given}
    function: Fields = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.schema is not None:
        function["parameters"] = tool.schema
    if tool.strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def _custom(tool: Tool) -> Fields:
    """A custom tool; one of Responses has its grammar a level higher."""
    if tool.wire is Wire.OPENAI:
        return tool.given
    custom = {key: value for key, value in tool.given.items() if key in _CUSTOM and value is not None}
    match custom.get("format"):
        case {"type": "grammar", "grammar": _}:
            pass
        case {"type": "grammar", **grammar}:
            custom["format"] = {"type": "grammar", "grammar": grammar}
    return custom
