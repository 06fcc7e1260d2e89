"""From a function's signature to the schema that a model sees, and to the type that its arguments are checked by."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, get_args, get_origin, get_type_hints

import msgspec

from callsheet.errors import InvalidOption

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, kw_only=True, slots=True)
class Signature:
    """What a function takes from a model."""

    arguments: type[msgspec.Struct]
    #: JSON schema of the arguments, an object's.
    schema: Mapping[str, object]


def read_signature(function: Callable[..., object], name: str, hidden: str | None = None) -> Signature:
    """Read the parameters of a function; `hidden` is one that the model does not see.

    Each needs an annotation that msgspec can check and write a schema for. Text in ``Annotated[int, "..."]``, a
    ``typing_extensions.Doc`` or a ``msgspec.Meta`` describes it. Raises `InvalidOption`, naming the parameter.
    """
    try:
        hints = get_type_hints(_annotated(function), include_extras=True)
        parameters = inspect.signature(function).parameters
    except (NameError, TypeError, ValueError) as problem:
        raise InvalidOption(f"the signature of tool {name!r} cannot be read: {problem}") from None
    if hidden is not None and hidden not in parameters:
        raise InvalidOption(f"tool {name!r} has no parameter {hidden!r} for its idempotency key")
    fields: list[tuple[str, object] | tuple[str, object, object]] = []
    for parameter in parameters.values():
        if parameter.name == hidden:
            continue
        if parameter.kind not in _NAMED:
            raise InvalidOption(f"tool {name!r}: parameter {parameter.name!r} cannot be given by name")
        if parameter.name not in hints:
            raise InvalidOption(f"tool {name!r}: parameter {parameter.name!r} has no annotation")
        hint = _described(hints[parameter.name])
        if parameter.default is inspect.Parameter.empty:
            fields.append((parameter.name, hint))
        else:
            fields.append((parameter.name, hint, _default(parameter.default)))
    return _signature(name, fields)


def _annotated(function: Callable[..., object]) -> object:
    """Where the annotations stand: with the function itself, or with the method that makes an object callable."""
    if inspect.isroutine(function):
        return function
    inner = getattr(function, "func", None)  # of a `functools.partial`
    return inner if inner is not None else type(function).__call__


def _described(hint: object) -> object:
    """The same type with its description where msgspec finds it."""
    if get_origin(hint) is not Annotated:
        return hint
    inner, *extras = get_args(hint)
    texts = [extra if isinstance(extra, str) else getattr(extra, "documentation", None) for extra in extras]
    metas = [extra for extra in extras if isinstance(extra, msgspec.Meta)]
    metas += [msgspec.Meta(description=text) for text in texts if isinstance(text, str)]
    for meta in metas:
        inner = Annotated[inner, meta]
    return inner


def _default(value: object) -> object:
    """A default as a struct takes it: what can change is made anew each time."""
    if isinstance(value, list | dict | set | bytearray):
        return msgspec.field(default_factory=value.copy)
    return value


def _signature(name: str, fields: list[tuple[str, object] | tuple[str, object, object]]) -> Signature:
    try:
        arguments = msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)  # type-checked by it
        _, found = msgspec.json.schema_components((arguments,), ref_template="#/$defs/{name}")
        msgspec.json.Decoder(arguments)
    except (TypeError, ValueError, NameError, RuntimeError) as problem:
        raise InvalidOption(f"tool {name!r} has a parameter that no schema can be made of: {problem}") from None
    own = next(component for key, component in found.items() if component.get("title") == name)
    others = {key: component for key, component in found.items() if component is not own}
    schema: dict[str, object] = {key: part for key, part in own.items() if key != "title"}
    return Signature(arguments=arguments, schema=schema | ({"$defs": others} if others else {}))
