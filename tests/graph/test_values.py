"""Everything that is stored is frozen, keyword-only, and refuses what it does not know."""

import msgspec
import pytest

from callsheet.graph.codec import KINDS
from callsheet.graph.enums import StreamKind
from callsheet.graph.ids import RecordId, StreamId, TenantId
from callsheet.graph.nodes import Branch
from callsheet.graph.record import Head, Stream, StreamKey
from callsheet.graph.values import Scope, TokenParts


@pytest.mark.parametrize("cls", KINDS.values(), ids=KINDS)
def test_every_kind_is_frozen_keyword_only_and_strict(cls: type[msgspec.Struct]) -> None:
    config = cls.__struct_config__
    assert config.frozen
    assert config.omit_defaults
    assert config.forbid_unknown_fields
    with pytest.raises(TypeError, match="positional"):
        cls("a positional argument")


def test_a_value_cannot_be_changed_and_compares_by_content() -> None:
    branch = Branch(name="main")
    for field in branch.__struct_fields__:
        with pytest.raises(AttributeError):
            setattr(branch, field, "other")
    assert branch == Branch(name="main") != Branch(name="other")
    assert len({Scope(), Scope(), Scope(branch=RecordId("b"))}) == 2


def test_a_negative_count_is_refused_when_read() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.msgpack.decode(msgspec.msgpack.encode({"instructions": -1}), type=TokenParts)


def test_a_head_is_written_as_verification_takes_it() -> None:
    head = Head(tenant=TenantId("acme"), stream=StreamId("s1"), position=7, chain="sha256:00")
    assert str(head) == "acme/s1@7:sha256:00"


def test_a_stream_is_known_by_tenant_and_id() -> None:
    stream = Stream(tenant=TenantId("acme"), id=StreamId("s1"), kind=StreamKind.CONVERSATION, name="n")
    assert stream.key == StreamKey(tenant=TenantId("acme"), stream=StreamId("s1"))


def test_parts_of_a_request_add_up() -> None:
    parts = TokenParts(instructions=1, tools=2, window=4, memories=8, protected=16, skills=32, raw=64)
    assert parts.total == 127
    assert sum(getattr(parts, name) for name in parts.__struct_fields__) == parts.total
