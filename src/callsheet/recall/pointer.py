"""Where the value of a JSON Pointer (RFC 6901) stands in JSON text, exactly as it was written.

One pass over the text, no recursion, nothing decoded but keys; so numbers, escapes and spaces stay as they came, and
what stands before a cut is found in text that was cut.
"""

import json
import re
from dataclasses import dataclass, field

_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"[^\s,\]}\[{:\"]+")
# Strings without escapes are passed in one match, others from their quote on.
_STRUCTURE = re.compile(r'"[^"\\]*+"|["{}\[\]]')
# An object or array without escapes and containers inside, of a few members.
_FLAT = re.compile(r'[{\[][^"{}\[\]]*+(?:"[^"\\]*+"[^"{}\[\]]*+){0,64}+[}\]]')
_STRING_STOP = re.compile(r'["\\]')
_STEP = re.compile(r"0|[1-9][0-9]*")

_NAMED = 20
"""How many keys an answer about a missing value names."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """Characters of the text, from and up to but without."""

    start: int
    end: int


@dataclass(kw_only=True, slots=True)
class Missing:
    """Nothing stands there: how far the pointer led, and what is there."""

    #: The part of the pointer that leads somewhere.
    reached: str
    #: The first keys of the object there.
    keys: list[str] = field(default_factory=list)
    #: How many members or items it has.
    size: int = 0
    #: ``object``, ``array`` or ``value``; ``nothing``: the text is not JSON there.
    kind: str = "nothing"


@dataclass(slots=True)
class _Open:
    """A container on the way of the pointer."""

    is_object: bool
    missing: Missing
    index: int = 0


def steps(pointer: str) -> list[str]:
    """The keys and indices of a pointer, unescaped."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def locate(text: str, pointer: str) -> Found | Missing:
    """Find the value of a pointer. Of keys that repeat, the last counts, as for most readers of JSON."""
    wanted = steps(pointer)
    start = _space(text, 0)
    if not wanted:
        end = _skip(text, start)
        return Found(start=start, end=end) if end is not None else Missing(reached="")
    return _Walk(text, pointer, wanted).run(start)


class _Walk:
    """Visits the members of the containers that the pointer passes and skips over all others."""

    def __init__(self, text: str, pointer: str, wanted: list[str]) -> None:
        self.text = text
        self.parts = pointer.split("/")
        self.wanted = wanted
        self.open: list[_Open] = []
        self.found: Found | None = None
        #: The last value that was entered on the way, for the answer when nothing is found.
        self.missing = Missing(reached="")
        self.depth = 0

    def run(self, start: int) -> Found | Missing:
        at: int | None = self._enter(start)
        while at is not None and self.open:
            at = self._member(self.open[-1], at)
        # Written once, at the end: a pointer may have as many steps as the text has levels.
        self.missing.reached = "/".join(self.parts[: self.depth + 1])
        return self.found or self.missing

    def _enter(self, at: int) -> int | None:
        """Open the container at a place, or skip the value that is none."""
        depth = len(self.open)
        mark = self.text[at : at + 1]
        kind = {"{": "object", "[": "array", "": "nothing"}.get(mark, "value")
        missing = Missing(reached="", kind=kind)
        self.missing, self.depth = missing, depth
        if kind not in ("object", "array"):
            return _skip(self.text, at)
        self.open.append(_Open(kind == "object", missing))
        return at + 1

    def _member(self, container: _Open, at: int) -> int | None:
        at = _space(self.text, at)
        if self.text[at : at + 1] == ",":
            at = _space(self.text, at + 1)
        if self.text[at : at + 1] in ("}", "]"):
            self.open.pop()
            return at + 1
        step = self.wanted[len(self.open) - 1]
        if container.is_object:
            end = _skip(self.text, at) if self.text[at : at + 1] == '"' else None
            if end is None:
                return None
            key = _key(self.text[at:end])
            _note(container.missing, key)
            at = _space(self.text, end)
            if self.text[at : at + 1] != ":":
                return None
            at = _space(self.text, at + 1)
            hit = key == step
        else:
            hit = str(container.index) == step
            container.missing.size += 1
        container.index += 1
        return self._value(at, hit)

    def _value(self, at: int, hit: bool) -> int | None:
        if not hit:
            return _skip(self.text, at)
        self.found = None
        if len(self.open) < len(self.wanted):
            return self._enter(at)
        end = _skip(self.text, at)
        if end is not None:
            self.found = Found(start=at, end=end)
        return end


def _note(missing: Missing, key: str) -> None:
    missing.size += 1
    if len(missing.keys) < _NAMED:
        missing.keys.append(key if len(key) <= 60 else key[:60] + "…")


def _key(written: str) -> str:
    if "\\" not in written:
        return written[1:-1]
    try:
        return str(json.loads(written, strict=False))
    except ValueError:
        return written[1:-1]


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _skip(text: str, at: int) -> int | None:
    """The end of the value that begins at a place; None: it has none, or none begins there."""
    mark = text[at : at + 1]
    if mark == '"':
        return _string_end(text, at)
    if mark not in ("{", "["):
        match = _SCALAR.match(text, at)
        return match.end() if match else None
    flat = _FLAT.match(text, at)
    if flat is not None:
        return flat.end()
    depth = 0
    while (match := _STRUCTURE.search(text, at)) is not None:
        at = match.end()
        mark = text[match.start()]
        if mark == '"':
            end = at if at - match.start() > 1 else _string_end(text, at - 1)
            if end is None:
                return None
            at = end
        elif mark in "{[":
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                return at
    return None


def _string_end(text: str, at: int) -> int | None:
    at += 1
    while (match := _STRING_STOP.search(text, at)) is not None:
        if match.group() == '"':
            return match.end()
        at = match.end() + 1
    return None
