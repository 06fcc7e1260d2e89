"""``assemble`` and ``replay`` on the command line."""

import json
from pathlib import Path

import pytest

from callsheet.cli.demonstration import recording
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


def test_replay_prints_a_table_and_refuses_broken_lines(run: Run, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
    (tmp_path / "log.jsonl").write_text(json.dumps({"id": "a", "messages": messages}) + "\n{\n")

    ran = run("replay", tmp_path / "log.jsonl")

    assert ran.code == 1
    assert ran.out.startswith("log: recordings 1, steps 1")
    assert f"{tmp_path / 'log.jsonl'}:2: not JSON" in ran.err
