"""The blocks of a stored request as they were sent, with a gap for each that was erased since."""

from collections.abc import Sequence

from callsheet.errors import Damaged
from callsheet.graph.changes import Erased
from callsheet.graph.query import NodeQuery
from callsheet.runtime.session import Session

GAP = b""
"""Stands for a block that was erased; no block is empty."""


def sent(session: Session, addresses: Sequence[str]) -> tuple[bytes, ...]:
    """Read blocks by address, in order. Raises `Damaged` for one that is missing and that no erasure record names."""
    ledger, owner = session.ledger, session.owner
    try:
        return tuple(ledger.blocks(owner, addresses))
    except Damaged:
        erased = _erased(session)
        if erased.isdisjoint(addresses):
            raise
    found: list[bytes] = []
    for address in addresses:
        try:
            found += ledger.blocks(owner, (address,))
        except Damaged:
            if address not in erased:
                raise
            found.append(GAP)
    return tuple(found)


def _erased(session: Session) -> frozenset[str]:
    """The blocks that erasure records of the tenant name, in whichever stream they stand."""
    ledger, query = session.ledger, NodeQuery(kinds=("erased",))
    notes = (record for stream in ledger.streams(session.owner.tenant) for record in ledger.nodes(stream.key, query))
    return frozenset(address for record in notes if isinstance(record.body, Erased) for address in record.body.blocks)
