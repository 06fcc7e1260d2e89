"""One order from two arms: the one that has more to say for a record decides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.graph.ids import RecordId
from callsheet.recall.bm25 import Scored
from callsheet.recall.fusing import ARMS, MEANING, WORDS, Arm, by_meaning, by_words, fuse


def scored(*found: tuple[str, float, float]) -> list[Scored]:
    return [Scored(id=RecordId(id), score=score, share=share) for id, score, share in found]


def order(words: list[Scored], meaning: list[tuple[str, float]], depth: int = 30) -> list[str]:
    near = [(RecordId(id), cosine) for id, cosine in meaning]
    return [one.id for one in fuse((by_words(words, depth), by_meaning(near, depth)))]


FAR = [(f"far{place}", 0.78 - place / 1000) for place in range(29)]
"""What the nearest stand out from."""


@pytest.mark.parametrize(
    ("share", "nearest", "first"),
    [
        (1.0, 0.80, "said"),  # all words are there, and nothing stands out by its meaning
        (0.2, 0.90, "meant"),  # hardly a word is there, and one stands out
        (1.0, 0.99, "said"),  # both are sure: words decide
    ],
)
def test_the_surer_arm_decides(share: float, nearest: float, first: str) -> None:
    assert order(scored(("said", 5.0, share)), [("meant", nearest), *FAR])[0] == first


def test_what_both_arms_find_stands_before_what_one_finds() -> None:
    found = order(scored(("a", 4.0, 0.5), ("both", 4.0, 0.5)), [("b", 0.85), ("both", 0.85), *FAR])
    assert found[0] == "both"


def test_one_arm_alone_keeps_its_order() -> None:
    assert order(scored(("a", 3.0, 0.9), ("b", 2.0, 0.4), ("c", 1.0, 0.9)), []) == ["a", "b", "c"]
    assert order([], [("a", 0.9), ("b", 0.8), ("c", 0.8)]) == ["a", "b", "c"]


def test_a_record_tells_which_arms_found_it() -> None:
    found = fuse((by_words(scored(("a", 1.0, 1.0)), 5), by_meaning([(RecordId("a"), 0.9), (RecordId("b"), 0.8)], 5)))
    assert {one.id: one.arms for one in found} == {"a": (WORDS, MEANING), "b": (MEANING,)}
    assert ARMS == (WORDS, MEANING)


def test_no_arm_gives_more_than_its_depth() -> None:
    words = by_words(scored(*((f"w{place}", 9.0 - place, 1.0) for place in range(9))), 3)
    assert [id for id, _ in words.found] == ["w0", "w1", "w2"]
    assert len(by_meaning([(RecordId(f"m{place}"), 0.5) for place in range(9)], 3).found) == 3


ids = st.sampled_from(["a", "b", "c", "d", "e"]).map(RecordId)


@given(st.lists(st.tuples(ids, st.floats(0, 1)), max_size=5, unique_by=lambda one: one[0]), st.integers(1, 5))
def test_evidence_is_between_nothing_and_everything(near: list[tuple[RecordId, float]], depth: int) -> None:
    best = sorted(near, key=lambda one: -one[1])
    arm = by_meaning(best, depth)
    assert all(0 <= evidence <= 1 for _, evidence in arm.found)
    assert [one.id for one in fuse((Arm(name=WORDS, found=()), arm))] == [id for id, _ in best[:depth]]
