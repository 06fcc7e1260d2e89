"""Opening the store that a command line names."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from callsheet.cli.parsing import DEFAULT_TENANT
from callsheet.errors import NotFound

if TYPE_CHECKING:
    from callsheet.runtime.runtime import Runtime


@contextmanager
def opened(store: str, tenant: str | None = None, *, create: bool = False) -> Iterator["Runtime"]:
    """An open store. Raises `NotFound` where there is none, so that looking for one does not make one."""
    from callsheet.runtime.opening import open as open_store

    if not create and not Path(store).exists():
        raise NotFound(f"there is no store at {store}")
    with open_store(store, tenant=DEFAULT_TENANT if tenant is None else tenant) as runtime:
        yield runtime
