"""Chunks of texts: they cover the text, keep to their size, and stand under the headings that they stand under."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.derive.chunking import SIZE, SMALLEST, Chunk, chunks


def cut(text: str, size: int = SIZE) -> list[str]:
    raw = text.encode("utf-8", "surrogatepass")
    return [raw[chunk.start : chunk.end].decode("utf-8", "surrogatepass") for chunk in chunks(text, size)]


_LINES = st.sampled_from(
    ["# One", "## Two ##", "###", "Title", "=====", "---", "```", "~~~~", "", "  ", "\r", "| a | b |", "- item",
     "word " * 30, "Grüße. " * 20, "長い文。" * 40, "x" * 300, "\ud800", "#no", "    # code"]
)  # fmt: skip
_TEXTS = st.lists(_LINES, max_size=30).map("\n".join) | st.text(max_size=400)


@given(_TEXTS, st.integers(-1, 400))
def test_chunks_cover_the_text_and_keep_to_their_size(text: str, size: int) -> None:
    found = chunks(text, size)
    assert "".join(cut(text, size)) == text
    assert all(0 < chunk.end - chunk.start <= max(size, SMALLEST) for chunk in found)
    assert [chunk.start for chunk in found] == [0, *(chunk.end for chunk in found)][: len(found)]


@given(_TEXTS)
def test_the_same_text_is_cut_alike(text: str) -> None:
    assert chunks(text) == chunks(text)


def under(text: str, size: int = SMALLEST) -> list[tuple[str, ...]]:
    return [chunk.headings for chunk in chunks(text, size)]


_FILL = "This is what it says about that, at some length, in a paragraph."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"# A\n\n{_FILL}\n## B\n{_FILL}\n# C\n{_FILL}", [("A",), ("A", "B"), ("C",)]),
        (f"Title\n=====\n{_FILL}\n\nPart\n----\n{_FILL}", [("Title",), ("Title", "Part")]),
        (f"# A ###\n{_FILL}\n# C#\n{_FILL}\n#\n{_FILL}", [("A",), ("C#",), ()]),
        (f"{_FILL}\n\n#tag\n\n{_FILL}", [(), ()]),
        (f"# A\n{_FILL}\n```\n# no heading\n```\n{_FILL}\n## B\n{_FILL}", [("A",), ("A",), ("A", "B")]),
        (f"| a |\n---\n{_FILL}", [()]),
        (f"# A\r\n{_FILL}\r\n# B\r\n{_FILL}", [("A",), ("B",)]),
        ("# " + "long " * 79 + "\ntext", [("long " * 23 + "long ",)] * 5),
    ],
    ids=["nested", "underlined", "closed", "tag", "fenced", "table", "crlf", "long"],
)
def test_a_chunk_carries_its_headings(text: str, expected: list[tuple[str, ...]]) -> None:
    found = under(text, 100)
    assert list(dict.fromkeys(found)) == list(dict.fromkeys(expected))


def test_a_heading_stands_with_what_is_under_it() -> None:
    text = "\n\n".join([f"{_FILL} {_FILL}", "## Returns", "### Damaged", f"{_FILL}"])
    first, second = cut(text, 160)
    assert "Returns" not in first
    assert second.startswith("## Returns\n\n### Damaged")
    assert under(text, 160) == [(), ("Returns", "Damaged")]


def test_short_sections_stay_together_and_long_ones_do_not() -> None:
    short = "".join(f"# {number}\nyes\n" for number in range(20))
    assert len(chunks(short, 400)) <= 8 + 1
    long = "".join(f"# {number}\n{_FILL}\n" for number in range(4))
    assert under(long, 400) == [("0",), ("1",), ("2",), ("3",)]


def test_what_is_too_long_is_cut_at_the_best_place() -> None:
    assert all(piece.endswith("\n") for piece in cut(("word " * 15 + "\n") * 9, 200)[:-1])
    assert all(
        piece.endswith(".") for piece in cut("A sentence of some words." + " A sentence of some words." * 30, 200)
    )
    assert all(piece.endswith("。") for piece in cut("長い文です。" * 60, 200))
    assert all(piece.endswith(" ") for piece in cut("word " * 200, 200))


@pytest.mark.parametrize("text", ["x" * 1_000_000, "é" * 500_000, "\n" * 1_000_000, "# a\n" * 300_000, " " * 1_000_000])
def test_time_grows_with_the_text_alone(text: str) -> None:
    found = chunks(text)
    assert found[-1].end == len(text.encode())
    assert len(found) <= 8 * (len(text.encode()) // SIZE + 1)


def test_nothing_has_no_chunks() -> None:
    assert chunks("") == []
    assert chunks("a") == [Chunk(0, 1, ())]
