"""Opening the store that a command line names."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from callsheet.cli.parsing import DEFAULT_TENANT
from callsheet.errors import InvalidOption, NotFound

if TYPE_CHECKING:
    from callsheet.graph.ports import Signer
    from callsheet.runtime.runtime import Runtime


@contextmanager
def opened(
    store: str,
    tenant: str | None = None,
    *,
    create: bool = False,
    signer: "Signer | None" = None,
    idle: float | None = None,
    embedder: str | None = None,
) -> Iterator["Runtime"]:
    """An open store. Raises `NotFound` where there is none, so that looking for one does not make one.

    With `create` one is made, and its folder too. Raises `InvalidOption` where that cannot be.
    """
    from callsheet.runtime.opening import open as open_store

    if not Path(store).exists():
        if not create:
            raise NotFound(f"there is no store at {store}")
        try:
            Path(store).parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise InvalidOption(f"no folder can be made for the store {store}: {problem.strerror}") from None
    name = DEFAULT_TENANT if tenant is None else tenant
    with open_store(store, tenant=name, signer=signer, idle=idle, embedder=embedder) as runtime:
        yield runtime


def signer_from(file: str | None) -> "Signer | None":
    """The signer whose key a file holds, named after the file. Raises `InvalidOption` for a file without a key."""
    if file is None:
        return None
    from callsheet.ledger.crypto.signers import HmacSigner

    try:
        key = Path(file).read_bytes().strip()
    except OSError as problem:
        raise InvalidOption(f"the signing key {file} cannot be read: {problem.strerror}") from None
    return HmacSigner(Path(file).stem, key)
