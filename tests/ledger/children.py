"""What other processes do to a store in the tests: ``python -m tests.ledger.children WORK PATH ARGUMENT…``."""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from callsheet.errors import StoreError
from callsheet.graph.ports import Append
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Stream
from callsheet.ledger.blobs import FolderBlobs
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.crypto.signers import HmacSigner
from callsheet.ledger.migrations import Migration, Phase, migrations
from callsheet.ledger.prepare import owner_of
from callsheet.ledger.sqlite import SqliteLedger
from callsheet.ledger.sqlite.backup import blob_folder
from callsheet.ledger.sqlite.opening import migrate
from tests.ledger.stores import SIGNER, HandClock

LARGE = b"large " * 5000
DONE = "done"

_MAKING = Making()
FIRST, SECOND = _MAKING.stream(), _MAKING.stream()


def start(work: Callable[..., None], path: Path, *arguments: object) -> subprocess.Popen[str]:
    """Another process that does the work."""
    command = [sys.executable, "-m", "tests.ledger.children", work.__name__, str(path), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])


def die() -> None:
    """Stop at once, as if the power went: no handlers, no clean-up."""
    os.kill(os.getpid(), signal.SIGKILL)


class DyingBlobs(FolderBlobs):
    """A folder of blobs that takes its process down at one step."""

    def __init__(self, folder: Path, step: str) -> None:
        super().__init__(folder)
        self._step = step

    def put(self, address: str, sealed: bytes) -> None:
        self._at("after the lease")
        super().put(address, sealed)
        self._at("after the blob was put")

    def _write(self, path: Path, sealed: bytes) -> None:
        super()._write(path, sealed[: len(sealed) // 2])
        self._at("while the blob is written")
        path.unlink()
        super()._write(path, sealed)

    def delete(self, address: str) -> None:
        self._at("before a blob is deleted")
        super().delete(address)
        self._at("after a blob was deleted")

    def _at(self, step: str) -> None:
        if step == self._step:
            die()


class DyingSigner(HmacSigner):
    """A signer that takes its process down when it signs for the second stream, in the middle of the transaction."""

    def __init__(self, step: str) -> None:
        super().__init__("test", b"a key for tests alone")
        self._step = step
        self._signed = 0

    def sign(self, message: bytes) -> bytes:
        self._signed += 1
        if self._step == "inside the transaction" and self._signed == 2:
            die()
        return super().sign(message)


BEFORE_COMMIT = (
    "after the lease",
    "while the blob is written",
    "after the blob was put",
    "inside the transaction",
)
AFTER_COMMIT = ("after the commit",)


def append_and_die(path: Path, step: str) -> None:
    """Append to two streams, a large payload among the records, and die at one step."""
    ledger = SqliteLedger.open(path, blobs=DyingBlobs(blob_folder(path), step), signer=DyingSigner(step))
    making = Making()
    payload = ledger.stash(owner_of(FIRST), LARGE)
    large, small = making.said_payload(payload, id="large"), making.said(id="small")
    ledger.append(
        [Append(stream=FIRST, drafts=(large, small)), Append(stream=SECOND, drafts=(making.said(id="last"),))]
    )
    die()


def collect_and_die(path: Path, step: str) -> None:
    """Collect garbage of a day ago, and die at one step."""
    clock = HandClock()
    clock.advance(86_400)
    SqliteLedger.open(path, blobs=DyingBlobs(blob_folder(path), step), clock=clock).collect()


def migrate_and_die(path: Path) -> None:
    """Apply a migration whose successor kills."""

    class Dying(tuple[Migration, ...]):
        def __iter__(self) -> Iterator[Migration]:
            yield from super().__iter__()
            die()

    extra = Migration(
        name="9999_pre_extra", number=9999, phase=Phase.PRE, sql="CREATE TABLE extra (x); DROP TABLE link;"
    )
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, Dying((*migrations("sqlite"), extra)))


def append_for_ever(path: Path) -> None:
    """Append pairs to one stream, saying each position once it is acknowledged."""
    ledger = SqliteLedger.open(path, signer=SIGNER)
    making = Making()
    head = ledger.head(FIRST.key)
    position = head.position if head is not None else 0
    while True:
        pair = (making.said(id=f"{position} a"), making.said(id=f"{position} b"))
        position = put(ledger, FIRST, *pair, expect=position)[-1].position
        print(position, flush=True)


def append_many(path: Path, writer: str, stream: str, count: str) -> None:
    """Append so many records to a stream; says the seconds that each took."""
    ledger = SqliteLedger.open(path)
    making = Making()
    for number in range(int(count)):
        draft = making.said(f"event {number} " * 20, id=f"{writer}/{number}")
        began = time.perf_counter()
        put(ledger, named(stream), draft)
        print(time.perf_counter() - began)
    ledger.close()


def read_until(path: Path, streams: str, count: str) -> None:
    """Read and search all the time until every stream has so many records."""
    ledger = SqliteLedger.open(path)
    waiting = {named(stream).key for stream in streams.split()}
    while waiting:
        for key in sorted(waiting, key=str):
            records = ledger.records(key)
            assert [record.position for record in records] == list(range(1, len(records) + 1))
            ledger.nodes(key, NodeQuery(kinds=("message",), limit=10, newest=True))
            if len(records) >= int(count):
                waiting.discard(key)
    ledger.close()
    print(DONE)


def put_too_much(path: Path) -> None:
    """Put a blob that is larger than any file may be here; says the error."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        FolderBlobs(path).put("hmac-sha256:" + "a" * 64, b"x" * 5000)
    except StoreError as problem:
        print(type(problem).__name__)


def named(name: str) -> Stream:
    """A stream that every process calls the same."""
    stream = Making().stream()
    return type(stream)(tenant=stream.tenant, id=type(stream.id)(name), kind=stream.kind, name=name, user=stream.user)


WORK = (append_and_die, collect_and_die, migrate_and_die, append_for_ever, append_many, read_until, put_too_much)

if __name__ == "__main__":
    {work.__name__: work for work in WORK}[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
