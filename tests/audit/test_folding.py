"""The fold that a verification compares with: the rows of `Graph`, without what was said."""

from collections.abc import Iterator

import pytest

from callsheet.audit.folding import Rows, Span, difference
from callsheet.graph.graph import Graph
from callsheet.graph.record import Record
from callsheet.testing import memory_runtime
from tests.audit.lines import assistant, result, user


@pytest.fixture
def records() -> Iterator[list[Record]]:
    with memory_runtime() as runtime:
        talk = runtime.conversation("x")
        talk.record([user("go"), assistant(None, "a"), result("a", "done"), assistant("so")])
        talk.branch(name="other").record([assistant(None, "a"), result("a", "done")])
        (stream, _) = runtime.ledger.streams()
        yield runtime.ledger.records(stream.key)


def folded(graph: Graph, records: list[Record]) -> Graph:
    for record in records:
        graph.apply(record)
    return graph


def test_its_rows_are_those_of_the_graph_and_it_keeps_no_bodies(records: list[Record]) -> None:
    rows = folded(Rows(), records)

    assert rows.projection() == folded(Graph(), records).projection()
    assert {record.body for record in rows.records()} == {None}


def test_rows_of_records_appended_meanwhile_do_not_matter(records: list[Record]) -> None:
    for upto in range(len(records)):
        before = folded(Rows(), records[:upto]).projection()

        assert difference(before, folded(Rows(), records).projection(), Span(upto=upto, until=len(records))) is None


def test_rows_that_are_behind_the_last_record_that_there_is_are_too_many(records: list[Record]) -> None:
    every = folded(Rows(), records).projection()
    for upto in range(len(records)):
        before = folded(Rows(), records[:upto]).projection()
        found = difference(before, every, Span(upto=upto, until=len(records) - 1))

        assert found is not None
        assert found.extra > 0
