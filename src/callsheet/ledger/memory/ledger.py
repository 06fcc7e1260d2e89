"""`MemoryLedger`: every stream is the fold of its records. What it answers is what every other store must answer."""

import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec.structs import replace

from callsheet.errors import StoreClosed
from callsheet.graph.enums import StreamKind
from callsheet.graph.graph import Graph
from callsheet.graph.ids import ROOT_BRANCH, RecordId, TenantId
from callsheet.graph.index import Index, Match, MatchQuery, Posting, PostingQuery, VectorQuery, VectorRow
from callsheet.graph.ports import Append, Clock, IndexOf, Owner, Signer, StoredRecord
from callsheet.graph.prefix import Prefix
from callsheet.graph.query import AroundQuery, LinkQuery, LinkRow, NodeQuery, Projection, Sides, StateQuery, StateRow
from callsheet.graph.record import Findable, Head, Record, Stream, StreamKey
from callsheet.graph.times import Instant
from callsheet.graph.values import Payload, Vector
from callsheet.ledger.blobs.memory import MemoryBlobs
from callsheet.ledger.blobs.store import BlobStore
from callsheet.ledger.clock import SystemClock
from callsheet.ledger.crypto.sealers import Sealer
from callsheet.ledger.decode import as_stored, decoded
from callsheet.ledger.indexing import Indexing
from callsheet.ledger.keyring import Keyring, KeyRow, RandomBytes, completed
from callsheet.ledger.memory import prefixes as rows_of_prefixes
from callsheet.ledger.memory.pending import Pending
from callsheet.ledger.memory.tables import BlobRow, MemoryStream, Tables
from callsheet.ledger.memory.vectors import keep_sound, put_vectors, vectors, without_vectors
from callsheet.ledger.prepare import owner_of, prepare
from callsheet.ledger.refusals import missing_block
from callsheet.ledger.vault import Vault


class MemoryLedger:
    """A `Ledger` that lasts as long as its process. One lock; every method may be called from any thread."""

    def __init__(
        self,
        *,
        signer: Signer | None = None,
        sealer: Sealer | None = None,
        blobs: BlobStore | None = None,
        clock: Clock | None = None,
        random: RandomBytes = secrets.token_bytes,
    ) -> None:
        """`blobs` belongs to this store alone.

        `random` makes the keys of owners; tests that compare bytes give a sequence.
        """
        self._lock = threading.RLock()
        self._closed = False
        self._signer = signer
        self._tables = Tables()
        self._blobs = blobs if blobs is not None else MemoryBlobs()
        self._now = (clock or SystemClock()).now
        self._vault = Vault(
            keyring=Keyring(self, sealer, random),
            sealer=sealer,
            rows=self,
            blobs=self._blobs,
            now=self._now,
        )

    @contextmanager
    def _open(self) -> Iterator[Tables]:
        with self._lock:
            if self._closed:
                raise StoreClosed
            yield self._tables

    # ------------------------------------------------------------------ writing

    def append(self, appends: Sequence[Append]) -> list[Record]:
        with self._open() as tables:
            pending = Pending(tables, self._signer)
            for append in appends:
                pending.add(prepare(append, self._vault))
            return pending.keep()

    def rebuild(self, key: StreamKey, index: IndexOf | None = None) -> None:
        with self._open() as tables:
            known = tables.streams.get(key)
            if known is not None:
                self._refold(known, index)

    def erase_bodies(self, key: StreamKey, positions: Sequence[int]) -> None:
        with self._open() as tables:
            known = tables.streams.get(key)
            if known is None:
                return
            for position in positions:
                if 0 < position <= len(known.rows):
                    known.rows[position - 1] = replace(known.rows[position - 1], sealed=None, found=None)
                    tables.unname(key, position)
            if positions:
                rows_of_prefixes.drop_from(tables, key, min(positions))
            self._refold(known)
            self._drop_unnamed()

    def erased(self, key: StreamKey, ids: Sequence[RecordId]) -> frozenset[RecordId]:
        with self._open() as tables:
            return frozenset(record.id for record in tables.graph(key).get(tuple(ids)) if record.body is None)

    def erase_blocks(self, owner: Owner, addresses: Sequence[str]) -> None:
        with self._open() as tables:
            for address in addresses:
                tables.blocks.pop((owner, address), None)

    def _refold(self, known: MemoryStream, index: IndexOf | None = None) -> None:
        """Nothing is kept unless all of it can be read and indexed."""
        owner = owner_of(known.stream)
        indexing = Indexing(self._vault, owner)
        graph, rows = Graph(), list(known.rows)
        for place, row in enumerate(rows):
            record = decoded(row, owner, self._vault)
            found = row.found
            if index is not None:
                made = index(record) if record.body is not None else None
                found = indexing.sealed(made) if made is not None else None
                rows[place] = replace(row, found=found)
            graph.apply(record, indexing.opened(found) if found is not None else None)
        known.graph, known.rows = graph, rows
        keep_sound(known, indexing)
        rows_of_prefixes.drop_stray(self._tables, known)

    def collect(self) -> int:
        """Remove blobs that no record names and whose lease has run out; how many that were."""
        with self._open() as tables:
            tables.expire(self._now())
            return self._drop_unnamed()

    def _drop_unnamed(self) -> int:
        kept = {address for _, address in self._tables.blobs}
        unnamed = [address for address in self._blobs.addresses() if address not in kept]
        for address in unnamed:
            self._blobs.delete(address)
        return len(unnamed)

    # ------------------------------------------------------------------ streams and records

    def stream(self, tenant: TenantId, kind: StreamKind, name: str) -> Stream | None:
        with self._open() as tables:
            key = tables.names.get((tenant, kind, name))
            return tables.streams[key].stream if key is not None else None

    def streams(self, tenant: TenantId | None = None, kind: StreamKind | None = None) -> list[Stream]:
        with self._open() as tables:
            every = (known.stream for known in tables.streams.values())
            return [stream for stream in every if tenant in (None, stream.tenant) and kind in (None, stream.kind)]

    def head(self, key: StreamKey) -> Head | None:
        with self._open() as tables:
            known = tables.streams.get(key)
            return known.head if known is not None else None

    def records(
        self, key: StreamKey, *, after: int = 0, upto: int | None = None, limit: int | None = None
    ) -> list[Record]:
        with self._open() as tables:
            found = tables.graph(key).records(after=after, upto=upto)
            return found if limit is None else found[:limit]

    def get(self, key: StreamKey, ids: Sequence[RecordId]) -> list[Record]:
        with self._open() as tables:
            return tables.graph(key).get(tuple(ids))

    def find(self, tenant: TenantId, id: RecordId) -> tuple[Stream, Record] | None:
        with self._open() as tables:
            key = tables.places.get((tenant, id)) if id != ROOT_BRANCH else None
            return None if key is None else (tables.streams[key].stream, tables.graph(key).get((id,))[0])

    def stored(self, key: StreamKey, *, after: int = 0) -> Iterator[StoredRecord]:
        with self._open() as tables:
            known = tables.streams.get(key)
            if known is None:
                return
            rows, owner = known.rows[after:], owner_of(known.stream)
        for row in rows:
            yield as_stored(row, owner, self._vault)

    # ------------------------------------------------------------------ the graph

    def nodes(self, key: StreamKey, query: NodeQuery) -> list[Record]:
        with self._open() as tables:
            return tables.graph(key).nodes(query)

    def around(self, key: StreamKey, query: AroundQuery) -> dict[int, Sides]:
        with self._open() as tables:
            return tables.graph(key).around(query)

    def states(self, key: StreamKey, query: StateQuery) -> list[StateRow]:
        with self._open() as tables:
            return tables.graph(key).states(query)

    def links(self, key: StreamKey, query: LinkQuery) -> list[LinkRow]:
        with self._open() as tables:
            return tables.graph(key).links(query)

    def postings(self, key: StreamKey, query: PostingQuery) -> list[Posting]:
        with self._open() as tables:
            return tables.graph(key).postings(query)

    def matches(self, key: StreamKey, query: MatchQuery) -> list[Match]:
        with self._open() as tables:
            return tables.graph(key).matches(query)

    def indexed(self, key: StreamKey, positions: Sequence[int]) -> dict[int, Index]:
        with self._open() as tables:
            return tables.graph(key).indexed(positions)

    def findable(self, key: StreamKey, positions: Sequence[int]) -> list[Findable]:
        with self._open() as tables:
            return tables.graph(key).findable(positions)

    def projection(self, key: StreamKey) -> Projection:
        with self._open() as tables:
            return tables.graph(key).projection()

    # ------------------------------------------------------------------ vectors

    def put_vectors(self, key: StreamKey, index: str, vectors: Mapping[int, Vector]) -> int:
        with self._open() as tables:
            known = tables.streams.get(key)
            if known is None:
                return 0
            return put_vectors(known, index, vectors, Indexing(self._vault, owner_of(known.stream)))

    def vectors(self, key: StreamKey, query: VectorQuery) -> list[VectorRow]:
        with self._open() as tables:
            known = tables.streams.get(key)
            return vectors(known, query, Indexing(self._vault, owner_of(known.stream))) if known is not None else []

    def without_vectors(self, key: StreamKey, index: str, query: NodeQuery) -> list[Record]:
        with self._open() as tables:
            known = tables.streams.get(key)
            return without_vectors(known, index, query) if known is not None else []

    def drop_vectors(self, key: StreamKey, index: str) -> None:
        with self._open() as tables:
            known = tables.streams.get(key)
            if known is not None:
                known.vectors.pop(index, None)

    # ------------------------------------------------------------------ where histories stand

    def put_prefixes(self, tenant: TenantId, scope: str, prefixes: Sequence[Prefix]) -> None:
        with self._open() as tables:
            rows_of_prefixes.put(tables, tenant, scope, prefixes)

    def prefixes(self, tenant: TenantId, scope: str, marks: Sequence[bytes]) -> list[Prefix]:
        with self._open() as tables:
            return rows_of_prefixes.prefixes(tables, tenant, scope, marks)

    def take_prefixes(self, tenant: TenantId, scope: str, mark: bytes) -> list[Prefix]:
        with self._open() as tables:
            found = rows_of_prefixes.prefixes(tables, tenant, scope, (mark,))
            tables.prefixes.pop((tenant, scope, mark), None)
            return found

    # ------------------------------------------------------------------ content

    def stash(self, owner: Owner, content: bytes, *, digest: bool = False) -> Payload:
        with self._open():
            return self._vault.stash(owner, content, digest=digest)

    def fetch(self, owner: Owner, payload: Payload, start: int = 0, stop: int | None = None) -> bytes:
        with self._open():
            return self._vault.fetch(owner, payload, start, stop)

    def address(self, owner: Owner, content: bytes) -> str:
        with self._open():
            return self._vault.address(owner, content)

    def blocks(self, owner: Owner, addresses: Sequence[str]) -> list[bytes]:
        with self._open() as tables:
            return [self._block(tables, owner, address) for address in addresses]

    def _block(self, tables: Tables, owner: Owner, address: str) -> bytes:
        sealed = tables.blocks.get((owner, address))
        if sealed is None:
            raise missing_block(address)
        return self._vault.unsealed_block(owner, address, sealed)

    def close(self) -> None:
        with self._lock:
            self._closed = True

    # ------------------------------------------------------------------ what the vault asks

    def key_row(self, owner: Owner, fresh: KeyRow) -> KeyRow:
        row = self._tables.keys[owner] = completed(self._tables.keys.get(owner), fresh)
        return row

    def blob_known(self, owner: Owner, address: str) -> bool:
        return (owner, address) in self._tables.blobs

    def blob_leased(self, owner: Owner, address: str, *, size: int, stored: int, until: Instant) -> None:
        fresh = BlobRow(size=size, stored=stored, lease_until=until)
        row = self._tables.blobs.setdefault((owner, address), fresh)
        row.lease_until = max(row.lease_until, until)
