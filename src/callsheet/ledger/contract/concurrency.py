"""Laws of concurrency: threads may do anything at once, and each sees whole appends in one order."""

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from callsheet.errors import PositionConflict
from callsheet.graph.ports import Append
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.ledger.contract.chain import verified
from callsheet.ledger.contract.graph import folded
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.contract.subject import Subject
from callsheet.ledger.prepare import owner_of

_THREADS = 4
_EACH = 15


def _together(work: Callable[[int], list[Record]]) -> list[list[Record]]:
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(work, range(_THREADS)))


def threads_that_append_to_one_stream_agree_on_its_order(subject: Subject) -> None:
    """Appends of several threads to one stream follow each other without gaps; none is torn or lost."""
    ledger = subject.ledger
    stream = Making().stream()

    def work(number: int) -> list[Record]:
        making = Making()
        ids = (f"{number}/{count}" for count in itertools.count())
        return [
            record
            for _ in range(_EACH)
            for record in put(ledger, stream, making.said(id=next(ids)), making.said(id=next(ids)))
        ]

    written = _together(work)
    records = ledger.records(stream.key)
    assert [record.position for record in records] == list(range(1, 2 * _THREADS * _EACH + 1))
    assert sorted(record.id for record in records) == sorted(record.id for some in written for record in some)
    for some in written:
        positions = [record.position for record in some]
        assert positions == sorted(positions)
        assert all(second == first + 1 for first, second in zip(positions[::2], positions[1::2], strict=True))
    assert verified(ledger, stream) == []
    assert ledger.projection(stream.key) == folded(records).projection()


def threads_that_expect_a_position_take_turns(subject: Subject) -> None:
    """Of those that expect the same position one writes and the others conflict; nobody's write is overwritten."""
    ledger = subject.ledger
    stream = Making().stream()

    def work(number: int) -> list[Record]:
        making, written = Making(), list[Record]()
        while len(written) < _EACH:
            head = ledger.head(stream.key)
            draft = making.said(id=f"{number}/{len(written)}")
            try:
                written += put(ledger, stream, draft, expect=head.position if head is not None else 0)
            except PositionConflict:
                continue
        return written

    written = _together(work)
    assert sum(map(len, written)) == len(ledger.records(stream.key)) == _THREADS * _EACH
    assert verified(ledger, stream) == []


def readers_see_whole_appends(subject: Subject) -> None:
    """While one thread appends pairs, the others only ever read pairs, and blobs that are named are there."""
    ledger = subject.ledger
    stream = Making().stream()
    owner = owner_of(stream)

    def write() -> list[Record]:
        making = Making()
        for number in range(_EACH):
            payload = ledger.stash(owner, bytes([number]) * 10_000)
            pair = (making.said_payload(payload, id=f"{number} a"), making.said(id=f"{number} b"))
            ledger.append([Append(stream=stream, drafts=pair)])
        return []

    def read() -> list[Record]:
        found: list[Record] = []
        while len(found) < 2 * _EACH:
            found = ledger.nodes(stream.key, NodeQuery(kinds=("message",)))
            assert len(found) % 2 == 0
        return found

    _together(lambda number: write() if number == 0 else read())
