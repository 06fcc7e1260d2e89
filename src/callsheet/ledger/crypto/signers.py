"""Signers of heads. Their keys come from outside and are never in a store."""

import hashlib
import hmac
from typing import TYPE_CHECKING

from callsheet.errors import InvalidOption, MissingExtra

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MIN_KEY_BYTES = 16


class HmacSigner:
    """Signs with HMAC-SHA256. Whoever can check a signature can make one."""

    def __init__(self, name: str, key: bytes) -> None:
        if not isinstance(key, bytes):
            raise InvalidOption(f"the signing key {name!r} is {type(key).__name__}; it must be bytes")
        if len(key) < MIN_KEY_BYTES:
            raise InvalidOption(f"the signing key {name!r} has {len(key)} bytes; take at least {MIN_KEY_BYTES}")
        self._name = f"hmac-sha256:{name}"
        self._key = key

    @property
    def name(self) -> str:
        """Algorithm and name of the key, as stored with each head."""
        return self._name

    def sign(self, message: bytes) -> bytes:
        """The signature of a message."""
        return hmac.digest(self._key, message, hashlib.sha256)

    def verify(self, message: bytes, signature: bytes) -> bool:
        """Whether the signature is this key's for the message."""
        return hmac.compare_digest(self.sign(message), signature)


class Ed25519Signer:
    """Signs with Ed25519: the public key checks and cannot sign. Needs the extra ``encryption``."""

    def __init__(self, name: str, private_key: bytes) -> None:
        """`private_key` is the raw key of 32 bytes."""
        self._name = f"ed25519:{name}"
        self._key = _ed25519(name, private_key)

    @property
    def name(self) -> str:
        """Algorithm and name of the key, as stored with each head."""
        return self._name

    def sign(self, message: bytes) -> bytes:
        """The signature of a message."""
        return self._key.sign(message)

    def verify(self, message: bytes, signature: bytes) -> bool:
        """Whether the signature is this key's for the message."""
        from cryptography.exceptions import InvalidSignature

        try:
            self._key.public_key().verify(signature, message)
        except InvalidSignature:
            return False
        return True


def _ed25519(name: str, private_key: bytes) -> "Ed25519PrivateKey":
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        raise MissingExtra("encryption", purpose="signing with Ed25519") from None
    try:
        return Ed25519PrivateKey.from_private_bytes(private_key)
    except ValueError:
        raise InvalidOption(f"the Ed25519 key {name!r} has {len(private_key)} bytes; it takes 32") from None
