"""Damage beside the records themselves: rows by which they are found, kept and told apart, and the schema."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import callsheet
from callsheet.audit.rebuild import rebuild
from callsheet.errors import Damaged, StoreError
from callsheet.graph.ids import TenantId
from callsheet.ledger.sqlite import SqliteLedger
from callsheet.ledger.vault import LEASE
from callsheet.runtime.runtime import Runtime
from tests.audit.stores import LARGE, TALK, Tables, opened, tampering, told, verified
from tests.ledger.stores import HandClock

Found = list[tuple[str, str, int | None]]


def statement(sql: str) -> Callable[[Tables], None]:
    return lambda store: store.run(sql)


def exchange_names_of_sheets(store: Tables) -> None:
    for before, after in ((TALK, "x"), ("support-18", TALK), ("x", "support-18")):
        change = "UPDATE stream SET name = ? WHERE kind = 'sheets' AND tenant = 'local' AND name = ?"
        store.run(change, after, before)


TABLE: dict[str, tuple[str | Callable[[Tables], None], Found]] = {
    # What can be searched
    "series": ("UPDATE record SET series = 'zz' WHERE kind = 'artifact'", [("projection", TALK, 8)]),
    "kind": ("UPDATE record SET kind = 'message' WHERE kind = 'artifact'", [("projection", TALK, 8)]),
    "own": ("UPDATE link SET own = 0 WHERE relation = 'answers'", [("projection", TALK, 8)]),
    "status": ("UPDATE state SET value = 'zz' WHERE target = '' AND stream = 'stream_1'", [("projection", TALK, 1)]),
    "state behind the head": (
        "INSERT INTO state VALUES ('local', 'stream_1', 'status', 'call_15', 'main', 9000, NULL, 'open')",
        [("projection", TALK, 9000)],
    ),
    "link behind the head": (
        "INSERT INTO link VALUES ('local', 'stream_1', 'cites', 'message_8', 'message_14', 99999, 'main', 0)",
        [("projection", TALK, 99999)],
    ),
    "state that ends behind the head": (
        "UPDATE state SET to_pos = 13 WHERE to_pos IS NULL AND target = 'call_15'",
        [("projection", TALK, 8)],
    ),
    # What keeps blobs
    "names of blobs": ("DELETE FROM blob_name", [("projection", TALK, 8)]),
    "a name too many": (
        "INSERT INTO blob_name SELECT tenant, user, address, stream, 10 FROM blob_name",
        [("projection", TALK, 10)],
    ),
    "a name behind the head": (
        "INSERT INTO blob_name SELECT tenant, user, address, stream, 9000 FROM blob_name",
        [("projection", TALK, 9000)],
    ),
    "name of another user": ("UPDATE blob_name SET user = 'leo'", [("projection", TALK, 8)]),
    "size of a blob": ("UPDATE blob SET size = 1", [("projection", TALK, 8)]),
    "stored size of a blob": ("UPDATE blob SET stored = 1", [("projection", TALK, 8)]),
    "row of a blob": ("DELETE FROM blob", [("blob", TALK, 8)]),
    # What streams are
    "every stream": ("DELETE FROM stream", [("stream", "", None)] * 4),
    "a conversation": ("DELETE FROM stream WHERE id = 'stream_1'", [("stream", "", None)]),
    "sheets": ("DELETE FROM stream WHERE id = 'stream_5'", [("stream", "", None)]),
    "empty sheets": ("DELETE FROM stream WHERE id = 'stream_34'", [("stream", "support-18", None)]),
    "renamed sheets": ("UPDATE stream SET name = 'x' WHERE id = 'stream_5'", [("stream", "x", 1)]),
    "renamed empty sheets": ("UPDATE stream SET name = 'x' WHERE id = 'stream_34'", [("stream", "x", None)]),
    "exchanged sheets": (exchange_names_of_sheets, [("stream", "support-18", 1)]),
    "sheets of another user": (
        "UPDATE stream SET user = 'mia' WHERE id = 'stream_34'",
        [("stream", "support-18", None)],
    ),
    "conversation of another user": (
        "UPDATE stream SET user = 'leo' WHERE id = 'stream_1'",
        [("stream", TALK, 1)],
    ),
    "kind of a conversation": ("UPDATE stream SET kind = 'workspace' WHERE id = 'stream_1'", [("stream", TALK, 1)]),
    "kind of sheets": ("UPDATE stream SET kind = 'workspace' WHERE id = 'stream_5'", [("stream", TALK, 1)]),
    "kind of empty sheets": (
        "UPDATE stream SET kind = 'workspace' WHERE id = 'stream_34'",
        [("stream", "support-18", None)],
    ),
    "unknown kind": ("UPDATE stream SET kind = 'zz' WHERE id = 'stream_1'", [("stream", TALK, None)]),
    "a conversation from nowhere": (
        "INSERT INTO stream SELECT 99, 'third', 'stream_99', kind, name, user, 0, 'sha256:0', NULL, NULL"
        " FROM stream WHERE id = 'stream_30'",
        [("head", "support-18", 0), ("stream", "support-18", None)],
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_each_damage_to_rows_is_one_finding(store: Path, name: str) -> None:
    damage, findings = TABLE[name]
    with tampering(store) as tables:
        (statement(damage) if isinstance(damage, str) else damage)(tables)

    assert told(verified(store).findings) == findings


@pytest.mark.parametrize("name", [name for name, (_, found) in TABLE.items() if found[0][0] == "projection"])
def test_what_is_filed_wrongly_is_rebuilt(store: Path, name: str) -> None:
    damage, _ = TABLE[name]
    with tampering(store) as tables:
        (statement(damage) if isinstance(damage, str) else damage)(tables)

    with opened(store) as ledger:
        rebuild(ledger)

    assert verified(store).ok


def test_a_blob_whose_name_was_lost_outlives_a_collection_after_rebuilding(store: Path) -> None:
    clock = HandClock()
    clock.advance(100 * LEASE)
    with tampering(store) as tables:
        tables.run("DELETE FROM blob_name")
        tables.run("DELETE FROM blob")
    ledger = SqliteLedger.open(store, clock=clock)

    rebuild(ledger)
    removed = ledger.collect()
    ledger.close()

    assert removed == 0
    with callsheet.open(store) as runtime:
        assert runtime.existing(TALK).raw("artifact_18").decode() == LARGE


def test_streams_of_an_unknown_kind_are_damage_to_whoever_lists_them(store: Path) -> None:
    with tampering(store) as tables:
        tables.run("UPDATE stream SET kind = 'zz' WHERE id = 'stream_1'")

    with opened(store) as ledger:
        with pytest.raises(Damaged, match="unknown kind 'zz'"):
            ledger.streams()
        assert len(ledger.streams(TenantId("other"))) == 2


# --------------------------------------------------------------------------- schema

TRIGGER = "CREATE TRIGGER e BEFORE INSERT ON {} BEGIN SELECT raise(ignore); END"


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        (TRIGGER.format("record"), "the trigger 'e' does not belong there"),
        ("CREATE VIEW v AS SELECT 1", "the view 'v' does not belong there"),
        ("DROP INDEX record_in_series", "the index 'record_in_series' is missing"),
        ("DROP TABLE state", "the table 'state' is missing"),
        ("ALTER TABLE state ADD COLUMN mood TEXT", "the table 'state' is not as it was made"),
    ],
)
def test_another_schema_is_found(store: Path, sql: str, text: str) -> None:
    with tampering(store) as tables:
        tables.define(sql)

    assert list(map(str, verified(store).findings)) == [f"schema: {text}"]


def answer_a_call(runtime: Runtime, name: str) -> None:
    """Record what touches every table."""
    call = {"id": "c2", "type": "function", "function": {"name": "get_order", "arguments": "{}"}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {"role": "tool", "tool_call_id": "c2", "content": LARGE * 2}
    runtime.conversation(name).record([asked, answer])


@pytest.mark.parametrize("table", ["stream", "record", "state", "link", "blob_name"])
def test_what_a_foreign_trigger_swallows_is_refused_as_a_whole(store: Path, table: str) -> None:
    heads = [str(entry.head) for entry in verified(store).heads]
    with tampering(store) as tables:
        tables.define(TRIGGER.format(table))

    with callsheet.open(store) as runtime, pytest.raises(Damaged, match="nothing was written"):
        answer_a_call(runtime, "new" if table == "stream" else TALK)

    assert [str(entry.head) for entry in verified(store).heads] == heads


# --------------------------------------------------------------------------- what lies where blobs should


def a_folder(blob: Path) -> None:
    blob.unlink()
    blob.mkdir()


def a_loop(blob: Path) -> None:
    blob.unlink()
    blob.symlink_to(blob)


def a_file_for_their_folder(blob: Path) -> None:
    folder = blob.parent.parent
    shutil.rmtree(folder)
    folder.write_text("no folder")


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("damage", [a_folder, a_loop, a_file_for_their_folder])
def test_a_blob_that_cannot_be_reached_is_one_finding(store: Path, damage: Callable[[Path], None]) -> None:
    with callsheet.open(store) as runtime:  # named by a second record
        runtime.conversation(TALK).record({"role": "user", "content": LARGE})
    (blob,) = [path for path in Path(f"{store}.blobs").rglob("*") if path.is_file()]
    damage(blob)

    assert told(verified(store).findings) == [("blob", TALK, 8)]
    with opened(store) as ledger, pytest.raises(StoreError):
        ledger.backup(store.with_name("saved"))
