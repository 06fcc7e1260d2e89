"""From a draft to what is stored: first all that needs no position, then, under the lock, the little that does."""

import msgspec

from callsheet.errors import InputError
from callsheet.graph.codec import VERSIONS, encode_body, kind_of, payloads
from callsheet.graph.effects import Effects, effects
from callsheet.graph.ports import Append, Owner, Signer
from callsheet.graph.record import (
    NONCE_BYTES,
    Body,
    Draft,
    Head,
    Header,
    Record,
    Stream,
    StreamKey,
    chained,
    commitment,
    header_bytes,
    signing_input,
)
from callsheet.graph.values import Digest
from callsheet.ledger.decode import StoredRow
from callsheet.ledger.indexing import Indexing
from callsheet.ledger.vault import Vault


class Prepared(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A draft, encoded and sealed."""

    draft: Draft
    kind: str
    commitment: Digest
    sealed: bytes
    #: The sealed index; None: there is none.
    found: bytes | None
    effects: Effects
    #: Blobs that the body names.
    addresses: tuple[str, ...]


class PreparedAppend(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An append with everything done that can be done before the lock is held."""

    stream: Stream
    expect: int | None
    drafts: tuple[Prepared, ...]
    indexing: Indexing
    #: Sealed rendered blocks by address.
    blocks: dict[str, bytes]


class Placed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A record in its place in the chain."""

    record: Record
    stored: StoredRow
    prepared: Prepared

    @property
    def chain(self) -> Digest:
        return self.stored.chain


def owner_of(stream: Stream) -> Owner:
    """Whose content the records of a stream are."""
    return Owner(tenant=stream.tenant, user=stream.user)


def prepare(append: Append, vault: Vault) -> PreparedAppend:
    """Encode, commit, seal. Raises `InputError` for what cannot be stored."""
    stream = append.stream
    if stream.user == "":
        raise InputError(f"stream {stream.id}: a user needs a name; None stands for the tenant's own")
    owner = owner_of(stream)
    indexing = Indexing(vault, owner)
    return PreparedAppend(
        stream=stream,
        expect=append.expect,
        drafts=tuple(_prepared(draft, owner, vault, indexing) for draft in append.drafts),
        indexing=indexing,
        blocks={address: _block(address, content, owner, vault) for address, content in append.blocks.items()},
    )


def _prepared(draft: Draft, owner: Owner, vault: Vault, indexing: Indexing) -> Prepared:
    if draft.scope.branch == "":
        raise InputError(f"record {draft.id}: a branch needs a name; None stands for the whole conversation")
    if len(draft.nonce) != NONCE_BYTES:
        raise InputError(f"record {draft.id}: a nonce has {NONCE_BYTES} bytes, not {len(draft.nonce)}")
    try:
        body = encode_body(draft.body)
        found = indexing.sealed(draft.index) if draft.index is not None else None
    except (UnicodeEncodeError, OverflowError) as problem:
        raise InputError(f"record {draft.id} cannot be stored: {problem}") from problem
    return Prepared(
        draft=draft,
        kind=kind_of(draft.body),
        commitment=commitment(draft.nonce, body),
        sealed=vault.sealed_body(owner, draft.nonce, body),
        found=found,
        effects=effects(draft.id, draft.body),
        addresses=_addresses(draft.body),
    )


def _addresses(body: Body) -> tuple[str, ...]:
    return tuple({payload.blob.address: None for payload in payloads(body) if payload.blob is not None})


def _block(address: str, content: bytes, owner: Owner, vault: Vault) -> bytes:
    if vault.address(owner, content) != address:
        raise InputError(f"the block {address} has other content than its address says")
    return vault.sealed_block(owner, content)


def placed(prepared: Prepared, key: StreamKey, position: int, before: Digest) -> Placed:
    """The record at a position behind a chain. Raises `InputError` for a header that cannot be stored."""
    draft = prepared.draft
    header = Header(
        tenant=key.tenant,
        stream=key.stream,
        position=position,
        id=draft.id,
        kind=prepared.kind,
        version=VERSIONS[prepared.kind],
        at=draft.at,
        scope=draft.scope,
        privacy=draft.privacy,
        commitment=prepared.commitment,
    )
    try:
        written = header_bytes(header)
    except UnicodeEncodeError as problem:
        raise InputError(f"record {draft.id!r} cannot be stored: {problem}") from problem
    return Placed(
        record=Record(header=header, body=draft.body),
        stored=StoredRow(
            position=position,
            header=written,
            chain=chained(before, written),
            sealed=prepared.sealed,
            found=prepared.found,
        ),
        prepared=prepared,
    )


def head_at(key: StreamKey, position: int, chain: Digest, signer: Signer | None) -> Head:
    """The head of a stream, signed when there is a signer."""
    if signer is None:
        return Head(tenant=key.tenant, stream=key.stream, position=position, chain=chain)
    signature = signer.sign(signing_input(key, position, chain))
    return Head(
        tenant=key.tenant,
        stream=key.stream,
        position=position,
        chain=chain,
        signature=signature,
        signer=signer.name,
    )
