"""Laws of prefixes: where a history stands is told to its tenant and scope alone, and gone with what it covers."""

from callsheet.graph.ids import ROOT_BRANCH, RecordId, StreamId, TenantId
from callsheet.graph.ports import Ledger
from callsheet.graph.prefix import Prefix
from callsheet.graph.record import Record, Stream
from callsheet.ledger.contract.making import Making, put, said
from callsheet.ledger.contract.subject import Subject

_MANY = 600
"""More marks than one query takes."""


def _mark(number: int) -> bytes:
    return number.to_bytes(32, "big")


def _prefix(record: Record, number: int | None = None, **other: object) -> Prefix:
    assert record.branch is not None
    fields: dict[str, object] = {"mark": _mark(record.position if number is None else number), **other}
    stream, branch = record.header.stream, record.branch
    return Prefix(stream=stream, branch=branch, record=record.id, position=record.position, **fields)  # type: ignore[arg-type]


def _noted(ledger: Ledger, stream: Stream, scope: str = "one") -> list[int]:
    """The positions of a stream at which a history stands that was noted by `_prefix`."""
    marks = [_mark(number) for number in range(20)]
    found = ledger.prefixes(stream.tenant, scope, marks)
    return [one.position for one in found if one.stream == stream.id]


def what_was_noted_is_found(subject: Subject) -> None:
    """A prefix is found by its mark as it was noted; a later one on the same branch stands in its place."""
    making, ledger = Making(), subject.ledger
    stream = said(ledger, making, ["one", "two"])
    first, second = ledger.records(stream.key)
    whole = _prefix(first, own=True, size=7, state=b"\x00state")
    ledger.put_prefixes(stream.tenant, "one", [whole, _prefix(second, 9)])
    ledger.put_prefixes(stream.tenant, "one", [])
    assert ledger.prefixes(stream.tenant, "one", [whole.mark]) == [whole]
    assert ledger.prefixes(stream.tenant, "one", []) == []
    assert ledger.prefixes(stream.tenant, "one", [_mark(8)]) == []
    later = _prefix(second, 1)
    ledger.put_prefixes(stream.tenant, "one", [later])
    assert ledger.prefixes(stream.tenant, "one", [whole.mark, whole.mark]) == [later]


def one_history_may_stand_in_several_places(subject: Subject) -> None:
    """The same mark is told of every branch and stream that it was noted for, in order."""
    making, ledger = Making(), subject.ledger
    streams = [making.stream() for _ in range(2)]
    side = RecordId("side")
    records = [
        record for stream in streams for record in put(ledger, stream, making.said(), making.found_by("x", branch=side))
    ]
    places = [_prefix(record, 5) for record in records]
    ledger.put_prefixes(making.tenant, "one", places[::-1])
    assert ledger.prefixes(making.tenant, "one", [_mark(5)]) == places


def many_are_found_at_once(subject: Subject) -> None:
    """Very many marks are asked for at once, and answered in the order of the marks."""
    making, ledger = Making(), subject.ledger
    stream = said(ledger, making)
    (record,) = ledger.records(stream.key)
    noted = [_prefix(record, number) for number in range(_MANY)]
    ledger.put_prefixes(stream.tenant, "one", noted)
    assert ledger.prefixes(stream.tenant, "one", [one.mark for one in reversed(noted)]) == noted


def scopes_and_tenants_share_nothing(subject: Subject) -> None:
    """By the same mark another scope and another tenant find nothing and take nothing."""
    ledger = subject.ledger
    streams = [said(ledger, Making(tenant), ["one"]) for tenant in ("one", "two")]
    for stream in streams:
        ledger.put_prefixes(stream.tenant, "one", [_prefix(ledger.records(stream.key)[0])])
    stranger = TenantId("stranger")
    for tenant, scope in ((streams[0].tenant, "two"), (stranger, "one")):
        assert ledger.prefixes(tenant, scope, [_mark(1)]) == []
        assert ledger.take_prefixes(tenant, scope, _mark(1)) == []
    ledger.put_prefixes(stranger, "one", [_prefix(ledger.records(streams[0].key)[0])])
    assert ledger.prefixes(stranger, "one", [_mark(1)]) == []
    ledger.take_prefixes(streams[1].tenant, "one", _mark(1))
    assert [_noted(ledger, stream) for stream in streams] == [[1], []]


def what_is_taken_is_gone(subject: Subject) -> None:
    """Taking tells what was noted for one mark, once."""
    making, ledger = Making(), subject.ledger
    stream = said(ledger, making, ["one", "two"])
    first, second = (_prefix(record) for record in ledger.records(stream.key))
    ledger.put_prefixes(stream.tenant, "one", [first, second])
    assert ledger.take_prefixes(stream.tenant, "one", first.mark) == [first]
    assert ledger.take_prefixes(stream.tenant, "one", first.mark) == []
    assert _noted(ledger, stream) == [2]


def an_erased_record_takes_what_covers_it(subject: Subject) -> None:
    """With a body go the prefixes that end at it or behind it; other streams keep theirs, and none comes back."""
    making, ledger = Making(), subject.ledger
    stream, other = (said(ledger, making, ["one", "two", "three", "four"]) for _ in range(2))
    noted = [_prefix(record) for record in ledger.records(stream.key)]
    ledger.put_prefixes(stream.tenant, "one", noted)
    ledger.put_prefixes(stream.tenant, "two", noted)
    ledger.put_prefixes(stream.tenant, "one", [_prefix(record) for record in ledger.records(other.key)])
    ledger.erase_bodies(stream.key, [])
    assert _noted(ledger, stream) == [1, 2, 3, 4]
    ledger.erase_bodies(stream.key, [3, 2])
    assert _noted(ledger, stream) == _noted(ledger, stream, "two") == [1]
    assert _noted(ledger, other) == [1, 2, 3, 4]
    ledger.put_prefixes(stream.tenant, "one", [noted[1]])
    assert _noted(ledger, stream) == [1]


def only_what_is_there_is_noted(subject: Subject) -> None:
    """A prefix whose record is not in that place is left out, and the others are noted."""
    making, ledger = Making(), subject.ledger
    stream = said(ledger, making, ["one", "two"])
    first, second = (_prefix(record) for record in ledger.records(stream.key))
    wrong = (
        {"position": 2},
        {"position": 3},
        {"position": 0},
        {"record": RecordId("other")},
        {"branch": RecordId("side")},
        {"stream": StreamId("other")},
    )
    odd = [
        Prefix(
            **{
                "mark": first.mark,
                "stream": stream.id,
                "branch": ROOT_BRANCH,
                "record": first.record,
                "position": 1,
                **one,
            }  # type: ignore[arg-type]
        )
        for one in wrong
    ]
    ledger.put_prefixes(stream.tenant, "one", [*odd, second])
    assert _noted(ledger, stream) == [2]


def rebuilding_keeps_prefixes(subject: Subject) -> None:
    """Rebuilding what can be made from the records alone leaves prefixes, which cannot, as they are."""
    making, ledger = Making(), subject.ledger
    stream = said(ledger, making, ["one", "two"])
    ledger.put_prefixes(stream.tenant, "one", [_prefix(record) for record in ledger.records(stream.key)])
    ledger.rebuild(stream.key)
    ledger.rebuild(stream.key, lambda _: None)
    assert _noted(ledger, stream) == [1, 2]
