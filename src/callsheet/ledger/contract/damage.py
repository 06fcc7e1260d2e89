"""Laws of damage: what is not what was stored is never handed out."""

import os

from callsheet.errors import Damaged
from callsheet.graph.values import Payload
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.contract.refusing import refused
from callsheet.ledger.contract.subject import Subject, handle
from callsheet.ledger.prepare import owner_of


def _recorded(subject: Subject, making: Making, content: bytes) -> Payload:
    stream = making.stream()
    payload = subject.ledger.stash(owner_of(stream), content)
    put(subject.ledger, stream, making.said_payload(payload))
    return payload


def a_blob_that_was_lost_is_damage(subject: Subject) -> None:
    """Fetching a blob whose bytes are gone is an error that names its address."""
    making = Making()
    payload = _recorded(subject, making, b"large " * 5000)
    assert payload.blob is not None
    handle(subject.lose_blob)(payload.blob.address)
    problem = refused(Damaged, subject.ledger.fetch, owner_of(making.stream()), payload)
    assert payload.blob.address in str(problem)


def a_blob_that_was_altered_is_damage(subject: Subject) -> None:
    """Fetching a blob with a changed bit is an error, whole or by range, compressed or not."""
    making = Making()
    owner = owner_of(making.stream())
    for content in (b"large " * 5000, os.urandom(20_000)):
        payload = _recorded(subject, making, content)
        assert payload.blob is not None
        handle(subject.alter_blob)(payload.blob.address)
        refused(Damaged, subject.ledger.fetch, owner, payload)
        refused(Damaged, subject.ledger.fetch, owner, payload, 0, 10)
