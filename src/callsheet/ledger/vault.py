"""How content goes into a store and comes out: sealed, addressed, large content as blobs. The same for every store."""

import hashlib
import hmac
from collections.abc import Callable
from typing import Protocol

from callsheet.errors import BodyErased, Damaged, StoreError
from callsheet.graph.canonical import content_digest
from callsheet.graph.ports import Owner
from callsheet.graph.record import NONCE_BYTES
from callsheet.graph.times import Instant
from callsheet.graph.values import BlobRef, Payload
from callsheet.ledger.blobs.compress import compressed, decompressed
from callsheet.ledger.blobs.store import BlobStore
from callsheet.ledger.crypto.envelope import PLAIN, Compression, Envelope, Wrapping, opened
from callsheet.ledger.crypto.sealers import Sealer
from callsheet.ledger.keyring import Keyring

INLINE_LIMIT = 8 * 1024
"""Bytes up to which a payload stays within its record."""

COMPRESS_FROM = 512
"""Bytes from which a block is worth compressing."""

LEASE = 3600 * 1_000_000
"""Microseconds that a blob waits for the record that names it."""

ADDRESS_ALGORITHM = "hmac-sha256"


class BlobRows(Protocol):
    """Where it is kept which blobs there are. `stored` is the number of bytes in the blob store."""

    def blob_known(self, owner: Owner, address: str) -> bool:
        """Whether a record or a lease holds such a blob."""
        ...

    def blob_leased(self, owner: Owner, address: str, *, size: int, stored: int, until: Instant) -> None:
        """Hold a blob until then, before it is put: whoever collects garbage sees it when this returns."""
        ...


class Vault:
    """Seals, opens, addresses, and keeps what is large in the blob store."""

    def __init__(
        self, *, keyring: Keyring, sealer: Sealer | None, rows: BlobRows, blobs: BlobStore, now: Callable[[], Instant]
    ) -> None:
        self._keyring = keyring
        self._sealer = sealer
        self._rows = rows
        self._blobs = blobs
        self._now = now

    def address(self, owner: Owner, content: bytes) -> str:
        """Keyed hash of content, equal for equal content of one owner and for nobody else's."""
        return f"{ADDRESS_ALGORITHM}:{hmac.digest(self._keyring.keys(owner).address, content, hashlib.sha256).hex()}"

    def index_key(self, owner: Owner) -> bytes:
        """The key under which names in an owner's indexes are hashed."""
        return hmac.digest(self._keyring.keys(owner).address, b"index", hashlib.sha256)

    def sealed(self, owner: Owner, content: bytes, compression: Compression = Compression.NONE) -> bytes:
        """Content in an envelope, locked when the store has a sealer."""
        if self._sealer is None:
            if compression is Compression.NONE:
                return PLAIN + content
            return bytes(Envelope(compression=compression, content=content))
        keys = self._keyring.keys(owner)
        if keys.content is None:
            raise StoreError(f"the keyring has no content key for {owner}")
        return self._sealer.seal(keys.content, keys.id, content, compression)

    def unsealed(self, owner: Owner, stored: bytes) -> bytes:
        """What `sealed` was given, decompressed. Raises `Damaged`."""
        if stored.startswith(PLAIN):
            return stored[len(PLAIN) :]
        envelope = opened(stored)
        return decompressed(envelope.compression, self._unlocked(owner, envelope))

    def _unlocked(self, owner: Owner, envelope: Envelope) -> bytes:
        if envelope.wrapping is Wrapping.NONE:
            return envelope.content
        keys = self._keyring.keys(owner)
        if self._sealer is None or keys.content is None:
            raise StoreError("content of this store is locked: open it with its sealer")
        return self._sealer.unseal(keys.content, envelope)

    def sealed_body(self, owner: Owner, nonce: bytes, body: bytes) -> bytes:
        """A body with its nonce, which go together when erased."""
        return self.sealed(owner, nonce + body)

    def unsealed_body(self, owner: Owner, stored: bytes) -> tuple[bytes, bytes]:
        """Nonce and body."""
        content = self.unsealed(owner, stored)
        return content[:NONCE_BYTES], content[NONCE_BYTES:]

    def sealed_block(self, owner: Owner, content: bytes) -> bytes:
        """A rendered block in its envelope."""
        if len(content) < COMPRESS_FROM:
            return self.sealed(owner, content)
        compression, smaller = compressed(content)
        return self.sealed(owner, smaller, compression)

    def unsealed_block(self, owner: Owner, address: str, stored: bytes) -> bytes:
        """A rendered block, checked against its address."""
        return self._checked(owner, address, self.unsealed(owner, stored))

    def stash(self, owner: Owner, content: bytes, *, digest: bool) -> Payload:
        """See `Ledger.stash`: lease, put; the record comes later."""
        if len(content) <= INLINE_LIMIT:
            return Payload(size=len(content), inline=content, digest=content_digest(content) if digest else None)
        address = self.address(owner, content)
        sealed = None if self._blobs.size(address) is not None else self._sealed_blob(owner, content)
        stored = len(sealed) if sealed is not None else self._blobs.size(address) or 0
        until = Instant(self._now() + LEASE)
        self._rows.blob_leased(owner, address, size=len(content), stored=stored, until=until)
        if sealed is None and self._blobs.size(address) is None:  # collected just before the lease
            sealed = self._sealed_blob(owner, content)
            stored = len(sealed)
            self._rows.blob_leased(owner, address, size=len(content), stored=stored, until=until)
        if sealed is not None:
            self._blobs.put(address, sealed)
        return Payload(size=len(content), blob=BlobRef(address=address, stored=stored), digest=content_digest(content))

    def _sealed_blob(self, owner: Owner, content: bytes) -> bytes:
        compression, smaller = compressed(content)
        return self.sealed(owner, smaller, compression)

    def fetch(self, owner: Owner, payload: Payload, start: int, stop: int | None) -> bytes:
        """See `Ledger.fetch`. A range is cut from the whole, because only the whole can be checked."""
        if payload.inline is not None:
            return payload.inline[start:stop]
        if payload.blob is None:
            return b""
        address = payload.blob.address
        try:
            stored = self._blobs.get(address)
        except KeyError:
            raise self._missing(owner, address) from None
        if not self._rows.blob_known(owner, address):
            raise self._gone(address)
        return self._checked(owner, address, self.unsealed(owner, stored))[start:stop]

    def _missing(self, owner: Owner, address: str) -> StoreError:
        if not self._rows.blob_known(owner, address):
            return self._gone(address)
        return Damaged(f"the blob {address} is missing from the blob store. Restore it from a backup.")

    def _gone(self, address: str) -> StoreError:
        return BodyErased(f"no record holds the blob {address} any more: it was erased, or never named in time")

    def _checked(self, owner: Owner, address: str, content: bytes) -> bytes:
        if not hmac.compare_digest(self.address(owner, content), address):
            raise Damaged(f"the content of {address} was altered. Restore it from a backup.")
        return content
