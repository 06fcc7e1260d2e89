"""Laws of the chain: what lies in the store can be checked without trusting the store."""

import msgspec

from callsheet.graph.codec import decode_body
from callsheet.graph.ports import Ledger
from callsheet.graph.record import Header, Stream, chained, commitment, genesis, header_bytes
from callsheet.ledger.contract.making import Making, put, said
from callsheet.ledger.contract.subject import Subject


def verified(ledger: Ledger, stream: Stream) -> list[int]:
    """Check header, commitment, chain and head of a stream; the positions whose bodies are gone."""
    gone: list[int] = []
    chain, position = genesis(stream.key), 0
    for row in ledger.stored(stream.key):
        position += 1
        header = msgspec.json.decode(row.header, type=Header)
        assert (header.tenant, header.stream, header.position) == (stream.tenant, stream.id, row.position)
        assert row.position == position
        assert header_bytes(header) == row.header
        chain = chained(chain, row.header)
        assert row.chain == chain
        assert (row.nonce is None) == (row.body is None)
        if row.nonce is None or row.body is None:
            gone.append(position)
        else:
            assert commitment(row.nonce, row.body) == header.commitment
    head = ledger.head(stream.key)
    assert head is not None
    assert (head.tenant, head.stream, head.position, head.chain) == (stream.tenant, stream.id, position, chain)
    return gone


def every_record_continues_the_chain(subject: Subject) -> None:
    """Headers are canonical, each continues the chain of those before it, and the head is the last of them."""
    making, ledger = Making(), subject.ledger
    stream = said(ledger, making, ["one", "two"])
    assert verified(ledger, stream) == []
    put(ledger, stream, making.said("three"))
    assert verified(ledger, stream) == []


def an_empty_stream_stands_at_its_genesis(subject: Subject) -> None:
    """The head of a stream without records is its genesis, which no other stream shares."""
    making, ledger = Making(), subject.ledger
    streams = [making.stream(), making.stream()]
    for stream in streams:
        put(ledger, stream)
        assert verified(ledger, stream) == []
    first, second = (ledger.head(stream.key) for stream in streams)
    assert first is not None
    assert second is not None
    assert first.chain != second.chain


def stored_bytes_are_those_of_the_record(subject: Subject) -> None:
    """What is stored decodes to what is read, with the nonce that the draft brought."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    draft = making.said("one")
    (record,) = put(ledger, stream, draft)
    (row,) = ledger.stored(stream.key)
    assert row.nonce == draft.nonce
    assert row.body is not None
    assert decode_body(record.header, row.body) == draft.body
    assert row.header == header_bytes(record.header)


def checking_can_go_on_from_anywhere(subject: Subject) -> None:
    """`stored` gives the records behind a position, however many there are."""
    making, ledger = Making(), subject.ledger
    stream = said(ledger, making, [str(number) for number in range(1200)])
    assert [row.position for row in ledger.stored(stream.key, after=1)] == list(range(2, 1201))
    assert list(ledger.stored(stream.key, after=1200)) == []
