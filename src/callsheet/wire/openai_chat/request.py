"""A whole Chat Completions request: read, and written again with another history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from callsheet.assemble.blocks import Answer, Block, Call, Content, Part, Said, Text
from callsheet.assemble.standins import EMPTY
from callsheet.graph.enums import Role
from callsheet.wire.body import (
    Asked,
    Passes,
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
from callsheet.wire.jsontext import encode, own_extras
from callsheet.wire.marking import MARK, may_stand
from callsheet.wire.names import Wire
from callsheet.wire.openai_chat.midway import Aligning, own_messages, restored
from callsheet.wire.openai_chat.parse import parse_message
from callsheet.wire.reading import Fields, fields, items, refuse

_READ: Final = frozenset({"model", "messages", "tools"})

_FUNCTIONS = "functions"
"""The older name under which functions are offered, without an envelope."""

_CHOICES: Final = {"none": ToolChoice.NONE, "auto": ToolChoice.AUTO, "required": ToolChoice.REQUIRED}

_SIGNED: Final = "extra_content"
"""Beside a call: Google has the signature of the thought behind it there, and refuses the call without."""

_SOUND: Final = "audio"
"""The id of what the model said aloud; the message has no text then."""

_PREFIX: Final = "prefix"
"""That the model shall go on with the message (Mistral's)."""

_THOUGHTS: Final = frozenset({"reasoning_content", "reasoning", "reasoning_details", "thinking"})
"""What the model thought. Rendering knows OpenAI's alone, which takes no thoughts; a client that sends them to a
service knows that it takes them, and some refuse a message without.
"""


def read_request(
    body: object, *, model: str | None = None, stream: bool | None = None, remember: Remember = anew
) -> Asked:
    """Read a body. See `callsheet.wire.asked`."""
    found = fields(body, "")
    listed = items(found.get("messages"), "messages")
    if not listed:
        refuse("must hold a message", listed, "messages")
    read = remember(parse_message)
    blocks = [block for at, each in enumerate(listed) for block in read(each, f"messages[{at}]")]
    instructions, rest = leading(blocks)
    return Asked(
        wire=Wire.OPENAI,
        model=read_model(found, model),
        instructions=instructions,
        blocks=rest,
        tools=(*read_tool_list(found.get("tools"), "tools"), *_older(found.get(_FUNCTIONS))),
        choice=_choice(found),
        stream=read_stream(found, stream),
        rest={key: value for key, value in found.items() if key not in _READ},
    )


def write_request(asked: Asked, rendered: Fields, passes: Passes) -> Fields:
    """The body with the rendered history. See `callsheet.wire.asked`."""
    messages = rendered["messages"]
    assert isinstance(messages, list), "rendering writes a list"
    placed = restored(asked.instructions, asked.blocks, messages)
    written: Fields = {"model": asked.model, "messages": _with_extras(asked, placed, passes), **asked.rest}
    added = added_tools(asked, rendered.get("tools"), _name)
    if _FUNCTIONS in asked.rest and added:
        own = items(asked.rest[_FUNCTIONS] or [], _FUNCTIONS)
        return written | {_FUNCTIONS: [*own, *(tool["function"] for tool in added)]}
    tools = [*_tools_of(asked), *added]
    return written | {"tools": tools} if tools else written


def _tools_of(asked: Asked) -> Sequence[Fields]:
    return asked.tools[: len(asked.tools) - len(_older(asked.rest.get(_FUNCTIONS)))]


def _older(value: object) -> tuple[Fields, ...]:
    """Functions in the older shape as tools."""
    return tuple({"type": "function", "function": each} for each in read_tool_list(value, _FUNCTIONS))


def _name(tool: Mapping[str, object]) -> object:
    """The name of a tool; some services do without its type."""
    found = (tool.get(inside) for inside in ("function", "custom"))
    return next((inside.get("name") for inside in found if isinstance(inside, Mapping)), None)


def _choice(found: Mapping[str, object]) -> ToolChoice:
    given = found.get("tool_choice")
    if given is None:
        given = found.get("function_call")
    return read_choice(given, _CHOICES)


def _with_extras(asked: Asked, messages: list[Fields], passes: Passes) -> list[Fields]:
    """The messages, those that are shown unchanged with what the client sent in them beside what OpenAI knows."""
    blocks = (*asked.instructions, *asked.blocks)
    carried = [_carried(block, passes) for block in blocks]
    if not any(carried):
        return messages
    aligning, with_extras = Aligning(messages), list(messages)
    for message, extra in zip(own_messages(blocks), carried, strict=True):
        at = aligning.find(message)
        if at is not None and extra is not None:
            with_extras[at] = extra.on(message)
    return with_extras


@dataclass(frozen=True, kw_only=True, slots=True)
class _Carried:
    """What a message of the client's has beside what OpenAI knows."""

    extras: Fields
    #: The mark of each text that has one.
    marks: Mapping[str, object]
    #: Of each call.
    calls: Sequence[Fields]

    def on(self, message: Fields) -> Fields:
        """The rendered message with it."""
        content = message.get("content")
        if self.marks and isinstance(content, list):
            marked = [
                {**part, MARK: self.marks[part["text"]]} if part.get("text") in self.marks else part for part in content
            ]
            message = {**message, "content": marked}
        if _SOUND in self.extras and content == EMPTY:
            message = {**message, "content": None}
        calls = message.get("tool_calls")
        if isinstance(calls, list) and len(calls) == len(self.calls):
            signed = [{**call, **extras} for call, extras in zip(calls, self.calls, strict=True)]
            message = {**message, "tool_calls": signed}
        return {**message, **self.extras}


def _carried(block: Block, passes: Passes) -> _Carried | None:
    listed: Sequence[Part | Content] = block.content if isinstance(block, Answer) else block.parts
    if not block.extras and not any(part.extras for part in listed if isinstance(part, Text | Call)):
        return None
    extras: Fields = {}
    calls: Sequence[Fields] = ()
    if isinstance(block, Said) and block.role is Role.ASSISTANT:
        extras = _of_message(own_extras(block.extras, block.wire, Wire.OPENAI), passes)
        calls = [_signed(own_extras(call.extras, call.wire, Wire.OPENAI)) for call in block.calls]
    texts = ((part.text, part.extras) for part in listed if isinstance(part, Text) and part.extras)
    found = ((clean(text), own_extras(own, block.wire, Wire.OPENAI).get(MARK)) for text, own in texts)
    marks = {text: mark for text, mark in found if mark is not None and may_stand(mark, passes)}
    return _Carried(extras=extras, marks=marks, calls=calls) if extras or marks or any(calls) else None


def _of_message(own: Fields, passes: Passes) -> Fields:
    """What goes back on a message of the model's."""
    thoughts = {key: value for key, value in own.items() if key in _THOUGHTS and value is not None}
    found = thoughts if thoughts and passes(encode(thoughts, "")) else {}
    match own.get(_SOUND):
        case {"id": str(id)} if passes(id):
            found[_SOUND] = {"id": id}
    return found | ({_PREFIX: own[_PREFIX]} if isinstance(own.get(_PREFIX), bool) else {})


def _signed(own: Fields) -> Fields:
    """What goes back on a call: a signature says nothing."""
    match own.get(_SIGNED):
        case {"google": {"thought_signature": str(signature)}}:
            return {_SIGNED: {"google": {"thought_signature": signature}}}
    return {}
