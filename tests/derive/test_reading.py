"""The kind of content is told by its form, and no content breaks the reading of it."""

import base64
import json
import random
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from callsheet.derive.document import ContentKind, Document
from callsheet.derive.reading import read

PAGE = (
    "<!DOCTYPE html><html><head><title>Ferry times</title></head><body><h1>Pier 4</h1><p>Boats leave.</p></body></html>"
)
PYTHON = (
    'Traceback (most recent call last):\n  File "mill.py", line 4, in grind\n    stone.turn()\nValueError: dull stone\n'
)
JAVA = (
    "java.lang.IllegalStateException: no ink\n\tat org.Roller.roll(Roller.java:31)\n\tat org.Main.main(Main.java:7)\n"
)
SCRIPT = "TypeError: bell is undefined\n    at ring (/srv/tower.js:10:5)\n    at main (/srv/tower.js:40:1)\n"
GO = "panic: no rope\n\ngoroutine 1 [running]:\nmain.pull(0x1)\n\t/src/rope.go:12 +0x1d\nexit status 2\n"
RUST = (
    "thread 'main' panicked at src/loom.rs:9:5:\nno thread left\nstack backtrace:\n   0: loom::pick\n   1: loom::main\n"
)
DIFF = "diff --git a/oven.txt b/oven.txt\n--- a/oven.txt\n+++ b/oven.txt\n@@ -1,2 +1,2 @@\n-cold\n+hot\n bread\n"
LOG = "".join(f"2031-02-0{day} 10:00:00 INFO tide {day} measured\n" for day in range(1, 8))
CODE = (
    "import tide\n\n\ndef rise(level):\n    return level + 1\n\n\nclass Gauge:\n    def read(self):\n        return 4\n"
)
RESULTS = "".join(f"{n}. Choir number {n}\nhttps://choir.example/{n}\nThey sing on day {n}.\n\n" for n in range(1, 6))
PROSE = "The mill stands by the river. It has two wheels.\n\nNobody has seen the miller since spring. His dog waits."

KINDS = [
    ("", ContentKind.EMPTY),
    (" \n\t\n", ContentKind.EMPTY),
    (b"", ContentKind.EMPTY),
    (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4, ContentKind.BINARY),
    (base64.b64encode(random.Random(1).randbytes(900)).decode(), ContentKind.BINARY),
    (base64.encodebytes(random.Random(1).randbytes(900)).decode(), ContentKind.BINARY),
    ("data:image/png;base64," + "iVBORw0K" * 200, ContentKind.BINARY),
    ('{"bell": 4, "rope": [1, 2]}', ContentKind.JSON),
    (PAGE, ContentKind.HTML),
    (PYTHON, ContentKind.TRACE),
    (JAVA, ContentKind.TRACE),
    (SCRIPT, ContentKind.TRACE),
    (GO, ContentKind.TRACE),
    (RUST, ContentKind.TRACE),
    (DIFF, ContentKind.DIFF),
    (LOG, ContentKind.LOG),
    ("$ make bread\nkneading\nexit status 1\n", ContentKind.LOG),
    (CODE, ContentKind.SOURCE),
    (RESULTS, ContentKind.SEARCH),
    (PROSE, ContentKind.TEXT),
    ("倉庫の温度計は三番が故障しています。\n明日直します。", ContentKind.TEXT),
    ("word", ContentKind.TEXT),
    ("x" * 5000, ContentKind.TEXT),
    ("0123456789abcdef" * 100, ContentKind.TEXT),
]


def assert_sound(document: Document) -> None:
    """What every document promises."""
    last = 0
    for segment in document.segments:
        assert last <= segment.start <= segment.end <= len(document.text)
        last = segment.end
    assert document.total >= 0
    for form in (
        document.dense(),
        document.excerpt(()),
        document.excerpt(range(len(document.segments))),
        document.outline(),
    ):
        assert isinstance(form, str)


@pytest.mark.parametrize(("content", "kind"), KINDS)
def test_the_form_tells_the_kind(content: str | bytes, kind: ContentKind) -> None:
    document = read(content)

    assert document.kind is kind
    assert_sound(document)


@pytest.mark.parametrize("content", [content for content, _ in KINDS if isinstance(content, str)])
def test_content_cut_anywhere_is_still_read(content: str) -> None:
    for end in range(0, len(content), 1 + len(content) // 60):
        assert_sound(read(content[:end]))
        assert_sound(read(content[end:]))


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=300) | st.binary(max_size=300))
@example("\ud83e")
@example("\x00\r\b\x1b[")
def test_no_content_breaks_the_reading(content: str | bytes) -> None:
    assert_sound(read(content))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "<p>",
                "</p>",
                "<!--",
                "-->",
                "@@ -1 +1 @@\n",
                "--- a\n",
                "+++ b\n",
                "{",
                "}",
                "\n",
                '"x": 1',
                "| a | b |\n",
                "\tat x.y(Z.java:1)\n",
                "error: ",
                "1. ",
                "https://a.example/\n",
                "<script>",
                "</style>",
                "\r",
                "data:",
                "lines 1-2 of 9",
            ]
        ),
        max_size=30,
    )
)
def test_no_mixture_of_forms_breaks_the_reading(parts: list[str]) -> None:
    assert_sound(read("".join(parts)))


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab. \n#-", max_size=400))
def test_the_segments_of_a_text_cover_it(text: str) -> None:
    document = read(text)
    if document.kind is ContentKind.TEXT:
        assert "".join(text[s.start : s.end] for s in document.segments) == text
        assert all(one.end == two.start for one, two in pairwise(document.segments))


def test_bytes_that_are_no_text_are_shown_by_type_and_size() -> None:
    document = read(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "image/png")

    assert "(image/png, 5,128 bytes, not shown)" == document.text == document.excerpt(()) == document.outline()


def test_a_base64_content_is_shown_by_the_size_of_what_it_encodes() -> None:
    raw = random.Random(3).randbytes(225_000)

    assert "225,000 bytes" in read(base64.b64encode(raw).decode(), "image/png").dense()


@pytest.mark.parametrize("address", ["", "data:image/png;base64,"])
def test_base64_within_text_stands_in_no_excerpt_and_no_outline_but_in_the_dense_form(address: str) -> None:
    data = base64.b64encode(random.Random(5).randbytes(60_000)).decode()
    document = read(f"screen of panel 6: {address}{data} and the lamp is red.\nSecond line.\n")

    for form in (document.excerpt(range(len(document.segments))), document.outline(), document.excerpt((0,))):
        assert all(data[at : at + 64] not in form for at in range(0, 2000, 16))
    assert "60,000 bytes, not shown" in document.excerpt(range(len(document.segments)))
    assert data in document.dense()


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"\x00\x00tag7\x00 pump 3 offline\n", "pump 3 offline"),
        ("pump 4 offline\n".encode("utf-16"), "pump 4 offline"),
        (b"caf\xe9 valve \xff\xfe open\n", "caf\\xe9 valve \\xff\\xfe open"),
    ],
)
def test_bytes_of_other_encodings_are_readable(content: bytes, shown: str) -> None:
    assert shown in read(content).dense()


def test_text_around_json_stands_and_the_json_is_read_as_such() -> None:
    rows = [{"hive": f"H{number}", "honey_kg": number % 7, "queen": "marked"} for number in range(200)]
    text = f"Found 200 hives in orchard 3:\n{json.dumps(rows, indent=2)}\nEnd of report, page 1 of 3.\n"
    document = read(text)

    assert len(document.dense()) < len(text) / 2
    found = next(s for s in document.segments if s.name.endswith("/150"))
    assert "H150" in text[found.start : found.end]
    excerpt = document.excerpt([index for index, s in enumerate(document.segments) if s.name.endswith("/150")])
    assert excerpt.startswith("Found 200 hives in orchard 3:")
    assert excerpt.endswith("End of report, page 1 of 3.")
    assert "H150" in excerpt
    assert "H77" not in excerpt
    assert "200" in document.outline()
