"""Opening a store by its location."""

import os
from pathlib import Path

from callsheet.errors import InvalidOption, NotAStore
from callsheet.graph.ports import Clock, Ids, Ledger, Signer
from callsheet.ledger.clock import SystemClock
from callsheet.runtime.options import label, shown
from callsheet.runtime.runtime import Runtime
from callsheet.runtime.sources import RandomIds

MEMORY = ":memory:"
"""The location of a store that lasts as long as its process."""

DEFAULT_TENANT = "local"


def open(
    location: str | os.PathLike[str],
    *,
    tenant: str = DEFAULT_TENANT,
    signer: Signer | None = None,
    ids: Ids | None = None,
    clock: Clock | None = None,
) -> Runtime:
    """Open a store, and create it where there is none.

    `location` is the path of a SQLite file (large content goes to the folder beside it, of the same name with
    ``.blobs``), or ``":memory:"``. `tenant` separates users of one store from each other completely. `signer` signs the
    head of every stream with a key that is not in the store; without one heads are chained but not signed.

    Raises `NotAStore`, `StoreTooNew`, `StoreBusy`, and `InvalidOption` for a location that no store goes by.
    """
    owner = label(tenant, "tenant")
    ledger = _ledger(location, signer, clock)
    return Runtime(ledger, tenant=owner, ids=ids or RandomIds(), clock=clock or SystemClock())


def _path(location: str | os.PathLike[str]) -> str:
    try:
        place = os.fspath(location)
        os.fsencode(place)
    except (TypeError, UnicodeEncodeError):
        raise InvalidOption(f"the location is {shown(location)}; it must be a path") from None
    if not isinstance(place, str) or not place or "\0" in place:
        raise InvalidOption(f"the location is {shown(location)}; it must be a path, as text")
    return place


def _ledger(location: str | os.PathLike[str], signer: Signer | None, clock: Clock | None) -> Ledger:
    place = _path(location)
    for asked in ("name", "sign", "verify"):
        if signer is not None and not hasattr(signer, asked):
            raise InvalidOption(f"signer is {shown(signer)}; it must have a name and be able to sign and verify")
    if place == MEMORY:
        from callsheet.ledger.memory import MemoryLedger

        return MemoryLedger(signer=signer, clock=clock)
    scheme, separator, rest = place.partition("://")
    if separator and scheme != "sqlite":
        raise InvalidOption(f"{place!r}: there is no store for {scheme}://; give the path of a file, or {MEMORY!r}")
    from callsheet.ledger.sqlite import SqliteLedger

    path = Path(rest.removeprefix("/") if separator else place)
    if path.exists() and not path.is_file():
        raise NotAStore(f"{path} is not a file; it was left as it is")
    return SqliteLedger.open(path, signer=signer, clock=clock)
