"""Laws of vectors: they stand beside records that have a body, are seen where these are seen, and gone with them."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from callsheet.graph.cut import Lineage, Segment, alone
from callsheet.graph.ids import ROOT_BRANCH, RecordId, TenantId
from callsheet.graph.index import VectorQuery, VectorRow
from callsheet.graph.nodes import ToolArtifact
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record, StreamKey
from callsheet.graph.values import Vector
from callsheet.ledger.contract.bodies import BRANCHES, examples, lineages
from callsheet.ledger.contract.making import Making, put, said
from callsheet.ledger.contract.subject import Subject

_MANY = 600
"""More positions than one query takes."""


def _vector(number: int) -> Vector:
    return Vector(scale=number / 4, cells=bytes([number % 256, 128, 255]))


def _positions(ledger: Ledger, key: StreamKey, index: str = "model") -> list[int]:
    return [row.position for row in ledger.vectors(key, VectorQuery(index=index))]


def what_was_put_is_read(subject: Subject) -> None:
    """A vector is read as it was put, byte for byte, also an empty one; the first stays, a later one is left out."""
    making, ledger = Making(), subject.ledger
    stream = said(ledger, making, ["one", "two", "three"])
    ids = [record.id for record in ledger.records(stream.key)]
    empty = Vector(scale=0.0, cells=b"")
    assert ledger.put_vectors(stream.key, "model", {2: _vector(2), 1: empty}) == 2
    assert ledger.put_vectors(stream.key, "model", {}) == 0
    expected = [
        VectorRow(position=1, record=ids[0], branch=ROOT_BRANCH, vector=empty),
        VectorRow(position=2, record=ids[1], branch=ROOT_BRANCH, vector=_vector(2)),
    ]
    assert ledger.vectors(stream.key, VectorQuery(index="model")) == expected
    assert ledger.put_vectors(stream.key, "model", {2: _vector(7), 3: _vector(3), 1: _vector(1), 9: _vector(9)}) == 1
    third = VectorRow(position=3, record=ids[2], branch=ROOT_BRANCH, vector=_vector(3))
    assert ledger.vectors(stream.key, VectorQuery(index="model")) == [*expected, third]


def queries_narrow(subject: Subject) -> None:
    """Positions, bounds and any lineage narrow the answer as they say, each alone and together."""
    numbers = itertools.count()

    @examples(30)
    @given(st.lists(st.sampled_from(BRANCHES), min_size=1, max_size=8), st.data())
    def check(branches: list[RecordId | None], data: st.DataObject) -> None:
        making = Making(f"tenant {next(numbers)}")
        stream = making.stream()
        records = put(subject.ledger, stream, *(making.draft(ToolArtifact(), branch=branch) for branch in branches))
        having = data.draw(st.sets(st.sampled_from(range(1, len(records) + 1))))
        subject.ledger.put_vectors(stream.key, "model", {position: _vector(position) for position in having})
        position = st.integers(0, len(records) + 1)
        query = VectorQuery(
            index="model",
            lineage=data.draw(st.none() | lineages(len(records))),
            positions=data.draw(st.none() | st.lists(position, max_size=4).map(tuple)),
            after=data.draw(position),
            upto=data.draw(st.none() | position),
        )
        expected = [record for record in records if record.position in having and _wanted(query, record)]
        found = subject.ledger.vectors(stream.key, query)
        assert [row.record for row in found] == [record.id for record in expected]
        assert [row.vector for row in found] == [_vector(record.position) for record in expected]
        within = NodeQuery(
            kinds=("artifact", "message"),
            after=data.draw(position),
            before=data.draw(st.none() | position),
            limit=data.draw(st.none() | st.integers(0, 4)),
        )
        missing = [record for record in records if record.position not in having and _within(within, record)]
        assert subject.ledger.without_vectors(stream.key, "model", within) == missing[: within.limit]

    check()


def _wanted(query: VectorQuery, record: Record) -> bool:
    return (
        (query.lineage is None or query.lineage.sees(record.branch, record.position))
        and (query.positions is None or record.position in query.positions)
        and query.after < record.position
        and (query.upto is None or record.position <= query.upto)
    )


def _within(query: NodeQuery, record: Record) -> bool:
    return query.after < record.position and (query.before is None or record.position < query.before)


def _without(ledger: Ledger, key: StreamKey, kind: str = "message") -> list[Record]:
    return ledger.without_vectors(key, "model", NodeQuery(kinds=(kind,)))


def many_are_read_at_once(subject: Subject) -> None:
    """Vectors of very many positions are read by these positions, and by none, in order."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    put(ledger, stream, *(making.said() for _ in range(_MANY)))
    ledger.put_vectors(stream.key, "model", {position: _vector(position) for position in range(_MANY, 0, -1)})
    everything = list(range(1, _MANY + 1))
    asked = VectorQuery(index="model", positions=tuple(reversed(everything)))
    assert [row.position for row in ledger.vectors(stream.key, asked)] == everything
    assert _positions(ledger, stream.key) == everything


def indexes_are_kept_apart(subject: Subject) -> None:
    """Two indexes of one stream share nothing; dropping one leaves the other, and everything can be put again."""
    making, ledger = Making(), subject.ledger
    stream = said(ledger, making, ["one", "two"])
    ledger.put_vectors(stream.key, "model", {1: _vector(1)})
    ledger.put_vectors(stream.key, "other", {2: _vector(2)})
    assert (_positions(ledger, stream.key), _positions(ledger, stream.key, "other")) == ([1], [2])
    assert _positions(ledger, stream.key, "nothing") == []
    assert [record.position for record in _without(ledger, stream.key)] == [2]
    ledger.drop_vectors(stream.key, "model")
    ledger.drop_vectors(stream.key, "nothing")
    assert (_positions(ledger, stream.key), _positions(ledger, stream.key, "other")) == ([], [2])
    assert len(_without(ledger, stream.key)) == 2
    assert _without(ledger, stream.key, "artifact") == []


def a_vector_goes_with_its_body(subject: Subject) -> None:
    """An erased record has no vector, gets none, and asks for none; where there is no record there is none either."""
    making, ledger = Making(), subject.ledger
    stream = said(ledger, making, ["one", "two", "three"])
    for index in ("model", "other"):
        ledger.put_vectors(stream.key, index, {position: _vector(position) for position in (1, 2, 3)})
    ledger.erase_bodies(stream.key, [2])
    assert _positions(ledger, stream.key) == _positions(ledger, stream.key, "other") == [1, 3]
    ledger.put_vectors(stream.key, "model", {2: _vector(2), 4: _vector(4), 0: _vector(0)})
    assert _positions(ledger, stream.key) == [1, 3]
    assert _without(ledger, stream.key) == []
    put(ledger, stream, making.said("four"))
    assert _positions(ledger, stream.key) == [1, 3]


def rebuilding_keeps_vectors(subject: Subject) -> None:
    """Rebuilding what can be made from the records alone leaves vectors, which cannot, as they are."""
    making, ledger = Making(), subject.ledger
    stream = said(ledger, making, ["one", "two"])
    ledger.put_vectors(stream.key, "model", {1: _vector(1)})
    before = ledger.vectors(stream.key, VectorQuery(index="model")), ledger.projection(stream.key)
    ledger.rebuild(stream.key)
    ledger.rebuild(stream.key, lambda _: None)
    assert (ledger.vectors(stream.key, VectorQuery(index="model")), ledger.projection(stream.key)) == before


def a_lineage_is_asked_by_branch(subject: Subject) -> None:
    """Of a forked branch the vectors of its own records are found, and its parent's up to the fork."""
    making, ledger = Making(), subject.ledger
    stream, side = making.stream(), RecordId("side")
    put(ledger, stream, *(making.found_by(branch=branch) for branch in (ROOT_BRANCH, ROOT_BRANCH, side, None)))
    ledger.put_vectors(stream.key, "model", {position: _vector(position) for position in range(1, 5)})
    forked = Lineage(segments=(Segment(branch=ROOT_BRANCH, upto=1), Segment(branch=side, upto=4)), upto=4)
    for lineage, expected in ((forked, [1, 3, 4]), (alone(ROOT_BRANCH, 3), [1, 2])):
        found = ledger.vectors(stream.key, VectorQuery(index="model", lineage=lineage))
        assert [row.position for row in found] == expected


def tenants_share_no_vectors(subject: Subject) -> None:
    """By the key of another tenant's stream there is nothing to read, to replace or to drop; equal ids are two."""
    ledger = subject.ledger
    streams = [said(ledger, Making(tenant), ["one"]) for tenant in ("one", "two")]
    for number, stream in enumerate(streams):
        ledger.put_vectors(stream.key, "model", {1: _vector(number)})
    found = [ledger.vectors(stream.key, VectorQuery(index="model"))[0].vector for stream in streams]
    assert found == [_vector(0), _vector(1)]
    stranger = StreamKey(tenant=TenantId("stranger"), stream=streams[0].id)
    assert _positions(ledger, stranger) == []
    assert _without(ledger, stranger) == []
    ledger.put_vectors(stranger, "model", {1: _vector(9)})
    ledger.drop_vectors(stranger, "model")
    ledger.drop_vectors(streams[1].key, "model")
    assert _positions(ledger, stranger) == []
    assert ledger.vectors(streams[0].key, VectorQuery(index="model"))[0].vector == _vector(0)
