"""Reading states and links. SQL narrows down to what can matter; what holds is said as it is in memory."""

import sqlite3
from collections.abc import Iterator

from callsheet.graph.cut import Lineage
from callsheet.graph.effects import effects
from callsheet.graph.index import index_row
from callsheet.graph.query import LinkQuery, LinkRow, Projection, StateQuery, StateRow, current
from callsheet.graph.record import Record, StreamKey
from callsheet.ledger.indexing import Indexing
from callsheet.ledger.sqlite.queries import portions, query
from callsheet.ledger.sqlite.read import EVERYTHING, Decode, branches, records_by_id
from callsheet.ledger.sqlite.rows import read_link, read_node, read_state

_UNINDEXED = "answered"
"""The value that nearly every call has; to find those by an index would be no gain, to keep it one more page a turn."""

_MANY = 256
"""Targets from which on it is asked first whether any has the field: in most histories few fields are ever set."""


def states(connection: sqlite3.Connection, key: StreamKey, wanted: StateQuery) -> list[StateRow]:
    at = (key.tenant, key.stream, wanted.field.value)
    targets = wanted.targets
    if targets is None and wanted.value not in (None, _UNINDEXED):
        targets = _targets_with_value(connection, at, wanted.value, wanted.lineage)
    if targets is None:
        rows = _of_field(connection, at, wanted.lineage)
    else:
        rows = _of_targets(connection, at, targets, wanted.lineage)
    holding = current(rows, wanted.lineage).values()
    found = [row for row in holding if row.value is not None and wanted.value in (None, row.value)]
    return sorted(found, key=lambda row: row.target)


def _targets_with_value(
    connection: sqlite3.Connection, at: tuple[str, str, str], value: str, lineage: Lineage
) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for branch, upto in branches(lineage):
        for (target,) in connection.execute(query("targets_with_value"), (*at, value, branch, upto)):
            found[target] = None
    return tuple(found)


def _of_field(connection: sqlite3.Connection, at: tuple[str, str, str], lineage: Lineage) -> list[StateRow]:
    found: list[StateRow] = []
    for branch, upto in branches(lineage):
        found += map(read_state, connection.execute(query("states_of_field"), (*at, branch, upto, upto)))
    return found


def _of_targets(
    connection: sqlite3.Connection, at: tuple[str, str, str], targets: tuple[str, ...], lineage: Lineage
) -> list[StateRow]:
    found: list[StateRow] = []
    if len(targets) > _MANY and connection.execute(query("any_state"), at).fetchone() is None:
        return found
    for portion in portions(tuple(dict.fromkeys(targets))):
        text = query("states_of_targets", len(portion))
        for branch, upto in branches(lineage):
            found += map(read_state, connection.execute(text, (*portion, *at, branch, *at, branch, upto)))
    return found


def links(connection: sqlite3.Connection, key: StreamKey, wanted: LinkQuery, decode: Decode) -> list[LinkRow]:
    by, ends = ("source", wanted.sources) if wanted.sources is not None else ("target", wanted.targets or ())
    found: set[LinkRow] = set()
    for portion in portions(tuple(dict.fromkeys(ends))):
        at = (key.tenant, key.stream, wanted.relation.value, *portion)
        found.update(map(read_link, connection.execute(query(f"links_by_{by}", len(portion)), at)))
    if wanted.sources is not None:
        for row in records_by_id(connection, key, wanted.sources):
            found.update(link for link in _own_links(decode(row)) if link.relation is wanted.relation)
    seen = [link for link in found if wanted.lineage.sees(link.branch, link.position)]
    return sorted(seen, key=lambda link: (link.position, link.source, link.target))


def _own_links(record: Record) -> Iterator[LinkRow]:
    """The links from a record that it made itself."""
    made = effects(record.id, record.body).links if record.body is not None else ()
    for link in made:
        if link.source == record.id:
            yield LinkRow(
                relation=link.relation,
                source=link.source,
                target=link.target,
                branch=record.branch,
                position=record.position,
            )


def projection(connection: sqlite3.Connection, key: StreamKey, indexing: Indexing | None) -> Projection:
    """All rows; `indexing` is None for a stream that there is not."""
    at = (key.tenant, key.stream)
    indexes = connection.execute(query("indexes_between"), (*at, 0, EVERYTHING)) if indexing is not None else ()
    return Projection(
        nodes=tuple(map(read_node, connection.execute(query("all_nodes"), at))),
        states=tuple(map(read_state, connection.execute(query("all_states"), at))),
        links=tuple(map(read_link, connection.execute(query("all_links"), at))),
        indexes=tuple(index_row(position, indexing.packed(found)) for position, _, found in indexes)
        if indexing
        else (),
    )
