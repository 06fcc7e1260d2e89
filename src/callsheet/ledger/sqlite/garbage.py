"""Removing blobs. First rows are dropped, then files without a row, each checked again under the write lock.

Whoever stashes commits its row before it puts its file, so under the lock a file without a row is nobody's. A crash
in between leaves such files for the next collection.
"""

import sqlite3
from collections.abc import Sequence
from itertools import islice

from callsheet.graph.times import Instant
from callsheet.ledger.blobs.store import BlobStore
from callsheet.ledger.sqlite.connections import Connections
from callsheet.ledger.sqlite.queries import portions, query

_FILES_AT_ONCE = 64
"""Files removed in one transaction: others must not wait long."""


def held(connection: sqlite3.Connection, now: Instant) -> bool:
    """Whether a backup needs all blobs to stay."""
    return connection.execute(query("held"), (now,)).fetchone() is not None


def collect(connections: Connections, blobs: BlobStore, now: Instant) -> int:
    """Drop blobs that no record names and no lease holds; how many files were removed."""
    with connections.writing() as connection:
        if held(connection, now):
            return 0
        connection.execute(query("drop_expired_blobs"), (now,))
    with connections.reading() as connection:
        known = {address for (address,) in connection.execute(query("all_blobs"))}
    return remove(connections, blobs, [address for address in blobs.addresses() if address not in known], now)


def remove(connections: Connections, blobs: BlobStore, addresses: Sequence[str], now: Instant) -> int:
    """Remove those of some files that are nobody's; how many there were."""
    removed = 0
    waiting = iter(addresses)
    while some := list(islice(waiting, _FILES_AT_ONCE)):
        with connections.writing() as connection:
            if held(connection, now):
                return removed
            (portion,) = portions(some)
            known = {row[0] for row in connection.execute(query("known_addresses", len(portion)), portion)}
            for address in some:
                if address not in known:
                    blobs.delete(address)
                    removed += 1
    return removed
