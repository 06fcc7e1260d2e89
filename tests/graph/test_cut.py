"""What a branch sees of its ancestors, and what a cut sees of its streams."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.errors import NotFound
from callsheet.graph.cut import Lineage, Segment, alone, lineage
from callsheet.graph.ids import ROOT_BRANCH, RecordId, StreamId
from callsheet.graph.nodes import Branch
from callsheet.graph.values import Cut

MAIN = ROOT_BRANCH
CHILD, GRANDCHILD = RecordId("child"), RecordId("grandchild")
BRANCHES = {
    MAIN: Branch(name="main"),
    CHILD: Branch(name="child", parent=MAIN, fork=10),
    GRANDCHILD: Branch(name="grandchild", parent=CHILD, fork=20),
}


def segments(branch: RecordId, upto: int) -> list[tuple[str, int]]:
    return [(segment.branch, segment.upto) for segment in lineage(BRANCHES, branch, upto).segments]


def test_a_branch_sees_its_ancestors_up_to_each_fork_root_first() -> None:
    assert segments(MAIN, 30) == [("main", 30)]
    assert segments(CHILD, 30) == [("main", 10), ("child", 30)]
    assert segments(GRANDCHILD, 30) == [("main", 10), ("child", 20), ("grandchild", 30)]


def test_an_earlier_cut_narrows_every_ancestor() -> None:
    assert segments(GRANDCHILD, 15) == [("main", 10), ("child", 15), ("grandchild", 15)]
    assert segments(GRANDCHILD, 5) == [("main", 5), ("child", 5), ("grandchild", 5)]


def test_a_fork_before_an_inherited_fork_narrows_what_lies_beyond() -> None:
    early = RecordId("early")
    branches = {**BRANCHES, early: Branch(name="early", parent=CHILD, fork=4)}
    assert [segment.upto for segment in lineage(branches, early, 30).segments] == [4, 4, 30]


def test_the_root_branch_needs_no_record() -> None:
    assert lineage({}, MAIN, 3).segments == (Segment(branch=MAIN, upto=3),)


def test_an_unknown_branch_is_an_error() -> None:
    with pytest.raises(NotFound, match="nowhere"):
        lineage(BRANCHES, RecordId("nowhere"), 1)
    with pytest.raises(NotFound, match="lost"):
        lineage({CHILD: Branch(name="c", parent=RecordId("lost"))}, CHILD, 1)


@given(st.sampled_from(list(BRANCHES)), st.integers(0, 40), st.sampled_from([None, *BRANCHES]), st.integers(1, 40))
def test_nothing_beyond_the_cut_is_seen(branch: RecordId, upto: int, on: RecordId | None, position: int) -> None:
    seen = lineage(BRANCHES, branch, upto).sees(on, position)
    assert not (seen and position > upto)
    if on is None or on == branch:
        assert seen == (position <= upto)
    earlier = lineage(BRANCHES, branch, max(upto - 1, 0)).sees(on, position)
    assert seen or not earlier


def test_a_lineage_without_segments_sees_what_belongs_to_no_branch() -> None:
    everything = Lineage(segments=(), upto=5)
    assert everything.sees(None, 5)
    assert not everything.sees(None, 6)
    assert not everything.sees(MAIN, 1)


def test_a_cut_sees_nothing_of_a_stream_that_it_does_not_name() -> None:
    cut = Cut(positions=((StreamId("a"), 3),))
    assert cut.at(StreamId("a")) == 3
    assert cut.at(StreamId("b")) == 0


def test_a_branch_alone_sees_its_own_records_and_nothing_inherited() -> None:
    own = alone(RecordId("side"), 7)
    assert own.sees(RecordId("side"), 7)
    assert not own.sees(RecordId("side"), 8)
    assert not own.sees(ROOT_BRANCH, 1)
