"""A whole Messages request: read, and written again with another history. Also the body of a token count."""

import re
from typing import Final

from callsheet.assemble.blocks import Said
from callsheet.errors import InvalidMessage
from callsheet.graph.enums import Role
from callsheet.wire import standins
from callsheet.wire.anthropic import midway, native
from callsheet.wire.anthropic.caching import mark
from callsheet.wire.anthropic.export import export
from callsheet.wire.anthropic.parse import parse_message
from callsheet.wire.body import (
    Asked,
    Passes,
    Remember,
    ToolChoice,
    added_tools,
    anew,
    read_model,
    read_stream,
    read_tool_list,
)
from callsheet.wire.cleaning import clean
from callsheet.wire.jsontext import encode
from callsheet.wire.marking import MARK, may_stand
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields, fields, items, refuse, require_text

_READ: Final = frozenset({"model", "system", "messages", "tools"})

_CHOICES: Final = {
    "none": ToolChoice.NONE,
    "auto": ToolChoice.AUTO,
    "any": ToolChoice.REQUIRED,
    "tool": ToolChoice.NAMED,
}

_CLOSING: Final = {"role": "user", "content": [{"type": "text", "text": standins.CONTINUE}]}
"""What rendering puts behind a history that ends with the model's turn."""

_THREAD = "thread"
_INDEX = re.compile(r"\[(\d+)\]")

_JOINTS = ("\n\n", "\n", "")
"""Between the texts of a system prompt, where it is recorded as one."""


def read_request(
    body: object, *, model: str | None = None, stream: bool | None = None, remember: Remember = anew
) -> Asked:
    """Read a body. See `callsheet.wire.asked`."""
    try:
        return _read(body, model, stream, remember)
    except InvalidMessage as error:
        where = _as_named_here(error.where)
        problem = str(error).removeprefix(f"{error.where}: ")
        raise InvalidMessage(problem, where=where) from error


def _read(body: object, model: str | None, stream: bool | None, remember: Remember) -> Asked:
    found = fields(body, "")
    listed, previous = items(found.get("messages"), "messages"), _continued(found.get(_THREAD))
    if not listed and previous is None:
        # A thread goes on without any where the service paused its turn.
        refuse("must hold a message", listed, "messages")
    read = remember(parse_message)
    return Asked(
        wire=Wire.ANTHROPIC,
        model=read_model(found, model),
        instructions=_system(found.get("system")),
        blocks=tuple([block for at, each in enumerate(listed) for block in read(each, f"messages[{at}]")]),
        tools=read_tool_list(found.get("tools"), "tools"),
        choice=_choice(found.get("tool_choice")),
        stream=read_stream(found, stream),
        previous=previous,
        rest={key: value for key, value in found.items() if key not in _READ},
    )


def _as_named_here(where: str) -> str:
    """A place as the provider writes it: ``messages.3.content.0.text``."""
    return _INDEX.sub(r".\1", where.replace("system.content", "system", 1))


def write_request(asked: Asked, rendered: Fields, passes: Passes) -> Fields:
    """The body with the rendered history, and the beginning marked that the provider shall keep. See
    `callsheet.wire.asked`.

    The client's marks stay on its tools, and on its system text as far as that is unchanged; those in its messages
    make way for ours. A history that ends with the model's turn, which the model shall go on with, ends so again.
    """
    written: Fields = {"model": asked.model, **asked.rest}
    messages = rendered["messages"]
    assert isinstance(messages, list), "rendering writes a list"
    messages = messages[:-1] if _goes_on(asked, messages) else messages
    texts, messages = midway.restored(asked.blocks, _texts(rendered.get("system")), messages, passes)
    system = _written_system(asked, texts, passes)
    if system:
        written["system"] = system
    written["messages"] = native.restored(asked.blocks, messages, passes)
    added = added_tools(asked, rendered.get("tools"), lambda tool: tool.get("name"))
    if asked.tools:
        # A client that offers tools need not offer all that were ever called.
        added = [tool for tool in added if tool.get("description") != standins.OLD_TOOL]
    if asked.tools or added:
        written["tools"] = [*asked.tools, *added]
    if not asked.tools and "tool_choice" in rendered and "tool_choice" not in written:
        written["tool_choice"] = rendered["tool_choice"]
    if asked.previous is not None:
        # The whole history is sent, and the provider shall hold it as before.
        written[_THREAD] = {"type": "create"}
    return mark(asked, written, passes)


def _system(value: object) -> tuple[Said, ...]:
    """The system text; nothing for an empty one."""
    if value is None or value in ("", []):
        return ()
    (said,) = parse_message({"role": "system", "content": value}, "system")
    assert isinstance(said, Said), "there are no results in a message of the system"
    return (said,)


def _choice(value: object) -> ToolChoice:
    if value is None:
        return ToolChoice.AUTO
    found = fields(value, "tool_choice")
    type = require_text(found, "type", "tool_choice")
    if type not in _CHOICES:
        refuse(f"must be one of {', '.join(sorted(_CHOICES))}", type, "tool_choice.type")
    return _CHOICES[type]


def _continued(thread: object) -> str | None:
    """The response whose state, which the provider holds, the request goes on from."""
    found = fields(thread, _THREAD) if thread is not None else {}
    previous = found.get("previous_message_id")
    return previous if isinstance(previous, str) and previous else None


def _texts(system: object) -> list[str]:
    """The texts of a rendered system text."""
    if isinstance(system, list):
        return [str(block["text"]) for block in system]
    return [system] if isinstance(system, str) else []


def _written_system(asked: Asked, shown: list[str], passes: Passes) -> str | list[Fields]:
    """The system text, in the client's own blocks as far as these say the same, with what passes beside it."""
    blocks = [_with_what_passes(block, passes) for block in _client_blocks(asked)]
    if not blocks and len(shown) == 1:
        return shown[0]
    texts = [clean(str(block["text"])) for block in blocks]
    if shown and texts and shown[0] != texts[0] and any(joint.join(texts) == shown[0] for joint in _JOINTS):
        shown = [*texts, *shown[1:]]
    same = next((at for at, pair in enumerate(zip(shown, texts, strict=False)) if pair[0] != pair[1]), len(texts))
    written = [block | {"text": text} for block, text in zip(blocks[:same], shown, strict=False)]
    written += ({"type": "text", "text": text} for text in shown[same:])
    return written


def _client_blocks(asked: Asked) -> list[Fields]:
    """The blocks of the client's system text that show something; none where it is one text."""
    (message,) = export(asked.instructions) or ({},)
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if block.get("type") == "text" and str(block["text"]).strip()]


def _with_what_passes(block: Fields, passes: Passes) -> Fields:
    beside = {key: value for key, value in block.items() if key not in _TEXT_KEYS}
    kept = {
        key: value
        for key, value in beside.items()
        if (may_stand(value, passes) if key == MARK else passes(encode({key: value}, "system")))
    }
    return block if len(kept) == len(beside) else {**{key: block[key] for key in _TEXT_KEYS}, **kept}


_TEXT_KEYS = ("type", "text")


def _goes_on(asked: Asked, messages: list[Fields]) -> bool:
    """Whether the model shall go on with its own turn, behind which rendering put words of the user's."""
    last = asked.blocks[-1] if asked.blocks else None
    begun = isinstance(last, Said) and last.role is Role.ASSISTANT
    return begun and messages[-1] == _CLOSING and messages[-2:-1] != [] and messages[-2]["role"] == "assistant"
