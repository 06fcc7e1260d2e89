"""The prompt caches of the providers, as they document them: what of a request was read from one.

A token is four characters of JSON, here as for everything that this service counts.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Final

from tests.upstream.scripts import Counted, Json

_LEAST: Final = 1024
"""Tokens below which neither provider keeps a beginning."""

_STEP: Final = 128
"""OpenAI counts what it read in steps of so many tokens."""

_LOOKED_BACK: Final = 20
"""Blocks before a mark of Anthropic's in which a beginning that it keeps is found."""

_MARK: Final = "cache_control"


def tokens(value: object) -> int:
    """How many tokens a JSON value is."""
    return -(-len(json.dumps(value, ensure_ascii=False)) // 4)


class Cache:
    """What the service remembers of the beginnings of requests. Nothing in it ever ends."""

    def __init__(self) -> None:
        self._kept: set[str] = set()

    def automatic(self, parts: list[object], output: int) -> Counted:
        """OpenAI's and Google's: the longest beginning that any request had is read."""
        whole = sum(map(tokens, parts))
        read, sofar, known, begin = 0, 0, True, ""
        for part in parts:
            begin = _beginning(begin, part)
            sofar += tokens(part)
            known = known and begin in self._kept
            read = sofar if known else read
            self._kept.add(begin)
        read = read // _STEP * _STEP
        return Counted(input=whole, read=read if read >= _LEAST else 0, written=0, output=output)

    def marked(self, body: Json, output: int) -> Counted:
        """Anthropic's: beginnings are kept up to marks alone, and found at most 20 blocks before one."""
        parts = list(_parts(body))
        begin, sofar = "", 0
        begins: list[tuple[str, int]] = []
        marks: list[int] = []
        for at, part in enumerate(parts):
            bare = {key: value for key, value in part.items() if key != _MARK} if isinstance(part, dict) else part
            begin = _beginning(begin, bare)
            sofar += tokens(bare)
            begins.append((begin, sofar))
            if isinstance(part, dict) and part.get(_MARK):
                marks.append(at)
        if body.get(_MARK) and parts:
            marks.append(len(parts) - 1)
        read = 0
        for mark in marks:
            for at in range(mark, max(-1, mark - _LOOKED_BACK), -1):
                if begins[at][0] in self._kept:
                    read = max(read, begins[at][1])
                    break
        upto = begins[marks[-1]][1] if marks else 0
        written = upto - read if upto >= _LEAST else 0
        if upto >= _LEAST:
            self._kept.update(begins[mark][0] for mark in marks if begins[mark][1] >= _LEAST)
        return Counted(input=sofar, read=read, written=written, output=output)


def _beginning(before: str, part: object) -> str:
    return hashlib.sha256((before + json.dumps(part, sort_keys=True)).encode()).hexdigest()


def _parts(body: Mapping[str, object]) -> Iterator[object]:
    """Tools, system blocks and the blocks of messages, in the order in which the provider reads them."""
    for key in "tools", "system":
        found = body.get(key)
        yield from found if isinstance(found, list) else [found] if found else []
    messages = body.get("messages")
    for message in messages if isinstance(messages, list) else ():
        content, role = message.get("content"), message.get("role")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        yield from ({**block, "role": role} for block in blocks)
