"""From neutral blocks to the system instruction and the contents of a generateContent request.

Turns of one role in a row become one content; the first is the user's, and so is the last. The results of a turn stand
first in the content behind it, in the order of their calls; pictures that they returned follow them there. More blocks
append contents or append parts to the last one, and change nothing before.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from callsheet.assemble.blocks import Answer, Block, Call, Media, Opaque, Part, Reasoning, Said, Text
from callsheet.assemble.standins import BEGINNING, EMPTY, NO_OUTPUT
from callsheet.graph.enums import Role
from callsheet.wire import media, standins
from callsheet.wire.body import leading
from callsheet.wire.cleaning import clean
from callsheet.wire.content import is_parts, shown_texts
from callsheet.wire.gemini import shapes
from callsheet.wire.gemini.parts import as_recorded, function_call, media_part, text_part, thought
from callsheet.wire.gemini.results import written_response
from callsheet.wire.gemini.shapes import Content, FunctionResponse, ResultPart, TextPart
from callsheet.wire.gemini.spelling import said as says
from callsheet.wire.gemini.tools import offered
from callsheet.wire.jsontext import own_extras
from callsheet.wire.names import UNNAMED_TOOL, CallIds, Wire
from callsheet.wire.tools import Tool


class Rendering:
    """The system instruction and the contents of composed blocks, which are given one after another."""

    def __init__(self, model: str = "") -> None:
        #: Whether each turn's first call needs a signature, whoever made it.
        self._signed = shapes.wants_signatures(model)
        self._ids = CallIds(shapes.CALL_ID)
        #: By call: its name, and its id; None: it has none.
        self._calls: dict[str, tuple[str, str | None]] = {}
        #: The same of calls that nobody gave an id, which position alone tells apart.
        self._unnamed: list[tuple[str, str | None]] = []
        self._leading: list[Said] = []
        self._turns = _Turns()
        #: What follows the results of the newest turn.
        self._returned: list[shapes.Part] = []
        self._begun = False

    def add(self, blocks: Sequence[Block]) -> None:
        """Render what follows."""
        instructions, rest = leading(blocks) if not self._begun else ((), blocks)
        self._leading += instructions
        for block in rest:
            self._begun = True
            if isinstance(block, Answer):
                self._turns.add("user", [self._result(block)])
                continue
            if self._returned:
                self._turns.add("user", self._returned)
                self._returned = []
            if block.role is Role.ASSISTANT:
                self._turns.add("model", self._model(block))
            elif block.role is Role.USER:
                self._turns.add("user", _user(block))
            else:
                self._turns.add("user", _note(block))

    def messages(self) -> list[Content]:
        """The contents of all blocks so far, without the instructions before everything else; none without blocks."""
        if not self._begun and not self._leading:
            return []
        *before, last = self._turns.closed()
        return [*before, Content(role=last["role"], parts=[*last["parts"], *self._returned])]

    @property
    def settled(self) -> int:
        """How many contents, from the first, no further block changes."""
        return max(0, len(self._turns.contents) - 1)

    def system(self) -> dict[str, object] | None:
        """The system instruction: what stands before everything else. None without any."""
        texts = [TextPart(text=text) for said in self._leading for text in shown_texts(said.parts)]
        return {"parts": texts} if texts else None

    def request(self, *, model: str, tools: Sequence[Tool], max_tokens: int | None) -> dict[str, object]:
        """The body of a request, with the model, which the address names. No limit of the reply is demanded."""
        request: dict[str, object] = {"model": model}
        system = self.system()
        if system is not None:
            request["systemInstruction"] = system
        request["contents"] = self.messages()
        if tools:
            request["tools"] = offered(tools)
        return request

    def _model(self, said: Said) -> list[shapes.Part]:
        shown: list[shapes.Part] = []
        signed = not self._signed
        visible = False
        for part in said.parts:
            if isinstance(part, Reasoning):
                shown.extend(thought(part))
                continue
            before = len(shown)
            if isinstance(part, Call):
                call = self._call(part)
                if not signed and shapes.SIGNATURE not in call:
                    call["thoughtSignature"] = shapes.BYPASS
                signed = True
                shown.append(call)
            elif isinstance(part, Opaque):
                shown.extend(as_recorded(part))
            elif isinstance(part, Media) and part.wire == Wire.GEMINI:
                shown.append(media_part(part, signed=True))
            else:
                shown.extend(_texts([part], said.wire))
            visible = visible or len(shown) > before
        return shown if visible else [*shown, TextPart(text=EMPTY)]

    def _call(self, call: Call) -> shapes.CallPart:
        name = shapes.function_name(call.tool) or UNNAMED_TOOL
        id = None if _without_id(call) else self._ids.of(call.id)
        if call.id:
            self._calls[call.id] = name, id
        else:
            self._unnamed.append((name, id))
        return function_call(call, name, id)

    def _called(self, answer: Answer) -> tuple[str, str | None]:
        """The name and the id of the call that a result answers."""
        if not answer.call and self._unnamed:
            return self._unnamed.pop(0)
        unknown = shapes.function_name(answer.tool or "") or UNNAMED_TOOL, None
        return self._calls.get(answer.call or "", unknown)

    def _result(self, answer: Answer) -> ResultPart:
        name, id = self._called(answer)
        nested = answer.wire == Wire.GEMINI and is_parts(answer.form)
        texts: list[str] = []
        beside: list[shapes.Part] = []
        for part in answer.content:
            shown = media_part(part) if isinstance(part, Media) else None
            if shown is None or not isinstance(part, Media):
                texts.extend(shown_texts([part]))
            elif (words := shown.get("text")) is not None:
                texts.append(str(words))
            else:
                beside.append(shown)
                if not nested:
                    texts.append(standins.shown_behind(part.mime or media.kind(part).value))
        response = written_response(answer, texts or [NO_OUTPUT])
        result = FunctionResponse(name=name, response=response)
        if id is not None:
            result = FunctionResponse(id=id, name=name, response=response)
        if beside and nested:
            result["parts"] = beside
        elif beside:
            self._returned += [TextPart(text=standins.returned_by(id or name)), *beside]
        return ResultPart(functionResponse=result)


def render_messages(blocks: Sequence[Block], model: str = "") -> list[Content]:
    """The contents of composed blocks, without the instructions before everything else; none without blocks."""
    rendering = Rendering(model)
    rendering.add(blocks)
    return rendering.messages()


def _without_id(call: Call) -> bool:
    """Whether the call came in this format without an id. It goes back so: position says which result is its own."""
    inner = says(own_extras(call.extras, call.wire, Wire.GEMINI), shapes.CALL)
    return isinstance(inner, dict) and not inner.get("id")


@dataclass(slots=True)
class _Turns:
    """Contents that alternate between user and model."""

    contents: list[Content] = field(default_factory=list)

    def add(self, role: Literal["user", "model"], parts: Sequence[shapes.Part]) -> None:
        """Append parts to the last turn if that is of this role, else a turn."""
        if not self.contents and role == "model":
            self.contents.append(_says(BEGINNING))
        if self.contents and self.contents[-1]["role"] == role:
            self.contents[-1]["parts"].extend(parts)
        else:
            self.contents.append(Content(role=role, parts=list(parts)))

    def closed(self) -> list[Content]:
        """The contents, ending with a turn of the user."""
        if not self.contents:
            return [_says(BEGINNING)]
        return [*self.contents, *([_says(standins.CONTINUE)] if self.contents[-1]["role"] == "model" else [])]


def _says(text: str) -> Content:
    return Content(role="user", parts=[TextPart(text=text)])


def _texts(parts: Iterable[Part], wire: str) -> list[shapes.Part]:
    """What is shown of parts where only text may stand."""
    shown: list[shapes.Part] = []
    for part in parts:
        if isinstance(part, Text):
            shown.extend([text_part(part, wire)] if part.text.strip() else [])
        else:
            shown.extend(TextPart(text=text) for text in shown_texts([part]))
    return shown


def _note(said: Said) -> list[shapes.Part]:
    first, *others = list(shown_texts(said.parts)) or [EMPTY]
    return [TextPart(text=clean(standins.SYSTEM_NOTE + first)), *(TextPart(text=text) for text in others)]


def _user(said: Said) -> list[shapes.Part]:
    shown: list[shapes.Part] = []
    for part in said.parts:
        if isinstance(part, Media):
            shown.append(media_part(part))
        else:
            shown.extend(TextPart(text=text) for text in shown_texts([part]))
    return shown or [TextPart(text=EMPTY)]
