"""The fold: later records never change what was true at an earlier cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.graph.changes import MarkedStale, Pinned, Superseded
from callsheet.graph.codec import KINDS, kind_of
from callsheet.graph.cut import Lineage, Segment
from callsheet.graph.enums import Relation, Role, StateField
from callsheet.graph.graph import Graph
from callsheet.graph.ids import ROOT_BRANCH, RecordId, StreamId, TenantId
from callsheet.graph.nodes import Message
from callsheet.graph.query import LinkQuery, NodeQuery, StateQuery
from callsheet.graph.record import Body, Header, Record
from callsheet.graph.times import Instant
from callsheet.graph.values import Scope
from callsheet.ledger.contract.bodies import BRANCHES, POOL, any_body, examples

MAIN, SIDE = ROOT_BRANCH, RecordId("side")
A, B = RecordId("a"), RecordId("b")


def record(position: int, body: Body | None, *, kind: str = "", id: str = "", branch: RecordId | None = MAIN) -> Record:
    header = Header(
        tenant=TenantId("t"),
        stream=StreamId("s"),
        position=position,
        id=RecordId(id or f"r{position}"),
        kind=kind or (kind_of(body) if body is not None else "message"),
        version=1,
        at=Instant(position),
        scope=Scope(branch=branch),
        commitment="sha256:0",
    )
    return Record(header=header, body=body)


def folded(*records: Record) -> Graph:
    graph = Graph()
    for one in records:
        graph.apply(one)
    return graph


def upto(position: int, *branches: tuple[RecordId, int]) -> Lineage:
    segments = branches or ((MAIN, position),)
    return Lineage(segments=tuple(Segment(branch=branch, upto=limit) for branch, limit in segments), upto=position)


def values(graph: Graph, field: StateField, lineage: Lineage) -> dict[str, str | None]:
    return {row.target: row.value for row in graph.states(StateQuery(field=field, lineage=lineage))}


@st.composite
def histories(draw: st.DrawFn) -> list[Record]:
    ids = draw(st.permutations([*POOL, MAIN]))[: draw(st.integers(2, 11))]
    return [
        record(position, draw(any_body()), id=id, branch=draw(st.sampled_from(BRANCHES)))
        for position, id in enumerate(ids, start=1)
    ]


def lineages(most: int) -> st.SearchStrategy[Lineage]:
    """Lineages that end at or before a position."""
    named = [branch for branch in BRANCHES if branch is not None]
    positions = st.integers(0, most)
    segments = st.lists(st.sampled_from(named), unique=True).flatmap(
        lambda some: st.tuples(*(st.builds(Segment, branch=st.just(branch), upto=positions) for branch in some))
    )
    return st.builds(Lineage, segments=segments, upto=positions)


@examples(150)
@given(histories(), st.data())
def test_what_comes_later_changes_no_earlier_cut(history: list[Record], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(history)))
    lineage = data.draw(lineages(cut))
    then, now = folded(*history[:cut]), folded(*history)
    nodes = NodeQuery(kinds=tuple(KINDS), lineage=lineage)
    assert now.nodes(nodes) == then.nodes(nodes)
    for field in StateField:
        assert values(now, field, lineage) == values(then, field, lineage)
    for relation in Relation:
        for ends in ({"sources": (*POOL, MAIN)}, {"targets": (*POOL, MAIN)}):
            links = LinkQuery(relation=relation, lineage=lineage, **ends)
            assert now.links(links) == then.links(links)


@examples(150)
@given(histories())
def test_values_of_a_state_follow_each_other_on_each_branch(history: list[Record]) -> None:
    rows: dict[tuple[str, str, RecordId | None], list[tuple[int, int | None]]] = {}
    for row in folded(*history).projection().states:
        rows.setdefault((row.field, row.target, row.branch), []).append((row.from_pos, row.to_pos))
    for spans in rows.values():
        assert [end for _, end in spans] == [start for start, _ in spans[1:]] + [None]
        assert [start for start, _ in spans] == sorted({start for start, _ in spans})


@examples(100)
@given(histories())
def test_every_link_is_found_from_both_ends(history: list[Record]) -> None:
    graph, everywhere = folded(*history), upto(20, *((branch, 20) for branch in BRANCHES if branch is not None))
    for link in graph.projection().links:
        forth = LinkQuery(relation=link.relation, sources=(link.source,), lineage=everywhere)
        back = LinkQuery(relation=link.relation, targets=(link.target,), lineage=everywhere)
        assert link in graph.links(forth)
        assert link in graph.links(back)


def test_a_record_out_of_order_is_refused() -> None:
    graph = folded(record(1, Message(role=Role.USER)))
    for position in (1, 3, 0):
        with pytest.raises(ValueError, match=f"is at {position}, the graph is at 1"):
            graph.apply(record(position, Message(role=Role.USER)))
    assert graph.position == 1


def test_a_state_holds_until_it_is_set_again_on_the_same_branch() -> None:
    graph = folded(
        record(1, Pinned(records=(A,), pinned=True)),
        record(2, Pinned(records=(A,), pinned=False)),
        record(3, Pinned(records=(A,), pinned=True)),
    )
    assert [values(graph, StateField.PINNED, upto(cut)) for cut in range(4)] == [{}, {"a": ""}, {}, {"a": ""}]


def test_a_sibling_s_state_counts_for_nobody_else() -> None:
    graph = folded(
        record(1, MarkedStale(records=(A,))),
        record(2, Pinned(records=(A,), pinned=True), branch=SIDE),
        record(3, MarkedStale(records=(A,)), branch=SIDE),
    )
    assert values(graph, StateField.PINNED, upto(3)) == {}
    assert values(graph, StateField.STALE, upto(3)) == {"a": "r1"}
    assert values(graph, StateField.STALE, upto(3, (MAIN, 1), (SIDE, 3))) == {"a": "r3"}
    assert values(graph, StateField.PINNED, upto(3, (MAIN, 1), (SIDE, 2))) == {"a": ""}


def test_what_belongs_to_no_branch_counts_on_every_branch_up_to_the_cut() -> None:
    graph = folded(record(1, Superseded(current=A, replaced=(B,)), branch=None))
    query = LinkQuery(relation=Relation.SUPERSEDES, targets=(B,), lineage=upto(1, (SIDE, 0)))
    assert [link.source for link in graph.links(query)] == ["a"]
    assert graph.links(LinkQuery(relation=Relation.SUPERSEDES, targets=(B,), lineage=upto(0))) == []


def test_an_end_that_is_asked_for_twice_is_answered_once() -> None:
    graph = folded(record(1, Superseded(current=A, replaced=(B,))))
    for ends in ({"sources": (A, A)}, {"targets": (B, B)}):
        assert len(graph.links(LinkQuery(relation=Relation.SUPERSEDES, lineage=upto(1), **ends))) == 1


def test_states_are_found_by_value() -> None:
    graph = folded(record(1, Pinned(records=(B, A), pinned=True)), record(2, MarkedStale(records=(A,))))
    query = StateQuery(field=StateField.PINNED, value="", lineage=upto(2))
    assert [row.target for row in graph.states(query)] == ["a", "b"]
    assert graph.states(StateQuery(field=StateField.STALE, value="r1", lineage=upto(2))) == []
    only = StateQuery(field=StateField.PINNED, targets=(B, B), lineage=upto(2))
    assert [row.target for row in graph.states(only)] == ["b"]


def test_an_erased_record_keeps_its_place_and_loses_its_effects() -> None:
    graph = folded(record(1, None, kind="pinned"), record(2, Message(role=Role.USER)))
    assert [(row.position, row.kind) for row in graph.projection().nodes] == [(1, "pinned"), (2, "message")]
    assert graph.projection().states == ()
    assert [found.body for found in graph.get((RecordId("r1"),))] == [None]


def test_nodes_are_narrowed_by_range_limit_and_end() -> None:
    graph = folded(*(record(position, Message(role=Role.USER)) for position in range(1, 8)))

    def positions(
        after: int = 0, before: int | None = None, limit: int | None = None, newest: bool = False
    ) -> list[int]:
        query = NodeQuery(kinds=("message",), after=after, before=before, limit=limit, newest=newest)
        return [found.position for found in graph.nodes(query)]

    assert positions() == [1, 2, 3, 4, 5, 6, 7]
    assert positions(after=2, before=6) == [3, 4, 5]
    assert positions(limit=2) == [1, 2]
    assert positions(limit=2, newest=True) == [6, 7]
    assert positions(after=1, before=4, limit=1, newest=True) == [3]
    assert positions(limit=0) == positions(after=7) == positions(before=1) == positions(after=4, before=3) == []
    assert graph.nodes(NodeQuery(kinds=("artifact",))) == []
