"""Laws of leases: a blob waits an hour for the record that names it, and stays as long as one does."""

from callsheet.errors import BodyErased, InputError
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.contract.refusing import refused
from callsheet.ledger.contract.subject import Subject, handle
from callsheet.ledger.prepare import owner_of
from callsheet.ledger.vault import LEASE

_LARGE = b"large " * 5000
_LEASE_SECONDS = LEASE / 1_000_000


def a_blob_that_nothing_names_goes_after_its_lease(subject: Subject) -> None:
    """Garbage collection keeps a blob while its lease lasts and removes it afterwards; naming it then is refused."""
    making, ledger, collect = Making(), subject.ledger, handle(subject.collect)
    stream = making.stream()
    owner = owner_of(stream)
    payload = ledger.stash(owner, _LARGE)
    collect()
    assert ledger.fetch(owner, payload) == _LARGE
    handle(subject.advance)(_LEASE_SECONDS + 1)
    collect()
    refused(BodyErased, ledger.fetch, owner, payload)
    refused(InputError, put, ledger, stream, making.said_payload(payload))
    put(ledger, stream, making.said_payload(ledger.stash(owner, _LARGE)))
    assert ledger.fetch(owner, payload) == _LARGE


def a_blob_that_a_record_names_stays(subject: Subject) -> None:
    """Garbage collection never removes what a record names, however old it is."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    payload = ledger.stash(owner_of(stream), _LARGE)
    put(ledger, stream, making.said_payload(payload))
    handle(subject.advance)(100 * _LEASE_SECONDS)
    handle(subject.collect)()
    assert ledger.fetch(owner_of(stream), payload) == _LARGE


def stashing_again_renews_the_lease(subject: Subject) -> None:
    """Whoever stashes bytes that are there has a whole lease to name them."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    ledger.stash(owner_of(stream), _LARGE)
    handle(subject.advance)(_LEASE_SECONDS * 0.9)
    payload = ledger.stash(owner_of(stream), _LARGE)
    handle(subject.advance)(_LEASE_SECONDS * 0.9)
    handle(subject.collect)()
    put(ledger, stream, making.said_payload(payload))
    assert ledger.fetch(owner_of(stream), payload) == _LARGE
