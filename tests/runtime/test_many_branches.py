"""Beginning a branch reads no more where there are many branches already."""

from collections.abc import Sequence

import pytest

from callsheet.graph.graph import Graph
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.testing import memory_runtime


def test_what_a_branch_reads_does_not_grow_with_the_branches_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    nodes = Graph.nodes

    def counted(self: Graph, query: NodeQuery) -> list[Record]:
        found: Sequence[Record] = nodes(self, query)
        read.append(len(found))
        return list(found)

    monkeypatch.setattr(Graph, "nodes", counted)
    talk = memory_runtime().conversation("many")
    talk.record({"role": "user", "content": "What suits a room that faces north?"})
    (answer,) = talk.record({"role": "assistant", "content": "Shade 4."}).ids
    cost: list[int] = []
    for number in range(60):
        read.clear()
        branch = talk.regenerate(answer)
        branch.record({"role": "assistant", "content": f"Shade {number}."})
        cost.append(sum(read))
    assert cost[59] <= cost[5]
    assert len(talk.branches()) == 61


def test_two_openings_of_one_conversation_know_of_each_other_s_branches() -> None:
    runtime = memory_runtime()
    first, second = runtime.conversation("two"), runtime.conversation("two")
    first.record({"role": "user", "content": "One."})
    names = {talk.branch().branch for talk in (first, second, first, second)}
    assert len(names) == 4
