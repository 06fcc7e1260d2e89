"""The store under test, and the handles on its medium that the extended laws need."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from callsheet.graph.ports import Ledger, Signer
from callsheet.graph.record import StreamKey

Handle = TypeVar("Handle")


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A fresh, empty store. A handle that is None says that the store lacks the capability that needs it."""

    ledger: Ledger
    #: The signer that the store was opened with.
    signer: Signer | None = None
    #: Close the store and open it again.
    reopen: Callable[[], Ledger] | None = None
    #: Spoil everything of a stream that can be built anew.
    vandalise: Callable[[StreamKey], None] | None = None
    #: Remove the bytes of a blob behind the store's back.
    lose_blob: Callable[[str], None] | None = None
    #: Change a bit of a blob behind the store's back.
    alter_blob: Callable[[str], None] | None = None
    #: Let so many seconds pass.
    advance: Callable[[float], None] | None = None
    #: Collect garbage.
    collect: Callable[[], object] | None = None
    #: Whether these bytes lie anywhere on the medium.
    holds: Callable[[bytes], bool] | None = None


def handle(found: Handle | None) -> Handle:
    """A handle that a law needs."""
    assert found is not None, "the subject lacks a handle that this capability needs; see callsheet.ledger.contract"
    return found
