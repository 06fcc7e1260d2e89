"""Content with more parts than memory is worth: it keeps its kind and its size, and costs little more than text."""

import tracemalloc

import pytest

from callsheet.derive.document import ContentKind
from callsheet.derive.reading import read
from callsheet.derive.structured.crowds import crowded, parts

FEW = 1_100_000


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[" + ",".join(["[1]"] * FEW) + "]", ContentKind.JSON),
        (("[" + ",".join(["[]"] * 40) + "]\n") * (FEW // 80), ContentKind.JSON_LINES),
        ("[" + ",".join(["[1]"] * FEW) + ")", ContentKind.TEXT),
    ],
)
def test_what_has_too_many_parts_is_read_as_pieces_of_text_in_little_memory(text: str, kind: ContentKind) -> None:
    tracemalloc.start()
    document = read(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6 * len(text)
    assert document.kind in (kind, ContentKind.LOG if kind is ContentKind.TEXT else kind)
    assert document.text is text
    assert len(document.dense()) <= len(text)
    assert document.segments[0].start == 0
    assert document.segments[-1].end == len(text)


def test_long_content_of_ordinary_parts_is_not_crowded() -> None:
    row = '{"berth": "north quay", "vessel": "Alma Vass"},'
    assert not crowded(row * 600_000, ",{[")
    assert parts(row, ",{[") == 4
    assert not crowded("[1]," * 250_000, ",[{")
    assert crowded("[1]," * 600_000, ",[{")


def test_very_many_keys_are_divided_in_order_and_named_by_the_first_of_each_piece() -> None:
    count = 100_002
    text = "{" + ",".join(f'"pier/{n}":{n}' for n in range(count)) + "}"
    document = read(text)
    assert (document.kind, document.unit, document.total) == (ContentKind.JSON, "keys", count)
    assert document.segments[0].name == "/pier~10 and 1 more"
    assert document.segments[-1].end == len(text) - 1
    assert "pier/99999" not in document.excerpt([0])
    assert "pier/1" in document.excerpt([0])
    assert document.outline().endswith(f"and {count - 12:,} more")
