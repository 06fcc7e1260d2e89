"""Envelopes, sealers and signers: the stored form is fixed, and a wrong key opens nothing."""

import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.errors import Damaged, InvalidOption, MissingExtra, StoreError, StoreTooNew
from callsheet.graph.ports import Signer
from callsheet.ledger.contract.chain import verified
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.crypto.envelope import PLAIN, Compression, Envelope, Wrapping, opened
from callsheet.ledger.crypto.sealers import AesGcmSealer
from callsheet.ledger.crypto.signers import Ed25519Signer, HmacSigner
from callsheet.ledger.prepare import owner_of
from callsheet.ledger.sqlite import SqliteLedger

KEY, OTHER_KEY = bytes(range(32)), bytes(range(1, 33))
LARGE = b"large " * 5000

ENVELOPES = {
    "0100000000" + b"body".hex(): Envelope(content=b"body"),
    "0100010000" + b"zstd".hex(): Envelope(compression=Compression.ZSTD, content=b"zstd"),
    "01010002" + b"k1".hex() + "03" + b"abc".hex() + b"locked".hex(): Envelope(
        wrapping=Wrapping.AES_256_GCM, key="k1", parameters=b"abc", content=b"locked"
    ),
}


@pytest.mark.parametrize(("stored", "envelope"), ENVELOPES.items())
def test_the_stored_form_of_an_envelope_is_fixed(stored: str, envelope: Envelope) -> None:
    assert bytes(envelope).hex() == stored
    assert opened(bytes.fromhex(stored)) == envelope
    assert bytes(envelope).startswith(PLAIN) == (envelope == Envelope(content=b"body"))


@given(
    st.builds(
        Envelope,
        wrapping=st.sampled_from(Wrapping),
        compression=st.sampled_from(Compression),
        key=st.text(max_size=40),
        parameters=st.binary(max_size=255),
        content=st.binary(max_size=50),
    )
)
def test_an_envelope_comes_back_as_it_was(envelope: Envelope) -> None:
    assert opened(bytes(envelope)) == envelope


@pytest.mark.parametrize(
    "stored", ["", "01", "0100", "010000", "01000000", "01000005aabb", "0100000009aa", "010000020000ff"]
)
def test_bytes_that_are_no_envelope_are_damage(stored: str) -> None:
    with pytest.raises((Damaged, StoreTooNew)):
        opened(bytes.fromhex(stored) if stored != "010000020000ff" else bytes.fromhex("01000002ffff00"))


@pytest.mark.parametrize("stored", ["0200000000", "0109000000", "0100090000"])
def test_an_envelope_of_a_newer_form_is_refused(stored: str) -> None:
    with pytest.raises(StoreTooNew):
        opened(bytes.fromhex(stored))


@given(st.binary(max_size=100), st.sampled_from(Compression))
def test_what_was_sealed_is_unsealed(content: bytes, compression: Compression) -> None:
    sealer = AesGcmSealer("m", KEY)
    envelope = opened(sealer.seal(OTHER_KEY, "k1", content, compression))
    assert (envelope.wrapping, envelope.compression, envelope.key) == (Wrapping.AES_256_GCM, compression, "k1")
    assert sealer.unseal(OTHER_KEY, envelope) == content


def test_no_bit_of_a_sealed_envelope_can_change() -> None:
    sealer = AesGcmSealer("m", KEY)
    sealed = sealer.seal(OTHER_KEY, "k1", b"content", Compression.NONE)
    for place in range(len(sealed)):
        changed = sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :]
        with pytest.raises((Damaged, StoreTooNew)):
            sealer.unseal(OTHER_KEY, opened(changed))
    with pytest.raises(Damaged):
        sealer.unseal(KEY, opened(sealed))


def test_sealing_twice_gives_different_bytes() -> None:
    sealer = AesGcmSealer("m", KEY)
    assert len({sealer.seal(OTHER_KEY, "k1", b"content", Compression.NONE) for _ in range(10)}) == 10


def test_a_wrong_master_key_is_noticed() -> None:
    wrapped = AesGcmSealer("m", KEY).wrap(b"secret")
    assert AesGcmSealer("m", KEY).unwrap(wrapped) == b"secret"
    for other in (AesGcmSealer("m", OTHER_KEY), AesGcmSealer("n", KEY)):
        with pytest.raises(StoreError, match="master key"):
            other.unwrap(wrapped)


def test_a_sealed_store_holds_nothing_in_the_open_and_needs_its_sealer(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    making = Making()
    stream = making.stream()
    ledger = SqliteLedger.open(path, sealer=AesGcmSealer("m", KEY))
    payload = ledger.stash(owner_of(stream), LARGE)
    records = put(ledger, stream, making.said("a secret that was said"), making.said_payload(payload))
    ledger.close()
    files = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"a secret" not in files
    assert b"large large" not in files

    for sealer in (None, AesGcmSealer("m", OTHER_KEY)):
        closed = SqliteLedger.open(path, sealer=sealer)
        with pytest.raises(StoreError):
            closed.records(stream.key)
        with pytest.raises(StoreError):
            closed.fetch(owner_of(stream), payload)
    again = SqliteLedger.open(path, sealer=AesGcmSealer("m", KEY))
    assert again.records(stream.key) == records
    assert again.fetch(owner_of(stream), payload) == LARGE


def test_a_store_may_be_sealed_from_some_day_on(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    making = Making()
    stream = making.stream()
    plain = SqliteLedger.open(path)
    before = plain.stash(owner_of(stream), LARGE)
    put(plain, stream, making.said("open"), making.said_payload(before))
    plain.close()
    sealed = SqliteLedger.open(path, sealer=AesGcmSealer("m", KEY))
    after = sealed.stash(owner_of(stream), LARGE + b"!")
    put(sealed, stream, making.said("locked"), making.said_payload(after))
    assert sealed.fetch(owner_of(stream), before) == LARGE
    assert sealed.fetch(owner_of(stream), after) == LARGE + b"!"
    assert sealed.stash(owner_of(stream), LARGE) == before
    assert len(sealed.records(stream.key)) == 4
    assert verified(sealed, stream) == []


def test_without_its_owner_s_key_content_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    making = Making()
    mia, zoe = making.stream(user="mia"), making.stream(user="zoe")
    ledger = SqliteLedger.open(path, sealer=AesGcmSealer("m", KEY))
    for stream in (mia, zoe):
        put(ledger, stream, making.said("said"))
    ledger.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM keyring WHERE user = 'mia'")
    ledger = SqliteLedger.open(path, sealer=AesGcmSealer("m", KEY))
    with pytest.raises(Damaged):
        ledger.records(mia.key)
    assert len(ledger.records(zoe.key)) == 1


SIGNERS: dict[str, Callable[[bytes], Signer]] = {
    "hmac": lambda key: HmacSigner("prod-1", key),
    "ed25519": lambda key: Ed25519Signer("prod-1", key),
}


@pytest.mark.parametrize("make", SIGNERS.values(), ids=SIGNERS)
def test_a_signature_holds_for_its_message_and_key_alone(make: Callable[[bytes], Signer]) -> None:
    signer, other = make(KEY), make(OTHER_KEY)
    signature = signer.sign(b"message")
    assert signer.verify(b"message", signature)
    assert not signer.verify(b"massage", signature)
    assert not signer.verify(b"message", signature[:-1])
    assert not other.verify(b"message", signature)
    assert make(KEY).verify(b"message", signature)


def test_signers_name_key_and_algorithm() -> None:
    assert HmacSigner("prod-1", KEY).name == "hmac-sha256:prod-1"
    assert Ed25519Signer("prod-1", KEY).name == "ed25519:prod-1"


def test_a_key_of_the_wrong_length_is_refused() -> None:
    for make in (
        lambda: HmacSigner("short", b"secret"),
        lambda: Ed25519Signer("short", b"secret"),
        lambda: AesGcmSealer("short", b"secret"),
    ):
        with pytest.raises(InvalidOption, match="short"):
            make()


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    for make in (lambda: Ed25519Signer("a", KEY), lambda: AesGcmSealer("a", KEY)):
        with pytest.raises(MissingExtra, match=r"callsheet\[encryption\]"):
            make()
