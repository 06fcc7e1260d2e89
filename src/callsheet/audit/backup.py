"""Backup and restore of a store in a file: database and blobs as of one moment, verified before it is called done."""

from collections.abc import Callable
from pathlib import Path

from callsheet.audit.report import Progress, Report
from callsheet.audit.verify import verify
from callsheet.errors import NotFound
from callsheet.graph.ports import Signer
from callsheet.graph.values import Value


class Copied(Value):
    """A copy of a store, and what verifying it found."""

    path: str
    report: Report


def backup(
    location: str | Path,
    target: str | Path,
    *,
    signer: Signer | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Copied:
    """Copy the store at `location` into the new folder `target`, while others may go on writing, and verify the copy.

    A copy with findings is left there: so is the store that it was made from, and the report says what is wrong.
    Raises `InvalidOption` when `target` exists, `NotFound` when there is no store, `Damaged` when a blob is missing.
    """
    from callsheet.ledger.sqlite import SqliteLedger

    path = Path(location)
    if not path.exists():
        raise NotFound(f"there is no store at {path}")
    ledger = SqliteLedger.open(path)
    try:
        copy = ledger.backup(target)
    finally:
        ledger.close()
    return _verified(copy, signer, progress)


def restore(
    source: str | Path,
    location: str | Path,
    *,
    signer: Signer | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Copied:
    """Copy the backup in the folder `source` to `location`, where nothing may be yet, and verify the copy.

    Raises `InvalidOption` when there is something or `source` is no backup, `Damaged` when a blob is missing.
    """
    from callsheet.ledger.sqlite.backup import restore as copy_back

    path = Path(location)
    copy_back(Path(source), path)
    return _verified(path, signer, progress)


def _verified(path: Path, signer: Signer | None, progress: Callable[[Progress], None]) -> Copied:
    from callsheet.ledger.sqlite import SqliteLedger

    ledger = SqliteLedger.open(path)
    try:
        return Copied(path=str(path), report=verify(ledger, signer=signer, progress=progress))
    finally:
        ledger.close()
