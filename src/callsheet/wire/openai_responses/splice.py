"""Several Responses responses as one: calls of a hidden tool are cut out, and what follows them goes on behind."""

from collections.abc import Sequence
from typing import Final

from callsheet.wire.openai_responses.parse import FUNCTION_CALL
from callsheet.wire.openai_responses.shapes import REASONING, SERVER_RUN
from callsheet.wire.reading import Fields
from callsheet.wire.sse import Event, event
from callsheet.wire.uniting import objects, summed, visible

_OPENING: Final = frozenset({"response.created", "response.queued", "response.in_progress"})
_ENDING: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
_NAMED: Final = ("id", "created_at")
"""What the first response says for all of them. SDKs refuse a stream in which it changes."""

_ADDED, _DONE = "response.output_item.added", "response.output_item.done"


def asks_only(response: Fields, name: str) -> bool:
    """Whether a response ends with calls, and all of them are of this tool."""
    calls = [item for item in objects(response.get("output")) if _is_call(item)]
    whole = response.get("status") == "completed"
    return whole and bool(calls) and all(_is_hidden(call, name) for call in calls)


def merged(responses: Sequence[Fields], name: str) -> Fields:
    """The responses as one."""
    usage: object = None
    for response in responses:
        usage = summed(usage, response.get("usage"))
    shown = [item for response in responses for item in _visible(objects(response.get("output")), name)]
    named: Fields = {key: responses[0][key] for key in _NAMED if key in responses[0]}
    return {**responses[-1], **named, "output": shown, **({"usage": usage} if usage is not None else {})}


def _visible(output: Sequence[Fields], name: str) -> list[Fields]:
    return visible(output, lambda item: _is_hidden(item, name), _is_thought)


def _is_call(item: Fields) -> bool:
    """Whether it is something that the client is to do."""
    type = str(item.get("type"))
    return (type.endswith("_call") and type not in SERVER_RUN) or type == "mcp_approval_request"


def _is_hidden(item: Fields, name: str) -> bool:
    return item.get("type") == FUNCTION_CALL and item.get("name") == name


def _is_thought(item: Fields) -> bool:
    return item.get("type") == REASONING


class Splice:
    """One stream of several. See `callsheet.wire.splicing`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._first = True
        self._next = 0
        #: Of the items of this response where the client has them; None: nowhere.
        self._places: dict[int, int | None] = {}
        self._holding: set[int] = set()
        self._held: list[tuple[Event, Fields]] = []
        self._hidden = False
        #: Finished items: those of earlier responses that the client has, and all of this one.
        self._shown: list[Fields] = []
        self._items: dict[int, Fields] = {}
        self._named: Fields = {}
        self._usage: object = None
        self._number: int | None = None
        self._ends: list[tuple[Event, Fields]] = []

    def feed(self, given: Event) -> bytes:
        """What the client gets of an event, now."""
        data = given.fields
        if data is None:
            return given.raw
        kind, at, item = str(data.get("type")), data.get("output_index"), data.get("item")
        if kind in _OPENING:
            return self._out(given, data) if self._first else b""
        if kind in _ENDING:
            self._ends.append((given, data))
            return b""
        if not isinstance(at, int):
            return self._out(given, data)
        if kind == _DONE and isinstance(item, dict):
            self._items[at] = item
        if kind == _ADDED and isinstance(item, dict):
            if _is_hidden(item, self._name):
                self._places[at] = None
                self._hidden = True
            elif _is_thought(item):
                self._holding.add(at)
            else:
                return self._let_out() + self._out(given, data)
        if at in self._holding:
            self._held.append((given, data))
            return b""
        return b"" if self._places.get(at, at) is None else self._out(given, data)

    def begin(self) -> None:
        """The next response begins."""
        response = self._response()
        if self._first:
            self._named = {key: response[key] for key in _NAMED if key in response}
        self._shown += _visible(self._output(response), self._name)
        self._usage = summed(self._usage, response.get("usage"))
        self._first = False
        self._places, self._holding, self._held, self._ends, self._items = {}, set(), [], [], {}
        self._hidden = False

    def end(self) -> bytes:
        """The end of the response."""
        thoughts = b"" if self._hidden else self._let_out()
        return thoughts + b"".join(self._ended(given, data) for given, data in self._ends)

    def _response(self) -> Fields:
        found = self._ends[-1][1].get("response") if self._ends else None
        return found if isinstance(found, dict) else {}

    def _output(self, response: Fields) -> list[Fields]:
        return objects(response.get("output")) or [self._items[at] for at in sorted(self._items)]

    def _let_out(self) -> bytes:
        held, self._held = self._held, []
        self._holding.clear()
        return b"".join([self._out(given, data) for given, data in held])

    def _out(self, given: Event, data: Fields) -> bytes:
        """An event in its place and with its number among those that the client gets."""
        changed: Fields = {}
        at, number = data.get("output_index"), data.get("sequence_number")
        if isinstance(at, int):
            if at not in self._places:
                self._places[at] = self._next
                self._next += 1
            if self._places[at] != at:
                changed["output_index"] = self._places[at]
        if isinstance(number, int):
            self._number = number if self._number is None else self._number + 1
            if self._number != number:
                changed["sequence_number"] = self._number
        return event({**data, **changed}, given.name) if changed else given.raw

    def _ended(self, given: Event, data: Fields) -> bytes:
        response = data.get("response")
        if not isinstance(response, dict) or (self._first and not self._hidden):
            return self._out(given, data)
        output = [*self._shown, *_visible(self._output(response), self._name)]
        written = {**response, **self._named, "output": output}
        if self._usage is not None:
            written["usage"] = summed(self._usage, response.get("usage"))
        changed = {**data, "response": written}
        return self._out(Event(raw=event(changed, given.name), name=given.name), changed)
