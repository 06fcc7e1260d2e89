"""Laws of shredding: erased bytes are nowhere on the medium."""

import os

from callsheet.graph.values import Vector
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.contract.subject import Subject, handle
from callsheet.ledger.prepare import owner_of


def erased_bytes_are_nowhere_on_the_medium(subject: Subject) -> None:
    """Before erasure the bytes of a body and of a blob lie on the medium; afterwards they do not."""
    making, ledger, holds = Making(), subject.ledger, handle(subject.holds)
    stream = making.stream()
    name, inline, large = os.urandom(20).hex(), os.urandom(40).hex(), os.urandom(20_000)
    payload = ledger.stash(owner_of(stream), large)
    put(ledger, stream, making.said("before"), making.said(inline), making.said_payload(payload), making.said("after"))
    put(ledger, stream, making.found_by(name, terms=(name,)), *(making.found_by() for _ in range(300)))
    meant = os.urandom(40)
    ledger.put_vectors(stream.key, "model", {2: Vector(scale=1.0, cells=meant)})
    assert holds(meant)
    assert holds(inline.encode())
    assert holds(name.encode())
    assert holds(large[5_000:5_040])
    ledger.erase_bodies(stream.key, [2, 3, 5])
    assert not holds(meant)
    assert not holds(name.encode())
    assert not holds(inline.encode())
    assert not holds(large[5_000:5_040])
