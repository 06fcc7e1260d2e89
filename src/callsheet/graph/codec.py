"""Between a body and its stored bytes. Owns the versions; what an older one stored is brought up to date on read.

Bodies are MessagePack, because they carry bytes from outside as they came, which JSON cannot.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TypeAlias, cast, get_args, get_type_hints

import msgspec

from callsheet.errors import Damaged, InputError, StoreTooNew
from callsheet.graph.changes import Change
from callsheet.graph.nodes import Node
from callsheet.graph.record import Body, Header
from callsheet.graph.values import Payload

Fields: TypeAlias = dict[str, object]
Upcast: TypeAlias = Callable[[Fields], Fields]


def _classes() -> tuple[type[msgspec.Struct], ...]:
    return cast("tuple[type[msgspec.Struct], ...]", get_args(Node) + get_args(Change))


def _tag(cls: type[msgspec.Struct]) -> str:
    return str(cls.__struct_config__.tag)


KINDS: Mapping[str, type[msgspec.Struct]] = {_tag(cls): cls for cls in _classes()}
"""Every kind of record by its stored name."""

_NAMES: Mapping[type[msgspec.Struct], str] = {cls: kind for kind, cls in KINDS.items()}

VERSIONS: Mapping[str, int] = dict.fromkeys(KINDS, 1)
"""The version in which each kind is written now."""

UPCASTS: Mapping[tuple[str, int], Upcast] = {}
"""From (kind, version) to that kind's next version: fields in, fields out."""

_encoder = msgspec.msgpack.Encoder()


def kind_of(body: Body) -> str:
    """The stored name of a body's kind."""
    return _NAMES[type(body)]


def encode_body(body: Body) -> bytes:
    """The stored bytes of a body, in the current version of its kind.

    Raises `InputError` for a body with a value that its kind does not allow: what is appended cannot be taken back, so
    it must be certain that it can be read.
    """
    encoded = _encoder.encode(body)
    try:
        _decoder(type(body)).decode(encoded)
    except (msgspec.DecodeError, msgspec.ValidationError) as problem:
        raise InputError(f"a {kind_of(body)} cannot hold this: {problem}") from None
    return encoded


@cache
def _decoder(cls: type[msgspec.Struct]) -> msgspec.msgpack.Decoder[msgspec.Struct]:
    return msgspec.msgpack.Decoder(cls)


def decode_body(
    header: Header,
    stored: bytes,
    *,
    versions: Mapping[str, int] = VERSIONS,
    upcasts: Mapping[tuple[str, int], Upcast] = UPCASTS,
) -> Body:
    """Read a body back, bringing it up to date step by step.

    Raises `StoreTooNew` for a kind or version that this release does not know, and `Damaged` for bytes that are
    not a body of that kind.
    """
    cls = KINDS.get(header.kind)
    if cls is None or header.version > versions[header.kind]:
        raise StoreTooNew(
            f"record {header.id} is a {header.kind!r} of version {header.version}, which this release does not know. "
            "Upgrade Callsheet to read it."
        )
    try:
        if header.version == versions[header.kind]:
            return cast("Body", _decoder(cls).decode(stored))
        fields = cast("Fields", msgspec.msgpack.decode(stored))
        for version in range(header.version, versions[header.kind]):
            fields = upcasts[header.kind, version](fields)
        return cast("Body", msgspec.convert(fields, cls, builtin_types=(bytes,)))
    except (msgspec.DecodeError, msgspec.ValidationError) as problem:
        raise Damaged(f"the body of {header.kind} {header.id} cannot be read: {problem}") from problem


def _carries(hint: object) -> bool:
    """Whether a value of this type can be or hold a payload."""
    if isinstance(hint, type) and issubclass(hint, Payload):
        return True
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return bool(_carriers(hint))
    return any(_carries(part) for part in get_args(hint))


@cache
def _carriers(cls: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of a type that can hold a payload, so that the others are never looked at."""
    return tuple(name for name, hint in get_type_hints(cls).items() if _carries(hint))


def payloads(value: object) -> list[Payload]:
    """Every payload inside a body or a part of one, in order of fields."""
    found: list[Payload] = []
    _find_payloads(value, found)
    return found


def _find_payloads(value: object, found: list[Payload]) -> None:
    if isinstance(value, Payload):
        found.append(value)
    elif isinstance(value, tuple):
        for inner in value:
            _find_payloads(inner, found)
    elif isinstance(value, msgspec.Struct):
        for name in _carriers(type(value)):
            _find_payloads(getattr(value, name), found)
