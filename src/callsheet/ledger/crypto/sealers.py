"""Sealers: what locks content with an owner's key, and owners' keys with a master key from outside the store.

master key ─ wraps ─► owner's keys (in the keyring) ─ wrap ─► data key of each object ─ locks ─► its content.
Destroying an owner's row in the keyring destroys everything that the owner's key had locked.
"""

import secrets
from typing import Protocol

from callsheet.errors import Damaged, InvalidOption, MissingExtra, StoreError
from callsheet.ledger.crypto.envelope import Compression, Envelope, Wrapping, opened

KEY_BYTES = 32
_NONCE_BYTES = 12
_TAG_BYTES = 16
_WRAPPED_BYTES = _NONCE_BYTES + KEY_BYTES + _TAG_BYTES


class Sealer(Protocol):
    """Locks and opens. Everything it makes is an envelope."""

    @property
    def name(self) -> str:
        """Names the master key and its algorithm, such as ``aes-256-gcm:prod-1``."""
        ...

    def wrap(self, secret: bytes) -> bytes:
        """A secret under the master key."""
        ...

    def unwrap(self, wrapped: bytes) -> bytes:
        """Raises `StoreError` when it was wrapped under another master key."""
        ...

    def seal(self, key: bytes, name: str, content: bytes, compression: Compression) -> bytes:
        """Content under an owner's key, which is called `name`."""
        ...

    def unseal(self, key: bytes, envelope: Envelope) -> bytes:
        """The content, still compressed. Raises `Damaged` when key and envelope do not belong together."""
        ...


class AesGcmSealer:
    """Locks with AES-256-GCM. Needs the extra ``encryption``."""

    def __init__(self, name: str, master_key: bytes) -> None:
        """`master_key` has 32 bytes and stays outside the store. `name` is stored, so that a wrong key is noticed."""
        if len(master_key) != KEY_BYTES:
            raise InvalidOption(f"the master key {name!r} has {len(master_key)} bytes; it takes {KEY_BYTES}")
        _require_cryptography()
        self._name = f"aes-256-gcm:{name}"
        self._master = master_key

    @property
    def name(self) -> str:
        return self._name

    def wrap(self, secret: bytes) -> bytes:
        return self.seal(self._master, self._name, secret, Compression.NONE)

    def unwrap(self, wrapped: bytes) -> bytes:
        envelope = opened(wrapped)
        if envelope.key != self._name:
            raise StoreError(f"keys of this store are under the master key {envelope.key!r}, not {self._name!r}")
        try:
            return self.unseal(self._master, envelope)
        except Damaged:
            raise StoreError(f"the master key {self._name!r} is not the one that this store was sealed with") from None

    def seal(self, key: bytes, name: str, content: bytes, compression: Compression) -> bytes:
        data_key = secrets.token_bytes(KEY_BYTES)
        nonce = secrets.token_bytes(_NONCE_BYTES)
        head = Envelope(
            wrapping=Wrapping.AES_256_GCM,
            compression=compression,
            key=name,
            parameters=_encrypted(key, secrets.token_bytes(_NONCE_BYTES), data_key, b"") + nonce,
            content=b"",
        ).head()
        return head + _encrypted(data_key, nonce, content, head)[_NONCE_BYTES:]

    def unseal(self, key: bytes, envelope: Envelope) -> bytes:
        wrapped, nonce = envelope.parameters[:_WRAPPED_BYTES], envelope.parameters[_WRAPPED_BYTES:]
        data_key = _decrypted(key, wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], b"")
        return _decrypted(data_key, nonce, envelope.content, envelope.head())


def _require_cryptography() -> None:
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise MissingExtra("encryption", purpose="encryption at rest") from None


def _encrypted(key: bytes, nonce: bytes, content: bytes, bound: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return nonce + AESGCM(key).encrypt(nonce, content, bound)


def _decrypted(key: bytes, nonce: bytes, content: bytes, bound: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key).decrypt(nonce, content, bound)
    except (InvalidTag, ValueError):
        raise Damaged("sealed content does not open with its owner's key. Run `callsheet verify`.") from None
