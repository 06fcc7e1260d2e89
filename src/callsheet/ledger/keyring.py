"""Owners' keys: one row per owner, made at its first large payload or block, gone with the owner's erasure."""

from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from callsheet.errors import StoreError
from callsheet.graph.ports import Owner
from callsheet.graph.values import Value
from callsheet.ledger.crypto.envelope import PLAIN, Wrapping, opened
from callsheet.ledger.crypto.sealers import KEY_BYTES, Sealer

RandomBytes = Callable[[int], bytes]
"""So many bytes that nobody can guess."""


class KeyRow(Value):
    """An owner's keys as they are stored: envelopes under the master key, or plain where there is none."""

    #: Names the owner's content key in envelopes. Random.
    id: str
    address_key: bytes
    #: None: content of this owner was never locked.
    content_key: bytes | None = None


class OwnerKeys(Value):
    """An owner's keys, ready for use."""

    id: str
    address: bytes
    content: bytes | None


def completed(kept: KeyRow | None, fresh: KeyRow) -> KeyRow:
    """The row to keep: as it was, with a content key where it had none and there is one now."""
    if kept is None:
        return fresh
    return kept if kept.content_key is not None else replace(kept, content_key=fresh.content_key)


class KeyRows(Protocol):
    """Where keys are kept."""

    def key_row(self, owner: Owner, fresh: KeyRow) -> KeyRow:
        """The row of an owner, `completed` with a fresh one; the same to all who ask at once."""
        ...


class Keyring:
    """Gives each owner's keys, and makes them when they are first asked for."""

    def __init__(self, rows: KeyRows, sealer: Sealer | None, random: RandomBytes) -> None:
        self._rows = rows
        self._sealer = sealer
        self._random = random
        self._known: dict[Owner, OwnerKeys] = {}

    def keys(self, owner: Owner) -> OwnerKeys:
        known = self._known.get(owner)
        if known is None:
            known = self._known[owner] = self._opened(self._rows.key_row(owner, self._fresh()))
        return known

    def _fresh(self) -> KeyRow:
        address_key = self._random(KEY_BYTES)
        id = self._random(8).hex()
        if self._sealer is None:
            return KeyRow(id=id, address_key=PLAIN + address_key)
        content_key = self._sealer.wrap(self._random(KEY_BYTES))
        return KeyRow(id=id, address_key=self._sealer.wrap(address_key), content_key=content_key)

    def _opened(self, row: KeyRow) -> OwnerKeys:
        content = self._unwrapped(row.content_key) if row.content_key is not None else None
        return OwnerKeys(id=row.id, address=self._unwrapped(row.address_key), content=content)

    def _unwrapped(self, stored: bytes) -> bytes:
        envelope = opened(stored)
        if envelope.wrapping is Wrapping.NONE:
            return envelope.content
        if self._sealer is None:
            raise StoreError(f"this store is sealed with {envelope.key!r}: open it with that sealer")
        return self._sealer.unwrap(stored)
