"""``assemble`` and ``replay`` on the command line."""

import json
import sys
from pathlib import Path

import pytest

import callsheet
from callsheet.cli.demonstration import recording
from callsheet.cli.output import WIDTH
from tests.cli.running import Run

TOOL = {"type": "function", "function": {"name": "get_order", "description": "Read an order.", "parameters": {}}}


@pytest.mark.parametrize(("provider", "model"), [("openai", "gpt-5.2"), ("anthropic", "claude-sonnet-4-5")])
def test_assemble_prints_the_request(run: Run, store: Path, tmp_path: Path, provider: str, model: str) -> None:
    (tmp_path / "tools.json").write_text(json.dumps([TOOL]))
    given = ("--provider", provider, "--model", model, "--tools", tmp_path / "tools.json", "--policy", "replay")

    ran = run("assemble", "support-desk", *given, "--branch", "edited-address", "--store", store)

    assert ran.code == 0
    assert ran.document["model"] == model
    assert "get_order" in json.dumps(ran.document["tools"])
    assert "Sehr geehrte Frau Hagedorn" in json.dumps(ran.document["messages"])


def test_assemble_explains_itself(run: Run, store: Path) -> None:
    given = ("assemble", "support-desk", "--provider", "openai", "--model", "gpt-5.2", "--explain", "--store", store)

    text, document = run(*given).out, run(*given, "--json").document

    assert "for gpt-5.2 (openai) on branch main" in text
    assert str(document["sheet"]).startswith("sheet_")
    assert document["exact"] is True
    assert run("show", "support-desk", document["sheet"], "--store", store).code == 0


SHUT = """\
name: desk
version: 1
rules:
  - {name: shut, about: visibility, when: "record.kind == 'artifact' && !('staff' in boundary.scopes)", then: leave_out}
"""


def test_assemble_takes_a_policy_set_from_a_file_and_what_the_asker_is_entitled_to(
    run: Run, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "desk.yaml").write_text(SHUT)
    given = ("assemble", "support-desk", "--provider", "openai", "--model", "gpt-5.2", "--store", store)

    shut = run(*given, "--policy", tmp_path / "desk.yaml", "--explain", "--json").document
    staff = run(*given, "--policy", tmp_path / "desk.yaml", "--scope", "staff", "--explain", "--json").document

    assert '["rule", ' in json.dumps(shut["omitted"])
    assert '["rule", ' not in json.dumps(staff["omitted"])
    assert '"scopes": ["staff"]' in json.dumps(staff["boundary"])
    assert run(*given, "--policy", tmp_path / "none.yaml").code == 3
    assert "there are: balanced" in run(*given, "--policy", "thrifty").err


def test_show_names_the_newest_sheet_of_the_branch_that_it_shows(run: Run, store: Path) -> None:
    given = ("--provider", "openai", "--model", "gpt-5.2", "--explain", "--json", "--store", store)
    edited = run("assemble", "support-desk", "--branch", "edited-address", *given).document["sheet"]
    main = run("assemble", "support-desk", *given).document["sheet"]

    assert f"newest sheet: {main}" in run("show", "support-desk", "--store", store).out
    assert f"newest sheet: {edited}" in run("show", "support-desk", "--branch", "edited-address", "--store", store).out


def test_a_branch_on_which_nothing_was_assembled_has_no_newest_sheet(run: Run, store: Path) -> None:
    with callsheet.open(store) as runtime:
        runtime.existing("support-desk").branch(name="untouched")

    assert "newest sheet" not in run("show", "support-desk", "--branch", "untouched", "--store", store).out


def test_sentences_wrap_on_a_terminal_alone(run: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = run("policy", "explain").out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    wide = run("policy", "explain").out

    assert max(map(len, plain.splitlines())) > WIDTH
    assert max(map(len, wide.splitlines())) <= WIDTH
    assert wide.split() == plain.split()


def test_scenarios_are_asked_for_by_path_where_there_are_none(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    ran = run("eval", "scenarios")

    assert (ran.code, "pass PATH" in ran.err) == (2, True)
    assert run("eval", "scenarios", tmp_path).code == 3


def test_replay_measures_our_requests_beside_the_baselines(run: Run) -> None:
    ran = run("replay", recording(), "--json")

    rows = ran.document["rows"]
    assert isinstance(rows, list)
    assert [row["candidate"] for row in rows] == [
        "plain replay",
        "callsheet, balanced",
        "window of 16k",
        "old results cleared",
        "look-ahead bound",
    ]
    assert rows[0]["tokens_percent"] == rows[0]["billed_percent"] == 100
    assert rows[1]["tokens_percent"] < 50


def test_replay_measures_each_policy_set_at_each_number_of_turns_and_budget(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text('name: ours\nversion: "2"\nextends: balanced\nhistory: focus\n')
    messages: list[dict[str, object]] = []
    for place in range(8):
        call = {"id": f"c{place}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        messages += [{"role": "user", "content": f"Shelf {place}?"}, {"role": "assistant", "tool_calls": [call]}]
        shelf = [{"order_id": f"W-{place:02}{number:03}", "state": "packed"} for number in range(40)]
        messages += [{"role": "tool", "tool_call_id": f"c{place}", "content": json.dumps(shelf)}]
    messages += [{"role": "user", "content": "What was first?"}, {"role": "assistant", "content": "W-00000."}]
    (tmp_path / "log.jsonl").write_text(json.dumps({"id": "a", "messages": messages}) + "\n")
    asked = ("--policy", "lean", "--policy", tmp_path / "ours.yaml", "--turns", 2, "--turns", 4, "--budget", "none")

    ran = run("replay", tmp_path / "log.jsonl", *asked, "--budget", 1000, "--no-baselines", "--reachable", "--json")

    rows = ran.document["rows"]
    assert isinstance(rows, list)
    assert [row["candidate"] for row in rows] == [
        "plain replay",
        "callsheet, lean, turns 2",
        "callsheet, lean, turns 2, budget 1,000",
        "callsheet, lean, turns 4",
        "callsheet, lean, turns 4, budget 1,000",
        "callsheet, ours@2, turns 2",
        "callsheet, ours@2, turns 2, budget 1,000",
        "callsheet, ours@2, turns 4",
        "callsheet, ours@2, turns 4, budget 1,000",
    ]
    assert rows[1]["tokens"] < rows[3]["tokens"]
    assert rows[4]["tokens"] < rows[3]["tokens"]
    assert all(row["reachable"]["needed"] == row["evidence"]["hard"]["needed"] == 1 for row in rows)


def test_replay_prints_a_table_and_refuses_broken_lines(run: Run, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
    (tmp_path / "log.jsonl").write_text(json.dumps({"id": "a", "messages": messages}) + "\n{\n")

    ran = run("replay", tmp_path / "log.jsonl")

    assert ran.code == 1
    assert ran.out.startswith("log: recordings 1, steps 1")
    assert f"{tmp_path / 'log.jsonl'}:2: not JSON" in ran.err
