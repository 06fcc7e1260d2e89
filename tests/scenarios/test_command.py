"""``callsheet eval scenarios``: the table, the data, and the exit codes."""

import json
from pathlib import Path

import pytest

from callsheet.cli import main
from tests.scenarios.test_reading import GOOD


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.yaml").write_text(GOOD, encoding="utf-8")
    return tmp_path


def test_a_folder_of_scenarios_is_a_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "scenarios", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [
        *("scenario", "provider", "K", "replay", "(target)", "sheet", "(limit)", "saved", "facts", "reasons", "ok")
    ]
    assert lines[2].split()[:3] == ["Kettle", "openai", "4"]
    assert lines[2].endswith("yes")
    assert "gpt-5.2 with o200k_base@1" in lines[3]
    assert lines[-1] == "1 of 1 requests are as expected."


def test_what_is_not_met_is_told_and_ends_with_code_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "b.yaml").write_text(GOOD.replace("KT-02]", "KT-99]"), encoding="utf-8")
    assert main(["eval", "scenarios", str(folder), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [one["ok"] for one in told["requests"]] == [True, False]
    assert told["requests"][1]["findings"] == ["'KT-99' does not stand in the request"]
    assert not told["ok"]
    assert main(["eval", "scenarios", str(folder / "b.yaml")]) == 1
    assert "Kettle, openai: 'KT-99' does not stand in the request" in capsys.readouterr().out


@pytest.mark.parametrize("given", ["nothing", "wrong.yaml", "nowhere.yaml"])
def test_what_cannot_be_read_ends_with_code_3(folder: Path, given: str, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "nothing").mkdir()
    (folder / "wrong.yaml").write_text("name: [", encoding="utf-8")
    assert main(["eval", "scenarios", str(folder / given)]) == 3
    assert given in capsys.readouterr().err
