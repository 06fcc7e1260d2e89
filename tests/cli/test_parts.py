"""``show`` lists every part of a conversation, as a table for people and as JSON Lines for programs."""

from pathlib import Path

import pytest

import callsheet
from callsheet.cli.listing import Part
from callsheet.cli.parts import PARTS
from tests.cli.running import Run
from tests.explain.making import busy

EXPECTED = {
    "branches": ("branch", ["main", "autumn"]),
    "participants": ("participant", ["weeder"]),
    "children": ("sub_agent", ["counter"]),
    "skills": ("skill", ["prune"]),
}


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a conversation of which there is something in every part."""
    path = tmp_path_factory.mktemp("garden") / "agent.db"
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("greenhouse")
        busy(talk)
        runtime.skills.add("prune", summary="how to prune", instructions="Cut above the knot.")
        talk.offer_skills()
        talk.activate("prune")
        talk.checkpoint("evening")
        talk.spawn("Weed.", name="hand").spawn("Rake.", name="rake")
        runtime.conversation("empty").record({"role": "user", "content": "Hello"})
        talk.record({"role": "assistant", "content": None, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "pump", "arguments": "{}"}}]})  # fmt: skip
    return path


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_people_and_programs_are_told_the_same_rows(run: Run, garden: Path, part: Part) -> None:
    lines = run("show", "greenhouse", f"--{part.name}", "--store", garden, "--json").lines
    table = run("show", "greenhouse", f"--{part.name}", "--store", garden)
    assert table.code == 0
    header, _, *rows = table.out.splitlines()
    assert len(rows) == len(lines) > 0
    assert all(set(part.columns) <= set(line) for line in lines)
    assert header.startswith(part.columns[0].replace("_", " "))


@pytest.mark.parametrize("part", EXPECTED)
def test_each_part_holds_what_there_is(run: Run, garden: Path, part: str) -> None:
    column, names = EXPECTED[part]
    lines = run("show", "greenhouse", f"--{part}", "--store", garden, "--json").lines
    assert [str(line[column]).strip() for line in lines][: len(names)] == names


def test_sub_agents_of_sub_agents_stand_below_them(run: Run, garden: Path) -> None:
    lines = run("show", "greenhouse", "--children", "--store", garden, "--json").lines
    assert [(str(line["sub_agent"]), line["depth"], line["status"]) for line in lines] == [
        ("counter", 0, "completed"),
        ("hand", 0, "started"),
        ("  rake", 1, "started"),
    ]


def test_memories_say_what_replaces_them_and_hold_no_content(run: Run, garden: Path) -> None:
    ran = run("show", "greenhouse", "--memories", "--store", garden, "--json")
    old, new = ran.lines
    assert old["replaced_by"] == [new["memory"]]
    assert (new["replaced_by"], new["stale"], new["class"]) == ([], False, "internal")
    assert "is moist" not in ran.out


def test_a_reader_is_shown_its_own(run: Run, garden: Path) -> None:
    run_ = run("show", "greenhouse", "--children", "--as", "hand", "--store", garden, "--json")
    assert [line["sub_agent"] for line in run_.lines] == ["rake"]
    text = run("show", "greenhouse", "--as", "counter", "--store", garden).out
    assert "twelve" in text
    assert "Rake?" not in text


def test_a_part_of_which_there_is_nothing_says_so(run: Run, garden: Path) -> None:
    for part in PARTS:
        ran = run("show", "empty", f"--{part.name}", "--store", garden)
        assert ran.code == 0
        assert part.name == "branches" or ran.out == f"No {part.name}.\n"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--branches",), 2, "name it, and no record"),
        (("greenhouse", "msg_x", "--branches"), 2, "name it, and no record"),
        (("greenhouse", "--branches", "--skills"), 2, "not allowed with"),
        (("greenhouse", "--as", "weeder"), 2, "a transcript is the same for all"),
        (("greenhouse", "--as", "nobody", "--memories"), 5, "there are: weeder, counter, hand"),
        (("greenhouse", "--branch", "winter", "--memories"), 5, "no branch 'winter'"),
        (("nothing", "--branches"), 5, "no conversation 'nothing'"),
    ],
)
def test_what_cannot_be_shown_is_said_with_what_there_is(
    run: Run, garden: Path, arguments: tuple[str, ...], code: int, told: str
) -> None:
    ran = run("show", *arguments, "--store", garden)
    assert (ran.code, ran.out) == (code, "")
    assert told in ran.err


def test_showing_begins_no_participant(run: Run, garden: Path) -> None:
    run("show", "greenhouse", "--memories", "--as", "stranger", "--store", garden)
    with callsheet.open(garden) as runtime:
        assert list(runtime.existing("greenhouse").participants()) == ["weeder"]
