"""Bodies of requests: read within limits and decoded; and JSON written back."""

import json
import math
import re
import time
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Literal

import anyio
import msgspec

from callsheet.errors import InputError
from callsheet.serve.proxy.packing import too_large
from callsheet.serve.proxy.settings import VALUES, Limits
from callsheet.serve.proxy.turned import Turned
from callsheet.wire.failures import Failure
from callsheet.wire.jsonvalue import NESTING_LIMIT, nested_too_deep

if TYPE_CHECKING:
    from starlette.types import Receive


_SLOWEST = 10_000
"""Bytes in a second that a body comes with at the least, in the long run: what a bad mobile connection still does."""


class ClientGone(Exception):
    """The client closed the connection."""


async def read_body(receive: "Receive", headers: Mapping[str, str], limits: Limits) -> bytes:
    """The whole body as it came. Raises `Turned` for one that is too large or too slow, and `ClientGone`."""
    declared = headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limits.body:
        raise too_large(limits.body)
    pieces: list[bytes] = []
    size = 0
    async for piece in arriving(receive, limits):
        size += len(piece)
        if size > limits.body:
            raise too_large(limits.body)
        pieces.append(piece)
    return b"".join(pieces)


async def arriving(receive: "Receive", limits: Limits) -> AsyncIterator[bytes]:
    """The pieces of a body as they come. Raises `Turned` for one that stops or hardly comes, and `ClientGone`."""
    more, patience = True, limits.body_seconds
    while more:
        began = time.monotonic()
        try:
            with anyio.fail_after(patience):
                message = await receive()
        except TimeoutError:
            raise Turned(408, Failure.TIMEOUT, "the body of the request did not come in time") from None
        if message["type"] == "http.disconnect":
            raise ClientGone
        more = message.get("more_body", False)
        if piece := message.get("body"):
            # By single bytes a body could come for ever.
            patience = min(limits.body_seconds, patience - (time.monotonic() - began) + len(piece) / _SLOWEST)
            yield piece


# --------------------------------------------------------------------------- JSON


_SLICE = 1 << 20
"""Bytes that are looked through at once: others go on between two."""

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


def decoded(content: bytes, most: int = VALUES) -> object:
    """The JSON of a body of at most so many values. Raises `Turned` that says what is wrong and where."""
    if _has_more(content, most):
        raise Turned(413, Failure.TOO_LARGE, f"callsheet: the body of the request has more than {most:,} values")
    try:
        found: object = msgspec.json.decode(content)
    except msgspec.DecodeError as problem:
        found = _leniently(content, str(problem))
    except RecursionError:
        raise _too_deep() from None
    if (content.count(b"{") + content.count(b"[")) > NESTING_LIMIT and nested_too_deep(found):
        raise _too_deep()
    return found


def _has_more(content: bytes, most: int) -> bool:
    """Whether JSON has more values than this, told without decoding it: each but one follows a bracket or a comma."""
    if len(content) <= most:
        return False
    if sum(_signs(content[at : at + _SLICE]) for at in range(0, len(content), _SLICE)) < most:
        return False
    # Those in strings do not count.
    found = end = 0
    for string in _STRING.finditer(content):
        found += _signs(content[end : string.start()])
        end = string.end()
        if found > most:
            return True
    return found + _signs(content[end:]) > most


def _signs(content: bytes) -> int:
    return content.count(b"[") + content.count(b"{") + content.count(b",")


def repeats(content: bytes, value: object) -> bool:
    """Whether an object of a body says a name twice. `value` is what was decoded, with the last of each.

    Others may take the first: what is judged here would not be what they read.
    """
    # Most clients write JSON as it is written here, which says each name once.
    if encoded(value) == content:
        return False
    try:
        # Numbers as they stand: some are longer than Python reads.
        json.loads(content, object_pairs_hook=_once, parse_int=str, parse_float=str)
    except _Repeated:
        return True
    return False


class _Repeated(Exception):
    """A name stands twice."""


def _once(pairs: list[tuple[str, object]]) -> None:
    if len(pairs) > 1 and len({name for name, _ in pairs}) < len(pairs):
        raise _Repeated


def _leniently(content: bytes, problem: str) -> object:
    """Lone surrogates in escapes, which programs write that cut text in the middle of a character."""
    if b"\\u" in content:
        try:
            return json.loads(content, parse_constant=_refused, parse_float=_finite)
        except (ValueError, RecursionError):
            pass
    raise Turned(400, Failure.INVALID, f"the body of the request is not JSON: {problem}")


def _finite(number: str) -> float:
    found = float(number)
    if not math.isfinite(found):
        raise ValueError(number)
    return found


def _refused(constant: str) -> object:
    raise ValueError(constant)


def _too_deep() -> Turned:
    return Turned(400, Failure.INVALID, f"the body of the request is nested deeper than {NESTING_LIMIT} levels")


def encoded(value: object, *, order: Literal["sorted"] | None = None) -> bytes:
    """JSON as bytes, lone surrogates as escapes."""
    try:
        return msgspec.json.encode(value, order=order)
    except (UnicodeEncodeError, ValueError):
        return json.dumps(value, separators=(",", ":"), sort_keys=order is not None).encode()
    except RecursionError:
        raise InputError("a body is nested too deep to be written") from None
