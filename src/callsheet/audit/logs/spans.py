"""Spans with the attributes of OpenTelemetry's conventions for generative AI, whatever JSON they came in.

They come in OTLP's JSON, which wraps each value in its type and holds many spans in one document, and in the JSON that
the SDKs print, a document for each span. Log records may carry what spans do not.
"""

import json
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field

from callsheet.audit.logs.documents import ITEMS
from callsheet.audit.logs.jsonlines import listed, mapping, moment, text
from callsheet.graph.times import Instant, isoformat

Attributes = dict[str, object]


@dataclass(kw_only=True, slots=True)
class Event:
    """What happened during a span: of a log record the body and the attributes together."""

    name: str
    attributes: Attributes


@dataclass(kw_only=True, slots=True)
class Span:
    """One span."""

    trace: str
    id: str
    parent: str | None
    #: Nanoseconds since 1970; 0: not told.
    start: int
    at: str | None
    attributes: Attributes
    events: list[Event] = field(default_factory=list)


@dataclass(kw_only=True, slots=True)
class Logged:
    """A log record that belongs to a span."""

    span: str
    event: Event


def spans_of(document: dict[str, object]) -> Iterator[Span | Logged]:
    """The spans, and the log records that belong to spans, of a document; of one that is none of both, nothing."""
    for each in (document, *map(mapping, listed(document.get(ITEMS)))):
        yield from _spans(each)


def _spans(document: dict[str, object]) -> Iterator[Span | Logged]:
    for resource in listed(document.get("resourceSpans")):
        for scope in listed(mapping(resource).get("scopeSpans")):
            for span in listed(mapping(scope).get("spans")):
                yield _otlp(mapping(span))
    for resource in listed(document.get("resourceLogs")):
        for scope in listed(mapping(resource).get("scopeLogs")):
            for record in listed(mapping(scope).get("logRecords")):
                yield _log(mapping(record))
    if "traceId" in document and "spanId" in document and "name" in document:
        yield _otlp(document)
    elif "context" in document and "start_time" in document:
        yield _printed(document)


def _otlp(span: dict[str, object]) -> Span:
    start = _number(span.get("startTimeUnixNano"))
    return Span(
        trace=_id(span.get("traceId")),
        id=_id(span.get("spanId")),
        parent=_id(span.get("parentSpanId")) or None,
        start=start,
        at=_moment(start),
        attributes=_attributes(span.get("attributes")),
        events=[
            Event(name=str(event.get("name")), attributes=_attributes(event.get("attributes")))
            for event in map(mapping, listed(span.get("events")))
        ],
    )


def _log(record: dict[str, object]) -> Logged:
    attributes = _attributes(record.get("attributes"))
    name = text(record.get("eventName")) or text(attributes.get("event.name")) or ""
    body = mapping(_value(record.get("body")))
    return Logged(span=_id(record.get("spanId")), event=Event(name=name, attributes=attributes | body))


def _printed(span: dict[str, object]) -> Span:
    context = mapping(span.get("context"))
    at = moment(span.get("start_time"))
    return Span(
        trace=(text(context.get("trace_id")) or "").removeprefix("0x"),
        id=(text(context.get("span_id")) or "").removeprefix("0x"),
        parent=(text(span.get("parent_id")) or "").removeprefix("0x") or None,
        start=0,
        at=at,
        attributes=mapping(span.get("attributes")),
        events=[
            Event(name=str(event.get("name")), attributes=mapping(event.get("attributes")))
            for event in map(mapping, listed(span.get("events")))
        ],
    )


def _id(value: object) -> str:
    """An id in hexadecimal, as OTLP has it; who prints the protocol's messages by themselves writes Base64."""
    said = text(value) or ""
    if not said.endswith("=") or len(said) not in (12, 24):
        return said
    try:
        return b64decode(said, validate=True).hex()
    except ValueError:
        return said


def _attributes(pairs: object) -> Attributes:
    if isinstance(pairs, dict):
        return pairs
    return {str(pair.get("key")): _value(pair.get("value")) for pair in map(mapping, listed(pairs))}


def _value(wrapped: object) -> object:
    found = mapping(wrapped)
    for kind, value in found.items():
        match kind:
            case "intValue":
                return _number(value)
            case "stringValue" | "doubleValue" | "boolValue" | "bytesValue":
                return value
            case "arrayValue":
                return [_value(each) for each in listed(mapping(value).get("values"))]
            case "kvlistValue":
                return _attributes(mapping(value).get("values"))
    return None


def _number(value: object) -> int:
    """OTLP's JSON writes 64-bit numbers as text."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _moment(nanoseconds: int) -> str | None:
    microseconds = nanoseconds // 1000
    try:
        return isoformat(Instant(microseconds)) if microseconds > 0 else None
    except (ValueError, OverflowError):
        return None


def structured(value: object) -> object:
    """The value of an attribute that may stand as JSON text; text that is none stays text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
