"""Several Chat Completions as one: calls of a hidden tool are cut out, and what follows them goes on behind."""

from collections.abc import Mapping, Sequence
from typing import Final

from callsheet.wire.openai_chat.deltas import Calls, settled
from callsheet.wire.reading import Fields
from callsheet.wire.sse import DONE, Event, event
from callsheet.wire.uniting import figures, joint, objects, summed

_CALLS: Final = "tool_calls"
_ASKS, _OVER = "tool_calls", "stop"
_ENDS: Final = (_ASKS, _OVER)
"""How a message with calls ends; some services say of it what they say of any other."""

_NAMED: Final = ("id", "created", "model")
"""What the first response says for all of them."""


def asks_only(response: Fields, name: str) -> bool:
    """Whether a response ends with calls, and all of them are of this tool."""
    choices = objects(response.get("choices"))
    if len(choices) != 1 or choices[0].get("finish_reason") not in _ENDS:
        return False
    calls = objects(figures(choices[0].get("message")).get(_CALLS))
    return bool(calls) and all(_name(call) == name for call in calls)


def merged(responses: Sequence[Fields], name: str) -> Fields:
    """The responses, each of one choice, as one."""
    first, last = responses[0], responses[-1]
    message: Fields = {}
    usage: object = None
    for response in responses:
        usage = summed(usage, response.get("usage"))
        for choice in objects(response.get("choices"))[:1]:
            message = _gone_on(message, figures(choice.get("message")), name)
    named: Fields = {key: first[key] for key in _NAMED if key in first}
    made: Fields = {**last, **named}
    made |= {"usage": usage} if usage is not None else {}
    choices = objects(last.get("choices"))
    if choices:
        finish = choices[0].get("finish_reason")
        finish = _OVER if finish == _ASKS and not message.get(_CALLS) else finish
        made["choices"] = [{**choices[0], "message": message, "finish_reason": finish}]
    return made


def _gone_on(before: Fields, message: Fields, name: str) -> Fields:
    """A message with that of the next response behind it."""
    made = {**before, **{key: value for key, value in message.items() if value is not None or key not in before}}
    for key, value in message.items():
        known = before.get(key)
        if key not in ("role", _CALLS) and isinstance(known, str) and isinstance(value, str):
            made[key] = known + (joint(known, value) if key == "content" else "") + value
        elif isinstance(known, list) and isinstance(value, list):
            made[key] = [*known, *value]
    calls = [call for call in objects(message.get(_CALLS)) if _name(call) != name]
    made.pop(_CALLS, None)
    return made | ({_CALLS: calls} if calls else {})


def _name(call: Mapping[str, object]) -> object:
    found = settled(call.get("function"))
    return found.get("name") if isinstance(found, dict) else None


class Splice:
    """One stream of several. See `callsheet.wire.splicing`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._first = True
        self._top: Fields = {}
        #: The end of the text of earlier responses, and of this one.
        self._before = self._text = ""
        self._calls = Calls()
        #: Of the calls of this response where the client has them; None: nowhere.
        self._places: dict[int, int | None] = {}
        #: Pieces of calls whose name has not come.
        self._unnamed: dict[int, list[Fields]] = {}
        self._earlier: object = None
        self._usage: object = None
        self._finished = False
        self._ends: list[tuple[Event, Fields | None]] = []

    def feed(self, given: Event) -> bytes:
        """What the client gets of an event, now."""
        data = given.fields
        if data is None and given.data != DONE:
            return given.raw
        if data is None or self._finished:
            self._ends.append((given, data))
            self._usage = (data or {}).get("usage") or self._usage
            return b""
        if data.get("error"):
            return given.raw
        if self._first and not self._top:
            self._top = {key: data[key] for key in _NAMED if key in data}
        self._usage = data.get("usage") or self._usage
        choices = objects(data.get("choices"))
        if not choices:
            return given.raw if self._first else b""
        return self._choice(given, data, choices[0])

    def begin(self) -> None:
        """The next response begins."""
        self._first = False
        self._before, self._text = self._text or self._before, ""
        self._earlier, self._usage = summed(self._earlier, self._usage), None
        self._calls, self._places, self._unnamed, self._ends = Calls(), {}, {}, []
        self._finished = False

    def end(self) -> bytes:
        """The end of the message."""
        return b"".join(self._ended(given, data) for given, data in self._ends)

    @property
    def _hidden(self) -> bool:
        return None in self._places.values()

    @property
    def _asks(self) -> bool:
        return any(place is not None for place in self._places.values())

    def _choice(self, given: Event, data: Fields, choice: Fields) -> bytes:
        delta = figures(choice.get("delta"))
        made = self._delta(delta)
        says = any(value not in (None, "", []) for key, value in made.items() if key != "role")
        if choice.get("finish_reason"):
            self._finished = True
            if made == delta and not (says and self._hidden and not self._asks):
                self._ends.append((given, data))
                return b""
            last = {**data, "choices": [{**choice, "delta": {}}]}
            self._ends.append((Event(raw=event(last)), last))
            return self._chunk(data, {**choice, "delta": made, "finish_reason": None}) if says else b""
        if self._first and made == delta:
            return given.raw
        return self._chunk(data, {**choice, "delta": made}) if says else b""

    def _chunk(self, data: Fields, choice: Fields) -> bytes:
        return event({**data, **self._top, "choices": [choice]})

    def _delta(self, delta: Fields) -> Fields:
        made = dict(delta)
        text = delta.get("content")
        if not self._first:
            made.pop("role", None)
        if isinstance(text, str) and text:
            if not self._text:
                made["content"] = joint(self._before, text) + text
            self._text = text[-1]
        if isinstance(delta.get(_CALLS), list):
            pieces = [each for piece in objects(delta[_CALLS]) for each in self._piece(piece)]
            made.pop(_CALLS)
            if pieces:
                made[_CALLS] = pieces
        return made

    def _piece(self, piece: Fields) -> list[Fields]:
        """What the client gets of a piece of a call."""
        at = self._calls.take(piece)
        pieces = [*self._unnamed.pop(at, ()), piece]
        if at not in self._places:
            named = _name(self._calls.made[at])
            if named is None and "custom" not in self._calls.made[at]:
                self._unnamed[at] = pieces
                return []
            shown = sum(place is not None for place in self._places.values())
            self._places[at] = None if named == self._name else shown
        place = self._places[at]
        if place is None:
            return []
        # Services that number all calls alike tell them apart by their ids, as the client does.
        return [{**each, "index": place} if self._hidden and "index" in each else each for each in pieces]

    def _ended(self, given: Event, data: Fields | None) -> bytes:
        if data is None:
            return given.raw
        changed: Fields = {} if self._first else {key: value for key, value in self._top.items() if key in data}
        if self._earlier is not None and isinstance(data.get("usage"), dict):
            changed["usage"] = summed(self._earlier, data["usage"])
        choices = objects(data.get("choices"))
        cut = self._hidden and not self._asks
        if choices and choices[0].get("finish_reason") == _ASKS and cut:
            changed["choices"] = [{**choices[0], "finish_reason": _OVER}]
        return (
            event({**data, **changed}) if any(data.get(key) != value for key, value in changed.items()) else given.raw
        )
