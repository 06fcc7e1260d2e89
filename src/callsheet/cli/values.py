"""Stored values as JSON that people and programs can read: bytes as text where they are text."""

import base64
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import get_args, get_type_hints

from msgspec import Struct
from msgspec.structs import asdict

from callsheet.derive.redaction import Redaction
from callsheet.graph.times import Instant, isoformat
from callsheet.graph.values import Payload

Read = Callable[[Payload], bytes]

_REDACTION = Redaction()


def told(value: Struct, read: Read | None = None) -> dict[str, object]:
    """The fields of a value by name. With `read` the content of its payloads stands there too, also the large."""
    times = _times(type(value))
    return {
        name: isoformat(Instant(field)) if name in times and field is not None else _json(field, read)
        for name, field in asdict(value).items()
    }


@cache
def _times(cls: type[Struct]) -> frozenset[str]:
    """The fields of a type that are points in time, which are stored as plain numbers."""
    hints = get_type_hints(cls)
    return frozenset(name for name, hint in hints.items() if hint is Instant or Instant in get_args(hint))


def _json(value: object, read: Read | None) -> object:
    if isinstance(value, Payload):
        return _payload(value, read)
    if isinstance(value, Struct):
        tag = value.__struct_config__.tag
        return ({"type": tag} if isinstance(tag, str) else {}) | told(value, read)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return _bytes(value)
    if isinstance(value, tuple | list):
        return [_json(item, read) for item in value]
    return value


def _payload(payload: Payload, read: Read | None) -> dict[str, object]:
    inline = _REDACTION.content(payload.inline) if payload.inline is not None else None
    content = read(payload) if read is not None else inline
    shown: dict[str, object] = {"size": payload.size}
    if content is not None:
        shown["content"] = _bytes(content)
    if payload.blob is not None:
        shown["blob"] = told(payload.blob)
    if payload.digest is not None:
        shown["digest"] = payload.digest
    return shown


def _bytes(content: bytes) -> object:
    try:
        return content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode("ascii")}
