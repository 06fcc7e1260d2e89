"""What the vault asks of the store: owners' keys, and which blobs there are."""

import sqlite3
from collections.abc import Sequence

from callsheet.graph.ports import Owner
from callsheet.graph.times import Instant
from callsheet.ledger.keyring import KeyRow, completed
from callsheet.ledger.sqlite.connections import Connections
from callsheet.ledger.sqlite.queries import portions, query


class ContentRows:
    """Rows of ``keyring`` and ``blob``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def key_row(self, owner: Owner, fresh: KeyRow) -> KeyRow:
        with self._connections.reading() as connection:
            kept = _key_row(connection, owner)
        if kept is not None and completed(kept, fresh) == kept:
            return kept
        with self._connections.writing() as connection:
            row = completed(_key_row(connection, owner), fresh)
            connection.execute(
                query("keep_key_row"), (owner.tenant, owner.user or "", row.id, row.address_key, row.content_key)
            )
        return row

    def blob_known(self, owner: Owner, address: str) -> bool:
        with self._connections.reading() as connection:
            found = connection.execute(query("blob"), (owner.tenant, owner.user or "", address))
            return found.fetchone() is not None

    def blob_leased(self, owner: Owner, address: str, *, size: int, stored: int, until: Instant) -> None:
        # After a power cut a file without its lease is only garbage: no record can name it, for that would be durable.
        with self._connections.writing(durable=False) as connection:
            connection.execute(query("lease_blob"), (owner.tenant, owner.user or "", address, size, stored, until))


def _key_row(connection: sqlite3.Connection, owner: Owner) -> KeyRow | None:
    row = connection.execute(query("key_row"), (owner.tenant, owner.user or "")).fetchone()
    return None if row is None else KeyRow(id=row[0], address_key=row[1], content_key=row[2])


def erase_blocks(connection: sqlite3.Connection, owner: Owner, addresses: Sequence[str]) -> None:
    """Remove blocks for good."""
    for portion in portions(tuple(dict.fromkeys(addresses))):
        connection.execute(query("drop_blocks", len(portion)), (owner.tenant, owner.user or "", *portion))


def blocks(connection: sqlite3.Connection, owner: Owner, addresses: Sequence[str]) -> dict[str, bytes]:
    """Sealed blocks by address; those that are missing are left out."""
    found: dict[str, bytes] = {}
    for portion in portions(tuple(dict.fromkeys(addresses))):
        at = (owner.tenant, owner.user or "", *portion)
        found.update(connection.execute(query("blocks", len(portion)), at).fetchall())
    return found
