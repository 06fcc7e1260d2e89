"""Several Messages responses as one: calls of a hidden tool are cut out, and what follows them goes on behind."""

from collections.abc import Sequence
from typing import Final

from callsheet.wire.anthropic.shapes import THINKING
from callsheet.wire.reading import Fields
from callsheet.wire.sse import Event, event
from callsheet.wire.uniting import figures, objects, summed, visible

_CALL: Final = "tool_use"
_ASKS, _OVER = "tool_use", "end_turn"
_NAMED: Final = ("id", "model")
"""What the first response says for all of them."""


def asks_only(response: Fields, name: str) -> bool:
    """Whether a response ends with calls, and all of them are of this tool."""
    calls = [block for block in objects(response.get("content")) if block.get("type") == _CALL]
    return response.get("stop_reason") == _ASKS and bool(calls) and all(call.get("name") == name for call in calls)


def merged(responses: Sequence[Fields], name: str) -> Fields:
    """The responses as one."""
    first, last = responses[0], responses[-1]
    shown = [_visible(response, name) for response in responses]
    usage: object = None
    for response in responses:
        usage = summed(usage, response.get("usage"))
    named: Fields = {key: first[key] for key in _NAMED if key in first}
    made: Fields = {**last, **named, "content": [each for of in shown for each in of]}
    if last.get("stop_reason") == _ASKS and not any(block.get("type") == _CALL for block in shown[-1]):
        made["stop_reason"] = _OVER
    return made | ({"usage": usage} if usage is not None else {})


def _visible(response: Fields, name: str) -> list[Fields]:
    return visible(objects(response.get("content")), lambda block: _is_hidden(block, name), _is_thought)


def _is_hidden(block: Fields, name: str) -> bool:
    return block.get("type") == _CALL and block.get("name") == name


def _is_thought(block: Fields) -> bool:
    return str(block.get("type")) in THINKING


class Splice:
    """One stream of several. See `callsheet.wire.splicing`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._first = True
        #: Of the block that comes next, as the client counts.
        self._next = 0
        #: Of the blocks of this response where the client has them; None: nowhere.
        self._places: dict[int, int | None] = {}
        #: Thoughts, until it is known what they led to.
        self._holding: set[int] = set()
        self._held: list[tuple[Event, Fields, int]] = []
        self._hidden = self._calls = False
        self._before: Fields = {}
        self._usage: Fields = {}
        self._ends: list[tuple[Event, Fields]] = []

    def feed(self, given: Event) -> bytes:
        """What the client gets of an event, now."""
        data = given.fields
        if data is None:
            return given.raw
        match data:
            case {"type": "message_start", "message": dict(message)}:
                self._usage = figures(message.get("usage"))
                return given.raw if self._first else b""
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                return self._start(given, data, index, block)
            case {"type": "content_block_delta" | "content_block_stop", "index": int(index)}:
                return self._go_on(given, data, index)
            case {"type": "message_delta"}:
                said = {key: value for key, value in figures(data.get("usage")).items() if value is not None}
                self._usage = {**self._usage, **said}
                self._ends.append((given, data))
                return b""
            case {"type": "message_stop"}:
                self._ends.append((given, data))
                return b""
        return given.raw

    def begin(self) -> None:
        """The next response begins."""
        self._first = False
        self._before = figures(summed(self._before, self._usage))
        self._usage = {}
        self._places, self._holding, self._held, self._ends = {}, set(), [], []
        self._hidden = self._calls = False

    def end(self) -> bytes:
        """The end of the message."""
        thoughts = b"" if self._hidden else self._let_out()
        return thoughts + b"".join(self._ended(given, data) for given, data in self._ends)

    def _start(self, given: Event, data: Fields, index: int, block: Fields) -> bytes:
        if _is_thought(block):
            self._holding.add(index)
            self._held.append((given, data, index))
            return b""
        if _is_hidden(block, self._name):
            self._places[index] = None
            self._hidden = True
            return b""
        self._calls = self._calls or block.get("type") == _CALL
        return self._let_out() + self._placed(given, data, index)

    def _go_on(self, given: Event, data: Fields, index: int) -> bytes:
        if index in self._holding:
            self._held.append((given, data, index))
            return b""
        return b"" if self._places.get(index, index) is None else self._placed(given, data, index)

    def _let_out(self) -> bytes:
        held, self._held = self._held, []
        self._holding.clear()
        return b"".join([self._placed(given, data, index) for given, data, index in held])

    def _placed(self, given: Event, data: Fields, index: int) -> bytes:
        if index not in self._places:
            self._places[index] = self._next
            self._next += 1
        place = self._places[index]
        return given.raw if place == index else event({**data, "index": place}, str(data["type"]))

    def _ended(self, given: Event, data: Fields) -> bytes:
        if data["type"] != "message_delta" or (self._first and not self._hidden):
            return given.raw
        written = dict(data)
        delta = figures(data.get("delta"))
        if delta.get("stop_reason") == _ASKS and not self._calls:
            written["delta"] = {**delta, "stop_reason": _OVER}
        if self._before and "usage" in data:
            written["usage"] = summed(self._before, self._usage)
        return event(written, "message_delta")
