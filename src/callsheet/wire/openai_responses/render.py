"""From neutral blocks to the instructions and the items of a Responses request.

The first instruction that stands before everything else goes into ``instructions``; every other message, each call and
each result is an item in its place. More blocks change no earlier item.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from callsheet.assemble.blocks import Answer, Block, Call, Content, Media, Part, Said
from callsheet.assemble.standins import BEGINNING, EMPTY, NO_OUTPUT
from callsheet.graph.enums import Role
from callsheet.wire.cleaning import clean
from callsheet.wire.content import is_parts, shown_texts
from callsheet.wire.names import CUSTOM, CallIds, Wire
from callsheet.wire.openai_responses import native, shapes
from callsheet.wire.openai_responses.parts import media_part
from callsheet.wire.openai_responses.shapes import AsRecorded, CallOutput, InputMessage, InputPart, InputText, Item
from callsheet.wire.openai_responses.tools import offered
from callsheet.wire.openai_responses.turns import Turn
from callsheet.wire.tools import Tool


@dataclass(kw_only=True, slots=True)
class _Waiting:
    """A turn that calls a tool of the service: how it is sent depends on what its calls came to."""

    said: Said
    answers: list[Answer] = field(default_factory=list)


class Rendering:
    """The instructions and the items of composed blocks, which are given one after another."""

    def __init__(self) -> None:
        self._ids = CallIds(shapes.CALL_ID)
        self._used: set[str] = set()
        self._items: list[Item] = []
        self._instructions: Said | None = None
        self._begun = False
        self._waiting: _Waiting | None = None
        #: Kinds of the newest turn's calls, by the id they were composed with.
        self._custom: set[str | None] = set()

    def add(self, blocks: Sequence[Block]) -> None:
        """Render what follows."""
        for block in blocks:
            if isinstance(block, Answer):
                self._answer(block)
            else:
                self._flush()
                self._said(block)
            self._begun = True

    def messages(self) -> list[Item]:
        """The items of all blocks so far, without the instruction before everything else; none without blocks.

        A turn that calls a tool of the service is not among them before its results are.
        """
        if not self._items and self._begun:
            return [InputMessage(role="user", content=BEGINNING)]
        return list(self._items)

    @property
    def settled(self) -> int:
        """How many items, from the first, no further block changes."""
        return len(self._items)

    def instructions(self) -> str | None:
        """The instruction that stands before everything else. None without any."""
        if self._instructions is None:
            return None
        return "\n\n".join(shown_texts(self._instructions.parts)) or EMPTY

    def request(self, *, model: str, tools: Sequence[Tool], max_tokens: int | None) -> dict[str, object]:
        """The body of a request. This format demands no limit of the reply, so none is sent."""
        request: dict[str, object] = {"model": model}
        instructions = self.instructions()
        if instructions is not None:
            request["instructions"] = instructions
        request["input"] = self.messages()
        if tools:
            request["tools"] = [offered(tool) for tool in tools]
        return request

    # ------------------------------------------------------------------ blocks

    def _said(self, said: Said) -> None:
        if said.role is Role.ASSISTANT:
            self._custom = {call.id for call in said.calls if call.kind == CUSTOM}
            if any(native.kind_of(call) is not None for call in said.calls):
                self._waiting = _Waiting(said=said)
            else:
                self._turn(said, {})
        elif said.role is Role.USER:
            shown = list(_shown(said.parts)) or [_text(EMPTY)]
            self._items.append(InputMessage(role="user", content=_content(shown, said)))
        elif not self._begun:
            self._instructions = said
        else:
            texts: list[InputPart] = [_text(text) for text in shown_texts(said.parts)]
            shown = texts or [_text(EMPTY)]
            role: Literal["system", "developer"] = "system" if said.role is Role.SYSTEM else "developer"
            self._items.append(InputMessage(role=role, content=_content(shown, said)))

    def _turn(self, said: Said, own: dict[str | None, AsRecorded]) -> None:
        ids = {call.id: self._ids.of(call.id) for call in said.calls}
        self._items += Turn(said=said, ids=ids, native=own, used=self._used).items()

    def _answer(self, answer: Answer) -> None:
        if self._waiting is None:
            self._items.append(self._output(answer))
            return
        self._waiting.answers.append(answer)
        if len(self._waiting.answers) == len(self._waiting.said.calls):
            self._flush()

    def _output(self, answer: Answer) -> CallOutput:
        shown = list(_shown(answer.content)) or [_text(NO_OUTPUT)]
        return CallOutput(
            type="custom_tool_call_output" if answer.call in self._custom else "function_call_output",
            call_id=self._ids.of(answer.call),
            output=_content(shown, answer),
        )

    def _flush(self) -> None:
        """Render the turn that waited for its results, and these."""
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return
        calls = {call.id: call for call in waiting.said.calls}
        pairs = {
            answer.call: pair
            for answer in waiting.answers
            if answer.call in calls and (pair := self._pair(calls[answer.call], answer)) is not None
        }
        before = len(self._items)
        self._turn(waiting.said, {id: call for id, (call, _) in pairs.items()})
        sent = self._items[before:]
        for answer in waiting.answers:
            pair = pairs.get(answer.call)
            # Where its call could not be sent as it was, neither can the result.
            natively = pair is not None and any(item is pair[0] for item in sent)
            self._items.append(pair[1] if pair is not None and natively else self._output(answer))

    def _pair(self, call: Call, answer: Answer) -> tuple[AsRecorded, AsRecorded] | None:
        """Call and result as items of their own kind, where both can be."""
        id = self._ids.of(call.id)
        asked = native.call_item(call, id)
        given = native.output_item(answer, call, id)
        return (asked, given) if asked is not None and given is not None else None


def render_messages(blocks: Sequence[Block]) -> list[Item]:
    """The items of composed blocks, without the instruction before everything else."""
    rendering = Rendering()
    rendering.add(blocks)
    return rendering.messages()


def _content(shown: list[InputPart], block: Said | Answer) -> str | list[InputPart]:
    """A single text as text; as parts when there are several, or when it came so in this format."""
    text = shown[0].get("text") if len(shown) == 1 else None
    came_as_parts = is_parts(block.form) and block.wire == Wire.OPENAI_RESPONSES
    return text if isinstance(text, str) and not came_as_parts else shown


def _text(text: str) -> InputText:
    return InputText(type="input_text", text=clean(text))


def _shown(parts: Sequence[Part | Content]) -> Iterator[InputPart]:
    for part in parts:
        if isinstance(part, Media):
            yield media_part(part)
        else:
            yield from (_text(text) for text in shown_texts([part]))
