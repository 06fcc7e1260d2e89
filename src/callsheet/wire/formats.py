"""The formats of providers, by name: messages and responses in, requests out, and messages as they were recorded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import msgspec

from callsheet.assemble.blocks import Block, Reply
from callsheet.errors import EmptyRequest, InvalidOption
from callsheet.wire.anthropic import export as anthropic_export
from callsheet.wire.anthropic import parse as anthropic_parse
from callsheet.wire.anthropic import render as anthropic_render
from callsheet.wire.detect import detect, is_reply, mark, refuse_others
from callsheet.wire.names import Wire
from callsheet.wire.openai_chat import export as openai_export
from callsheet.wire.openai_chat import parse as openai_parse
from callsheet.wire.openai_chat import render as openai_render
from callsheet.wire.reading import Fields, items, plain, refuse
from callsheet.wire.tokens.providers import Family, family
from callsheet.wire.tools import Tool, read_tool, read_tools, sendable

__all__ = [
    "Rendering",
    "Wire",
    "check_tools",
    "detect",
    "export",
    "is_reply",
    "parse",
    "parse_messages",
    "parse_reply",
    "render",
    "render_messages",
    "tool_name",
    "wire_named",
    "wire_of",
]


class _Rendering(Protocol):
    def add(self, blocks: Sequence[Block]) -> None: ...
    def messages(self) -> Sequence[Mapping[str, object]]: ...
    @property
    def settled(self) -> int: ...
    def request(self, *, model: str, tools: Sequence[Tool], max_tokens: int | None) -> Fields: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class _Format:
    parse_message: Callable[[object, str], tuple[Block, ...]]
    parse_reply: Callable[[object, str], Reply]
    rendering: Callable[[], _Rendering]
    export: Callable[[Sequence[Block]], list[Fields]]


_FORMATS: Final = {
    Wire.OPENAI: _Format(
        parse_message=openai_parse.parse_message,
        parse_reply=openai_parse.parse_reply,
        rendering=openai_render.Rendering,
        export=openai_export.export,
    ),
    Wire.ANTHROPIC: _Format(
        parse_message=anthropic_parse.parse_message,
        parse_reply=anthropic_parse.parse_reply,
        rendering=anthropic_render.Rendering,
        export=anthropic_export.export,
    ),
}


def wire_named(name: str) -> Wire:
    """The format of this name. Raises `InvalidOption` for another."""
    try:
        return Wire(name)
    except ValueError:
        known = ", ".join(repr(wire.value) for wire in Wire)
        raise InvalidOption(f"format {name!r} is not known; known are {known}") from None


def wire_of(provider: str) -> Wire:
    """The format in which a provider takes requests: Anthropic its own, every other OpenAI's Chat Completions."""
    return Wire.ANTHROPIC if family(provider) is Family.ANTHROPIC else Wire.OPENAI


def parse(value: object, wire: Wire | None = None) -> tuple[Block | Reply, ...]:
    """Read a message, a response, or a list of both: dicts, or objects of the provider's SDK.

    Without `wire`, each is read in the format that it shows, or else in that of the first in the list that shows one.
    Raises `InvalidMessage` with the place and the value for what is of no format.
    """
    if not isinstance(value, list | tuple):
        return _item(value, wire or detect(value), "message")
    otherwise = wire or detect(value)
    return tuple(
        read
        for at, item in enumerate(items(value, "messages"))
        for read in _item(item, wire or mark(item) or otherwise, f"messages[{at}]")
    )


def _item(value: object, wire: Wire, where: str) -> tuple[Block | Reply, ...]:
    found = plain(value, where)
    refuse_others(found, where)
    return (parse_reply(found, wire, where),) if is_reply(found) else _FORMATS[wire].parse_message(found, where)


def parse_messages(value: object, wire: Wire | None = None, where: str = "messages") -> tuple[Block, ...]:
    """Read a message or a list of messages, as `parse` does. `where` begins the places that errors name."""
    otherwise = wire or detect(value)
    if not isinstance(value, list | tuple):
        return _FORMATS[otherwise].parse_message(value, where)
    return tuple(
        block
        for at, item in enumerate(items(value, where))
        for block in _FORMATS[wire or mark(item) or otherwise].parse_message(item, f"{where}[{at}]")
    )


def parse_reply(value: object, wire: Wire | None = None, where: str = "reply") -> Reply:
    """Read a whole response: its message, how it ended, and its usage."""
    if not is_reply(value):
        refuse("must be a response of a known provider", value, where)
    return _FORMATS[wire or detect(value)].parse_reply(value, where)


class Rendering:
    """Renders requests of one format from composed blocks, each of which goes on from the one before."""

    def __init__(self, wire: Wire) -> None:
        self._rendering = _FORMATS[wire].rendering()
        self._encoded: list[bytes] = []
        self._empty = True

    def add(self, blocks: Sequence[Block]) -> None:
        """Render what follows. After an error it is of no further use."""
        self._rendering.add(blocks)
        self._empty = self._empty and not blocks

    def messages(self) -> list[Fields]:
        """The messages alone; for Anthropic without the instructions at the beginning."""
        return [dict(message) for message in self._rendering.messages()]

    def encoded(self) -> tuple[bytes, ...]:
        """Each of the messages as JSON; those that nothing changed since they were asked for last are remembered."""
        messages, known = self._rendering.messages(), self._encoded
        known += map(msgspec.json.encode, messages[len(known) : self._rendering.settled])
        return (*known, *map(msgspec.json.encode, messages[len(known) :]))

    def request(self, *, model: str, tools: object = None, max_tokens: int | None = None) -> Fields:
        """The body of a request that the provider accepts. See `render`."""
        if self._empty:
            raise EmptyRequest
        read = read_tools(tools) if tools is not None else []
        return self._rendering.request(model=model, tools=read, max_tokens=max_tokens)


def render(
    blocks: Sequence[Block],
    wire: Wire,
    *,
    model: str,
    tools: object = None,
    max_tokens: int | None = None,
) -> Fields:
    """The body of a request that the provider accepts, from composed blocks.

    `tools` is a list of tools in either provider's shape; `InvalidMessage` for what is none. Anthropic refuses calls in
    a request without tools, so there the tools that the history calls are offered minimally and may not be called.
    `max_tokens` goes into formats that demand a limit (Anthropic's). Raises `EmptyRequest` without blocks.
    """
    rendering = Rendering(wire)
    rendering.add(blocks)
    return rendering.request(model=model, tools=tools, max_tokens=max_tokens)


def render_messages(blocks: Sequence[Block], wire: Wire) -> list[Fields]:
    """The messages of such a request alone; for Anthropic without the instructions at the beginning."""
    rendering = Rendering(wire)
    rendering.add(blocks)
    return rendering.messages()


def export(blocks: Sequence[Block], wire: Wire) -> list[Fields]:
    """The messages that the blocks were parsed from: nothing cleaned, nothing repaired, so not always a valid request.

    Blocks of another format lose what is not neutral: reasoning, opaque blocks, extra keys.
    """
    return _FORMATS[wire].export(blocks)


def tool_name(tool: object, where: str) -> str:
    """The name of a tool in either provider's shape. Raises `InvalidMessage` for what is no tool."""
    return read_tool(tool, where).name


def check_tools(tools: object) -> list[Fields]:
    """The tools of a list as plain JSON in the shapes that they were given in, cleaned for any provider.

    Raises `InvalidMessage` for what is no list, for what is no tool, and for a repeated name.
    """
    read_tools(tools)
    return [sendable(tool, f"tools[{at}]") for at, tool in enumerate(items(tools, "tools"))]
