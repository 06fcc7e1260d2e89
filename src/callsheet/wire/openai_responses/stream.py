"""A streamed Responses response: gathered from its events, and written as events."""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Final

from callsheet.wire.openai_responses.parse import (
    CUSTOM_CALL,
    FUNCTION_CALL,
    OUTPUT_TEXT,
)
from callsheet.wire.openai_responses.shapes import MESSAGE, REASONING
from callsheet.wire.reading import Fields
from callsheet.wire.refusals import REFUSAL
from callsheet.wire.sse import event

_LAST: Final = {
    "completed": "response.completed",
    "incomplete": "response.incomplete",
    "failed": "response.failed",
    "cancelled": "response.failed",
}
_GOING_ON: Final = ("queued", "in_progress")
_SNAPSHOTS: Final = frozenset({"response.created", "response.queued", "response.in_progress", *_LAST.values()})

_Place = tuple[int, str, int | None, str]
"""Where a text grows: the item, the list or text in it, the place in the list, and the text there."""

_TEXTS: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "response.output_text": ("content", "content_index", "text", "text"),
    "response.refusal": ("content", "content_index", REFUSAL, REFUSAL),
    "response.reasoning_text": ("content", "content_index", "text", "text"),
    "response.reasoning_summary_text": ("summary", "summary_index", "text", "text"),
    "response.function_call_arguments": ("arguments", "", "", "arguments"),
    "response.custom_tool_call_input": ("input", "", "", "input"),
    "response.mcp_call_arguments": ("arguments", "", "", "arguments"),
    "response.code_interpreter_call_code": ("code", "", "", "code"),
}
"""By the event without ``.delta`` or ``.done``: the key in the item, the event's key of the place in that list, the key
of the text there, and the event's key of the whole text when it is done.
"""

_PARTS: Final = {
    "response.content_part": ("content", "content_index"),
    "response.reasoning_summary_part": ("summary", "summary_index"),
}


class Gathering:
    """Puts the events of a response together. What a finished item or response holds counts before its pieces."""

    def __init__(self) -> None:
        self._response: Fields | None = None
        self._items: dict[int, Fields] = {}
        self._texts: dict[_Place, list[str]] = {}
        self.ended = False
        #: The error inside the stream, as the body of an error has it.
        self.failure: Fields | None = None

    def feed(self, data: Fields) -> None:
        """Take the next event."""
        kind = data.get("type")
        if kind == "error" or (not isinstance(kind, str) and data.get("error")):
            self._failed(data)
            return
        if not isinstance(kind, str):
            return
        if kind in _SNAPSHOTS:
            self._snapshot(kind, data.get("response"))
            return
        at = data.get("output_index")
        if not isinstance(at, int):
            return
        what, _, phase = kind.rpartition(".")
        item = data.get("item")
        if what == "response.output_item" and isinstance(item, dict):
            self._items[at] = dict(item)
            self._forget(at)
        elif what in _PARTS:
            self._part(at, *_PARTS[what], data)
        elif what in _TEXTS:
            self._text(at, what, phase, data)
        elif kind == "response.output_text.annotation.added":
            self._annotation(at, data)

    def response(self) -> Fields | None:
        """The response so far; None before the first event of one."""
        if self._response is None and not self._items:
            return None
        whole = dict(self._response or {"object": "response"})
        if whole.get("status") in _GOING_ON:
            # That is no reason for an end.
            del whole["status"]
        if not whole.get("output"):
            whole["output"] = [self._item(at) for at in sorted(self._items)]
        return whole

    # ------------------------------------------------------------------ events

    def _failed(self, data: Fields) -> None:
        found = data.get("error")
        keys = ("message", "type", "param", "code")
        error = found if isinstance(found, dict) else {key: data.get(key) for key in keys} | {"type": "server_error"}
        self.failure = {"error": error}
        self.ended = True

    def _snapshot(self, kind: str, response: object) -> None:
        if not isinstance(response, dict):
            return
        self._response = response
        self.ended = self.ended or kind in _LAST.values()
        error = response.get("error")
        if kind == "response.failed" and isinstance(error, dict):
            self.failure = {"error": {"type": "server_error", "param": None, **error}}

    def _part(self, at: int, key: str, index_key: str, data: Fields) -> None:
        index, part = _number(data.get(index_key)), data.get("part")
        if index is not None and isinstance(part, dict):
            self._list_of(at, key, index)[index] = dict(part)
            self._forget(at, key, index)

    def _text(self, at: int, what: str, phase: str, data: Fields) -> None:
        key, index_key, inner, whole = _TEXTS[what]
        index = _number(data.get(index_key)) if index_key else None
        if index_key and index is None:
            return
        place = (at, key, index, inner)
        said = data.get("delta" if phase == "delta" else whole)
        if not isinstance(said, str):
            return
        if place not in self._texts:
            self._texts[place] = []
            self._begin(place, what)
        if phase == "done":
            self._texts[place][:] = [said]
        else:
            self._texts[place].append(said)

    def _begin(self, place: _Place, what: str) -> None:
        """Make room for a text that nothing announced, as some services send it."""
        at, key, index, inner = place
        if index is None:
            type = CUSTOM_CALL if key == "input" else FUNCTION_CALL
            self._items.setdefault(at, {"type": type})
            before = self._items[at].get(key)
        else:
            part = self._list_of(at, key, index)[index]
            if not part:
                types = {"response.output_text": OUTPUT_TEXT, "response.refusal": REFUSAL}
                part["type"] = types.get(what, "summary_text" if key == "summary" else "reasoning_text")
            before = part.get(inner)
        if isinstance(before, str) and before:
            self._texts[place].append(before)

    def _annotation(self, at: int, data: Fields) -> None:
        index = _number(data.get("content_index"))
        if index is not None and isinstance(data.get("annotation"), dict):
            part = self._list_of(at, "content", index)[index]
            known = part.get("annotations")
            part["annotations"] = [*(known if isinstance(known, list) else []), data["annotation"]]

    # ------------------------------------------------------------------ what was gathered

    def _list_of(self, at: int, key: str, index: int) -> list[Fields]:
        """The parts of an item, as many as are needed."""
        type = REASONING if key == "summary" else MESSAGE
        item = self._items.setdefault(at, {"type": type, **({"role": "assistant"} if type == MESSAGE else {})})
        found = item.get(key)
        parts = [dict(part) for part in found if isinstance(part, dict)] if isinstance(found, list) else []
        parts += [{} for _ in range(index + 1 - len(parts))]
        item[key] = parts
        return parts

    def _forget(self, at: int, key: str | None = None, index: int | None = None) -> None:
        """Of what came whole the pieces count no more."""
        for place in [known for known in self._texts if known[0] == at and (key is None or known[1:3] == (key, index))]:
            del self._texts[place]

    def _item(self, at: int) -> Fields:
        item = dict(self._items[at])
        for (of, key, index, inner), pieces in self._texts.items():
            if of != at:
                continue
            text = "".join(pieces)
            if index is None:
                item[key] = text
            elif isinstance(parts := item.get(key), list):
                item[key] = [part | {inner: text} if place == index else part for place, part in enumerate(parts)]
        return item


_MOST_PARTS: Final = 4_096
"""Parts of one item. A number beyond it in an event is none that a service counts to."""


def _number(value: object) -> int | None:
    """The place of a part; None for what is no place."""
    return value if isinstance(value, int) and 0 <= value < _MOST_PARTS else None


# --------------------------------------------------------------------------- written


def events(response: Fields) -> Iterator[bytes]:
    """The events of a whole response as bytes."""
    numbers = count()
    for data in _events(response):
        yield event({**data, "sequence_number": next(numbers)}, str(data["type"]))


def _events(response: Fields) -> Iterator[Fields]:
    begun = response | {"status": "in_progress", "output": [], "usage": None}
    begun |= {key: None for key in ("error", "incomplete_details", "completed_at") if key in response}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    listed = response.get("output")
    for at, item in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(item, dict):
            yield from _item_events(item, at)
    state = response.get("status")
    yield {"type": _LAST.get(state if isinstance(state, str) else "", "response.completed"), "response": response}


def _item_events(item: Fields, at: int) -> Iterator[Fields]:
    place: Fields = {"output_index": at}
    pieces = list(_pieces(item, {"item_id": item.get("id") or "", **place}))
    emptied = _emptied(item) if pieces else item
    yield {"type": "response.output_item.added", **place, "item": emptied}
    yield from pieces
    yield {"type": "response.output_item.done", **place, "item": item}


def _emptied(item: Fields) -> Fields:
    """An item as it begins."""
    match item.get("type"):
        case "message":
            empty: Fields = {"content": []}
        case "reasoning":
            empty = {"summary": [], **({"content": []} if isinstance(item.get("content"), list) else {})}
        case "custom_tool_call":
            empty = {"input": ""}
        case "code_interpreter_call":
            empty = {"code": ""}
        case _:
            empty = {"arguments": ""}
    return item | empty | ({"status": "in_progress"} if "status" in item else {})


_GROWING: Final = {
    "function_call": ("arguments", "response.function_call_arguments"),
    "mcp_call": ("arguments", "response.mcp_call_arguments"),
    "custom_tool_call": ("input", "response.custom_tool_call_input"),
    "code_interpreter_call": ("code", "response.code_interpreter_call_code"),
}


def _pieces(item: Fields, place: Fields) -> Iterator[Fields]:
    """What an item says, in pieces."""
    type = item.get("type")
    if isinstance(type, str) and type in _GROWING:
        key, what = _GROWING[type]
        if isinstance(text := item.get(key), str):
            named = {"name": item.get("name")} if type == FUNCTION_CALL else {}
            yield {"type": f"{what}.delta", **place, "delta": text}
            yield {"type": f"{what}.done", **place, **named, key: text}
    elif type == MESSAGE:
        for index, part in enumerate(_dicts(item.get("content"))):
            yield from _part_events(part, "response.content_part", {**place, "content_index": index})
    elif type == REASONING:
        for index, part in enumerate(_dicts(item.get("summary"))):
            yield from _part_events(part, "response.reasoning_summary_part", {**place, "summary_index": index})
        for index, part in enumerate(_dicts(item.get("content"))):
            yield from _part_events(part, "response.content_part", {**place, "content_index": index})


def _dicts(value: object) -> list[Fields]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


_SAID: Final = {
    OUTPUT_TEXT: ("text", "response.output_text"),
    REFUSAL: (REFUSAL, "response.refusal"),
    "reasoning_text": ("text", "response.reasoning_text"),
    "summary_text": ("text", "response.reasoning_summary_text"),
}


def _part_events(part: Fields, what: str, place: Fields) -> Iterator[Fields]:
    type = part.get("type")
    key, said = _SAID.get(type if isinstance(type, str) else "", ("", ""))
    text = part.get(key)
    growing = isinstance(text, str)
    begun = part | ({key: ""} if growing else {}) | ({"annotations": []} if "annotations" in part else {})
    yield {"type": f"{what}.added", **place, "part": begun if growing else part}
    if isinstance(text, str):
        logprobs: Fields = {"logprobs": part.get("logprobs") or []} if type == OUTPUT_TEXT else {}
        yield {"type": f"{said}.delta", **place, "delta": text, **logprobs}
        for at, annotation in enumerate(_dicts(part.get("annotations"))):
            named = {"annotation_index": at, "annotation": annotation}
            yield {"type": "response.output_text.annotation.added", **place, **named}
        yield {"type": f"{said}.done", **place, key: text, **logprobs}
    yield {"type": f"{what}.done", **place, "part": part}
