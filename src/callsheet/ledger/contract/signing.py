"""Laws of signing: with a signer, every head is signed and proves where the stream stood."""

from callsheet.graph.record import signing_input
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.contract.subject import Subject, handle


def every_head_is_signed(subject: Subject) -> None:
    """After each append the head carries the signer's name and a signature over stream, position and chain."""
    making, ledger, signer = Making(), subject.ledger, handle(subject.signer)
    stream = making.stream()
    signatures: set[bytes] = set()
    for size in (0, 1, 3):
        put(ledger, stream, *(making.said() for _ in range(size)))
        head = ledger.head(stream.key)
        assert head is not None
        assert head.signature is not None
        assert head.signer == signer.name
        assert signer.verify(signing_input(stream.key, head.position, head.chain), head.signature)
        signatures.add(head.signature)
    assert len(signatures) == 3


def a_signature_holds_for_one_place_alone(subject: Subject) -> None:
    """A signature fits no other position, chain or stream."""
    making, ledger, signer = Making(), subject.ledger, handle(subject.signer)
    stream, other = making.stream(), making.stream()
    put(ledger, stream, making.said())
    head = ledger.head(stream.key)
    assert head is not None
    assert head.signature is not None
    for forged in (
        signing_input(stream.key, head.position + 1, head.chain),
        signing_input(stream.key, head.position, head.chain[:-1] + "x"),
        signing_input(other.key, head.position, head.chain),
    ):
        assert not signer.verify(forged, head.signature)
