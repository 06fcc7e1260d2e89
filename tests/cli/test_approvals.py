"""``approvals``: what waits for a person's word is listed with its exact arguments, and decided once."""

from pathlib import Path

import pytest

import callsheet
from callsheet.policy.contracts import ToolContract
from tests.cli.running import Run
from tests.runtime.executing.acts import ask


def open_valve(litres: int) -> str:
    """Open the valve for so many litres."""
    return f"{litres} litres ran"


VALVE = callsheet.tool(contract=ToolContract(name="open_valve", side_effects=True, needs_approval=True))(open_valve)


@pytest.fixture
def garden(tmp_path: Path) -> tuple[Path, list[str]]:
    """A store in which two calls wait, and their ids."""
    path = tmp_path / "agent.db"
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("greenhouse")
        talk.record({"role": "user", "content": "Water the beds."})
        ask(talk, a=("open_valve", {"litres": 40}), b=("open_valve", {"litres": 9_000}))
        talk.execute([VALVE])
        return path, [str(one.call) for one in talk.approvals()]


def test_what_waits_is_listed_with_its_arguments(run: Run, garden: tuple[Path, list[str]]) -> None:
    path, (first, second) = garden
    ran = run("approvals", "greenhouse", "--store", path)
    assert ran.code == 0
    assert ran.out.index(first) < ran.out.index(second)
    assert '    {"litres": 9000}' in ran.out
    lines = run("approvals", "greenhouse", "--store", path, "--json").lines
    assert [(line["call"], line["tool"], line["arguments"]) for line in lines] == [
        (first, "open_valve", '{"litres": 40}'),
        (second, "open_valve", '{"litres": 9000}'),
    ]


def test_what_is_approved_runs_and_what_is_refused_never_does(run: Run, garden: tuple[Path, list[str]]) -> None:
    path, (first, second) = garden
    assert run("approvals", "greenhouse", "--approve", first, "--by", "Ida", "--store", path).code == 0
    reason = ("--reason", "the tank holds less")
    ran = run("approvals", "greenhouse", "--refuse", second, "--by", "Ida", *reason, "--store", path, "--json")
    assert (ran.document["call"], ran.document["approved"], ran.document["by"]) == (second, False, "Ida")
    assert run("approvals", "greenhouse", "--store", path).out == "No call waits for approval.\n"
    with callsheet.open(path) as runtime:
        talk = runtime.existing("greenhouse")
        talk.execute([VALVE])
        said = [talk.raw(record.id).decode() for record in talk.history()[0] if record.header.kind == "artifact"]
    assert any("40 litres ran" in text for text in said)
    assert any("the tank holds less" in text for text in said)
    assert not any("9000 litres ran" in text for text in said)
    rows = run("show", "greenhouse", "--executions", "--store", path, "--json").lines
    assert {row["call"]: (row["decided"], row["by"]) for row in rows} == {
        first: ("approved", "Ida"),
        second: ("refused", "Ida"),
    }


def test_a_second_word_is_refused_and_changes_nothing(run: Run, garden: tuple[Path, list[str]]) -> None:
    path, (first, _) = garden
    run("approvals", "greenhouse", "--refuse", first, "--by", "Ida", "--store", path)
    ran = run("approvals", "greenhouse", "--approve", first, "--by", "Bo", "--store", path)
    assert (ran.code, ran.out) == (9, "")
    assert ran.err.startswith("callsheet: tool.decided: ")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--approve", "call_x"), 2, "--by is needed"),
        (("--by", "Ida"), 2, "--by goes with"),
        (("--approve", "call_x", "--by", "Ida", "--reason", "no"), 2, "--reason goes with --refuse"),
        (("--approve", "call_x", "--refuse", "call_y", "--by", "Ida"), 2, "not allowed with"),
        (("--approve", "call_x", "--by", "Ida"), 5, "call_x"),
        (("--as", "nobody"), 5, "no participant or sub-agent 'nobody'"),
    ],
)
def test_a_wrong_line_says_what_is_wrong(
    run: Run, garden: tuple[Path, list[str]], arguments: tuple[str, ...], code: int, told: str
) -> None:
    ran = run("approvals", "greenhouse", *arguments, "--store", garden[0])
    assert (ran.code, ran.out) == (code, "")
    assert told in ran.err
