"""``import`` and ``export`` on the command line."""

import gzip
import json
from pathlib import Path

import pytest

from tests.cli.running import Run

LINES = [
    '{"id": "a", "messages": [{"role": "user", "content": "hello"}, {"role": "tool", "content": ""}]}',
    '{"id": "b", "messages": [{"role": "alien", "content": "hello"}]}',
    '{"id": "a", "branch": {"name": "other", "at": 1}, "messages": [{"role": "user", "content": "or"}]}',
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(LINES))
    return path


def test_import_tells_what_was_recorded_and_what_was_refused(run: Run, log: Path, tmp_path: Path) -> None:
    ran = run("import", log, "--store", tmp_path / "agent.db")

    assert ran.code == 1
    assert ran.err.startswith(f"callsheet: input.line: {log}:2: messages[0].role: must be one of")
    assert [line.split() for line in ran.out.splitlines()] == [
        ["conversations", "and", "branches", "2"],
        ["messages", "2"],
        ["tool", "calls", "0"],
        ["tool", "results", "1"],
        ["with", "empty", "content", "1"],
        ["with", "missing", "id", "1"],
        ["with", "orphan", "result", "1"],
        ["refused", "lines", "1"],
    ]


def test_import_makes_the_folder_of_the_store(run: Run, log: Path, tmp_path: Path) -> None:
    store = tmp_path / "new" / "folder" / "agent.db"

    assert run("import", log, "--store", store).code == 1  # one line of it is refused
    assert run("export", "a", "--store", store).code == 0


def test_a_folder_that_cannot_be_made_is_told(run: Run, log: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    ran = run("import", log, "--store", tmp_path / "file" / "agent.db")

    assert ran.code == 3
    assert "no folder can be made" in ran.err


def test_import_as_json(run: Run, log: Path, tmp_path: Path) -> None:
    ran = run("import", log, "--store", tmp_path / "agent.db", "--json")

    document = ran.document
    refused = document.pop("refused")
    assert document == {
        "conversations": 2,
        "imported_before": 0,
        "messages": 2,
        "tool_calls": 0,
        "tool_results": 1,
        "defects": {"empty_content": 1, "missing_id": 1, "orphan_result": 1},
        "passed_over": {},
    }
    assert isinstance(refused, list)
    assert [(line["file"], line["line"]) for line in refused] == [(str(log), 2)]
    error = json.loads(ran.err)["error"]
    assert (error["code"], error["file"], error["line"]) == ("input.line", str(log), 2)


def test_importing_again_does_nothing_and_says_so(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join([LINES[0], LINES[2]]))
    run("import", log, "--store", tmp_path / "agent.db")

    ran = run("import", log, "--store", tmp_path / "agent.db")

    assert ran.code == 0
    assert ran.out == "All 2 conversations and branches were imported before; nothing was done.\n"


def test_several_files_are_imported_as_one(run: Run, tmp_path: Path) -> None:
    for name, line in (("one", LINES[0]), ("two", LINES[2])):
        (tmp_path / f"{name}.jsonl.gz").write_bytes(gzip.compress(line.encode()))

    ran = run(
        "import", tmp_path / "one.jsonl.gz", tmp_path / "two.jsonl.gz", "--store", tmp_path / "agent.db", "--json"
    )

    assert (ran.code, ran.document["conversations"]) == (0, 2)


def test_tenants_do_not_see_each_other(run: Run, log: Path, tmp_path: Path) -> None:
    run("import", log, "--store", tmp_path / "agent.db", "--tenant", "left")

    assert run("show", "--store", tmp_path / "agent.db").out == "No conversations.\n"
    assert run("show", "--store", tmp_path / "agent.db", "--tenant", "left", "--json").lines[0]["conversation"] == "a"


def test_export_writes_what_was_imported(run: Run, log: Path, tmp_path: Path) -> None:
    run("import", log, "--store", tmp_path / "agent.db")

    ran = run("export", "a", "--store", tmp_path / "agent.db")

    first, third = json.loads(LINES[0]), json.loads(LINES[2])
    assert [line["messages"] for line in ran.lines] == [first["messages"], third["messages"]]
    assert ran.lines[1]["branch"] == {"name": "other", "parent": "main", "at": 1}


def test_export_into_a_file_prints_nothing(run: Run, store: Path, tmp_path: Path) -> None:
    ran = run("export", "--all", "--output", tmp_path / "back.jsonl", "--store", store)

    assert (ran.code, ran.out) == (0, "")
    assert (tmp_path / "back.jsonl").read_text("utf-8") == run("export", "--all", "--store", store).out
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["back.jsonl"]


@pytest.mark.parametrize(
    "output",
    ["agent.db", "agent.db-wal", "agent.db.blobs/lines", "agent.db.proxy/secret", "../store/agent.db", "soft", "hard"],
)
def test_export_spares_the_store_itself(run: Run, store: Path, monkeypatch: pytest.MonkeyPatch, output: str) -> None:
    monkeypatch.chdir(store.parent)
    (store.parent / "soft").symlink_to(store)
    (store.parent / "hard").hardlink_to(store)
    before = store.read_bytes()

    ran = run("export", "--all", "--output", output, "--store", store.name)

    assert (ran.code, ran.out) == (3, "")
    assert f"{output} cannot be written: it belongs to the store" in ran.err
    assert store.read_bytes() == before
    assert run("verify", "--store", store).code == 0


def test_export_in_one_format(run: Run, store: Path) -> None:
    ran = run("export", "support-desk", "--format", "anthropic", "--store", store)

    assert "system" in ran.lines[0]
    assert '"tool_use"' in ran.out
    assert '"tool_calls"' not in ran.out
