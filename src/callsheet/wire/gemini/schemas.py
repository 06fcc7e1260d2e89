"""Schemas of functions: JSON Schema as far as the service takes it, and its own older dialect as JSON Schema."""

from collections.abc import Callable, Mapping
from typing import Final

from callsheet.wire.gemini.spelling import camel
from callsheet.wire.reading import Fields

_REFUSED: Final = frozenset({"$schema", "discriminator", "examples", "exclusiveMinimum", "exclusiveMaximum"})
"""Keywords of JSON Schema for which the service refuses a request, or is reported to."""

_FORMATS: Final = frozenset({"date-time", "date", "time", "duration"})
"""Formats of text that the service documents; another one is told in words."""

_NAMED: Final = ("properties", "$defs", "definitions")
_LISTED: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE: Final = ("items", "additionalProperties", "not")


def sendable_schema(schema: Mapping[str, object]) -> Fields:
    """A JSON schema as a declaration may hold it: without the keywords that the service refuses.

    A constant becomes the only value of an enumeration, a format that it does not know stands in the description.
    """
    written = {key: value for key, value in schema.items() if key not in _REFUSED}
    if "const" in written and "enum" not in written:
        written["enum"] = [written.pop("const")]
    written.pop("const", None)
    format = written.get("format")
    if isinstance(format, str) and written.get("type") == "string" and format not in _FORMATS:
        del written["format"]
        described = written.get("description")
        written["description"] = f"{described} (format: {format})" if described else f"format: {format}"
    return _inside(written, sendable_schema)


def json_schema(parameters: Mapping[str, object]) -> Fields:
    """The service's own `Schema` as JSON Schema: types in lower case, `nullable` as a type, no order of properties."""
    written = {camel(key): value for key, value in parameters.items() if camel(key) not in _OWN}
    kind = written.get("type")
    if isinstance(kind, str):
        named = kind.lower()
        written["type"] = [named, "null"] if parameters.get("nullable") is True else named
        if named == "type_unspecified":
            del written["type"]
    for key in _COUNTS:
        if isinstance(value := written.get(key), str) and value.isdecimal():
            written[key] = int(value)
    return _inside(written, json_schema)


_OWN: Final = frozenset({"nullable", "propertyOrdering"})
_COUNTS: Final = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
"""64-bit numbers, which the API's JSON has as text."""


def _inside(schema: Fields, each: Callable[[Mapping[str, object]], Fields]) -> Fields:
    """The schema with the same done to those inside it."""
    for key in _NAMED:
        if isinstance(named := schema.get(key), Mapping):
            schema[key] = {name: _done(inner, each) for name, inner in named.items()}
    for key in _LISTED:
        if isinstance(listed := schema.get(key), list):
            schema[key] = [_done(inner, each) for inner in listed]
    for key in _SINGLE:
        if key in schema:
            schema[key] = _done(schema[key], each)
    return schema


def _done(inner: object, each: Callable[[Mapping[str, object]], Fields]) -> object:
    return each(inner) if isinstance(inner, Mapping) else inner
