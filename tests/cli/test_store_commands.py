"""``verify``, ``rebuild``, ``backup`` and ``restore`` on the command line."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.cli.running import RECORDS, Run


def damage(store: Path, statement: str) -> None:
    with closing(sqlite3.connect(store)) as connection:
        connection.execute(statement)
        connection.commit()


def test_a_sound_store_is_said_to_be_sound(run: Run, store: Path) -> None:
    ran = run("verify", "--store", store)

    assert (ran.code, ran.err) == (0, "")
    assert "2 streams are chained but not signed." in ran.out
    assert ran.out.endswith("Sound: nothing was found.\n")


def test_findings_are_listed_and_give_exit_code_1(run: Run, store: Path) -> None:
    damage(store, "UPDATE record SET chain = 'sha256:00' WHERE kind = 'message' AND position = 4")

    ran = run("verify", "--store", store)

    assert ran.code == 1
    assert "(support-desk) at 4: the record does not continue the chain of those before it" in ran.out
    assert ran.out.endswith("Not sound: 1 findings.\n")


def test_findings_as_json(run: Run, store: Path) -> None:
    damage(store, "DELETE FROM link WHERE relation = 'inherits'")

    ran = run("verify", "--store", store, "--json")

    assert (ran.code, ran.document["ok"], ran.document["found"]) == (1, False, 1)
    findings = ran.document["findings"]
    assert isinstance(findings, list)
    assert [(finding["kind"], finding["name"]) for finding in findings] == [("projection", "support-desk")]


def test_heads_that_were_printed_are_found_again(run: Run, store: Path) -> None:
    lines = run("verify", "--heads", "--store", store).out.splitlines()
    heads = [line.split("  ")[0] for line in lines if line.startswith("local/")]

    noted = [argument for head in heads for argument in ("--expect", head)]

    assert len(heads) == 2
    assert run("verify", *noted, "--store", store).code == 0
    damage(store, "DELETE FROM record WHERE kind = 'assembly' AND position = 190")
    damage(store, "UPDATE stream SET position = 189, chain = (SELECT chain FROM record r WHERE r.stream = stream.id AND"
                  " r.position = 189) WHERE kind = 'sheets'")  # fmt: skip
    assert run("verify", "--store", store).code == 0
    assert "known to reach position 190, but it ends at 189" in run("verify", *noted, "--store", store).out


def test_rebuild_mends_projections(run: Run, store: Path) -> None:
    damage(store, "DELETE FROM state")

    ran = run("rebuild", "--store", store)

    assert (ran.code, ran.out) == (0, f"Rebuilt the projections of {RECORDS} records in 2 streams.\n")
    assert run("verify", "--store", store).code == 0


def test_rebuild_of_one_conversation_as_json(run: Run, store: Path) -> None:
    assert run("rebuild", "support-desk", "--store", store, "--json").document == {"streams": 2, "records": RECORDS}


def test_a_backup_is_verified_and_restored(run: Run, store: Path, tmp_path: Path) -> None:
    saved = run("backup", tmp_path / "monday", "--store", store)
    restored = run("restore", tmp_path / "monday", "--store", tmp_path / "again.db", "--json")

    assert saved.code == 0
    assert saved.out.startswith(f"Copied to {tmp_path / 'monday' / 'callsheet.db'}.\n{RECORDS} records")
    assert (restored.code, restored.document["ok"]) == (0, True)
    assert restored.document["path"] == str(tmp_path / "again.db")
    assert run("export", "--all", "--store", tmp_path / "again.db").out == run("export", "--all", "--store", store).out


def test_a_backup_of_a_damaged_store_says_so(run: Run, store: Path, tmp_path: Path) -> None:
    damage(store, "DELETE FROM state")

    assert run("backup", tmp_path / "monday", "--store", store).code == 1


def test_progress_is_told_when_asked_for(run: Run, store: Path) -> None:
    assert run("verify", "--store", store).err == ""
    assert run("verify", "--progress", "--store", store).err == f"500 of {RECORDS} records (support-desk)\n"
