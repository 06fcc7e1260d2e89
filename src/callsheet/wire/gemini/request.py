"""A whole generateContent request: read, and written again with another history."""

from collections.abc import Mapping
from typing import Final

from callsheet.assemble.blocks import Block, Said
from callsheet.graph.enums import Role
from callsheet.wire import standins
from callsheet.wire.body import Asked, Remember, ToolChoice, anew, read_model, read_stream, read_tool_list
from callsheet.wire.gemini.parse import parse_message
from callsheet.wire.gemini.spelling import camel, said, snake, spelled
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields, fields, items, refuse
from callsheet.wire.tools import read_tool, singly

_CONTENTS, _SYSTEM, _TOOLS, _TOOL_CONFIG = "contents", "systemInstruction", "tools", "toolConfig"
_READ: Final = frozenset({_CONTENTS, _SYSTEM, _TOOLS, "model"})

_CHOICES: Final = {
    "NONE": ToolChoice.NONE,
    "AUTO": ToolChoice.AUTO,
    # As the model likes, but as the schema says.
    "VALIDATED": ToolChoice.AUTO,
    "MODE_UNSPECIFIED": ToolChoice.AUTO,
    "ANY": ToolChoice.REQUIRED,
}

_CLOSING: Final = {"role": "user", "parts": [{"text": standins.CONTINUE}]}
"""What rendering puts behind a history that ends with the model's turn."""


def read_request(
    body: object, *, model: str | None = None, stream: bool | None = None, remember: Remember = anew
) -> Asked:
    """Read a body. See `callsheet.wire.asked`. Its model and whether it is streamed are in its address."""
    found = fields(body, "")
    given = found.get(_CONTENTS)
    # Where a list stands alone, the API takes its only element without it.
    listed = items([given] if isinstance(given, Mapping) else given, _CONTENTS)
    if not listed:
        refuse("must hold a content", listed, _CONTENTS)
    blocks: list[Block] = []
    for at, each in enumerate(listed):
        blocks += parse_message(each, f"{_CONTENTS}[{at}]")
    return Asked(
        wire=Wire.GEMINI,
        model=read_model(found, model),
        instructions=_system(found),
        blocks=tuple(blocks),
        tools=read_tool_list(found.get(_TOOLS), _TOOLS),
        choice=_choice(found),
        stream=read_stream({}, stream),
        rest={key: value for key, value in found.items() if camel(key) not in _READ},
    )


def write_request(asked: Asked, rendered: Fields) -> Fields:
    """The body with the rendered history, without the model, which is in the address. See `callsheet.wire.asked`.

    A history that ends with the model's turn, which the model shall go on with, ends so again.
    """
    written: Fields = {}
    if _SYSTEM in rendered:
        written[_SYSTEM] = rendered[_SYSTEM]
    contents = rendered[_CONTENTS]
    assert isinstance(contents, list), "rendering writes a list"
    written[_CONTENTS] = contents[:-1] if _goes_on(asked, contents) else contents
    tools = [*asked.tools, *_added(asked, rendered.get(_TOOLS))]
    if tools:
        written[_TOOLS] = tools
    return written | asked.rest


def arguments(request: Fields) -> Fields:
    """A request as ``client.models.generate_content(**…)`` of Google's SDK takes it: all but model and contents is in
    its `config`.
    """
    config = {snake(key): value for key, value in request.items() if key not in ("model", _CONTENTS)}
    given = {key: request[key] for key in ("model", _CONTENTS)}
    return {**given, "config": config} if config else given


def _system(found: Fields) -> tuple[Said, ...]:
    key = spelled(found, _SYSTEM)
    if found.get(key) is None:
        return ()
    content = {name: value for name, value in fields(found[key], key).items() if name != "role"}
    (block,) = parse_message({**content, "role": "system"}, key)
    assert isinstance(block, Said), "there are no results in an instruction"
    return (block,) if block.parts else ()


def _choice(found: Fields) -> ToolChoice:
    key = spelled(found, _TOOL_CONFIG)
    config = fields(found.get(key) or {}, key)
    inside = spelled(config, "functionCallingConfig")
    calling = fields(config.get(inside) or {}, f"{key}.{inside}")
    mode = calling.get("mode")
    if mode is None:
        return ToolChoice.AUTO
    if not isinstance(mode, str) or mode.upper() not in _CHOICES:
        refuse(f"must be one of {', '.join(sorted(_CHOICES))}", mode, f"{key}.{inside}.mode")
    choice = _CHOICES[mode.upper()]
    named = choice is ToolChoice.REQUIRED and said(calling, "allowedFunctionNames")
    return ToolChoice.NAMED if named else choice


def _added(asked: Asked, rendered: object) -> list[Fields]:
    """The tools of a rendered request that the client does not offer itself, its functions in one tool."""
    own = {read_tool(tool, _TOOLS).name for tool in singly(asked.tools)}
    tools = singly(read_tool_list(rendered, _TOOLS))
    new = [fields(tool, _TOOLS) for tool in tools if read_tool(tool, _TOOLS).name not in own]
    functions = [each for tool in new for each in items(tool.get("functionDeclarations", []), _TOOLS)]
    built_in = [tool for tool in new if "functionDeclarations" not in tool]
    listed: list[Fields] = [{"functionDeclarations": functions}] if functions else []
    return [*listed, *built_in]


def _goes_on(asked: Asked, contents: list[object]) -> bool:
    """Whether the model shall go on with its own turn, behind which rendering put words of the user's."""
    last = asked.blocks[-1]
    return isinstance(last, Said) and last.role is Role.ASSISTANT and len(contents) > 1 and contents[-1] == _CLOSING
