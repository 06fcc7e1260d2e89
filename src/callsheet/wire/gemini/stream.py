"""A streamed response of generateContent: gathered from its chunks, and written as chunks.

Every chunk is a response that holds what is new: parts, and at the end why it ended. With ``alt=sse`` chunks are
server-sent events, without they are the elements of one JSON list.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Final

from callsheet.wire.gemini.partial import add_pieces
from callsheet.wire.gemini.shapes import CALL, TEXT
from callsheet.wire.reading import Fields
from callsheet.wire.sse import event

_OF_TEXT: Final = frozenset({TEXT, "thought"})
"""The keys of a part that the next chunk may go on with. One that is signed is whole."""


class Gathering:
    """Puts chunks together."""

    def __init__(self) -> None:
        self._response: Fields = {}
        self._candidates: dict[int, _Candidate] = {}
        #: The error inside the stream, as the body of an error has it.
        self.failure: Fields | None = None

    @property
    def ended(self) -> bool:
        """Whether every candidate said why it ended, the prompt was refused, or an error came."""
        ends = [candidate.ended for candidate in self._candidates.values()]
        return self.failure is not None or (all(ends) if ends else "promptFeedback" in self._response)

    def feed(self, data: Fields) -> None:
        """Take the next chunk."""
        if "error" in data:
            self.failure = data
            return
        for key, value in data.items():
            if key == "candidates" and isinstance(value, list):
                for at, each in enumerate(value):
                    if isinstance(each, dict):
                        self._candidate(each, at).feed(each)
                self._response.setdefault(key, [])
            elif key == "usageMetadata" and isinstance(value, dict):
                # Counts are totals; those that are not said stay.
                before = self._response.get(key)
                self._response[key] = {**(before if isinstance(before, dict) else {}), **value}
            elif value is not None or key not in self._response:
                self._response[key] = value

    def _candidate(self, chunk: Fields, at: int) -> "_Candidate":
        index = chunk.get("index", at)
        return self._candidates.setdefault(index if isinstance(index, int) else at, _Candidate())

    def response(self) -> Fields | None:
        """The response so far; None before the first chunk."""
        if not self._response:
            return None
        found = dict(self._response)
        if "candidates" in found:
            found["candidates"] = [self._candidates[index].whole() for index in sorted(self._candidates)]
        return found


class _Candidate:
    """One answer so far."""

    def __init__(self) -> None:
        self._fields: Fields = {}
        self._content: Fields | None = None
        self._parts: list[Fields] = []
        #: The text of the newest part, in pieces.
        self._pieces: list[str] = []

    @property
    def ended(self) -> bool:
        return bool(self._fields.get("finishReason"))

    def feed(self, chunk: Fields) -> None:
        """Take what a chunk says of it."""
        for key, value in chunk.items():
            if key == "content" and isinstance(value, dict):
                self._add(value)
            elif value is not None or key not in self._fields:
                self._fields[key] = value

    def _add(self, content: Fields) -> None:
        parts = content.get("parts")
        self._content = {**(self._content or {}), **content}
        if not isinstance(parts, list):
            return
        for at, part in enumerate(parts):
            if isinstance(part, dict) and not (at == 0 and self._goes_on(part)):
                self._close()
                self._parts.append(part)

    def _goes_on(self, part: Fields) -> bool:
        """Whether a chunk begins with more of the newest part, which is then taken."""
        if not self._parts:
            return False
        last = self._parts[-1]
        if mergeable(last, part):
            self._pieces = self._pieces or [str(last[TEXT])]
            self._pieces.append(str(part[TEXT]))
            return True
        before, more = last.get(CALL), part.get(CALL)
        if not isinstance(before, dict) or not isinstance(more, dict):
            return False
        if not before.get("willContinue") or more.get("name"):
            return False
        args = before.get("args")
        pieces = more.get("partialArgs")
        call: Fields = {**before, "args": _copied(args), "willContinue": more.get("willContinue", False)}
        add_pieces(_args_of(call), pieces)
        self._parts[-1] = {**last, **part, CALL: call}
        return True

    def _close(self) -> None:
        """Put the text of the newest part together."""
        if self._pieces:
            self._parts[-1] = {**self._parts[-1], TEXT: "".join(self._pieces)}
            self._pieces = []

    def whole(self) -> Fields:
        """The candidate as a whole response has it."""
        self._close()
        found = dict(self._fields)
        if self._content is not None:
            content = dict(self._content)
            if "parts" in content:
                content["parts"] = [_as_whole(part) for part in self._parts]
            found["content"] = content
        return found


def _copied(args: object) -> Fields:
    return deepcopy(args) if isinstance(args, dict) else {}


def _args_of(call: Fields) -> Fields:
    args = call["args"]
    assert isinstance(args, dict), "made a copy of before"
    return args


def _as_whole(part: Fields) -> Fields:
    """A part without the marks of a call that came in pieces."""
    call = part.get(CALL)
    if not isinstance(call, dict) or not call.keys() & {"willContinue", "partialArgs"}:
        return part
    whole = {key: value for key, value in call.items() if key not in ("willContinue", "partialArgs")}
    if call.get("partialArgs"):
        add_pieces(_args_of(whole := {**whole, "args": _copied(call.get("args"))}), call["partialArgs"])
    return {**part, CALL: whole}


def mergeable(before: Fields, part: Fields) -> bool:
    """Whether two parts in a row may be one text that came in two chunks."""
    plain = before.keys() <= _OF_TEXT and part.keys() <= _OF_TEXT
    texts = isinstance(before.get(TEXT), str) and isinstance(part.get(TEXT), str)
    return plain and texts and before.get("thought") == part.get("thought")


def chunks(response: Fields) -> Iterator[Fields]:
    """The chunks of a whole response: one for each part, or several where only the chunk tells them apart."""
    candidates = response.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and len(candidates) == 1 else None
    content = first.get("content") if isinstance(first, dict) else None
    parts = content.get("parts") if isinstance(content, dict) else None
    if not isinstance(first, dict) or not isinstance(content, dict) or not isinstance(parts, list) or len(parts) < 2:
        yield response
        return
    named: Fields = {key: response[key] for key in ("modelVersion", "responseId") if key in response}
    *before, last = _grouped(parts)
    index: Fields = {"index": first["index"]} if "index" in first else {}
    for group in before:
        yield {"candidates": [{"content": {**content, "parts": group}, **index}], **named}
    yield {**response, "candidates": [{**first, "content": {**content, "parts": last}}]}


def _grouped(parts: list[object]) -> list[list[object]]:
    groups: list[list[object]] = []
    for part in parts:
        before = groups[-1][-1] if groups else None
        if isinstance(before, dict) and isinstance(part, dict) and mergeable(before, part):
            groups[-1].append(part)
        else:
            groups.append([part])
    return groups


def events(response: Fields) -> Iterator[bytes]:
    """The server-sent events of a whole response."""
    return map(event, chunks(response))
