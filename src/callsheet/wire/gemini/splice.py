"""Several responses of generateContent as one: calls of a hidden tool are cut out, and what follows goes on behind."""

from collections.abc import Mapping, Sequence
from typing import Final

from callsheet.wire.gemini.spelling import said
from callsheet.wire.reading import Fields
from callsheet.wire.sse import Event, event
from callsheet.wire.uniting import figures, joint, objects, summed

_USAGE: Final = "usageMetadata"
_ID: Final = "responseId"
_CHANGED: Final = Event(raw=b"")
"""An event whose bytes are not the service's."""


def asks_only(response: Fields, name: str) -> bool:
    """Whether a response ends with calls, and all of them are of this tool."""
    candidates = objects(response.get("candidates"))
    if len(candidates) != 1 or candidates[0].get("finishReason") != "STOP":
        return False
    calls = [_call(part) for part in _parts(candidates[0]) if _call(part) is not None]
    return bool(calls) and all(figures(call).get("name") == name for call in calls)


def merged(responses: Sequence[Fields], name: str) -> Fields:
    """The responses, each of one candidate, as one."""
    first, last = responses[0], responses[-1]
    parts: list[Fields] = []
    usage: object = None
    before = ""
    for response in responses:
        usage = summed(usage, response.get(_USAGE))
        for candidate in objects(response.get("candidates"))[:1]:
            seen = _Seen(name, before)
            parts += seen.visible(_parts(candidate))
            before = seen.text or before
    made = {**last, **({_ID: first[_ID]} if _ID in first else {})}
    made |= {_USAGE: usage} if usage is not None else {}
    candidates = objects(last.get("candidates"))
    if candidates:
        content = {**figures(candidates[0].get("content")), "parts": parts}
        made["candidates"] = [{**candidates[0], "content": {"role": "model", **content}}]
    return made


def _parts(candidate: Mapping[str, object]) -> list[Fields]:
    return objects(figures(candidate.get("content")).get("parts"))


def _call(part: Mapping[str, object]) -> Fields | None:
    found = said(part, "functionCall")
    return found if isinstance(found, dict) else None


class _Seen:
    """The parts of one response, as they come."""

    def __init__(self, name: str, before: str) -> None:
        self._name = name
        #: The end of the text of earlier responses, and of this one.
        self._before = before
        self.text = ""
        self.hidden = self.asks = False
        #: Whether the last call that began is hidden: it may come in pieces, of which the first alone is named.
        self._in_hidden = False

    def visible(self, parts: Sequence[Fields]) -> list[Fields]:
        """What the client gets of the parts that come next."""
        found: list[Fields] = []
        for part in parts:
            call, text = _call(part), part.get("text")
            if call is not None:
                if call.get("name"):
                    self._in_hidden = call["name"] == self._name
                if self._in_hidden:
                    self.hidden = True
                    continue
                self.asks = True
            elif isinstance(text, str) and text and not part.get("thought"):
                between = joint(self._before, text) if not self.text else ""
                # A part of its own, since signatures are of one part as it is.
                found += [{"text": between}] if between else []
                self.text = text[-1]
            found.append(part)
        return found


class Splice:
    """One stream of several. See `callsheet.wire.splicing`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._first = True
        self._id: object = None
        self._seen = _Seen(name, "")
        self._text = ""
        self._earlier: object = None
        self._usage: Fields = {}
        self._finished = False
        self._ends: list[tuple[Event, Fields]] = []

    def feed(self, given: Event) -> bytes:
        """What the client gets of an event, now."""
        data = given.fields
        if data is None or "error" in data:
            return given.raw
        self._usage = {**self._usage, **figures(data.get(_USAGE))}
        if self._first and self._id is None:
            self._id = data.get(_ID)
        if self._finished:
            self._ends.append((given, data))
            return b""
        candidates = objects(data.get("candidates"))
        if not candidates:
            return self._out(given, data)
        candidate = candidates[0]
        given_parts = _parts(candidate)
        parts = self._seen.visible(given_parts)
        made = data
        if parts != given_parts:
            content = {**figures(candidate.get("content")), "parts": parts}
            made = {**data, "candidates": [{**candidate, "content": content}]}
        if candidate.get("finishReason"):
            return self._last(given, data, made, candidate, parts)
        return self._out(given, made, changed=made is not data) if parts or made is data else b""

    def begin(self) -> None:
        """The next response begins."""
        self._first = False
        self._text = self._seen.text or self._text
        self._seen = _Seen(self._name, self._text)
        self._earlier, self._usage = summed(self._earlier, self._usage), {}
        self._finished, self._ends = False, []

    def end(self) -> bytes:
        """The end of the message."""
        return b"".join(self._out(given, data, changed=given is _CHANGED) for given, data in self._ends)

    def _last(self, given: Event, data: Fields, made: Fields, candidate: Fields, parts: Sequence[Fields]) -> bytes:
        """The chunk that says why it ends. It is kept; what else it says is not, if another response may follow."""
        self._finished = True
        if not self._seen.hidden or (self._seen.asks and parts):
            self._ends.append((given if made is data else _CHANGED, made))
            return b""
        # As the service itself ends streams: its SDK takes no answer without a part for one.
        empty = {**figures(candidate.get("content")), "parts": [{"text": ""}]}
        self._ends.append((_CHANGED, {**data, "candidates": [{**candidate, "content": empty}]}))
        if not parts:
            return b""
        content = {**figures(candidate.get("content")), "parts": list(parts)}
        now: Fields = {"content": content, **({"index": candidate["index"]} if "index" in candidate else {})}
        kept = {key: value for key, value in data.items() if key != _USAGE}
        return self._out(given, {**kept, "candidates": [now]}, changed=True)

    def _out(self, given: Event, data: Fields, *, changed: bool = False) -> bytes:
        said: Fields = {}
        if not self._first and self._id is not None and _ID in data:
            said[_ID] = self._id
        if self._earlier is not None and isinstance(data.get(_USAGE), dict):
            said[_USAGE] = summed(self._earlier, data[_USAGE])
        return event({**data, **said}) if changed or said else given.raw
