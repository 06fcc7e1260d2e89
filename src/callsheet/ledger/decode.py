"""From what is stored back to a record."""

import msgspec

from callsheet.errors import Damaged
from callsheet.graph.codec import decode_body
from callsheet.graph.ports import Owner, StoredRecord
from callsheet.graph.record import Header, Record, commitment
from callsheet.graph.values import Digest
from callsheet.ledger.vault import Vault


class StoredRow(msgspec.Struct, frozen=True, gc=False):
    """A record as a store keeps it."""

    position: int
    header: bytes
    chain: Digest
    #: None: erased.
    sealed: bytes | None
    #: The sealed index. None: there is none, or it was not asked for.
    found: bytes | None = None


_headers = msgspec.json.Decoder(Header)


def decoded(row: StoredRow, owner: Owner, vault: Vault) -> Record:
    """The record; without a body when that was erased. Raises `Damaged`, `StoreTooNew`."""
    try:
        read = _headers.decode(row.header)
    except (msgspec.DecodeError, msgspec.ValidationError) as problem:
        raise Damaged(f"a stored header cannot be read: {problem}. Run `callsheet verify`.") from problem
    if row.sealed is None:
        return Record(header=read, body=None)
    nonce, body = vault.unsealed_body(owner, row.sealed)
    if commitment(nonce, body) != read.commitment:
        raise Damaged(f"the body of {read.kind} {read.id} is not the one that was recorded. Run `callsheet verify`.")
    return Record(header=read, body=decode_body(read, body))


def as_stored(row: StoredRow, owner: Owner, vault: Vault) -> StoredRecord:
    """The record as it lies there, for checking."""
    nonce, body = (None, None) if row.sealed is None else vault.unsealed_body(owner, row.sealed)
    return StoredRecord(position=row.position, header=row.header, chain=row.chain, nonce=nonce, body=body)
