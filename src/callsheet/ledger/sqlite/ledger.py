"""`SqliteLedger`: the face of the store. What each operation does stands beside it, a module per kind of operation."""

import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from callsheet.errors import StoreError
from callsheet.graph.enums import StreamKind
from callsheet.graph.ids import ROOT_BRANCH, RecordId, TenantId
from callsheet.graph.index import Index, Match, MatchQuery, Posting, PostingQuery, VectorQuery, VectorRow
from callsheet.graph.ports import Append, Clock, IndexOf, Owner, Signer, StoredRecord
from callsheet.graph.prefix import Prefix
from callsheet.graph.query import AroundQuery, LinkQuery, LinkRow, NodeQuery, Projection, Sides, StateQuery, StateRow
from callsheet.graph.record import Findable, Head, Record, Stream, StreamKey
from callsheet.graph.values import Payload, Vector
from callsheet.ledger.blobs.folder import FolderBlobs
from callsheet.ledger.blobs.store import BlobStore
from callsheet.ledger.clock import SystemClock
from callsheet.ledger.crypto.sealers import Sealer
from callsheet.ledger.decode import StoredRow, as_stored, decoded
from callsheet.ledger.indexing import Indexing
from callsheet.ledger.inspection import Catalogue, Filing, SchemaFlaw
from callsheet.ledger.keyring import Keyring, RandomBytes
from callsheet.ledger.migrations import migrations
from callsheet.ledger.prepare import owner_of, prepare
from callsheet.ledger.refusals import missing_block
from callsheet.ledger.sqlite import content, garbage, graph, inspect, postings, read, upkeep, write
from callsheet.ledger.sqlite import prefixes as rows_of_prefixes
from callsheet.ledger.sqlite import vectors as rows_of_vectors
from callsheet.ledger.sqlite.backup import back_up, blob_folder
from callsheet.ledger.sqlite.connections import Connections, Durability
from callsheet.ledger.sqlite.opening import ensure_store
from callsheet.ledger.sqlite.tails import Tails
from callsheet.ledger.vault import LEASE, Vault

BUSY_TIMEOUT = 30.0
"""Seconds that a call waits for other writers."""

_OWNERS = 1_024
"""Streams whose owners are kept at hand."""

_PORTION = 500
"""Records read at once for checking."""


class SqliteLedger:
    """A `Ledger` in a file, made by `open`. Any number of threads and processes may use one file."""

    def __init__(
        self, connections: Connections, *, blobs: BlobStore, vault: Vault, signer: Signer | None, clock: Clock
    ) -> None:
        self._connections = connections
        self._blobs = blobs
        self._vault = vault
        self._signer = signer
        self._clock = clock
        self._tails = Tails()
        #: Whose content a stream holds never changes.
        self._owners: dict[StreamKey, Owner] = {}

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        signer: Signer | None = None,
        sealer: Sealer | None = None,
        blobs: BlobStore | None = None,
        durability: Durability = Durability.FULL,
        busy_timeout: float = BUSY_TIMEOUT,
        clock: Clock | None = None,
        random: RandomBytes = secrets.token_bytes,
    ) -> "SqliteLedger":
        """Open a store, which is made when there is none.

        `blobs` belongs to this store alone; without one the blobs lie in the folder ``<path>.blobs`` beside the file.
        `busy_timeout` is in seconds. `random` makes the keys of owners; tests that compare bytes give a sequence.
        Raises `NotAStore`, `StoreTooNew`, `StoreBusy`, `StoreError`.
        """
        path = Path(path).absolute()
        ensure_store(path, migrations("sqlite"), busy_timeout=busy_timeout)
        connections = Connections(path, durability=durability, busy_timeout=busy_timeout)
        clock = clock if clock is not None else SystemClock()
        if blobs is None:
            blobs = FolderBlobs(blob_folder(path), durable=durability is Durability.FULL)
        rows = content.ContentRows(connections)
        vault = Vault(keyring=Keyring(rows, sealer, random), sealer=sealer, rows=rows, blobs=blobs, now=clock.now)
        return cls(connections, blobs=blobs, vault=vault, signer=signer, clock=clock)

    def close(self) -> None:
        self._connections.close()

    # ------------------------------------------------------------------ writing

    def append(self, appends: Sequence[Append]) -> list[Record]:
        ready = [prepare(append, self._vault) for append in appends]
        durable = any(append.durable for append in appends)
        with self._connections.writing(durable=durable) as connection:
            return write.append(connection, ready, self._signer)

    def rebuild(self, key: StreamKey, index: IndexOf | None = None) -> None:
        indexing = self._indexing(key)
        if indexing is None:
            return
        if index is not None:
            indexing.prepare()
        with self._connections.writing() as connection:
            known = read.stream_by_key(connection, key)
            if known is not None:
                upkeep.rebuild(
                    connection,
                    key,
                    self._decoding(known[0]),
                    owner=owner_of(known[0]),
                    blob_size=self.blob_size,
                    indexing=indexing,
                    index=index,
                )
        self._tails.clear()

    def erase_bodies(self, key: StreamKey, positions: Sequence[int]) -> None:
        with self._connections.writing() as connection:
            known = read.stream_by_key(connection, key)
            if known is None:
                return
            owner = owner_of(known[0])
            dropped = upkeep.erase_bodies(
                connection,
                key,
                positions,
                self._decoding(known[0]),
                owner=owner,
                blob_size=self.blob_size,
                indexing=Indexing(self._vault, owner),
            )
        self._tails.clear()
        garbage.remove(self._connections, self._blobs, dropped, self._clock.now())
        self._connections.empty_log()

    def erased(self, key: StreamKey, ids: Sequence[RecordId]) -> frozenset[RecordId]:
        with self._connections.reading() as connection:
            return frozenset(read.erased(connection, key, ids))

    def erase_blocks(self, owner: Owner, addresses: Sequence[str]) -> None:
        if not addresses:
            return
        with self._connections.writing() as connection:
            content.erase_blocks(connection, owner, addresses)
        self._connections.empty_log()

    def collect(self) -> int:
        """Remove blobs that no record names and whose lease has run out; how many files that were.

        Does nothing while a backup is being made.
        """
        now = self._clock.now()
        removed = garbage.collect(self._connections, self._blobs, now)
        self._blobs.sweep(now - LEASE)
        return removed

    def backup(self, folder: str | Path) -> Path:
        """Copy the store, as of one moment, into a new folder, while others go on writing; the path of the copy.

        The copy is a store that can be opened where it lies; `restore` copies it elsewhere.
        """
        return back_up(self._connections, self._blobs, self._clock, Path(folder))

    # ------------------------------------------------------------------ streams and records

    def stream(self, tenant: TenantId, kind: StreamKind, name: str) -> Stream | None:
        with self._connections.reading() as connection:
            known = read.stream_by_name(connection, tenant, kind, name)
        return known[0] if known is not None else None

    def streams(self, tenant: TenantId | None = None, kind: StreamKind | None = None) -> list[Stream]:
        with self._connections.reading() as connection:
            return read.streams(connection, tenant, kind)

    def head(self, key: StreamKey) -> Head | None:
        with self._connections.reading() as connection:
            known = read.stream_by_key(connection, key)
        return known[1] if known is not None else None

    def records(
        self, key: StreamKey, *, after: int = 0, upto: int | None = None, limit: int | None = None
    ) -> list[Record]:
        return self._records(key, lambda connection: read.records(connection, key, after=after, upto=upto, limit=limit))

    def get(self, key: StreamKey, ids: Sequence[RecordId]) -> list[Record]:
        found = self._records(key, lambda connection: read.records_by_id(connection, key, tuple(dict.fromkeys(ids))))
        by_id = {record.id: record for record in found}
        return [by_id[id] for id in ids if id in by_id]

    def find(self, tenant: TenantId, id: RecordId) -> tuple[Stream, Record] | None:
        with self._connections.reading() as connection:
            found = read.record_anywhere(connection, tenant, id) if id != ROOT_BRANCH else None
        if found is None:
            return None
        stream, row = found
        return stream, self._decoding(stream)(row)

    def stored(self, key: StreamKey, *, after: int = 0) -> Iterator[StoredRecord]:
        while True:
            with self._connections.reading() as connection:
                rows = read.records(connection, key, after=after, upto=None, limit=_PORTION)
                known = read.stream_by_key(connection, key) if rows else None
            if known is None:
                return
            for row in rows:
                yield as_stored(row, owner_of(known[0]), self._vault)
            after = rows[-1].position

    def _records(self, key: StreamKey, find: Callable[[sqlite3.Connection], list[StoredRow]]) -> list[Record]:
        with self._connections.reading() as connection:
            rows = find(connection)
            owner = self._owner(connection, key) if rows else None
        return [decoded(row, owner, self._vault) for row in rows] if owner is not None else []

    def _decoding(self, stream: Stream) -> Callable[[StoredRow], Record]:
        return partial(decoded, owner=owner_of(stream), vault=self._vault)

    def _owner(self, connection: sqlite3.Connection, key: StreamKey) -> Owner | None:
        """Whose content a stream holds; None: there is no such stream."""
        owner = self._owners.get(key)
        if owner is None and (known := read.stream_by_key(connection, key)) is not None:
            if len(self._owners) >= _OWNERS:
                self._owners.clear()
            owner = self._owners[key] = owner_of(known[0])
        return owner

    # ------------------------------------------------------------------ the graph

    def nodes(self, key: StreamKey, query: NodeQuery) -> list[Record]:
        return self._records(key, lambda connection: read.nodes(connection, key, query))

    def around(self, key: StreamKey, query: AroundQuery) -> dict[int, Sides]:
        with self._connections.snapshot() as connection:
            return read.around(connection, key, query)

    def states(self, key: StreamKey, query: StateQuery) -> list[StateRow]:
        with self._connections.snapshot() as connection:
            return graph.states(connection, key, query)

    def links(self, key: StreamKey, query: LinkQuery) -> list[LinkRow]:
        with self._connections.reading() as connection:
            owner = self._owner(connection, key)
            decode = partial(decoded, owner=owner, vault=self._vault) if owner is not None else None
            return graph.links(connection, key, query, decode) if decode is not None else []

    def postings(self, key: StreamKey, query: PostingQuery) -> list[Posting]:
        indexing = self._indexing(key)
        if indexing is None:
            return []
        with self._connections.snapshot() as connection:
            return postings.postings(connection, key, query, indexing, self._tails)

    def matches(self, key: StreamKey, query: MatchQuery) -> list[Match]:
        indexing = self._indexing(key)
        if indexing is None:
            return []
        with self._connections.snapshot() as connection:
            return postings.matches(connection, key, query, indexing, self._tails)

    def indexed(self, key: StreamKey, positions: Sequence[int]) -> dict[int, Index]:
        indexing = self._indexing(key)
        if indexing is None:
            return {}
        with self._connections.reading() as connection:
            return postings.indexed(connection, key, positions, indexing)

    def findable(self, key: StreamKey, positions: Sequence[int]) -> list[Findable]:
        with self._connections.reading() as connection:
            rows = read.records_at(connection, key, positions)
            owner = self._owner(connection, key) if rows else None
        if owner is None:
            return []
        indexing = Indexing(self._vault, owner)
        return [
            Findable(
                record=decoded(row, owner, self._vault),
                index=indexing.packed(row.found) if row.found is not None else None,
            )
            for row in rows
        ]

    def projection(self, key: StreamKey) -> Projection:
        indexing = self._indexing(key)
        with self._connections.snapshot() as connection:
            return graph.projection(connection, key, indexing)

    def _indexing(self, key: StreamKey) -> Indexing | None:
        """None: there is no such stream."""
        owner = self._owners.get(key)
        if owner is None:
            with self._connections.reading() as connection:
                owner = self._owner(connection, key)
        return Indexing(self._vault, owner) if owner is not None else None

    # ------------------------------------------------------------------ vectors

    def put_vectors(self, key: StreamKey, index: str, vectors: Mapping[int, Vector]) -> int:
        indexing = self._indexing(key)
        if indexing is None or not vectors:
            return 0
        sealed = {position: indexing.sealed_vector(vector) for position, vector in vectors.items()}
        with self._connections.writing() as connection:
            return rows_of_vectors.put(connection, key, index, sealed)

    def vectors(self, key: StreamKey, query: VectorQuery) -> list[VectorRow]:
        indexing = self._indexing(key)
        if indexing is None:
            return []
        with self._connections.snapshot() as connection:
            return rows_of_vectors.vectors(connection, key, query, indexing)

    def without_vectors(self, key: StreamKey, index: str, query: NodeQuery) -> list[Record]:
        return self._records(key, lambda connection: rows_of_vectors.without(connection, key, index, query))

    def drop_vectors(self, key: StreamKey, index: str) -> None:
        with self._connections.writing() as connection:
            rows_of_vectors.drop(connection, key, index)

    # ------------------------------------------------------------------ where histories stand

    def put_prefixes(self, tenant: TenantId, scope: str, prefixes: Sequence[Prefix]) -> None:
        if prefixes:
            with self._connections.writing(durable=False) as connection:
                rows_of_prefixes.put(connection, tenant, scope, prefixes)

    def prefixes(self, tenant: TenantId, scope: str, marks: Sequence[bytes]) -> list[Prefix]:
        with self._connections.reading() as connection:
            return rows_of_prefixes.prefixes(connection, tenant, scope, marks)

    def take_prefixes(self, tenant: TenantId, scope: str, mark: bytes) -> list[Prefix]:
        if not self.prefixes(tenant, scope, (mark,)):
            return []
        with self._connections.writing(durable=False) as connection:
            return rows_of_prefixes.take(connection, tenant, scope, mark)

    # ------------------------------------------------------------------ rows as they are; see `Inspectable`

    def schema_flaws(self) -> list[SchemaFlaw]:
        with self._connections.snapshot() as connection:
            return inspect.schema_flaws(connection)

    def catalogue(self, tenant: TenantId | None) -> Catalogue:
        with self._connections.snapshot() as connection:
            return inspect.catalogue(connection, tenant)

    def filing(self, key: StreamKey) -> Filing:
        indexing = self._indexing(key)
        with self._connections.snapshot() as connection:
            return inspect.filing(connection, key, indexing)

    def blob_size(self, address: str) -> int | None:
        try:
            return self._blobs.size(address)
        except StoreError:  # what lies there is no file that could be read
            return None

    # ------------------------------------------------------------------ content

    def stash(self, owner: Owner, content: bytes, *, digest: bool = False) -> Payload:
        self._connections.ensure_open()
        return self._vault.stash(owner, content, digest=digest)

    def fetch(self, owner: Owner, payload: Payload, start: int = 0, stop: int | None = None) -> bytes:
        self._connections.ensure_open()
        return self._vault.fetch(owner, payload, start, stop)

    def address(self, owner: Owner, content: bytes) -> str:
        self._connections.ensure_open()
        return self._vault.address(owner, content)

    def blocks(self, owner: Owner, addresses: Sequence[str]) -> list[bytes]:
        with self._connections.reading() as connection:
            sealed = content.blocks(connection, owner, addresses)
        missing = [address for address in addresses if address not in sealed]
        if missing:
            raise missing_block(missing[0])
        return [self._vault.unsealed_block(owner, address, sealed[address]) for address in addresses]
