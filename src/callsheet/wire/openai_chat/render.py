"""From neutral blocks to the messages of a Chat Completions request.

Every block becomes one message in its place. A tool message holds text alone, so pictures and PDFs that tools returned
follow in one user message behind the results of their turn. More blocks change no earlier message.
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from callsheet.assemble.blocks import Answer, Block, Content, Media, Part, Said, Text
from callsheet.assemble.standins import EMPTY, NO_OUTPUT
from callsheet.graph.enums import Role
from callsheet.wire import media, standins
from callsheet.wire.cleaning import clean
from callsheet.wire.content import is_parts, shown_texts
from callsheet.wire.names import CallIds, Wire, allowed_name
from callsheet.wire.openai_chat import shapes
from callsheet.wire.openai_chat.parts import media_part, tool_call
from callsheet.wire.openai_chat.shapes import (
    AssistantMessage,
    AssistantPart,
    InstructionMessage,
    Message,
    RefusalPart,
    TextPart,
    ToolMessage,
    UserMessage,
    UserPart,
)
from callsheet.wire.openai_chat.tools import offered
from callsheet.wire.refusals import is_refusal
from callsheet.wire.tools import Tool

P = TypeVar("P", bound=UserPart | AssistantPart)

_FOLLOWING = ("image_url", "file")
"""Parts that follow a tool message in a user message. Sound stays out: few models take it."""


class Rendering:
    """The messages of composed blocks, which are given one after another."""

    def __init__(self) -> None:
        self._ids = CallIds(shapes.CALL_ID)
        self._messages: list[Message] = []
        #: What follows the results of the newest turn.
        self._returned: list[UserPart] = []

    def add(self, blocks: Sequence[Block]) -> None:
        """Render what follows."""
        for block in blocks:
            if isinstance(block, Answer):
                message, pictures = _tool(block, self._ids.of(block.call))
                self._messages.append(message)
                self._returned += pictures
                continue
            self._messages += self._following()
            self._returned = []
            self._messages.append(_said(block, self._ids))

    def _following(self) -> list[Message]:
        return [UserMessage(role="user", content=list(self._returned))] if self._returned else []

    def messages(self) -> list[Message]:
        """The messages of all blocks so far."""
        return [*self._messages, *self._following()]

    @property
    def settled(self) -> int:
        """How many messages, from the first, no further block changes."""
        return len(self._messages)

    def request(self, *, model: str, tools: Sequence[Tool], max_tokens: int | None) -> dict[str, object]:
        """The body of a request. This format demands no limit of the reply, so none is sent."""
        request: dict[str, object] = {"model": model, "messages": self.messages()}
        if tools:
            request["tools"] = [offered(tool) for tool in tools]
        return request


def render_messages(blocks: Sequence[Block]) -> list[Message]:
    """The messages of composed blocks."""
    rendering = Rendering()
    rendering.add(blocks)
    return rendering.messages()


def _said(said: Said, ids: CallIds) -> Message:
    message = _by_role(said, ids)
    name = allowed_name(said.name, shapes.LONGEST_NAME) if said.name is not None else ""
    if name:
        message["name"] = name
    return message


def _by_role(said: Said, ids: CallIds) -> InstructionMessage | UserMessage | AssistantMessage:
    match said.role:
        case Role.USER:
            shown = list(_user_parts(said.parts)) or [_text(EMPTY)]
            return UserMessage(role="user", content=_content(shown, said))
        case Role.ASSISTANT:
            return _assistant(said, ids)
        case Role.SYSTEM:
            return InstructionMessage(role="system", content=_instruction(said))
        case Role.DEVELOPER:
            return InstructionMessage(role="developer", content=_instruction(said))


def _instruction(said: Said) -> str | list[TextPart]:
    return _content(_texts(said.parts) or [_text(EMPTY)], said)


def _assistant(said: Said, ids: CallIds) -> AssistantMessage:
    calls = [tool_call(call, ids.of(call.id)) for call in said.calls]
    shown = list(_assistant_parts(said.parts))
    if calls:
        return AssistantMessage(role="assistant", content=_content(shown, said) if shown else None, tool_calls=calls)
    return AssistantMessage(role="assistant", content=_content(shown or [_text(EMPTY)], said))


def _tool(answer: Answer, id: str) -> tuple[ToolMessage, list[UserPart]]:
    """The message of a result, and the parts that have to follow it."""
    texts: list[TextPart] = []
    following: list[UserPart] = []
    for part in answer.content:
        shown = media_part(part) if isinstance(part, Media) else None
        if isinstance(part, Media) and shown is not None and shown["type"] in _FOLLOWING:
            texts.append(_text(standins.shown_below(part.mime or media.kind(part).value)))
            following += [shown] if following else [_text(standins.returned_by(id)), shown]
        else:
            texts.extend(_texts([part]))
    content = _content(texts or [_text(NO_OUTPUT)], answer)
    return ToolMessage(role="tool", tool_call_id=id, content=content), following


def _content(shown: list[P], block: Said | Answer) -> str | list[P]:
    """A single text as text; as parts when there are several, or when it came so in this format."""
    text = shown[0].get("text") if len(shown) == 1 else None
    came_as_parts = is_parts(block.form) and block.wire == Wire.OPENAI
    return text if isinstance(text, str) and not came_as_parts else shown


def _text(text: str) -> TextPart:
    return TextPart(type="text", text=clean(text))


def _texts(parts: Sequence[Part | Content]) -> list[TextPart]:
    """What is shown of parts where only text may stand."""
    return [TextPart(type="text", text=text) for text in shown_texts(parts)]


def _user_parts(parts: Sequence[Part]) -> Iterator[UserPart]:
    for part in parts:
        if isinstance(part, Media):
            yield media_part(part)
        else:
            yield from _texts([part])


def _assistant_parts(parts: Sequence[Part]) -> Iterator[AssistantPart]:
    for part in parts:
        if isinstance(part, Text) and part.text.strip() and is_refusal(part):
            yield RefusalPart(type="refusal", refusal=clean(part.text))
        else:
            yield from _texts([part])
