"""Within any limit: what is in play, the ends and the errors first, and every cut says what it left out."""

import json
import random
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet.derive.document import Segment
from callsheet.derive.narrowing import Manner, choose, cut_text, narrow
from callsheet.derive.reading import read
from callsheet.wire.tokens.counter import counter_for

tokens = counter_for("openai", "gpt-4o").count
MARK = re.compile(r"\.\.\.\([\d,]+ characters? left out\)\.\.\.")
KILN = "".join(f"kiln {number} ok \U0001f99c\U0001f525\u2714 " for number in range(400))


def utf8(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("count", [utf8, len, tokens])
@pytest.mark.parametrize("manner", list(Manner))
def test_a_text_cut_to_any_limit_is_a_beginning_and_an_end_around_a_mark(
    count: Callable[[str], int], manner: Manner
) -> None:
    for limit in range(1, 401, 1 if count is not tokens else 3):
        cut = cut_text(KILN, limit, count, manner)
        assert count(cut) <= limit
        assert json.loads(json.dumps(cut)) == cut == cut.encode().decode()
        if cut:
            head, tail = MARK.split(cut)
            assert KILN.startswith(head)
            assert KILN.endswith(tail)
            left_out = len(KILN) - len(head) - len(tail)
            assert f"({left_out:,} character" in cut
            assert not tail or manner is Manner.START_END


def test_a_limit_of_some_size_is_used() -> None:
    for limit in (60, 200, 1000):
        assert tokens(cut_text(KILN, limit, tokens)) > limit * 0.8


def test_what_fits_is_not_cut() -> None:
    assert "kiln" == cut_text("kiln", 4, len)
    assert "" == cut_text("kiln", 3, len)
    assert "" == cut_text("", 0, len)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=200), st.integers(0, 120))
def test_no_text_breaks_the_cut(text: str, limit: int) -> None:
    cut = cut_text(text, limit, len)
    assert len(cut) <= limit


@pytest.mark.parametrize("whole", ["👩‍🚀", "e\u0301", "👍🏽", "✔\ufe0f", "\ud83e\udd9c"])
def test_no_written_character_is_split(whole: str) -> None:
    text = whole * 100
    for limit in range(30, 90):
        parts = [part for part in MARK.split(cut_text(text, limit, len)) if part]
        assert all(len(part) % len(whole) == 0 for part in parts)


def test_no_number_is_cut_to_another_number() -> None:
    text = "".join(f"paid {number}.50 to the ferryman, " for number in range(100_000, 100_400))
    for limit in range(60, 200):
        for part in MARK.split(cut_text(text, limit, len)):
            assert all(number in text and len(number) == 9 for number in re.findall(r"\d[\d.]*", part))


@pytest.mark.parametrize("limit", [4_000, 1_000, 50])
def test_japanese_is_counted_as_the_model_counts_it(limit: int) -> None:
    text = "倉庫の温度計は三番が故障しています。" * 2000
    kept = narrow(read(text), limit, tokens)
    assert limit * 0.5 < tokens(kept) <= limit
    assert len(kept) <= limit * 7300 / 4000


def survey() -> str:
    chance = random.Random(7)
    lines = [
        f"{number:06d} " + " ".join(chance.choice(["ash", "elm", "oak", "fir", "yew"]) for _ in range(14))
        for number in range(12000)
    ]
    lines[7431] = "007431 ROT FOUND in beam Q-19, depth 31 mm"
    return "\n".join(lines)


def test_a_line_that_touches_what_is_in_play_is_shown_out_of_twelve_thousand() -> None:
    text = survey()

    def touching(segment: Segment) -> bool:
        return "Q-19" in text[segment.start : segment.end]

    shown = narrow(read(text), 2000, tokens, touching=touching)

    assert tokens(shown) <= 2000
    assert "007431 ROT FOUND in beam Q-19, depth 31 mm" in shown
    assert "of 12,000 lines" in shown
    assert shown.splitlines()[1] == text.split("\n", maxsplit=1)[0]
    assert shown.splitlines()[-1] == text.rsplit("\n", maxsplit=1)[-1]


def test_the_error_at_the_end_of_a_long_log_survives_with_the_command() -> None:
    ending = [
        "error: shuttle 7 jammed at pick 11981",
        "  at loom/drive.c:412",
        "weave: 1 error, 0 warnings",
        "exit status 3",
    ]
    lines = [
        "$ weave build --all",
        *(f"[{number:05d}] spun bobbin {number % 311} ok" for number in range(12000)),
        *ending,
    ]
    document = read("\n".join(lines))
    shown = narrow(document, 800, tokens)

    assert document.outline() == "12,005 lines: error: shuttle 7 jammed at pick 11981; exit status 3"
    assert tokens(shown) <= 800
    assert {"$ weave build --all", "error: shuttle 7 jammed at pick 11981", "exit status 3"} <= set(shown.splitlines())
    assert_unchanged(shown, lines)


def assert_unchanged(shown: str, lines: list[str]) -> None:
    """Shown lines stand in their order, and what is shown and what marks say is left out make up the whole."""
    at = left_out = kept = 0
    for line in shown.splitlines()[1:]:
        mark = re.match(r"\.\.\. \(([\d,]+) lines? left out", line)
        if mark:
            left_out += int(mark[1].replace(",", ""))
        else:
            at = lines.index(line, at) + 1
            kept += 1
    assert kept + left_out == len(lines)


@pytest.mark.parametrize("limit", [100, 150, 800])
def test_an_error_in_the_middle_of_a_log_survives_small_limits(limit: int) -> None:
    lines = [f"10:00:{number % 60:02d} INFO bell {number} rung" for number in range(5000)]
    lines[2500] = "10:41:40 ERROR rope 9 torn"
    shown = narrow(read("\n".join(lines)), limit, tokens)

    assert "10:41:40 ERROR rope 9 torn" in shown
    assert tokens(shown) <= limit


def test_a_long_table_shows_header_and_ends_and_the_row_in_play() -> None:
    rows = ["sku,bay,on_hand,reorder_at", *(f"W{n:05d},{n % 40},{n * 13 % 97},{n * 5 % 60}" for n in range(40000))]
    text = "\n".join(rows)
    document = read(text)
    shown = narrow(document, 1500, tokens, touching=lambda s: text.startswith("W31777", s.start))

    assert tokens(shown) <= 1500
    assert "40,000" in shown
    assert shown.count("on_hand") == 1
    for row in [*rows[1:6], "W31777,17,75,5", *rows[-5:]]:
        assert row in shown
    assert rows[9] not in shown


def test_records_of_a_long_json_are_shown_whole_and_counted() -> None:
    items = [
        {"id": 1000 + n, "name": f"spool {n}", "note": 'a "quoted" note, with , and } inside', "qty": n * 7 % 23}
        for n in range(400)
    ]
    shown = narrow(read(json.dumps({"cursor": "n/a", "items": items}, indent=2)), 2000, tokens)

    assert tokens(shown) <= 2000
    assert {"cursor", "items", "400"} <= set(re.findall(r"\w+", shown))
    assert "spool 0" in shown
    assert "spool 399" in shown


SHAPES = {
    "log": "".join(f"10:00:0{n % 10} INFO step {n}\n" for n in range(300)) + "fatal: no wind\n",
    "prose": "The miller sleeps. The wheel turns slowly in spring.\n\n" * 200,
    "one line": "The miller sleeps; the wheel turns. " * 400,
    "no space": "x7" * 5000,
    "page": "<html><title>Mill</title>" + "".join(f"<p>Wheel {n} turns.</p>" for n in range(300)) + "</html>",
    "json": json.dumps([{"n": n, "wheel": "oak"} for n in range(300)]),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("manner", list(Manner))
def test_no_limit_is_exceeded(shape: str, manner: Manner) -> None:
    document = read(SHAPES[shape])
    for limit in [*range(0, 40, 3), 64, 100, 333, 1000]:
        chosen = choose(document, limit, tokens, manner=manner)
        assert list(chosen) == sorted(set(chosen))
        assert not chosen or tokens(document.excerpt(chosen)) <= limit
        assert tokens(narrow(document, limit, tokens, manner=manner)) <= limit


def test_shown_from_the_start_only_the_start_is_shown() -> None:
    lines = [f"verse {number} of the song" for number in range(3000)]
    shown = narrow(read("\n".join(lines)), 200, tokens, manner=Manner.START)
    assert lines[0] in shown
    assert lines[3] in shown
    assert lines[-2] not in shown


def test_one_piece_too_large_does_not_keep_the_others_out() -> None:
    text = "short one\n" * 2 + "z " * 480 + "\n" + "".join(f"line {number}\n" for number in range(400))

    def touching(segment: Segment) -> bool:
        return text.startswith(("z ", "line 200"), segment.start)

    assert "line 200" in narrow(read(text), 120, tokens, touching=touching)
