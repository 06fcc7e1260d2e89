"""Laws of the graph: every store answers as the in-memory fold of the same records does."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from callsheet.graph.changes import Calibrated, MarkedStale
from callsheet.graph.codec import KINDS
from callsheet.graph.cut import Lineage, Segment
from callsheet.graph.enums import Relation, Role, StateField
from callsheet.graph.graph import Graph
from callsheet.graph.ids import ROOT_BRANCH, RecordId
from callsheet.graph.nodes import Message, ToolArtifact, ToolCall
from callsheet.graph.ports import Ledger
from callsheet.graph.query import AroundQuery, LinkQuery, NodeQuery, StateQuery
from callsheet.graph.record import Body, Draft, Record, Stream
from callsheet.ledger.contract.bodies import BRANCHES, POOL, any_body, examples, lineages
from callsheet.ledger.contract.making import Making, inline, put
from callsheet.ledger.contract.subject import Subject

_MOST = 12


def folded(records: list[Record]) -> Graph:
    """What records come to."""
    graph = Graph()
    for record in records:
        graph.apply(record)
    return graph


@st.composite
def histories(draw: st.DrawFn) -> list[list[Draft]]:
    """Records of random kinds on random branches, naming each other, in several appends."""
    making = Making()
    ids = draw(st.permutations([*POOL, ROOT_BRANCH, "x"]))[: draw(st.integers(1, _MOST))]
    branches = st.sampled_from(BRANCHES)
    drafts = [making.draft(draw(any_body()), id=id, branch=draw(branches)) for id in ids]
    cuts = sorted(draw(st.lists(st.integers(0, len(drafts)), max_size=3)))
    edges = [0, *cuts, len(drafts)]
    return [drafts[start:stop] for start, stop in itertools.pairwise(edges)]


def projections_are_the_fold(subject: Subject) -> None:
    """After any history the projections equal the fold of its records, and rebuilding them changes nothing."""
    numbers = itertools.count()

    @examples(40)
    @given(histories())
    def check(history: list[list[Draft]]) -> None:
        stream = Making(f"tenant {next(numbers)}").stream()
        records = [record for drafts in history for record in put(subject.ledger, stream, *drafts)]
        expected = folded(records).projection()
        assert subject.ledger.projection(stream.key) == expected
        subject.ledger.rebuild(stream.key)
        assert subject.ledger.projection(stream.key) == expected
        assert subject.ledger.records(stream.key) == records

    check()


def queries_are_those_of_the_fold(subject: Subject) -> None:
    """Nodes, states and links of any lineage, at any cut, are those that the fold gives."""
    numbers = itertools.count()

    @examples(40)
    @given(histories(), st.data())
    def check(history: list[list[Draft]], data: st.DataObject) -> None:
        stream = Making(f"tenant {next(numbers)}").stream()
        graph = folded([record for drafts in history for record in put(subject.ledger, stream, *drafts)])
        for _ in range(3):
            _compare(subject.ledger, stream, graph, data)

    check()


def _compare(ledger: Ledger, stream: Stream, graph: Graph, data: st.DataObject) -> None:
    lineage = data.draw(lineages(graph.position))
    position = st.integers(0, graph.position + 1)
    nodes = NodeQuery(
        kinds=tuple(data.draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1))),
        lineage=data.draw(st.sampled_from([lineage, None])),
        after=data.draw(position),
        before=data.draw(st.none() | position),
        limit=data.draw(st.none() | st.integers(0, 3)),
        newest=data.draw(st.booleans()),
    )
    every_kind = NodeQuery(kinds=tuple(KINDS), lineage=lineage, limit=nodes.limit, newest=nodes.newest)
    for query in (nodes, every_kind):
        assert ledger.nodes(stream.key, query) == graph.nodes(query)
    around = AroundQuery(
        kind=data.draw(st.sampled_from(sorted(KINDS))),
        positions=tuple(data.draw(st.lists(position, max_size=4))),
        lineage=lineage,
        limit=data.draw(st.integers(0, 3)),
    )
    assert ledger.around(stream.key, around) == graph.around(around)
    rows = graph.projection().states
    targets = st.lists(st.sampled_from([row.target for row in rows] or [""]), max_size=4).map(tuple)
    values = st.none() | st.sampled_from([row.value for row in rows] or [""])
    for field in {row.field for row in rows} | {StateField.PINNED}:
        states = StateQuery(
            field=field, lineage=lineage, targets=data.draw(st.none() | targets), value=data.draw(values)
        )
        assert ledger.states(stream.key, states) == graph.states(states)
    ends = tuple(data.draw(st.lists(st.sampled_from([*POOL, ROOT_BRANCH]), max_size=4)))
    for relation in {link.relation for link in graph.projection().links} | {Relation.CITES}:
        for links in (
            LinkQuery(relation=relation, sources=ends, lineage=lineage),
            LinkQuery(relation=relation, targets=ends, lineage=lineage),
        ):
            assert ledger.links(stream.key, links) == graph.links(links)


def what_stands_around_is_that_of_the_fold(subject: Subject) -> None:
    """The nearest records on both sides of any positions are those of the fold, however far apart they stand."""
    numbers = itertools.count()
    bodies: dict[str, Body] = {"message": Message(role=Role.USER), "artifact": ToolArtifact()}

    @examples(30)
    @given(st.lists(st.tuples(st.sampled_from(sorted(bodies)), st.sampled_from(BRANCHES)), min_size=1), st.data())
    def check(some: list[tuple[str, RecordId | None]], data: st.DataObject) -> None:
        making = Making(f"tenant {next(numbers)}")
        stream = making.stream()
        # Some are said again and again, so that those between others are far apart.
        every = [one for each in some for one in [each] * data.draw(st.sampled_from([1, 1, 30]))]
        graph = folded(put(subject.ledger, stream, *(making.draft(bodies[kind], branch=on) for kind, on in every)))
        positions = st.lists(st.integers(0, graph.position + 1), max_size=20).map(tuple)
        for kind in bodies:
            query = AroundQuery(
                kind=kind,
                positions=data.draw(positions),
                lineage=data.draw(lineages(graph.position)),
                limit=data.draw(st.integers(0, 4)),
            )
            assert subject.ledger.around(stream.key, query) == graph.around(query)

    check()


def the_newest_value_of_many_is_found(subject: Subject) -> None:
    """A state that was set very often has one value at every cut."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    drafts = [making.draft(Calibrated(counter="c", first_factor=1.0, first_margin=0.1)) for _ in range(600)]
    put(ledger, stream, *drafts)
    for upto in (1, 299, 600):
        lineage = Lineage(segments=(Segment(branch=ROOT_BRANCH, upto=upto),), upto=upto)
        for targets in (("c",), None):
            query = StateQuery(field=StateField.CALIBRATION, targets=targets, lineage=lineage)
            assert [row.value for row in ledger.states(stream.key, query)] == [drafts[upto - 1].id]


def open_calls_are_found_among_many(subject: Subject) -> None:
    """A state is found by its value, also among more targets than one query takes."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    message = making.id()
    calls = [making.draft(ToolCall(message=message, tool="look", arguments=inline(b"{}"))) for _ in range(700)]
    put(ledger, stream, *calls)
    put(ledger, stream, making.draft(MarkedStale(records=tuple(call.id for call in calls[:600]))))
    lineage = Lineage(segments=(Segment(branch=ROOT_BRANCH, upto=701),), upto=701)
    query = StateQuery(field=StateField.STATUS, value="open", lineage=lineage)
    assert [row.target for row in ledger.states(stream.key, query)] == sorted(call.id for call in calls)
    asked = StateQuery(field=StateField.STALE, targets=tuple(call.id for call in calls), lineage=lineage)
    assert [row.target for row in ledger.states(stream.key, asked)] == sorted(call.id for call in calls[:600])
    unset = StateQuery(field=StateField.PINNED, targets=asked.targets, lineage=lineage)
    assert ledger.states(stream.key, unset) == []


def a_branch_sees_its_ancestors_up_to_the_fork(subject: Subject) -> None:
    """The newest records of a branch are its own, then its parent's up to the fork; a sibling's never count."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()

    def say(branch: str, *ids: str) -> None:
        body = Message(role=Role.USER)
        put(ledger, stream, *(making.draft(body, id=id, branch=RecordId(branch)) for id in ids))

    say("main", "m1", "m2")
    say("side", "s3")
    say("main", "m4", "m5", "m6")
    say("side", "s7")
    fork = Lineage(segments=(Segment(branch=ROOT_BRANCH, upto=2), Segment(branch=RecordId("side"), upto=7)), upto=7)

    def seen(limit: int | None, newest: bool) -> list[str]:
        query = NodeQuery(kinds=("message",), lineage=fork, limit=limit, newest=newest)
        return [record.id for record in ledger.nodes(stream.key, query)]

    assert seen(None, True) == seen(None, False) == ["m1", "m2", "s3", "s7"]
    assert seen(3, True) == ["m2", "s3", "s7"]
    assert seen(3, False) == ["m1", "m2", "s3"]
