"""Vectors of the records of one stream: sealed beside the rows, as a table would keep them."""

from collections.abc import Mapping

from msgspec.structs import replace

from callsheet.errors import Damaged
from callsheet.graph.index import VectorQuery, VectorRow
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.values import Vector
from callsheet.ledger.indexing import Indexing
from callsheet.ledger.memory.tables import MemoryStream


def put_vectors(known: MemoryStream, index: str, vectors: Mapping[int, Vector], indexing: Indexing) -> int:
    """See `Ledger.put_vectors`."""
    kept = known.vectors.setdefault(index, {})
    sealed = {position: indexing.sealed_vector(vector) for position, vector in vectors.items()}
    new = {at: content for at, content in sealed.items() if at not in kept and _lives(known, at)}
    kept.update(new)
    return len(new)


def vectors(known: MemoryStream, query: VectorQuery, indexing: Indexing) -> list[VectorRow]:
    """See `Ledger.vectors`."""
    kept = known.vectors.get(query.index, {})
    upto = len(known.rows) if query.upto is None else query.upto
    wanted = kept if query.positions is None else kept.keys() & set(query.positions)
    found: list[VectorRow] = []
    for position in sorted(wanted):
        record = known.graph.records(after=position - 1, upto=position)[0]
        seen = query.lineage is None or query.lineage.sees(record.branch, position)
        if query.after < position <= upto and seen:
            vector = indexing.opened_vector(kept[position])
            found.append(VectorRow(position=position, record=record.id, branch=record.branch, vector=vector))
    return found


def without_vectors(known: MemoryStream, index: str, query: NodeQuery) -> list[Record]:
    """See `Ledger.without_vectors`."""
    kept = known.vectors.get(index, {})
    nodes = known.graph.nodes(replace(query, limit=None))
    found = [record for record in nodes if record.body is not None and record.position not in kept]
    return found[: query.limit]


def keep_sound(known: MemoryStream, indexing: Indexing) -> None:
    """Forget the vectors of records that have no body, and those that cannot be read."""
    for index, kept in known.vectors.items():
        sound = {at: content for at, content in kept.items() if _lives(known, at) and _readable(indexing, content)}
        known.vectors[index] = sound


def _lives(known: MemoryStream, position: int) -> bool:
    return 0 < position <= len(known.rows) and known.rows[position - 1].sealed is not None


def _readable(indexing: Indexing, content: bytes) -> bool:
    try:
        indexing.opened_vector(content)
    except Damaged:
        return False
    return True
