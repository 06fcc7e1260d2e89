"""The canonical form and the hashes over it are a contract: stored chains depend on every byte."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.graph.canonical import canonical, content_digest, tagged_digest
from callsheet.graph.enums import Privacy, Visibility
from callsheet.graph.ids import RecordId, StreamId, TenantId
from callsheet.graph.record import Header, StreamKey, chained, commitment, genesis, header_bytes, signing_input
from callsheet.graph.times import Instant
from callsheet.graph.values import Attribute, Scope, Value

KEY = StreamKey(tenant=TenantId("acme"), stream=StreamId("s1"))
HEADER = Header(
    tenant=KEY.tenant,
    stream=KEY.stream,
    position=1,
    id=RecordId("m1"),
    kind="message",
    version=1,
    at=Instant(1_700_000_000_000_000),
    scope=Scope(branch=RecordId("main"), visibility=Visibility.AUDIT),
    privacy=Privacy.SECRET,
    commitment="sha256:00",
)


class Measured(Value):
    value: float | None = None
    inner: "Measured | None" = None


def test_keys_are_sorted_without_white_space_and_defaults_are_left_out() -> None:
    assert header_bytes(HEADER) == (
        b'{"at":1700000000000000,"commitment":"sha256:00","id":"m1","kind":"message","position":1,'
        b'"privacy":"secret","scope":{"branch":"main","visibility":"audit"},"stream":"s1","tenant":"acme","version":1}'
    )
    assert canonical(Scope()) == b"{}"
    assert canonical(Attribute(name="größe", value='"\n')) == '{"name":"größe","value":"\\"\\n"}'.encode()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_cannot_hold_is_refused(number: float) -> None:
    for value in (Measured(value=number), Measured(value=1.0, inner=Measured(value=number))):
        with pytest.raises(ValueError, match="no canonical form"):
            canonical(value)


def test_text_that_says_null_is_no_lost_number() -> None:
    assert canonical(Attribute(name="null", value="null")) == b'{"name":"null","value":"null"}'


def test_the_hashes_never_change() -> None:
    assert tagged_digest("chain", b"a", b"b") == tagged("chain", b"a", b"b")
    assert commitment(b"n" * 16, b"body") == tagged("commitment", b"n" * 16, b"body")
    assert genesis(KEY) == tagged("genesis", b"acme", b"s1")
    assert chained("sha256:0", b"header") == tagged("chain", b"sha256:0", b"header")
    assert signing_input(KEY, 7, "sha256:0") == tagged("head", b"acme", b"s1", b"7", b"sha256:0").encode()
    assert genesis(KEY) == "sha256:" + GENESIS


GENESIS = hashlib.sha256(b"callsheet/1/genesis\0" + b"\0\0\0\0\0\0\0\x04acme" + b"\0\0\0\0\0\0\0\x02s1").hexdigest()


def tagged(tag: str, *parts: bytes) -> str:
    """The definition, written out once more."""
    state = hashlib.sha256(b"callsheet/1/" + tag.encode() + b"\0")
    for part in parts:
        state.update(len(part).to_bytes(8, "big") + part)
    return "sha256:" + state.hexdigest()


@given(st.lists(st.binary(max_size=6), max_size=4), st.lists(st.binary(max_size=6), max_size=4))
def test_no_two_splits_of_the_same_bytes_share_a_hash(one: list[bytes], other: list[bytes]) -> None:
    assert (tagged_digest("t", *one) == tagged_digest("t", *other)) == (one == other)


def test_no_two_uses_share_a_hash() -> None:
    assert len({tagged_digest(tag, b"same") for tag in ("commitment", "chain", "genesis", "head")}) == 4


def test_content_has_the_hash_that_anybody_can_check() -> None:
    assert content_digest(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@given(st.binary(max_size=20), st.binary(max_size=20), st.binary(min_size=16, max_size=16))
def test_a_commitment_tells_bodies_and_nonces_apart(one: bytes, other: bytes, nonce: bytes) -> None:
    assert (commitment(nonce, one) == commitment(nonce, other)) == (one == other)
    assert commitment(nonce, one) != commitment(bytes(16 * [nonce[0] ^ 1]), one)
