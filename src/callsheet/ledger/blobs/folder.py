"""Blobs in a folder: ``ab/hmac-sha256-abcd…``, each written beside and renamed, so none is ever half there."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from callsheet.errors import Damaged, StoreError, StoreFull

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_UNFINISHED = "unfinished"


class FolderBlobs:
    """A `BlobStore` in a folder, which is made when the first blob comes."""

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        """`durable`: a blob is on the disk, not only in the system's cache, when `put` returns."""
        self._folder = folder
        self._durable = durable

    def put(self, address: str, sealed: bytes) -> None:
        path = self._path(address)
        if self.size(address) is not None:
            return
        unfinished = self._folder / _UNFINISHED / secrets.token_hex(16)
        try:
            self._make_folder(unfinished.parent)
            self._make_folder(path.parent)
            self._write(unfinished, sealed)
            unfinished.rename(path)
            self._sync_folder(path.parent)
        except OSError as problem:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise _translated(problem, path) from problem

    def get(self, address: str, start: int = 0, stop: int | None = None) -> bytes:
        path = self._path(address)
        try:
            with path.open("rb") as file:
                file.seek(start)
                return file.read() if stop is None else file.read(max(stop - start, 0))
        except FileNotFoundError:
            raise KeyError(address) from None
        except OSError as problem:
            raise _translated(problem, path) from problem

    def size(self, address: str) -> int | None:
        path = self._path(address)
        try:
            return path.stat().st_size
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise _translated(problem, path) from problem

    def delete(self, address: str) -> None:
        path = self._path(address)
        try:
            path.unlink(missing_ok=True)
        except OSError as problem:
            raise _translated(problem, path) from problem

    def addresses(self) -> Iterator[str]:
        for path in self._folder.glob("??/*-*"):
            algorithm, _, digits = path.name.rpartition("-")
            yield f"{algorithm}:{digits}"

    def sweep(self, before: int) -> None:
        for path in (self._folder / _UNFINISHED).glob("*"):
            with suppress(FileNotFoundError):  # its writer finished or gave up just now
                if path.stat().st_mtime_ns // 1000 < before:
                    path.unlink()

    def _path(self, address: str) -> Path:
        algorithm, _, digits = address.partition(":")
        name = f"{algorithm}-{digits}"
        if not (algorithm and len(digits) >= 8 and digits.isalnum() and name.replace("-", "").isalnum()):
            raise Damaged(f"{address!r} is not the address of a blob")
        return self._folder / digits[:2] / name

    def _write(self, path: Path, sealed: bytes) -> None:
        with path.open("xb") as file:
            file.write(sealed)
            if self._durable:
                file.flush()
                os.fsync(file.fileno())

    def _make_folder(self, folder: Path) -> None:
        if folder.is_dir():
            return
        self._make_folder(folder.parent)
        with suppress(FileExistsError):
            folder.mkdir()
        self._sync_folder(folder.parent)

    def _sync_folder(self, folder: Path) -> None:
        """Make a new name in the folder durable. Windows has no such call and needs none."""
        if not self._durable or os.name == "nt":
            return
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _translated(problem: OSError, path: Path) -> StoreError:
    if problem.errno in _FULL:
        return StoreFull(f"no room for the blob {path}: {problem.strerror}. Nothing was written.")
    return StoreError(f"the blob {path} cannot be reached: {problem.strerror}")
