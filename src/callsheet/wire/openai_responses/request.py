"""A whole Responses request: read, and written again with another history."""

from collections.abc import Mapping
from typing import Final

from callsheet.assemble.blocks import Answer, Block, Opaque, Said, Text
from callsheet.graph.enums import Role
from callsheet.wire import content
from callsheet.wire.body import (
    Asked,
    Remember,
    ToolChoice,
    added_tools,
    anew,
    leading,
    read_choice,
    read_model,
    read_stream,
    read_tool_list,
)
from callsheet.wire.cleaning import clean
from callsheet.wire.jsontext import decode_object, own_extras
from callsheet.wire.names import Wire
from callsheet.wire.openai_responses import shapes
from callsheet.wire.openai_responses.parse import item_type, parse_items
from callsheet.wire.openai_responses.render import Rendering
from callsheet.wire.reading import Fields, fields, items, refuse

_READ: Final = frozenset({"model", "input", "instructions", "tools", "previous_response_id", "conversation"})
_CHOICES: Final = {"none": ToolChoice.NONE, "auto": ToolChoice.AUTO, "required": ToolChoice.REQUIRED}

INSTRUCTIONS: Final = "instructions"
"""The form of the instruction that stood under this key, not among the items."""

_MARK: Final = "prompt_cache_breakpoint"
"""Where a client wants a beginning of the request to be kept."""


def read_request(
    body: object, *, model: str | None = None, stream: bool | None = None, remember: Remember = anew
) -> Asked:
    """Read a body. See `callsheet.wire.asked`.

    An input that refers to items which the provider keeps goes on from what only the provider knows, as one with
    ``previous_response_id`` or ``conversation`` does; so does one with items of kinds that are not known here, which
    could not be sent again.
    """
    found = fields(body, "")
    named = found.get("prompt") is not None and found.get("model") is None and model is None
    instructions, blocks = leading(_input(found))
    stated = found.get(INSTRUCTIONS)
    return Asked(
        wire=Wire.OPENAI_RESPONSES,
        model="" if named else read_model(found, model),
        instructions=(*_stated(stated), *instructions),
        blocks=blocks,
        tools=read_tool_list(found.get("tools"), "tools"),
        choice=read_choice(found.get("tool_choice"), _CHOICES),
        stream=read_stream(found, stream),
        previous=_previous(found, blocks),
        rest={key: value for key, value in found.items() if key not in _READ},
    )


def write_request(asked: Asked, rendered: Fields) -> Fields:
    """The body with the rendered history, which is the whole one. See `callsheet.wire.asked`."""
    listed = rendered["input"]
    assert isinstance(listed, list), "rendering writes a list"
    written: Fields = {"model": asked.model} if asked.model else {}
    listed = _with_marks(asked, listed)
    stated = rendered.get(INSTRUCTIONS)
    if isinstance(stated, str):
        first = asked.instructions[0] if asked.instructions else None
        if first is None or first.form == INSTRUCTIONS:
            written[INSTRUCTIONS] = stated
        else:
            listed = [_as_item(first, stated), *listed]
    written["input"] = listed
    tools = [*asked.tools, *added_tools(asked, rendered.get("tools"), _name)]
    return written | asked.rest | ({"tools": tools} if tools else {})


# --------------------------------------------------------------------------- reading


def _input(found: Mapping[str, object]) -> tuple[Block, ...]:
    given = found.get("input")
    if isinstance(given, str):
        return parse_items([({"role": "user", "content": given}, "input")])
    if given is None and any(found.get(key) is not None for key in ("previous_response_id", "conversation", "prompt")):
        return ()
    listed = items(given, "input")
    if not listed:
        refuse("must be text or a list that holds an item", listed, "input")
    return parse_items([(item, f"input[{at}]") for at, item in enumerate(listed)])


def _stated(value: object) -> tuple[Said, ...]:
    if value is None or value == "":
        return ()
    if not isinstance(value, str):
        refuse("must be text", value, INSTRUCTIONS)
    said = Said(role=Role.SYSTEM, parts=(Text(text=value),), form=INSTRUCTIONS, wire=Wire.OPENAI_RESPONSES)
    return (said,)


def _previous(found: Mapping[str, object], blocks: tuple[Block, ...]) -> str | None:
    previous, conversation = found.get("previous_response_id"), found.get("conversation")
    if previous is not None and not isinstance(previous, str):
        refuse("must be text", previous, "previous_response_id")
    if conversation is not None and not isinstance(conversation, str):
        conversation = fields(conversation, "conversation").get("id")
        if not isinstance(conversation, str):
            refuse("must be text", conversation, "conversation.id")
    return _reference(blocks) or previous or conversation


def _reference(blocks: tuple[Block, ...]) -> str | None:
    """The first item that the input names without holding it, or that only the provider understands."""
    opaque = (part for block in blocks if isinstance(block, Said) for part in block.parts if isinstance(part, Opaque))
    for item in map(decode_object, (part.raw for part in opaque)):
        kind = item_type(item, "input") if "type" in item or "role" in item or "id" in item else shapes.MESSAGE
        if kind != shapes.MESSAGE and kind not in shapes.SERVER_RUN:
            id = item.get("id")
            return id if isinstance(id, str) and id else kind
    return None


# --------------------------------------------------------------------------- writing


def _name(tool: Mapping[str, object]) -> object:
    """What tells a tool from the others: its name, or what the service calls it and whose it is."""
    kind = tool.get("type")
    if kind in ("function", "custom"):
        return tool.get("name")
    return f"{kind}:{tool.get('server_label', tool.get('name', ''))}"


def _as_item(first: Said, stated: str) -> Fields:
    """The instruction as the item that the client had it in, its parts too where it says the same."""
    own = Rendering()
    own.add([first])
    if own.instructions() == stated:
        own = Rendering()
        own.add([Said(role=Role.USER, parts=(Text(text="."),)), first])
        return _marked(dict(own.messages()[1]), _marks(first))
    return {"role": first.role.value, "content": stated}


def _with_marks(asked: Asked, listed: list[object]) -> list[object]:
    """The items, those that are shown unchanged with the client's cache marks."""
    marked = list(listed)
    for block in (*asked.instructions[1:], *asked.blocks):
        marks = _marks(block)
        item = _own_item(block) if marks else None
        if item is not None and item in marked:
            marked[marked.index(item)] = _marked(item, marks)
    return marked


def _marks(block: Block) -> dict[str, object]:
    """The cache mark of each text that has one."""
    parts = block.content if isinstance(block, Answer) else block.parts
    texts = (part for part in parts if isinstance(part, Text))
    own = ((clean(text.text), own_extras(text.extras, block.wire, Wire.OPENAI_RESPONSES)) for text in texts)
    return {text: extras[_MARK] for text, extras in own if extras.get(_MARK) is not None}


def _own_item(block: Block) -> Fields | None:
    """The item of a message or result as rendering writes it."""
    own = Rendering()
    own.add([Said(role=Role.USER, parts=(Text(text="."),)), block])
    listed = own.messages()
    return dict(listed[1]) if len(listed) == 2 and content.is_parts(block.form) else None


def _marked(item: Fields, marks: Mapping[str, object]) -> Fields:
    key = "output" if "output" in item else "content"
    parts = item[key]
    if not isinstance(parts, list):
        return item
    return item | {key: [part | {_MARK: marks[part["text"]]} if part.get("text") in marks else part for part in parts]}
