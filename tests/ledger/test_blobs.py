"""Blob stores keep bytes by address, once, whole, and nowhere but in their own folder."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from callsheet.errors import Damaged, StoreError
from callsheet.ledger.blobs import BlobStore, FolderBlobs, MemoryBlobs
from tests.ledger import children

Make = Callable[[Path], BlobStore]

STORES: dict[str, Make] = {
    "memory": lambda folder: MemoryBlobs(),
    "folder": lambda folder: FolderBlobs(folder / "blobs"),
    "folder, not durable": lambda folder: FolderBlobs(folder / "blobs", durable=False),
}
ONE, OTHER = (f"hmac-sha256:{digit * 64}" for digit in "ab")

every_store = pytest.mark.parametrize("make", STORES.values(), ids=STORES)


@every_store
def test_what_was_put_is_got_whole_or_by_range(tmp_path: Path, make: Make) -> None:
    blobs = make(tmp_path)
    blobs.put(ONE, b"0123456789")
    assert blobs.get(ONE) == b"0123456789"
    assert blobs.get(ONE, 2, 5) == b"234"
    assert blobs.get(ONE, 7) == b"789"
    assert blobs.get(ONE, 8, 99) == b"89"
    assert blobs.get(ONE, 5, 5) == blobs.get(ONE, 5, 2) == blobs.get(ONE, 99) == b""
    assert blobs.size(ONE) == 10


@every_store
def test_what_is_there_stays_as_it_is(tmp_path: Path, make: Make) -> None:
    blobs = make(tmp_path)
    blobs.put(ONE, b"first")
    blobs.put(ONE, b"second")
    assert blobs.get(ONE) == b"first"


@every_store
def test_what_was_deleted_is_gone(tmp_path: Path, make: Make) -> None:
    blobs = make(tmp_path)
    blobs.put(ONE, b"one")
    blobs.put(OTHER, b"other")
    for _ in range(2):
        blobs.delete(ONE)
    assert blobs.size(ONE) is None
    with pytest.raises(KeyError):
        blobs.get(ONE)
    assert list(blobs.addresses()) == [OTHER]


@every_store
def test_an_empty_store_has_no_addresses(tmp_path: Path, make: Make) -> None:
    blobs = make(tmp_path)
    assert list(blobs.addresses()) == []
    blobs.sweep(0)
    blobs.delete(ONE)


def test_a_folder_is_made_when_the_first_blob_comes(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path / "deep" / "blobs")
    assert blobs.size(ONE) is None
    assert not (tmp_path / "deep").exists()
    blobs.put(ONE, b"one")
    assert (tmp_path / "deep" / "blobs" / "aa" / ("hmac-sha256-" + "a" * 64)).read_bytes() == b"one"


@pytest.mark.parametrize(
    "address", ["", "x", "hmac-sha256:", "hmac-sha256:../../etc/passwd", "../x:abcdefgh", "a:b/c/defghi", "a:........"]
)
def test_an_address_leads_nowhere_else(tmp_path: Path, address: str) -> None:
    blobs = FolderBlobs(tmp_path / "blobs")
    for attempt in (lambda: blobs.put(address, b"x"), lambda: blobs.get(address), lambda: blobs.delete(address)):
        with pytest.raises(Damaged):
            attempt()
    assert list(tmp_path.iterdir()) == []


def test_what_a_crash_left_unfinished_is_swept(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path)
    blobs.put(ONE, b"one")
    unfinished = tmp_path / "unfinished" / "0123"
    unfinished.write_bytes(b"half")
    written = unfinished.stat().st_mtime_ns // 1000
    blobs.sweep(written)
    assert unfinished.exists()
    assert list(blobs.addresses()) == [ONE]
    blobs.sweep(written + 1)
    assert not unfinished.exists()
    assert blobs.get(ONE) == b"one"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
def test_a_full_disk_is_said_so_and_leaves_nothing(tmp_path: Path) -> None:
    child = children.start(children.put_too_much, tmp_path)
    said, _ = child.communicate(timeout=60)
    assert said.split() == ["StoreFull"]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_folder_that_is_none_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("no folder")
    blobs = FolderBlobs(tmp_path / "blobs")

    for use in (blobs.get, blobs.size, blobs.delete, lambda address: blobs.put(address, b"x")):
        with pytest.raises(StoreError, match="cannot be reached"):
            use(ONE)
