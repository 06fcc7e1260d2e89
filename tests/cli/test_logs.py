"""``import`` and ``replay`` of the logs of agents on the command line."""

import subprocess
from pathlib import Path

import pytest

from tests.audit.logs.reading import RECORDED, written
from tests.audit.logs.sessions import SESSION, Session, usage
from tests.cli.running import PROGRAM, Run


@pytest.fixture
def log(tmp_path: Path) -> Path:
    session = Session()
    for number in range(3):
        session.user(f"Fix bug {number}")
        session.says(f"msg_{number}", f"Bug {number} is fixed.", took=usage(cached=900 * number, written=900))
    session.other("progress")
    return written(tmp_path / "session.jsonl", [*session.lines, "torn"])


def test_import_recognises_a_log_and_says_what_it_passed_over(run: Run, log: Path, tmp_path: Path) -> None:
    ran = run("import", log, "--store", tmp_path / "agent.db")

    assert ran.code == 1
    assert ran.err.startswith(f"callsheet: input.line: {log}:8: not JSON")
    assert [line.split() for line in ran.out.splitlines()] == [
        ["conversations", "and", "branches", "1"],
        ["messages", "6"],
        ["tool", "calls", "0"],
        ["tool", "results", "0"],
        ["refused", "lines", "1"],
        ["passed", "over:"],
        ["1", "record", "progress"],
    ]
    assert SESSION in run("show", "--store", tmp_path / "agent.db").out


@pytest.mark.parametrize("name", sorted(file.name for file in RECORDED.iterdir()))
def test_logs_that_libraries_wrote_are_imported_and_exported(run: Run, name: str, tmp_path: Path) -> None:
    assert run("import", RECORDED / name, "--store", tmp_path / "agent.db").code == 0
    assert run("export", "--all", "--store", tmp_path / "agent.db").code == 0


def test_standard_input_can_be_said_to_be_a_log(log: Path, tmp_path: Path) -> None:
    command = [*PROGRAM, "import", "-", "--format", "claude-code", "--store", str(tmp_path / "agent.db"), "--json"]
    ran = subprocess.run(command, input=log.read_bytes(), capture_output=True, check=False)

    assert ran.returncode == 1
    assert b'"messages": 6' in ran.stdout
    assert b"stdin:8: not JSON" in ran.stderr


def test_a_format_that_the_file_cannot_be_of_is_refused(run: Run, log: Path, tmp_path: Path) -> None:
    ran = run("import", log, "--format", "langgraph", "--store", tmp_path / "agent.db")

    assert ran.code == 3
    assert f"{log} is no langgraph log: it is no SQLite database" in ran.err


def test_replay_says_what_was_paid_and_what_would_have_been(run: Run, log: Path) -> None:
    ran = run("replay", log, "--no-baselines")

    assert ran.code == 1
    assert "What was paid, and what would have been with callsheet, balanced" in ran.out
    assert "3 of 3 requests with reported usage; prices of genai-prices" in ran.out
    assert "        1  record progress" in ran.out


def test_replay_of_a_log_as_json(run: Run, log: Path) -> None:
    ran = run("replay", log, "--no-baselines", "--json")
    paid = ran.document["paid"]

    assert isinstance(paid, dict)
    sent = paid["total"]["sent"]
    assert (sent["requests"], sent["reported"], sent["input_tokens"], sent["cached_tokens"]) == (3, 3, 5412, 2700)
    assert sent["dollars"] > 0
    assert set(paid["total"]["built"]) == {"callsheet, balanced", "plain replay"}
    assert [row["conversation"] for row in paid["conversations"]] == [SESSION]
    assert ran.document["passed_over"] == {"record progress": 1}


def test_replay_takes_the_model_that_it_is_told(run: Run) -> None:
    plain = RECORDED / "openai_agents.sqlite.gz"
    assert "without a known price" in run("replay", plain, "--no-baselines").out
    assert "without a known price" not in run("replay", plain, "--no-baselines", "--model", "openai/gpt-5.2").out
    assert run("replay", plain, "--model", "gpt-5.2").code == 2


def test_replay_of_lines_says_nothing_of_money(run: Run, tmp_path: Path) -> None:
    talk = {"id": "a", "messages": [{"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}]}
    ran = run("replay", written(tmp_path / "talks.jsonl", [talk]), "--no-baselines", "--json")

    assert ran.code == 0
    assert set(ran.document) == {"rows"}


WRAPPED = [{"record": {"role": "user", "content": f"Question {number}"}} for number in range(58)]
TALK = {"id": "a", "messages": [{"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}]}


def test_a_file_that_is_nothing_known_is_told_once(run: Run, tmp_path: Path) -> None:
    unknown = written(tmp_path / "unknown.jsonl", WRAPPED)
    said = (
        f"callsheet: input.line: {unknown}:1: 58 lines have no messages; not recognised as any of: lines, claude-code"
    )
    for command in (("import", unknown, "--store", tmp_path / "agent.db"), ("replay", unknown, "--no-baselines")):
        ran = run(*command)
        assert ran.code == 1
        assert ran.err.startswith(said)
        assert ran.err.count("\n") == 1
        assert ran.err.rstrip().endswith("try --format")
        assert run(*command, "--format", "lines").err.count("\n") == 58


def test_lines_among_others_and_lines_that_are_torn_are_told_one_by_one(run: Run, tmp_path: Path) -> None:
    mixed = written(tmp_path / "mixed.jsonl", [*WRAPPED[:3], TALK, *WRAPPED[3:5]])
    torn = written(tmp_path / "torn.jsonl", [*WRAPPED[:3], "torn"])
    for command in (("import", "--store", tmp_path / "agent.db"), ("replay", "--no-baselines")):
        assert run(*command, mixed).err.count(f"input.line: {mixed}:") == 5
        err = run(*command, torn).err
        assert f"{torn}:1: 3 lines have no messages" in err
        assert f"{torn}:4: not JSON" in err
        assert err.count("\n") == 2
