"""One call of `append` on its way: checked and placed as a whole before any of it is kept."""

from callsheet.errors import PositionConflict
from callsheet.graph.ids import ROOT_BRANCH, RecordId, TenantId
from callsheet.graph.ports import Signer
from callsheet.graph.record import Head, Record, Stream, StreamKey, genesis
from callsheet.ledger.memory.tables import MemoryStream, Tables
from callsheet.ledger.prepare import Placed, PreparedAppend, head_at, owner_of, placed
from callsheet.ledger.refusals import other_stream, repeated_id, repeated_name, unknown_blob


class Pending:
    """Appends that are checked against the tables and against each other. Nothing shows until `keep`."""

    def __init__(self, tables: Tables, signer: Signer | None) -> None:
        self._tables = tables
        self._signer = signer
        self._streams: dict[StreamKey, tuple[Stream, Head]] = {}
        self._written: list[tuple[PreparedAppend, list[Placed]]] = []
        self._ids: set[tuple[StreamKey | TenantId, RecordId]] = set()

    def add(self, append: PreparedAppend) -> None:
        """Place the records of one append behind what is there. Raises what `Ledger.append` raises."""
        key = append.stream.key
        head = self._head(append.stream)
        if append.expect is not None and append.expect != head.position:
            raise PositionConflict(stream=key.stream, expected=append.expect, actual=head.position)
        rows: list[Placed] = []
        position, chain = head.position, head.chain
        for prepared in append.drafts:
            self._refuse_repeated(key, prepared.draft.id)
            for address in prepared.addresses:
                if (owner_of(append.stream), address) not in self._tables.blobs:
                    raise unknown_blob(prepared.draft.id, address)
            rows.append(placed(prepared, key, position + 1, chain))
            position, chain = position + 1, rows[-1].chain
        self._streams[key] = append.stream, head_at(key, position, chain, self._signer)
        self._written.append((append, rows))

    def _head(self, stream: Stream) -> Head:
        """Where the stream stands; at its beginning when it is new."""
        key = stream.key
        known = self._tables.streams.get(key)
        kept, head = self._streams.get(key) or ((known.stream, known.head) if known is not None else (None, None))
        if kept is not None and kept != stream:
            raise other_stream(kept, stream)
        if kept is None:
            self._refuse_taken_name(stream)
        return head or Head(tenant=key.tenant, stream=key.stream, position=0, chain=genesis(key))

    def _refuse_taken_name(self, stream: Stream) -> None:
        name = (stream.tenant, stream.kind, stream.name)
        holder = self._tables.names.get(name)
        pending = (other for other, _ in self._streams.values() if (other.tenant, other.kind, other.name) == name)
        holder = holder or next((other.key for other in pending), None)
        if holder is not None:
            raise repeated_name(stream, holder.stream)

    def _refuse_repeated(self, key: StreamKey, id: RecordId) -> None:
        if id == ROOT_BRANCH:
            place: tuple[StreamKey | TenantId, RecordId] = (key, id)
            known = bool(self._tables.graph(key).get((id,)))
        else:
            place = (key.tenant, id)
            known = (key.tenant, id) in self._tables.places
        if known or place in self._ids:
            raise repeated_id(id)
        self._ids.add(place)

    def keep(self) -> list[Record]:
        """Put everything into the tables. Nothing can fail any more."""
        for append, rows in self._written:
            self._keep(append, rows)
        return [row.record for _, rows in self._written for row in rows]

    def _keep(self, append: PreparedAppend, rows: list[Placed]) -> None:
        stream, key, owner = append.stream, append.stream.key, owner_of(append.stream)
        head = self._streams[key][1]
        known = self._tables.streams.setdefault(key, MemoryStream(stream=stream, head=head))
        self._tables.names[stream.tenant, stream.kind, stream.name] = key
        known.head = head
        for row in rows:
            known.rows.append(row.stored)
            known.graph.apply(row.record, row.prepared.draft.index)
            if row.record.id != ROOT_BRANCH:
                self._tables.places[key.tenant, row.record.id] = key
            for address in row.prepared.addresses:
                self._tables.blobs[owner, address].named_by.add((key, row.record.position))
        for address, sealed in append.blocks.items():
            self._tables.blocks.setdefault((owner, address), sealed)
