"""Bodies come back as they were, old forms are brought up to date, and nothing unreadable passes for a body."""

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.errors import Damaged, StoreTooNew
from callsheet.graph.codec import KINDS, UPCASTS, VERSIONS, Fields, decode_body, encode_body, kind_of, payloads
from callsheet.graph.enums import Role
from callsheet.graph.ids import RecordId, StreamId, TenantId
from callsheet.graph.nodes import Message, Skill, ToolArtifact, ToolMemory
from callsheet.graph.record import Body, Header
from callsheet.graph.times import Instant
from callsheet.graph.values import CallRef, Media, Opaque, Payload, Reasoning, Scope, Text
from callsheet.ledger.contract.bodies import any_body, examples


def header(kind: str, version: int = 1) -> Header:
    return Header(
        tenant=TenantId("t"),
        stream=StreamId("s"),
        position=1,
        id=RecordId("r"),
        kind=kind,
        version=version,
        at=Instant(0),
        scope=Scope(),
        commitment="sha256:0",
    )


def payload(name: str) -> Payload:
    return Payload(size=len(name), inline=name.encode())


@examples(200)
@given(any_body())
def test_a_body_comes_back_as_it_was(body: Body) -> None:
    kind = kind_of(body)
    assert KINDS[kind] is type(body)
    assert decode_body(header(kind, VERSIONS[kind]), encode_body(body)) == body


@examples(100)
@given(any_body(), st.data())
def test_bytes_of_another_kind_or_none_are_damage(body: Body, data: st.DataObject) -> None:
    other = data.draw(st.sampled_from(sorted(KINDS.keys() - {kind_of(body)})))
    for stored in (encode_body(body), b"", b"\xc1", encode_body(body)[:-1]):
        with pytest.raises(Damaged, match="r cannot be read"):
            decode_body(header(other), stored)


def test_the_stored_bytes_of_a_body_are_fixed() -> None:
    body = Message(role=Role.USER, parts=(Text(text=payload("hi"), o200k=1),), wire="openai")
    stored = bytes.fromhex(
        "84a474797065a76d657373616765a4726f6c65a475736572a570617274739183a474797065a474657874"
        "a47465787482a473697a6502a6696e6c696e65c4026869a56f3230306b01a477697265a66f70656e6169"
    )
    assert encode_body(body) == stored
    assert decode_body(header("message"), stored) == body


def test_a_newer_kind_or_version_is_refused_not_guessed() -> None:
    stored = encode_body(Message(role=Role.USER))
    for unknown in (header("hologram"), header("message", VERSIONS["message"] + 1)):
        with pytest.raises(StoreTooNew, match=unknown.kind):
            decode_body(unknown, stored)


def test_an_old_form_is_brought_up_to_date_step_by_step() -> None:
    def first(fields: Fields) -> Fields:
        return {**fields, "role": fields.pop("who")}

    def second(fields: Fields) -> Fields:
        return {**{name: value for name, value in fields.items() if name != "who"}, "wire": "openai"}

    versions = {**VERSIONS, "message": 3}
    upcasts = {("message", 1): first, ("message", 2): second}
    first_form = msgspec.msgpack.encode({"type": "message", "who": "user", "extras": b"\xff"})
    second_form = msgspec.msgpack.encode({"type": "message", "role": "user", "extras": b"\xff"})
    current = Message(role=Role.USER, wire="openai", extras=b"\xff")
    for version, stored in ((1, first_form), (2, second_form), (3, encode_body(current))):
        assert decode_body(header("message", version), stored, versions=versions, upcasts=upcasts) == current


def test_every_old_version_has_its_way_up() -> None:
    assert UPCASTS.keys() == {(kind, version) for kind in KINDS for version in range(1, VERSIONS[kind])}


def everything(value: object) -> Iterator[Payload]:
    """Every payload, by looking at every field."""
    if isinstance(value, Payload):
        yield value
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from everything(getattr(value, name))
    elif isinstance(value, tuple):
        for inner in value:
            yield from everything(inner)


@examples(200)
@given(any_body())
def test_no_payload_is_overlooked(body: Body) -> None:
    assert payloads(body) == list(everything(body))


def test_payloads_are_found_in_order_of_fields_wherever_they_are() -> None:
    names = "abcdef"
    a, b, c, d, e, f = map(payload, names)
    message = Message(
        role=Role.ASSISTANT,
        parts=(
            Reasoning(wire="w", raw=a),
            CallRef(call=RecordId("c")),
            Text(text=b),
            Media(data=c),
            Media(),
            Opaque(wire="w", raw=d),
        ),
    )
    assert payloads(message) == [a, b, c, d]
    assert payloads(message.parts) == [a, b, c, d]
    assert payloads(Skill(name="s", version="1", summary="", instructions=e, tools=f)) == [e, f]
    assert payloads(ToolArtifact()) == []
    memory = ToolMemory(sources=(), tools=(), summary=a, observed=Instant(0))
    assert payloads(memory) == [a]
