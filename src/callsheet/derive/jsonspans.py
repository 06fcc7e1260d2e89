"""Where the values of a JSON text lie, by JSON Pointer (RFC 6901), at any depth and also when cut."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(rb'\s*+(?:("(?:[^"\\]++|\\.)*+")|([{}\[\],:])|([^\s"{}\[\],:]++)|("))', re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Step:
    """The last step of a path and the way to it: a chain, so that going deeper costs the same at any depth."""

    before: "_Step | None"
    token: str


@dataclass(slots=True)
class _Open:
    """A container that is being read."""

    is_object: bool
    start: int
    path: _Step | None
    #: The key it stands under; of an array within an array the key of the outermost.
    name: str | None
    #: True where the path to it is the beginning of the one that is looked for.
    wanted: bool
    key: str | None = None
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A value: ``content[start:end]``."""

    start: int
    end: int
    #: Its key, or of an item the key of its array; None at the top.
    name: str | None
    #: True where it stands at the path that was looked for.
    wanted: bool
    _path: _Step | None

    def pointer(self) -> str:
        """Its JSON Pointer."""
        tokens: list[str] = []
        step = self._path
        while step is not None:
            tokens.append("/" + step.token.replace("~", "~0").replace("/", "~1"))
            step = step.before
        return "".join(reversed(tokens))


def find_pointer(content: bytes, pointer: str) -> tuple[int, int] | None:
    """The bytes of the value that the pointer names; of equal keys the last. None: there is none."""
    if pointer and not pointer.startswith("/"):
        return None
    tokens = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
    found: tuple[int, int] | None = None
    for value in values(content, tokens):
        if value.wanted:
            found = (value.start, value.end)
    return found


def values(content: bytes, tokens: Sequence[str] = ()) -> Iterator[Found]:
    """Every value that is whole, inner ones before those that hold them. Stops where the text is no JSON."""
    stack: list[_Open] = []
    for match in _TOKEN.finditer(content):
        kind = match.lastindex
        if kind == 4:  # A string that never ends.
            return
        start, end = match.span(kind or 0)
        mark = content[start:end] if kind == 2 else b""
        top = stack[-1] if stack else None
        if mark in (b"{", b"["):
            stack.append(_opened(top, mark == b"{", start, tokens, len(stack)))
        elif mark in (b"}", b"]"):
            if top is None or top.is_object != (mark == b"}"):
                return
            stack.pop()
            yield Found(
                start=top.start,
                end=end,
                name=top.name,
                wanted=top.wanted and len(stack) == len(tokens),
                _path=top.path,
            )
        elif mark == b",":
            if top is not None:
                top.key = None
                top.index += 1
        elif kind == 1 and top is not None and top.is_object and top.key is None:
            top.key = _decoded(content[start:end])
        elif kind != 2:
            inner = _opened(top, False, start, tokens, len(stack))
            yield Found(
                start=start,
                end=end,
                name=inner.name,
                wanted=inner.wanted and len(stack) == len(tokens),
                _path=inner.path,
            )
        if not stack and mark not in (b"{", b"["):
            return


def _opened(top: _Open | None, is_object: bool, start: int, tokens: Sequence[str], depth: int) -> _Open:
    if top is None:
        return _Open(is_object, start, None, None, True)
    token = (top.key or "") if top.is_object else str(top.index)
    wanted = top.wanted and depth <= len(tokens) and tokens[depth - 1] == token
    return _Open(is_object, start, _Step(top.path, token), token if top.is_object else top.name, wanted)


def _decoded(key: bytes) -> str:
    if b"\\" in key:
        try:
            decoded = json.loads(key.decode("utf-8", "replace"), strict=False)
        except ValueError:
            decoded = None
        if isinstance(decoded, str):
            return decoded
    return key[1:-1].decode("utf-8", "replace")
