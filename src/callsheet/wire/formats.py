"""The formats of providers, by name: messages and responses in, requests out, and messages as they were recorded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Protocol

import msgspec

from callsheet.assemble.blocks import Block, Reply
from callsheet.errors import EmptyRequest, InvalidOption
from callsheet.wire.anthropic import export as anthropic_export
from callsheet.wire.anthropic import parse as anthropic_parse
from callsheet.wire.anthropic import render as anthropic_render
from callsheet.wire.detect import detect, is_reply, mark, refuse_others
from callsheet.wire.gemini import export as gemini_export
from callsheet.wire.gemini import parse as gemini_parse
from callsheet.wire.gemini import render as gemini_render
from callsheet.wire.gemini import replies as gemini_replies
from callsheet.wire.gemini import request as gemini_request
from callsheet.wire.gemini.shapes import wants_signatures
from callsheet.wire.names import Wire
from callsheet.wire.openai_chat import export as openai_export
from callsheet.wire.openai_chat import parse as openai_parse
from callsheet.wire.openai_chat import render as openai_render
from callsheet.wire.openai_responses import export as responses_export
from callsheet.wire.openai_responses import parse as responses_parse
from callsheet.wire.openai_responses import render as responses_render
from callsheet.wire.reading import Fields, fields, items, plain, refuse
from callsheet.wire.tokens.providers import Family, family
from callsheet.wire.tools import Tool, read_tool, read_tools, sendable, singly, tools_named

__all__ = [
    "Rendering",
    "Wire",
    "arguments",
    "check_tools",
    "detect",
    "dialect",
    "each_tool",
    "export",
    "history_key",
    "is_reply",
    "parse",
    "parse_messages",
    "parse_reply",
    "render",
    "render_messages",
    "sent_tools",
    "tool_name",
    "tools_named",
    "wire_named",
    "wire_of",
]


class _Rendering(Protocol):
    def add(self, blocks: Sequence[Block]) -> None: ...
    def messages(self) -> Sequence[Mapping[str, object]]: ...
    @property
    def settled(self) -> int: ...
    def request(self, *, model: str, tools: Sequence[Tool], max_tokens: int | None) -> Fields: ...


Placed = tuple[object, str]
"""A message or an item, and its place."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Format:
    #: Reads messages that stand in a row: in some formats several make up one turn.
    parse_messages: Callable[[Sequence[Placed]], tuple[Block, ...]]
    parse_reply: Callable[[object, str], Reply]
    #: For requests of a model; an empty name: which one is not known.
    rendering: Callable[[str], _Rendering]
    export: Callable[[Sequence[Block]], list[Fields]]
    #: Under which key a request has its messages.
    history: str = "messages"
    #: A request as the method of the provider's SDK takes it.
    arguments: Callable[[Fields], Fields] = lambda request: request


def _each(parse_message: Callable[[object, str], tuple[Block, ...]]) -> Callable[[Sequence[Placed]], tuple[Block, ...]]:
    """For a format in which every message is read by itself."""
    return lambda given: tuple(block for value, where in given for block in parse_message(value, where))


def _for_any(rendering: Callable[[], _Rendering]) -> Callable[[str], _Rendering]:
    """For a format in which every model takes the same."""
    return lambda _: rendering()


_FORMATS: Final = {
    Wire.OPENAI: _Format(
        parse_messages=_each(openai_parse.parse_message),
        parse_reply=openai_parse.parse_reply,
        rendering=_for_any(openai_render.Rendering),
        export=openai_export.export,
    ),
    Wire.OPENAI_RESPONSES: _Format(
        parse_messages=responses_parse.parse_items,
        parse_reply=responses_parse.parse_reply,
        rendering=_for_any(responses_render.Rendering),
        export=responses_export.export,
        history="input",
    ),
    Wire.ANTHROPIC: _Format(
        parse_messages=_each(anthropic_parse.parse_message),
        parse_reply=anthropic_parse.parse_reply,
        rendering=_for_any(anthropic_render.Rendering),
        export=anthropic_export.export,
    ),
    Wire.GEMINI: _Format(
        parse_messages=_each(gemini_parse.parse_message),
        parse_reply=gemini_replies.parse_reply,
        rendering=gemini_render.Rendering,
        export=gemini_export.export,
        history="contents",
        arguments=gemini_request.arguments,
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
    """The format in which a provider takes requests: Anthropic and Gemini their own, one whose name ends with
    ``-responses`` OpenAI Responses, every other OpenAI's Chat Completions.
    """
    if provider.strip().lower().endswith(("-responses", "_responses")):
        return Wire.OPENAI_RESPONSES
    return {Family.ANTHROPIC: Wire.ANTHROPIC, Family.GEMINI: Wire.GEMINI}.get(family(provider), Wire.OPENAI)


def dialect(wire: Wire, model: str) -> str:
    """What tells requests of a format apart that models take differently; empty where they all take the same."""
    return ", unsigned" if wire is Wire.GEMINI and not wants_signatures(model) else ""


def arguments(request: Fields, wire: Wire) -> Fields:
    """The arguments with which the provider's SDK sends a request."""
    return _FORMATS[wire].arguments(request)


def history_key(wire: Wire) -> str:
    """The key under which a request of the format has its messages."""
    return _FORMATS[wire].history


def parse(value: object, wire: Wire | None = None) -> tuple[Block | Reply, ...]:
    """Read a message, a response, or a list of both: dicts, or objects of the provider's SDK.

    Without `wire`, each is read in the format that it shows, or else in that of the first in the list that shows one.
    Raises `InvalidMessage` with the place and the value for what is of no format.
    """
    otherwise = wire or detect(value)
    if not isinstance(value, list | tuple):
        return _read([_given(value, otherwise, "message")])
    return _read(
        [
            _given(item, wire or mark(item) or otherwise, f"messages[{at}]")
            for at, item in enumerate(items(value, "messages"))
        ]
    )


@dataclass(frozen=True, slots=True)
class _Given:
    value: object
    where: str
    wire: Wire
    whole: bool


def _given(value: object, wire: Wire, where: str) -> _Given:
    found = plain(value, where)
    refuse_others(found, where)
    return _Given(found, where, wire, is_reply(found))


def _read(given: Sequence[_Given]) -> tuple[Block | Reply, ...]:
    """Responses each by itself; messages together with those of their format that stand in a row with them."""
    read: list[Block | Reply] = []
    for (wire, whole), group in groupby(given, key=lambda one: (one.wire, one.whole)):
        if whole:
            read += [_FORMATS[wire].parse_reply(one.value, one.where) for one in group]
        else:
            read += _FORMATS[wire].parse_messages([(one.value, one.where) for one in group])
    return tuple(read)


def parse_messages(value: object, wire: Wire | None = None, where: str = "messages") -> tuple[Block, ...]:
    """Read a message or a list of messages, as `parse` does. `where` begins the places that errors name."""
    otherwise = wire or detect(value)
    if not isinstance(value, list | tuple):
        return _FORMATS[otherwise].parse_messages([(value, where)])
    given = [(item, f"{where}[{at}]") for at, item in enumerate(items(value, where))]
    return tuple(
        block
        for format, group in groupby(given, key=lambda one: wire or mark(one[0]) or otherwise)
        for block in _FORMATS[format].parse_messages(list(group))
    )


def parse_reply(value: object, wire: Wire | None = None, where: str = "reply") -> Reply:
    """Read a whole response: its message, how it ended, and its usage."""
    if not is_reply(value):
        refuse("must be a response of a known provider", value, where)
    return _FORMATS[wire or detect(value)].parse_reply(value, where)


class Rendering:
    """Renders requests of one format from composed blocks, each of which goes on from the one before."""

    def __init__(self, wire: Wire, model: str = "") -> None:
        self._rendering = _FORMATS[wire].rendering(model)
        self._encoded: list[bytes] = []
        self._empty = True

    def add(self, blocks: Sequence[Block]) -> None:
        """Render what follows. After an error it is of no further use."""
        self._rendering.add(blocks)
        self._empty = self._empty and not blocks

    def messages(self) -> list[Fields]:
        """The messages alone; without the instructions at the beginning but for Chat Completions."""
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

    `tools` is a list of tools in any format's shape; `InvalidMessage` for what is none. Anthropic refuses calls in
    a request without tools, so there the tools that the history calls are offered minimally and may not be called.
    `max_tokens` goes into formats that demand a limit (Anthropic's). Raises `EmptyRequest` without blocks.
    """
    rendering = Rendering(wire, model)
    rendering.add(blocks)
    return rendering.request(model=model, tools=tools, max_tokens=max_tokens)


def render_messages(blocks: Sequence[Block], wire: Wire, model: str = "") -> list[Fields]:
    """The messages of such a request alone; without the instructions at the beginning but for Chat Completions."""
    rendering = Rendering(wire, model)
    rendering.add(blocks)
    return rendering.messages()


def export(blocks: Sequence[Block], wire: Wire) -> list[Fields]:
    """The messages that the blocks were parsed from: nothing cleaned, nothing repaired, so not always a valid request.

    Blocks of another format lose what is not neutral: reasoning, opaque blocks, extra keys.
    """
    return _FORMATS[wire].export(blocks)


def sent_tools(tools: Sequence[Fields], wire: Wire) -> list[Fields]:
    """Tools in any format's shape as a request of this format offers them. Raises `InvalidMessage`."""
    request = _FORMATS[wire].rendering("").request(model="", tools=read_tools(tools), max_tokens=None)
    return [fields(tool, f"tools[{at}]") for at, tool in enumerate(items(request.get("tools", []), "tools"))]


def tool_name(tool: object, where: str) -> str:
    """The name of a tool in any format's shape. Raises `InvalidMessage` for what is no tool."""
    return read_tool(tool, where).name


def each_tool(tools: Sequence[Fields]) -> list[Fields]:
    """The tools of a request, one for each function, also where one of Gemini's holds several."""
    return [fields(tool, f"tools[{at}]") for at, tool in enumerate(singly(tools))]


def check_tools(tools: object) -> list[Fields]:
    """The tools of a list as plain JSON in the shapes that they were given in, cleaned for any provider: one for each
    function, also where one of Gemini's tools holds several.

    Raises `InvalidMessage` for what is no list, for what is no tool, and for a repeated name.
    """
    read_tools(tools)
    return [sendable(tool, f"tools[{at}]") for at, tool in enumerate(singly(items(tools, "tools")))]
