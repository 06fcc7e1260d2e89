"""A streamed Messages response: gathered from its events, and written as events."""

import json
from collections.abc import Iterator
from typing import Final

from callsheet.wire.reading import Fields
from callsheet.wire.sse import event

_GROWS: Final = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
}
"""By type of delta the text that it adds to. Signatures come whole, at the end."""

_CITES = "citations_delta"
_INPUT = "input_json_delta"

_ENDS: Final = ("stop_reason", "stop_sequence", "stop_details", "container", "context_management")
"""What is known at the end alone; null before, where the response has it."""


class Gathering:
    """Puts events together."""

    def __init__(self) -> None:
        self._message: Fields | None = None
        self._blocks: dict[int, _Block] = {}
        self._ended = False
        #: The error inside the stream, as the body of an error has it.
        self.failure: Fields | None = None

    @property
    def ended(self) -> bool:
        """Whether the message said why it stopped, or an error came."""
        stopped = self._message is not None and self._message.get("stop_reason") is not None
        return stopped or self._ended or self.failure is not None

    def feed(self, data: Fields) -> None:
        """Take the data of the next event."""
        match data:
            case {"type": "message_start", "message": dict(message)}:
                self._message = dict(message)
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                self._blocks[index] = _Block(block)
                self._rename(block)
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)}:
                if index in self._blocks:
                    self._blocks[index].feed(delta)
            case {"type": "message_delta"}:
                self._end(data)
            case {"type": "message_stop"}:
                self._ended = True
            case {"type": "error"}:
                self.failure = data

    def _rename(self, block: Fields) -> None:
        """Where another model took over, the response is that model's."""
        match block:
            case {"type": "fallback", "to": {"model": str(model)}} if self._message is not None:
                self._message["model"] = model

    def _end(self, data: Fields) -> None:
        """Take what is known at the end. Counts are totals; those that are not said stay."""
        if self._message is None:
            return
        delta, usage = data.get("delta"), data.get("usage")
        if isinstance(delta, dict):
            self._message |= delta
        before = self._message.get("usage")
        if isinstance(usage, dict):
            known = before if isinstance(before, dict) else {}
            said = {key: value for key, value in usage.items() if value is not None or key not in known}
            self._message["usage"] = known | said
        rest = {key: value for key, value in data.items() if key not in ("type", "delta", "usage")}
        self._message |= {key: value for key, value in rest.items() if value is not None or key not in self._message}

    def response(self) -> Fields | None:
        """The message so far; None before its start."""
        if self._message is None:
            return None
        return {**self._message, "content": [self._blocks[index].whole() for index in sorted(self._blocks)]}


class _Block:
    """A content block so far."""

    def __init__(self, start: Fields) -> None:
        self._start = dict(start)
        self._texts: dict[str, list[str]] = {}
        self._citations: list[object] = []
        self._input: list[str] = []

    def feed(self, delta: Fields) -> None:
        """Take a delta."""
        kind = delta.get("type")
        if kind == _INPUT:
            self._input.append(str(delta.get("partial_json") or ""))
        elif kind == _CITES:
            self._citations.append(delta.get("citation"))
        elif isinstance(kind, str) and kind in _GROWS:
            self._texts.setdefault(_GROWS[kind], []).append(str(delta.get(_GROWS[kind]) or ""))
        else:
            # Such as that of a compaction, which comes whole; kept, whatever it is.
            self._start |= {key: value for key, value in delta.items() if key != "type"}

    def whole(self) -> Fields:
        """The block as a whole response has it."""
        block = dict(self._start)
        for key, pieces in self._texts.items():
            block[key] = str(block.get(key) or "") + "".join(pieces)
        if self._citations:
            before = block.get("citations")
            block["citations"] = [*(before if isinstance(before, list) else ()), *self._citations]
        text = "".join(self._input)
        if text.strip():
            block["input"] = _decoded(text)
        return block


def _decoded(text: str) -> object:
    """The input of a call; the text itself where it was cut off."""
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found


def events(response: Fields) -> Iterator[bytes]:
    """The events of a whole response."""
    content = response.get("content")
    blocks = content if isinstance(content, list) else []
    begun = {key: None if key in _ENDS else value for key, value in response.items()} | {"content": []}
    yield _event({"type": "message_start", "message": begun})
    for index, block in enumerate(blocks):
        for each in _events_of(block):
            yield _event({"index": index, **each})
    delta = {key: response[key] for key in _ENDS[:-1] if key in response}
    last: Fields = {"type": "message_delta", "delta": delta, "usage": response.get("usage") or {}}
    if _ENDS[-1] in response:
        last[_ENDS[-1]] = response[_ENDS[-1]]
    yield _event(last)
    yield _event({"type": "message_stop"})


def _event(data: Fields) -> bytes:
    return event(data, str(data["type"]))


def _events_of(block: Fields) -> Iterator[Fields]:
    start, deltas = _taken_apart(block)
    yield {"type": "content_block_start", "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "delta": delta}
    yield {"type": "content_block_stop"}


def _taken_apart(block: Fields) -> tuple[Fields, list[Fields]]:
    """How a block begins, and what its deltas add; blocks of other types begin whole."""
    start = dict(block)
    deltas: list[Fields] = []
    for kind, key in _GROWS.items():
        if block.get("type") in ("text", "thinking") and isinstance(text := block.get(key), str) and text:
            start[key] = ""
            deltas.append({"type": kind, key: text})
    cited = block.get("citations")
    if block.get("type") == "text" and isinstance(cited, list) and cited:
        start["citations"] = []
        deltas += ({"type": _CITES, "citation": citation} for citation in cited)
    if block.get("input"):
        given = block["input"]
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        start["input"] = {}
        deltas.append({"type": _INPUT, "partial_json": text})
    return start, deltas
