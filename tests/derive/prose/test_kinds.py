"""What each kind shows before anything is chosen, how it is divided, and how it names itself."""

import gzip
import json
import re

import pytest

from callsheet.derive.document import ContentKind, Document
from callsheet.derive.narrowing import narrow
from callsheet.derive.reading import read
from callsheet.wire.tokens.counter import counter_for
from tests.recordings import DATA, needs_recordings, recording

tokens = counter_for("openai", "gpt-4o").count

FRAMES = "".join(f'  File "/mill/part{n}.py", line {n}, in turn{n}\n    next_wheel({n})\n' for n in range(1, 60))
PYTHON = f"Traceback (most recent call last):\n{FRAMES}mill.DryError: no water at gate 7\n"
JAVA = (
    'Exception in thread "main" org.mill.DryError: no water at gate 7\n'
    + "".join(f"\tat org.mill.Part{n}.turn(Part{n}.java:{n})\n" for n in range(1, 60))
    + "Caused by: java.io.IOException: sluice closed\n"
    + "".join(f"\tat org.mill.Deep{n}.turn(Deep{n}.java:{n})\n" for n in range(1, 9))
    + "\t... 51 more\n"
)
NODE = "TypeError: gate 7 is undefined\n" + "".join(f"    at turn{n} (/mill/part{n}.js:{n}:3)\n" for n in range(1, 60))
GO = "panic: no water at gate 7\n\ngoroutine 1 [running]:\n" + "".join(
    f"mill.turn{n}(0x{n})\n\t/mill/part{n}.go:{n} +0x1d\n" for n in range(1, 60)
)
RUST = "thread 'main' panicked at src/gate7.rs:9:5:\nno water\nstack backtrace:\n" + "".join(
    f"  {n}: mill::turn{n}\n         at ./src/part{n}.rs:{n}:2\n" for n in range(1, 60)
)


def least(document: Document) -> str:
    return document.excerpt(())


@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        (PYTHON, ["mill.DryError: no water at gate 7", "part1.py", "part59.py", "next_wheel(59)", "Traceback"]),
        (JAVA, ["java.io.IOException: sluice closed", "org.mill.DryError: no water", "Part1.java", "Deep1.java"]),
        (NODE, ["TypeError: gate 7 is undefined", "part1.js", "part59.js"]),
        (GO, ["panic: no water at gate 7", "goroutine 1 [running]", "part1.go", "part59.go"]),
        (RUST, ["gate7.rs:9:5", "no water", "turn1\n", "turn59"]),
    ],
)
def test_a_trace_shows_the_exception_and_both_ends_of_the_stack(trace: str, shown: list[str]) -> None:
    document = read(trace)

    assert document.kind is ContentKind.TRACE
    assert [piece for piece in shown if piece not in least(document)] == []
    assert shown[0] in document.outline()
    assert "left out" in least(document)
    assert len(least(document)) < len(trace) / 2


def test_a_trace_below_other_output_is_found() -> None:
    text = "".join(f"10:00:0{n % 10} INFO wheel {n}\n" for n in range(3000)) + PYTHON + "10:01:00 INFO next\n" * 500
    assert "mill.DryError: no water at gate 7" in least(read(text))


def change(name: str, number: int) -> str:
    return f"@@ -{number},3 +{number},3 @@ bake\n salt\n-cold {name} {number}\n+hot {name} {number}\n bread\n"


def test_a_hunk_stands_under_the_header_of_its_file() -> None:
    files = [
        f"diff --git a/oven/{n}.txt b/oven/{n}.txt\nindex 1..2 100644\n--- a/oven/{n}.txt\n+++ b/oven/{n}.txt\n"
        for n in range(60)
    ]
    text = "".join(head + "".join(change(f"o{n}", hunk) for hunk in range(1, 9)) for n, head in enumerate(files))
    document = read(text)
    wanted = [index for index, segment in enumerate(document.segments) if segment.name == "oven/31.txt hunk 5"]
    excerpt = document.excerpt(wanted)

    assert len(wanted) == 1
    assert "+++ b/oven/31.txt" in excerpt
    assert change("o31", 5).strip("\n") in excerpt
    assert "hot o31 4" not in excerpt
    assert excerpt.index("+++ b/oven/31.txt") < excerpt.index("hot o31 5")
    assert "480 hunks, 960 changed lines in oven/0.txt" in document.outline()


def test_a_page_shows_what_a_reader_sees() -> None:
    rows = "".join(f"<tr><td>Pier {n}</td><td>{n}:15</td></tr>" for n in range(300))
    text = (
        "<!doctype html><html><head><title>Ferry &amp; tides</title><style>p > b {}</style></head><body>"
        "<script>if (1 < 2) { hidden() }</script><!-- <p>never</p> --><h1>Piers</h1>"
        '<p>Boats leave <a href="/times?x=1">on <b>time</b></a>.</p><img alt="a boat" src="b.png">'
        f"<table>{rows}</table></body></html>"
    )
    document = read(text)
    everything = document.excerpt(range(len(document.segments)))

    for shown in (
        "Ferry & tides",
        "# Piers",
        "Boats leave on time (/times?x=1).",
        "[picture: a boat]",
        "Pier 7 | 7:15",
    ):
        assert shown in everything
    for hidden in ("<", "hidden", "never", "{"):
        assert hidden not in everything
    assert least(document).splitlines()[1:3] == ["Ferry & tides", "# Piers"]
    assert "298" in least(document) or "passages left out" in least(document)
    assert "Ferry & tides; # Piers" in document.outline()
    assert "<title>" in document.dense()


@pytest.mark.parametrize(
    "page", ["<html><p>oak<!-- cut here", "<html><p>oak<a href='x", "<html><script>x", "<html><p>oak 1 < 2 & 3"]
)
def test_a_page_cut_anywhere_still_shows_its_text(page: str) -> None:
    document = read(page)
    assert document.kind is ContentKind.HTML
    assert "script" in page or "oak" in document.excerpt(range(len(document.segments)))


def test_results_of_a_search_are_shown_or_left_out_as_one() -> None:
    found = [
        f"{n}. Choir of town {n}\nhttps://choir.example/{n}\nThey sing on day {n}.\nFree entry.\n\n"
        for n in range(1, 31)
    ]
    document = read("Results 1-30 of 812 for choir\n\n" + "".join(found))
    wanted = next(index for index, segment in enumerate(document.segments) if segment.name == "result 17")
    excerpt = document.excerpt((wanted,))

    assert document.kind is ContentKind.SEARCH
    assert (document.total, document.unit) == (30, "results")
    assert found[16].strip() in excerpt
    assert "Results 1-30 of 812 for choir" in excerpt
    assert "... (16 results left out: 1 to 16)" in excerpt
    assert "... (13 results left out: 18 to 30)" in excerpt


def test_titles_without_numbers_begin_results_too() -> None:
    text = "".join(f"Choir of town {n}\nURL: https://choir.example/{n}\nThey sing.\n\n" for n in range(9))
    document = read(text)
    assert (document.kind, document.total) == (ContentKind.SEARCH, 9)
    assert all(text.startswith("Choir", segment.start) for segment in document.segments)


@pytest.mark.parametrize("number", ["", "{n}: ", "{n}|"])
def test_code_is_divided_at_its_declarations(number: str) -> None:
    code = [
        line
        for n in range(40)
        for line in (f"def grind_{n}(corn):", "    flour = corn * 2", f"    return flour + {n}", "")
    ]
    text = "\n".join(number.format(n=n) + line for n, line in enumerate(code, start=1))
    document = read(text)

    assert document.kind is ContentKind.SOURCE
    assert "def grind_0(corn)" in document.outline()
    assert "and 28 more" in document.outline()
    index = next(i for i, s in enumerate(document.segments) if "grind_22" in text[s.start : s.end])
    assert "return flour + 22" in document.excerpt(range(index, index + 2))


@pytest.mark.parametrize(
    "mark",
    [
        "Showing lines 101-200 of 950",
        "[File: mill.txt (950 lines total)]",
        "(750 more lines below)",
        "Page 3 of 17",
        "The viewport shows 15% of the webpage",
        "results: 1 to 10 of 300",
        "[output truncated]",
    ],
)
@pytest.mark.parametrize("at_end", [False, True])
def test_what_a_viewer_says_of_its_part_always_stands(mark: str, at_end: bool) -> None:
    lines = [f"oats {n} and barley" for n in range(900)]
    lines.insert(len(lines) - 1 if at_end else 1, mark)
    assert mark in least(read("\n".join(lines)))


def test_zero_errors_are_no_error() -> None:
    lines = [f"10:00:00 INFO loom {n}: 0 errors, no failures" for n in range(900)]
    lines[300] = "10:00:00 INFO loom stopped, FATAL knot"
    shown = least(read("\n".join(lines)))
    assert "FATAL knot" in shown
    assert shown.count("0 errors") <= 5


def test_one_long_line_is_divided_between_sentences() -> None:
    text = "The mill turns. Water is low, 3.5 m at gate 7. " * 400
    document = read(text)
    assert document.unit == "characters"
    assert len(document.segments) > 20
    assert all(text[segment.end - 2 : segment.end] in {". ", ", "} for segment in document.segments)
    assert f"{document.segments[0].end:,} of {len(text):,} characters" in document.excerpt((0,))


def test_lines_too_long_are_shown_in_part_and_said_so() -> None:
    text = "short\n" * 50 + "wheel and stone " * 300 + "\n" + "short\n" * 50
    document = read(text)
    index = next(i for i, s in enumerate(document.segments) if text.startswith("wheel", s.start))
    shown = document.excerpt((index,))
    assert document.unit == "lines"
    assert "of 5,401 characters in 101 lines" in shown
    assert re.search(r"\.\.\. \(50 lines left out: 1 to 50\)\nwheel and", shown)
    assert re.search(r"wheel\n\.\.\. \([\d,]+ characters left out, from line 51 to 101\)", shown)


def test_empty_lines_between_shown_lines_are_not_worth_a_mark() -> None:
    text = "wheel\n\n\nstone\n" + "".join(f"sack {n}\n" for n in range(300))
    document = read(text)
    wanted = [i for i, s in enumerate(document.segments) if text[s.start : s.end] in {"wheel\n", "stone\n"}]
    assert "wheel\n\nstone\n... (300 lines left out: 5 to 304)" in document.excerpt(wanted)


def test_a_page_of_very_many_blocks_shares_passages() -> None:
    document = read("<html>" + "<p>oak <b>12</b></p>" * 60_000)
    assert (document.total, document.unit) == (60_000, "passages")
    assert len(document.segments) < 25_000
    assert document.excerpt((5,)).count("oak 12") == document.excerpt((6,)).count("oak 12") > 1


def test_nothing_takes_no_more_than_nothing() -> None:
    assert "" == read("").dense()
    assert "(only white space, 900 characters)" == read(" \n\t" * 300).dense()


def test_many_lines_share_pieces() -> None:
    document = read("a1\n" * 300_000 + "ERROR: knot\n" + "a2\n" * 300_000)
    assert len(document.segments) < 50_000
    assert "ERROR: knot" in least(document)
    assert document.total == 600_001


@needs_recordings
def test_recorded_outputs_are_read_and_narrowed_within_the_limit() -> None:
    assert DATA is not None
    with gzip.open(recording("tool_outputs.jsonl.gz"), "rt") as file:
        for line in file:
            content = json.loads(line)["content"]
            if len(content) < 300_000:
                document = read(content)
                assert document.total > 0
                assert tokens(narrow(document, 500, tokens)) <= 500
                assert len(document.dense()) <= len(content)
