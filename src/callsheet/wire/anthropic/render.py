"""From neutral blocks to the system text and the messages of a Messages request.

Turns of one role in a row become one message, results first; the first turn is the user's, and so is the last. More
blocks append messages or append content to the last one, and change nothing before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from callsheet.assemble.blocks import Answer, Block, Call, Content, Media, Opaque, Part, Reasoning, Said
from callsheet.assemble.standins import BEGINNING, EMPTY, NO_OUTPUT
from callsheet.graph.enums import Role
from callsheet.wire import standins
from callsheet.wire.anthropic import shapes
from callsheet.wire.anthropic.parts import as_recorded, media_block, thinking, tool_use
from callsheet.wire.anthropic.shapes import Message, ResultPart, TextBlock, ToolResultBlock
from callsheet.wire.anthropic.tools import offered, remembered
from callsheet.wire.body import leading
from callsheet.wire.cleaning import clean
from callsheet.wire.content import STRING, shown_texts
from callsheet.wire.names import CallIds
from callsheet.wire.tools import Tool

DEFAULT_MAX_TOKENS = 4096
"""The limit of the reply, which this format demands, where none is given."""


class Rendering:
    """The system text and the messages of composed blocks, which are given one after another."""

    def __init__(self) -> None:
        self._ids = CallIds(shapes.CALL_ID)
        self._leading: list[Said] = []
        self._turns = _Turns()
        self._begun = False

    def add(self, blocks: Sequence[Block]) -> None:
        """Render what follows."""
        instructions, rest = leading(blocks) if not self._begun else ((), blocks)
        self._leading += instructions
        for block in rest:
            self._begun = True
            if isinstance(block, Answer):
                self._turns.add("user", [result(block, self._ids)])
            elif block.role is Role.ASSISTANT:
                self._turns.add("assistant", assistant(block.parts, self._ids))
            elif block.role is Role.USER:
                self._turns.add("user", user(block.parts))
            else:
                self._turns.add("user", note(block))

    def messages(self) -> list[Message]:
        """The messages of all blocks so far, without the instructions before everything else; none without blocks."""
        return self._turns.closed() if self._begun or self._leading else []

    @property
    def settled(self) -> int:
        """How many messages, from the first, no further block changes."""
        return max(0, len(self._turns.messages) - 1)

    def system(self) -> str | list[TextBlock] | None:
        """The system text: the instructions that stand before everything else. None without any."""
        texts = [text for said in self._leading for text in _texts(said.parts)]
        if len(texts) == 1 and self._leading[0].form == STRING:
            return texts[0]["text"]
        return texts or None

    def request(self, *, model: str, tools: Sequence[Tool], max_tokens: int | None) -> dict[str, object]:
        """The body of a request. Calls in one without tools are refused, so the tools called are named then."""
        messages = self.messages()
        request: dict[str, object] = {"model": model, "max_tokens": max_tokens or DEFAULT_MAX_TOKENS}
        system = self.system()
        if system is not None:
            request["system"] = system
        request["messages"] = messages
        if tools:
            request["tools"] = [offered(tool) for tool in tools]
        elif called := remembered(messages):
            request["tools"] = called
            request["tool_choice"] = {"type": "none"}
        return request


def render_messages(blocks: Sequence[Block]) -> list[Message]:
    """The messages of composed blocks, without the instructions before everything else; none without blocks."""
    rendering = Rendering()
    rendering.add(blocks)
    return rendering.messages()


@dataclass(slots=True)
class _Turns:
    """Messages that alternate between user and assistant."""

    messages: list[Message] = field(default_factory=list)

    def add(self, role: Literal["user", "assistant"], content: Sequence[shapes.Block]) -> None:
        """Append content to the last turn if that is of this role, else a turn."""
        last = self.messages[-1] if self.messages else None
        if last is None and role == "assistant":
            self.messages.append(_says(BEGINNING))
        elif last is not None and last["role"] == role:
            if content[0]["type"] not in shapes.THINKING:
                last["content"].extend(content)
                return
            # Thinking must open its turn, so the two assistant turns are kept apart.
            self.messages.append(_says(standins.CONTINUE))
        self.messages.append(Message(role=role, content=list(content)))

    def closed(self) -> list[Message]:
        """The messages, ending with a turn of the user."""
        if not self.messages:
            return [_says(BEGINNING)]
        return [*self.messages, *([_says(standins.CONTINUE)] if self.messages[-1]["role"] == "assistant" else [])]


def _says(text: str) -> Message:
    return Message(role="user", content=[_text(text)])


def _text(text: str) -> TextBlock:
    return TextBlock(type="text", text=clean(text))


def _texts(parts: Sequence[Part | Content]) -> list[TextBlock]:
    """What is shown of parts where only text may stand."""
    return [TextBlock(type="text", text=text) for text in shown_texts(parts)]


def note(said: Said) -> list[shapes.Block]:
    """A system text inside the history, as the user's."""
    first, *others = _texts(said.parts) or [_text(EMPTY)]
    return [_text(standins.SYSTEM_NOTE + first["text"]), *others]


def user(parts: Sequence[Part]) -> list[shapes.Block]:
    """What a user said."""
    return list(_shown(parts, "user")) or [_text(EMPTY)]


def assistant(parts: Sequence[Part], ids: CallIds) -> list[shapes.Block]:
    """What a model said."""
    shown: list[shapes.Block] = []
    for part in parts:
        if isinstance(part, Call):
            shown.append(tool_use(part, ids.of(part.id)))
        elif isinstance(part, Opaque):
            shown.extend(as_recorded(part, "assistant"))
        elif isinstance(part, Reasoning):
            shown.extend(thinking(part))
        else:
            shown.extend(_texts([part]))
    # Thinking after which nothing came was cut off; the service refuses it at the end.
    while shown and shown[-1]["type"] in shapes.THINKING:
        shown.pop()
    return shown or [_text(EMPTY)]


def result(answer: Answer, ids: CallIds) -> ToolResultBlock:
    """The result of a call."""
    # The content of an error may only be text.
    shown = [*(_texts(answer.content) if answer.failed else _shown(answer.content, "tool_result"))]
    shown = shown or [_text(NO_OUTPUT)]
    only = shown[0].get("text") if answer.form == STRING and len(shown) == 1 else None
    content = only if isinstance(only, str) else shown
    block = ToolResultBlock(type="tool_result", tool_use_id=ids.of(answer.call), content=content)
    if answer.failed:
        block["is_error"] = True
    return block


def _shown(parts: Sequence[Part | Content], place: Literal["user", "tool_result"]) -> Iterator[ResultPart]:
    for part in parts:
        if isinstance(part, Media):
            yield media_block(part)
        elif isinstance(part, Opaque):
            yield from as_recorded(part, place)
        else:
            yield from _texts([part])
