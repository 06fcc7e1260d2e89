"""Every error is one line and an exit code that tells its kind; no traceback reaches the user."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from callsheet import errors
from callsheet.cli.exits import FAMILIES, Exit, exit_of
from tests.cli.running import Run

ERRORS = [
    (errors.InvalidMessage("x"), Exit.INPUT),
    (errors.InvalidOption("x"), Exit.INPUT),
    (errors.PolicyError("x"), Exit.INPUT),
    (errors.InvalidLine("x", file="f", line=1), Exit.INPUT),
    (errors.NotFound("x"), Exit.NOT_FOUND),
    (errors.RecallRefused(privacy="secret", provider="p", safe="3 lines"), Exit.NOT_FOUND),
    (errors.EmptyRequest(), Exit.ASSEMBLY),
    (errors.BudgetTooSmall(budget=1, sizes={"history": 2}, policy="p"), Exit.ASSEMBLY),
    (errors.StoreBusy(), Exit.STORE),
    (errors.NotAStore(), Exit.STORE),
    (errors.Damaged(), Exit.STORE),
    (errors.MissingExtra("x", purpose="y"), Exit.MISSING_EXTRA),
]


@pytest.mark.parametrize(("error", "code"), ERRORS, ids=lambda value: type(value).__name__)
def test_the_kind_of_an_error_gives_the_exit_code(error: errors.CallsheetError, code: Exit) -> None:
    assert exit_of(error) is code


def test_every_error_is_of_one_family() -> None:
    def below(kind: type[errors.CallsheetError]) -> list[type[errors.CallsheetError]]:
        return [kind, *(leaf for child in kind.__subclasses__() for leaf in below(child))]

    found = {kind: sum(issubclass(kind, family) for family in FAMILIES) for kind in below(errors.CallsheetError)[1:]}

    assert set(found.values()) == {1}, found


@pytest.fixture
def places(store: Path, tmp_path: Path) -> dict[str, str]:
    """Paths by the name that stands for them in the table below."""
    (tmp_path / "notes.txt").write_text("my notes")
    (tmp_path / "tools.json").write_text("{}")
    (tmp_path / "empty.jsonl").write_text('{"id": "empty", "messages": []}\n')
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE t (x)")
    return {"STORE": str(store), "TMP": str(tmp_path)}


TABLE = [
    ("", Exit.USAGE, "usage: the following arguments are required: COMMAND"),
    ("dance", Exit.USAGE, "usage: argument COMMAND: invalid choice: 'dance'"),
    ("show --stor x", Exit.NOT_FOUND, "not_found: there is no store at x"),
    ("show --colour", Exit.USAGE, "usage: unrecognized arguments: --colour"),
    ("import", Exit.USAGE, "usage: the following arguments are required: FILE"),
    ("export --store STORE", Exit.USAGE, "usage: name conversations, or give --all"),
    ("export x --all --store STORE", Exit.USAGE, "usage: name conversations, or give --all"),
    ("export x --format gemini --store STORE", Exit.USAGE, "usage: argument --format: invalid choice: 'gemini'"),
    ("assemble x --provider openai --store STORE", Exit.USAGE, "usage: the following arguments are required: --model"),
    ("assemble x --provider p --model m --budget much", Exit.USAGE, "usage: argument --budget: invalid int value"),
    ("import TMP/none.jsonl --store TMP/new.db", Exit.INPUT, "input: TMP/none.jsonl cannot be read"),
    ("export --all --output TMP/no/such --store STORE", Exit.INPUT, "input.option: TMP/no/such cannot be written"),
    ("replay TMP/none.jsonl", Exit.INPUT, "input: TMP/none.jsonl cannot be read"),
    ("replay TMP/none.jsonl --budget 0", Exit.USAGE, "usage: --budget is '0'"),
    ("replay TMP/none.jsonl --budget much", Exit.USAGE, "usage: --budget is 'much'"),
    ("replay TMP/none.jsonl --turns 65", Exit.INPUT, "turns is 65; it must be from 0 to 64"),
    ("replay TMP/none.jsonl --policy nobody", Exit.INPUT, "no policy set 'nobody'"),
    ("replay TMP/none.jsonl --policy lean --policy lean", Exit.USAGE, "would be measured twice"),
    ("verify --expect x --store STORE", Exit.INPUT, "input.option: 'x' is not one head"),
    ("backup TMP --store STORE", Exit.INPUT, "input.option: TMP exists already"),
    ("restore TMP --store TMP/new.db", Exit.INPUT, "input.option: TMP is no backup"),
    (
        "assemble support-desk --provider p --model m --tools TMP/none --store STORE",
        Exit.INPUT,
        "input: TMP/none cannot",
    ),
    (
        "assemble support-desk --provider p --model m --tools TMP/tools.json --store STORE",
        Exit.INPUT,
        "is not a JSON list",
    ),
    (
        "assemble support-desk --provider p --model m --policy x --store STORE",
        Exit.INPUT,
        "input.policy: no policy set 'x'",
    ),
    ("assemble support-desk --provider p --model m --budget 0 --store STORE", Exit.INPUT, "input.option: budget is 0"),
    ("show --store TMP/notes.txt", Exit.STORE, "store.not_a_store: TMP/notes.txt is not a Callsheet store"),
    ("verify --store TMP/other.db", Exit.STORE, "store.not_a_store: TMP/other.db is not a Callsheet store"),
    ("import TMP/empty.jsonl --store TMP/other.db", Exit.STORE, "store.not_a_store"),
    ("show --store TMP/none.db", Exit.NOT_FOUND, "not_found: there is no store at TMP/none.db"),
    ("rebuild nobody --store STORE", Exit.NOT_FOUND, "not_found: no conversation 'nobody'"),
    ("backup TMP/saved --store TMP/none.db", Exit.NOT_FOUND, "not_found: there is no store at TMP/none.db"),
    ("show nobody --store STORE", Exit.NOT_FOUND, "not_found: no conversation 'nobody' in this store"),
    ("show support-desk --branch x --store STORE", Exit.NOT_FOUND, "not_found: no branch 'x'"),
    ("show support-desk msg_x --store STORE", Exit.NOT_FOUND, "not_found: no record 'msg_x'"),
    ("show support-desk --tenant other --store STORE", Exit.NOT_FOUND, "not_found: no conversation 'support-desk'"),
    (
        "assemble support-desk --provider p --model m --budget 9 --store STORE",
        Exit.ASSEMBLY,
        "assembly.budget_too_small",
    ),
]


def _filled(text: str, places: dict[str, str]) -> str:
    for name, place in places.items():
        text = text.replace(name, place)
    return text


@pytest.mark.parametrize(("line", "code", "told"), TABLE, ids=[line or "nothing" for line, _, _ in TABLE])
def test_an_error_is_one_line_and_an_exit_code(
    run: Run, places: dict[str, str], line: str, code: Exit, told: str
) -> None:
    ran = run(*_filled(line, places).split())

    assert ran.code == code
    assert ran.out == ""
    assert ran.err.startswith("callsheet: ")
    assert ran.err.count("\n") == 1
    assert _filled(told, places) in ran.err


@pytest.mark.parametrize(("line", "code", "told"), TABLE[::3], ids=[line or "nothing" for line, _, _ in TABLE[::3]])
def test_with_json_an_error_is_a_json_object(
    run: Run, places: dict[str, str], line: str, code: Exit, told: str
) -> None:
    ran = run(*_filled(line, places).split(), "--json")

    assert ran.code == code
    assert ran.out == ""
    error = json.loads(ran.err)["error"]
    assert _filled(told, places) in f"{error['code']}: {error['message']}"


def test_looking_for_a_store_does_not_make_one(run: Run, tmp_path: Path) -> None:
    run("show", "--store", tmp_path / "none.db")
    run("import", tmp_path / "none.jsonl", "--store", tmp_path / "none.db")

    assert list(tmp_path.iterdir()) == []
