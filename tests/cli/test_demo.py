"""``demo``: it fits a terminal, leaves a store that the other commands open, and replaces no store but its own."""

import json
from pathlib import Path

from callsheet.cli.demonstration import recording
from tests.cli.running import RECORDS, Ran, Run


def test_it_prints_what_happened_within_80_columns(run: Run, tmp_path: Path) -> None:
    ran = run("demo", "--store", tmp_path / "demo" / "agent.db")

    story, _, commands = ran.out.partition("Try next:")
    assert (ran.code, ran.err) == (0, "")
    assert max(map(len, story.splitlines())) <= 80
    assert "190 requests" in story
    assert "Sound: nothing was found." in story
    assert "The words are scripted" in story
    assert "policy set balanced" in story
    assert "of them written anew" in story
    assert "and was not worth its tokens" in " ".join(story.split())
    assert "callsheet explain sheet_" in commands
    assert f"callsheet verify --heads --store {tmp_path / 'demo' / 'agent.db'}" in commands


def test_the_store_holds_the_recording_to_the_letter(run: Run, store: Path) -> None:
    lines = [json.loads(line) for line in recording().read_text("utf-8").splitlines()]

    back = run("export", "support-desk", "--store", store).lines

    assert [line["messages"] for line in back] == [line["messages"] for line in lines]
    assert [line.get("branch") for line in back] == [line.get("branch") for line in lines]


def test_each_request_as_json(demonstrated: tuple[Path, Ran]) -> None:
    document = demonstrated[1].document

    requests = document["requests"]
    assert isinstance(requests, list)
    assert len(requests) == 190
    assert all(0 < request["billed_tokens"] <= request["tokens"] for request in requests)
    assert {request["branch"] for request in requests} == {"main", "edited-address"}
    assert sum(request["tokens"] for request in requests) < sum(request["replay_tokens"] for request in requests) / 2
    assert sum(request["billed_tokens"] for request in requests) < sum(
        request["replay_billed_tokens"] for request in requests
    )
    assert {"", "first"} < {request["rewritten"] for request in requests}
    why = document["why"]
    assert isinstance(why, dict)
    assert why["outcome"] == "not_worth"


def test_it_replaces_its_own_store(run: Run, store: Path) -> None:
    assert run("assemble", "support-desk", "--provider", "openai", "--model", "gpt-5.2", "--store", store).code == 0

    assert run("demo", "--store", store, "--json").code == 0

    assert run("verify", "--store", store, "--json").document["records"] == RECORDS


def test_it_refuses_a_store_that_holds_anything_else(run: Run, store: Path, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"id": "mine", "messages": [{"role": "user", "content": "keep me"}]}')
    run("import", tmp_path / "log.jsonl", "--store", store)

    ran = run("demo", "--store", store)

    assert ran.code == 3
    assert "holds more than an earlier demonstration" in ran.err
    assert "keep me" in run("export", "mine", "--store", store).out


def test_it_refuses_a_file_that_is_no_store(run: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.db").write_text("my notes")

    assert run("demo", "--store", tmp_path / "agent.db").code == 4
    assert (tmp_path / "agent.db").read_text() == "my notes"
