"""Tools in the shape of Responses: flat, with those that the service runs among them."""

from collections.abc import Mapping

from callsheet.errors import InvalidMessage
from callsheet.wire.openai_responses import shapes
from callsheet.wire.reading import Fields
from callsheet.wire.tools import Tool, ToolKind, check_name


def offered(tool: Tool) -> Fields:
    """The tool as a request offers it."""
    if tool.kind is ToolKind.BUILT_IN:
        if tool.wire != shapes.WIRE:
            raise InvalidMessage(
                f"{tool.name!r} is built in at {tool.wire} and cannot be offered here", where=tool.where
            )
        return tool.given
    check_name(tool, shapes.LONGEST_NAME)
    if tool.wire == shapes.WIRE:
        return {"type": tool.kind.value} | tool.given
    if tool.kind is ToolKind.CUSTOM:
        return {"type": "custom"} | _flat_custom(tool.given)
    function: Fields = {"type": "function", "name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    # Without these the service would make the schema a strict one.
    function["parameters"] = tool.schema if tool.schema is not None else {"type": "object", "properties": {}}
    function["strict"] = tool.strict
    return function


def _flat_custom(given: Mapping[str, object]) -> Fields:
    """A custom tool of Chat Completions, whose grammar stands one level deeper there."""
    flat = {key: value for key, value in given.items() if value is not None}
    match flat.get("format"):
        case {"type": "grammar", "grammar": dict(grammar)}:
            flat["format"] = {"type": "grammar"} | grammar
    return flat
