"""Laws of indexes: what a record is found by is written with it, seen where the record is seen, and gone with it."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from callsheet.errors import InputError, PositionConflict
from callsheet.graph.counting import Asked
from callsheet.graph.cut import Lineage, Segment, alone
from callsheet.graph.graph import Graph
from callsheet.graph.ids import ROOT_BRANCH, RecordId, TenantId
from callsheet.graph.index import Index, MatchQuery, PostingQuery, weighed
from callsheet.graph.ports import Ledger
from callsheet.graph.record import Draft, Findable, Record, Stream, StreamKey
from callsheet.ledger.contract.bodies import BRANCHES, examples, lineages
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.contract.refusing import refused
from callsheet.ledger.contract.subject import Subject

_MANY = 600
"""More records than any store searches one by one."""

_NAMES = ("order 7", "", "\0", "naïve", "7")


def _indexes() -> st.SearchStrategy[Index | None]:
    names = st.lists(st.sampled_from(_NAMES), max_size=3, unique=True).map(tuple)
    counted = st.lists(
        st.tuples(st.sampled_from(_NAMES), st.integers(1, 3)), max_size=3, unique_by=lambda term: term[0]
    ).map(tuple)
    return st.none() | st.builds(Index, entities=names, terms=counted, derived=st.binary(max_size=3))


@st.composite
def _histories(draw: st.DrawFn) -> list[Draft]:
    """A history that goes on behind a first part, which is long in some."""
    making = Making()
    some = draw(st.lists(st.tuples(_indexes(), st.sampled_from(BRANCHES)), min_size=1, max_size=8))
    every = some * draw(st.sampled_from([1, 1, 40]))
    return [making.draft(making.found_by().body, branch=branch, index=index) for index, branch in every]


def what_is_found_is_that_of_the_fold(subject: Subject) -> None:
    """Postings along any lineage, before any position, are those that the fold gives; so are indexes and their rows."""
    numbers = itertools.count()

    @examples(30)
    @given(_histories(), st.data())
    def check(history: list[Draft], data: st.DataObject) -> None:
        stream = Making(f"tenant {next(numbers)}").stream()
        graph = Graph()
        cut = data.draw(st.integers(0, len(history)))
        for part in (history[:cut], history[cut:]):
            for record, draft in zip(put(subject.ledger, stream, *part), part, strict=True):
                graph.apply(record, draft.index)
        for _ in range(2):
            _compare(subject.ledger, stream, graph, data)
            subject.ledger.rebuild(stream.key)

    check()


def _compare(ledger: Ledger, stream: Stream, graph: Graph, data: st.DataObject) -> None:
    position = st.integers(0, graph.position + 1)
    query = PostingQuery(
        entities=(*_NAMES, "nobody"),
        terms=tuple(data.draw(st.lists(st.sampled_from(_NAMES), max_size=3))),
        lineage=data.draw(lineages(graph.position)),
        before=data.draw(st.none() | position),
        limit=data.draw(st.sampled_from([0, 1, 3, 1000])),
    )
    assert ledger.postings(stream.key, query) == graph.postings(query)
    words = MatchQuery(
        words=tuple(data.draw(st.lists(st.lists(st.sampled_from(_NAMES), max_size=2).map(tuple), max_size=4))),
        lineage=query.lineage,
        behind=data.draw(st.none() | st.tuples(st.integers(0, 4), position)),
        limit=query.limit,
    )
    assert ledger.matches(stream.key, words) == graph.matches(words)
    wanted = data.draw(st.lists(position, max_size=4))
    assert ledger.indexed(stream.key, wanted) == graph.indexed(wanted)
    assert _findable(ledger.findable(stream.key, wanted)) == _findable(graph.findable(wanted))
    assert ledger.projection(stream.key).indexes == graph.projection().indexes


def _findable(found: list[Findable]) -> list[tuple[Record, object]]:
    asked = Asked(_NAMES[::2])
    read = [(one.record, one.index and weighed(one.index)) for one in found]
    return [
        (record, by and (by.entities, by.terms.among(asked), by.terms.length, by.terms.all())) for record, by in read
    ]


def _found(ledger: Ledger, key: StreamKey, entity: str, lineage: Lineage, **how: int) -> list[int]:
    query = PostingQuery(entities=(entity,), lineage=lineage, limit=how.get("limit", 1000), before=how.get("before"))
    return [posting.position for posting in ledger.postings(key, query)]


def the_newest_of_many_are_found(subject: Subject) -> None:
    """Of names in very many records the newest are found, at every cut; a name that was met once is found too."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    for start in range(0, _MANY, 50):
        drafts = [making.found_by("all", *(("one",) if start + place == 70 else ())) for place in range(50)]
        put(ledger, stream, *drafts)
    for upto in (1, 71, 200, _MANY):
        lineage = alone(ROOT_BRANCH, upto)
        assert _found(ledger, stream.key, "all", lineage, limit=3) == list(range(upto, 0, -1))[:3]
        assert _found(ledger, stream.key, "all", lineage) == list(range(upto, 0, -1))
        assert _found(ledger, stream.key, "one", lineage) == [71][: int(upto >= 71)]
        assert _found(ledger, stream.key, "all", lineage, limit=2, before=60) == list(range(min(upto, 59), 0, -1))[:2]


def a_sibling_s_records_do_not_use_up_the_limit(subject: Subject) -> None:
    """However often a name stands on another branch, the newest ones that count are found."""
    making, ledger = Making(), subject.ledger
    stream, side = making.stream(), RecordId("side")
    put(ledger, stream, *(making.found_by("x") for _ in range(3)), making.found_by("x", branch=None))
    put(ledger, stream, *(making.found_by("x", branch=side) for _ in range(_MANY)))
    put(ledger, stream, making.found_by("x"))
    main = Lineage(segments=(Segment(branch=ROOT_BRANCH, upto=_MANY + 5),), upto=_MANY + 5)
    forked = Lineage(
        segments=(Segment(branch=ROOT_BRANCH, upto=2), Segment(branch=side, upto=_MANY + 5)), upto=_MANY + 5
    )
    assert _found(ledger, stream.key, "x", main, limit=3) == [_MANY + 5, 4, 3]
    assert _found(ledger, stream.key, "x", forked, limit=_MANY + 2)[-3:] == [5, 4, 2]
    assert _found(ledger, stream.key, "x", forked, before=4) == [2, 1]


def an_erased_record_is_found_no_more(subject: Subject) -> None:
    """With a body goes what it was found by; other records are found as before."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    put(ledger, stream, *(making.found_by("x", terms=("y",)) for _ in range(_MANY)))
    ledger.erase_bodies(stream.key, [2, _MANY])
    assert _found(ledger, stream.key, "x", alone(ROOT_BRANCH, 4)) == [4, 3, 1]
    assert _found(ledger, stream.key, "x", alone(ROOT_BRANCH, _MANY), limit=1) == [_MANY - 1]
    assert ledger.indexed(stream.key, [1, 2, _MANY]).keys() == {1}
    ledger.rebuild(stream.key, lambda record: Index(entities=(record.id,)))
    assert ledger.indexed(stream.key, [2]) == {}
    assert [(one.record.body, one.index) for one in ledger.findable(stream.key, [2])] == [(None, None)]


def indexes_are_derived_anew(subject: Subject) -> None:
    """Rebuilding indexes every record that has a body as it is told to, and forgets what was there before."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    put(ledger, stream, *(making.found_by("old") for _ in range(_MANY)))

    def index(record: Record) -> Index | None:
        assert ledger.head(stream.key) is not None
        return Index(entities=("new",)) if record.position % 2 else None

    ledger.rebuild(stream.key, index)
    everything = alone(ROOT_BRANCH, _MANY)
    assert _found(ledger, stream.key, "old", everything) == []
    assert _found(ledger, stream.key, "new", everything) == list(range(_MANY - 1, 0, -2))
    assert ledger.indexed(stream.key, [1, 2]) == {1: Index(entities=("new",))}


def a_failed_append_leaves_nothing_to_be_found(subject: Subject) -> None:
    """Records that were refused are not found, and what stood there before still is."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    put(ledger, stream, *(making.found_by("x", id=f"record {number}") for number in range(100)))
    before = ledger.projection(stream.key)
    many = [making.found_by("x", "y") for _ in range(_MANY)]
    refused(PositionConflict, put, ledger, stream, *many, expect=7)
    refused(InputError, put, ledger, stream, *many, making.found_by("x", id="record 3"))
    refused(InputError, put, ledger, stream, making.found_by("lone \ud800"))
    assert ledger.projection(stream.key) == before
    everything = alone(ROOT_BRANCH, 1000)
    assert _found(ledger, stream.key, "x", everything) == list(range(100, 0, -1))
    assert _found(ledger, stream.key, "y", everything) == []


def streams_are_searched_apart(subject: Subject) -> None:
    """A name is found in the stream that is asked alone; by another tenant's key nothing is found."""
    making, ledger = Making(), subject.ledger
    one, two = making.stream(), making.stream(user=None)
    put(ledger, one, *(making.found_by("x") for _ in range(_MANY)))
    put(ledger, two, *(making.found_by("y") for _ in range(_MANY)))
    everything = alone(ROOT_BRANCH, 2 * _MANY)
    assert len(_found(ledger, one.key, "x", everything)) == _MANY
    assert _found(ledger, two.key, "x", everything) == []
    stranger = StreamKey(tenant=TenantId("stranger"), stream=one.id)
    assert _found(ledger, stranger, "x", everything) == []
    assert ledger.indexed(stranger, [1]) == {}
    assert ledger.findable(stranger, [1]) == []
