"""The stores under test, with handles on their media."""

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from callsheet.graph.graph import Graph
from callsheet.graph.record import StreamKey
from callsheet.graph.times import Instant
from callsheet.ledger.blobs import FolderBlobs, MemoryBlobs
from callsheet.ledger.contract import Subject
from callsheet.ledger.crypto.sealers import Sealer
from callsheet.ledger.crypto.signers import HmacSigner
from callsheet.ledger.memory import MemoryLedger
from callsheet.ledger.sqlite import Durability, SqliteLedger
from callsheet.ledger.sqlite.backup import blob_folder

SIGNER = HmacSigner("test", b"a key for tests alone")


class HandClock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self._now = 1_700_000_000_000_000

    def now(self) -> Instant:
        return Instant(self._now)

    def advance(self, seconds: float) -> None:
        self._now += round(seconds * 1_000_000)


@contextmanager
def memory_subject(sealer: Sealer | None = None, make: Callable[..., MemoryLedger] = MemoryLedger) -> Iterator[Subject]:
    clock, blobs = HandClock(), MemoryBlobs()
    ledger = make(signer=SIGNER, sealer=sealer, blobs=blobs, clock=clock)
    tables = ledger._tables

    def vandalise(key: StreamKey) -> None:
        tables.streams[key].graph = Graph()

    def alter_blob(address: str) -> None:
        blobs._sealed[address] = altered(blobs._sealed[address])

    def holds(content: bytes) -> bool:
        rows = [row.sealed for stream in tables.streams.values() for row in stream.rows if row.sealed is not None]
        found = [row.found for stream in tables.streams.values() for row in stream.rows if row.found is not None]
        vectors = [kept for stream in tables.streams.values() for of in stream.vectors.values() for kept in of.values()]
        return any(content in kept for kept in (*rows, *found, *vectors, *blobs._sealed.values()))

    yield Subject(
        ledger=ledger,
        signer=SIGNER,
        vandalise=vandalise,
        lose_blob=blobs.delete,
        alter_blob=alter_blob,
        advance=clock.advance,
        collect=ledger.collect,
        holds=holds,
    )
    ledger.close()


@contextmanager
def sqlite_subject(sealer: Sealer | None = None) -> Iterator[Subject]:
    with tempfile.TemporaryDirectory() as folder:
        clock, path = HandClock(), Path(folder) / "store.db"
        # Surviving a power cut is nothing that a test in this process could notice.
        opened = [SqliteLedger.open(path, signer=SIGNER, sealer=sealer, durability=Durability.NORMAL, clock=clock)]
        blobs = FolderBlobs(blob_folder(path))

        def reopen() -> SqliteLedger:
            opened[-1].close()
            opened.append(SqliteLedger.open(path, signer=SIGNER, sealer=sealer, clock=clock))
            return opened[-1]

        def alter_blob(address: str) -> None:
            file = blobs._path(address)
            file.write_bytes(altered(file.read_bytes()))

        def holds(content: bytes) -> bool:
            files = [file for file in Path(folder).rglob("*") if file.is_file()]
            return any(content in file.read_bytes() for file in files)

        yield Subject(
            ledger=opened[0],
            signer=SIGNER,
            reopen=reopen,
            vandalise=lambda key: vandalise_file(path, key),
            lose_blob=blobs.delete,
            alter_blob=alter_blob,
            advance=clock.advance,
            collect=opened[0].collect,
            holds=holds,
        )
        opened[-1].close()


def altered(content: bytes) -> bytes:
    """One bit changed, near the end."""
    return content[:-3] + bytes([content[-3] ^ 1]) + content[-2:]


def vandalise_file(path: Path, key: StreamKey) -> None:
    """Spoil all that is not header, chain or body."""
    at = (key.tenant, key.stream)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM blob_name WHERE tenant = ? AND stream = ?", at)
        connection.execute(
            "DELETE FROM posting WHERE stream IN (SELECT number FROM stream WHERE tenant = ? AND id = ?)", at
        )
        connection.execute("DELETE FROM state WHERE tenant = ? AND stream = ?", at)
        connection.execute("UPDATE link SET target = 'nonsense' WHERE tenant = ? AND stream = ?", at)
        connection.execute("INSERT INTO state VALUES (?, ?, 'pinned', 'nobody', '', 1, NULL, '')", at)
        connection.execute(
            "UPDATE record SET id = 'id ' || position, kind = 'fact', series = 'x', branch = 'nowhere'"
            " WHERE tenant = ? AND stream = ?",
            at,
        )
