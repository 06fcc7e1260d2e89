"""Many processes on one file: nothing is lost, nothing is torn, and no lock error reaches anybody."""

import os
import subprocess
from pathlib import Path

from callsheet.ledger.contract.chain import verified
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.sqlite import SqliteLedger
from tests.ledger import children

WRITERS = 8
APPENDS = 200


def finished(work: subprocess.Popen[str]) -> list[str]:
    said, _ = work.communicate(timeout=240)
    assert work.returncode == 0
    return said.split()


def test_eight_writers_and_two_readers_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    SqliteLedger.open(path).close()
    streams = [f"thread-{number}" for number in range(WRITERS)]
    readers = [children.start(children.read_until, path, " ".join(streams), APPENDS) for _ in range(2)]
    writers = [children.start(children.append_many, path, name, name, APPENDS) for name in streams]
    times = sorted(float(took) for writer in writers for took in finished(writer))
    assert [finished(reader) for reader in readers] == [[children.DONE]] * 2
    print(f"{WRITERS * APPENDS} appends, p95 {times[len(times) * 95 // 100]:.4f} s, slowest {times[-1]:.4f} s")

    ledger = SqliteLedger.open(path)
    for name in streams:
        records = ledger.records(children.named(name).key)
        assert [record.id for record in records] == [f"{name}/{number}" for number in range(APPENDS)]
        assert [record.position for record in records] == list(range(1, APPENDS + 1))
        assert verified(ledger, children.named(name)) == []


def test_two_processes_on_one_stream_agree_on_its_order(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    writers = [children.start(children.append_many, path, name, "shared", 50) for name in ("a", "b")]
    for writer in writers:
        finished(writer)
    ledger = SqliteLedger.open(path)
    records = ledger.records(children.named("shared").key)
    assert [record.position for record in records] == list(range(1, 101))
    for name in ("a", "b"):
        own = [record.id for record in records if record.id.startswith(name)]
        assert own == [f"{name}/{number}" for number in range(50)]
    assert verified(ledger, children.named("shared")) == []


def test_a_forked_process_opens_its_own_connections(tmp_path: Path) -> None:
    ledger = SqliteLedger.open(tmp_path / "store.db")
    making, stream = Making(), Making().stream()
    put(ledger, stream, making.said(id="parent"))
    child = os.fork()
    if child == 0:  # nothing of the test framework may run here
        status = 1
        try:
            put(ledger, stream, making.said(id="child"), expect=len(ledger.records(stream.key)))
            ledger.close()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    put(ledger, stream, making.said(id="parent again"), expect=2)
    assert [record.id for record in ledger.records(stream.key)] == ["parent", "child", "parent again"]
    assert verified(ledger, stream) == []
