"""A whole request body, read: what every format says in it, and the rest as it came."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from callsheet.assemble.blocks import Block, Said
from callsheet.graph.enums import INSTRUCTING
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields, fields, items, refuse

Passes: TypeAlias = Callable[[str], bool]
"""Whether something of the client's that no policy has looked at may go to the provider, told by its text or JSON."""


ReadMessage: TypeAlias = Callable[[object, str], tuple[Block, ...]]
"""Reads one message, from its value and its place."""

Remember: TypeAlias = Callable[[ReadMessage], ReadMessage]
"""Gives what reads messages as another does, and may know those that it has read before."""


def anew(read: ReadMessage) -> ReadMessage:
    """Knows none."""
    return read


def nothing(text: str) -> bool:
    """Nothing of it may."""
    return False


class ToolChoice(StrEnum):
    """Whether the model may call tools."""

    #: As it likes; also where the client says nothing of it.
    AUTO = "auto"
    NONE = "none"
    #: Some tool.
    REQUIRED = "required"
    #: One that is named, or some of those that are named.
    NAMED = "named"


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A request body. `read_request` makes it and changes nothing that it was given."""

    wire: Wire
    #: As the request names it; empty: nowhere (a prompt that the provider keeps may name it).
    model: str
    #: What stands before everything else: the system text, system and developer messages at the beginning.
    instructions: tuple[Said, ...]
    #: The conversation that the client sent, in its order. Exact: `formats.export` gives the messages back.
    blocks: tuple[Block, ...]
    #: As they came, those of the provider's own kinds included.
    tools: tuple[Fields, ...]
    choice: ToolChoice
    stream: bool
    #: The response or conversation kept at the provider that this one goes on from, by id.
    previous: str | None = None
    #: Every other key as it came: all but the model, the messages, the instructions, the tools and `previous`. The
    #: client's own tool choice and streaming are among them, where the body holds them.
    rest: Fields


def leading(blocks: Sequence[Block]) -> tuple[tuple[Said, ...], tuple[Block, ...]]:
    """The instructions before everything else, and what follows them."""
    found: list[Said] = []
    for block in blocks:
        if not isinstance(block, Said) or block.role not in INSTRUCTING:
            break
        found.append(block)
    return tuple(found), tuple(blocks[len(found) :])


def read_model(found: Mapping[str, object], given: str | None) -> str:
    """The model of a body, or else the one that its address names. Refuses a request that names none."""
    model = found.get("model", given)
    if not isinstance(model, str) or not model:
        refuse("must be the name of a model", model, "model")
    return model


def read_choice(given: object, known: Mapping[str, ToolChoice]) -> ToolChoice:
    """The tool choice of a body: none, one of the `known` words, or an object that names tools."""
    if given is None:
        return ToolChoice.AUTO
    if isinstance(given, str):
        if given not in known:
            refuse(f"must be one of {', '.join(sorted(known))}, or an object", given, "tool_choice")
        return known[given]
    fields(given, "tool_choice")
    return ToolChoice.NAMED


def read_stream(found: Mapping[str, object], given: bool | None) -> bool:
    """Whether a body asks for a stream, or else its address does."""
    stream = found.get("stream")
    if stream is None:
        return bool(given)
    if not isinstance(stream, bool):
        refuse("must be true or false", stream, "stream")
    return stream


def read_tool_list(value: object, where: str) -> tuple[Fields, ...]:
    """The tools of a body, each as it came; null is none. Refuses what is no list of objects."""
    if value is None:
        return ()
    return tuple(fields(each, f"{where}[{at}]") for at, each in enumerate(items(value, where)))


def added_tools(
    asked: Asked, rendered: object, name_of: Callable[[Mapping[str, object]], object]
) -> list[dict[str, object]]:
    """The tools of a rendered request that the client does not offer itself."""
    own = {name for name in map(name_of, asked.tools) if isinstance(name, str)}
    return [tool for tool in read_tool_list(rendered, "tools") if name_of(tool) not in own]
