"""Where histories stand that clients send again: noted, found by mark, and dropped with the records that they cover."""

import sqlite3
from collections.abc import Sequence

from callsheet.graph.ids import TenantId
from callsheet.graph.prefix import Prefix
from callsheet.graph.record import StreamKey
from callsheet.ledger.sqlite.queries import portions, query


def put(connection: sqlite3.Connection, tenant: TenantId, scope: str, noted: Sequence[Prefix]) -> None:
    """See `Ledger.put_prefixes`."""
    rows = [
        (tenant, scope, one.mark, one.stream, one.branch, one.record, one.position, one.own, one.size, one.state)
        for one in noted
    ]
    connection.executemany(query("put_prefix"), rows)


def prefixes(connection: sqlite3.Connection, tenant: TenantId, scope: str, marks: Sequence[bytes]) -> list[Prefix]:
    """See `Ledger.prefixes`."""
    found = [
        Prefix(
            mark=mark,
            stream=stream,
            branch=branch,
            record=record,
            position=position,
            own=bool(own),
            size=size,
            state=state,
        )
        for portion in portions(tuple(dict.fromkeys(marks)))
        for mark, stream, branch, record, position, own, size, state in connection.execute(
            query("prefixes", len(portion)), (tenant, scope, *portion)
        )
    ]
    return sorted(found, key=lambda one: (one.mark, one.stream, one.position))


def take(connection: sqlite3.Connection, tenant: TenantId, scope: str, mark: bytes) -> list[Prefix]:
    """See `Ledger.take_prefixes`."""
    found = prefixes(connection, tenant, scope, (mark,))
    connection.execute(query("drop_prefixes"), (tenant, scope, mark))
    return found


def drop_from(connection: sqlite3.Connection, key: StreamKey, position: int) -> None:
    """Forget what ends at a position of a stream or behind it."""
    connection.execute(query("drop_prefixes_from"), (key.tenant, key.stream, position))


def drop_stray(connection: sqlite3.Connection, key: StreamKey) -> None:
    """Forget what ends at a record that is not there or has no body."""
    connection.execute(query("drop_stray_prefixes"), (key.tenant, key.stream))
