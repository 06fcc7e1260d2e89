"""Of a long query the beginning is looked for, to the end of a word; a query without words finds nothing."""

import pytest

from callsheet import Runtime
from callsheet.recall.request import LONGEST_SEARCH, beginning
from callsheet.testing import memory_runtime


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ""),
        ("short", "short"),
        ("a" * LONGEST_SEARCH, "a" * LONGEST_SEARCH),
        ("a" * (LONGEST_SEARCH + 1), "a" * LONGEST_SEARCH),
        ("a" * LONGEST_SEARCH + " b", "a" * LONGEST_SEARCH),
        ("word " * 400, "word " * 200),
        ("x" * 998 + " TCK-4471", "x" * 998),
        (" " * 2_000, " " * LONGEST_SEARCH),
    ],
)
def test_the_beginning_ends_with_a_word(query: str, expected: str) -> None:
    assert beginning(query).rstrip() == expected.rstrip()


@pytest.fixture
def runtime() -> Runtime:
    return memory_runtime()


@pytest.mark.parametrize("query", ["", " ", "\n\t", "kiln " * 3_000, "TCK-4471 " + "and " * 3_000])
def test_no_text_is_refused_as_a_query_and_an_empty_one_finds_nothing(runtime: Runtime, query: str) -> None:
    talk = runtime.conversation("a", user="mia")
    talk.record({"role": "assistant", "content": "The kiln with ticket TCK-4471 is hot."})
    runtime.knowledge.add("K", "The kiln TCK-4471.")
    runtime.remember("mia", "Owns the kiln TCK-4471.")
    wanted = 1 if query.strip() else 0
    assert min(1, len(talk.search(query))) == wanted
    assert min(1, len(runtime.knowledge.search(query))) == wanted
    assert len(runtime.memories("mia", query)) == wanted
    assert len(talk.user_memories(query)) == wanted


def test_a_model_is_told_how_much_of_its_query_is_looked_for(runtime: Runtime) -> None:
    talk = runtime.conversation("a")
    talk.record({"role": "assistant", "content": "The kiln is hot."})
    assert "the first 1,000 characters are looked for" in talk.answer_recall({"query": "kiln " * 600})
    assert "of it" not in talk.answer_recall({"query": "kiln"})
