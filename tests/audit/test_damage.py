"""Every way to damage a store behind its back is found, named and placed; nothing else is reported with it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from callsheet.graph.canonical import tagged_digest
from callsheet.graph.codec import encode_body
from callsheet.graph.enums import Role
from callsheet.graph.nodes import Message
from callsheet.graph.record import NONCE_BYTES
from callsheet.ledger.crypto.envelope import PLAIN
from tests.audit.stores import TALK, Tables, tampering, told, verified

BODY_AT = len(PLAIN) + NONCE_BYTES
"""Where a body begins in its envelope, behind its nonce."""


def flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def flip_body(store: Tables) -> None:
    store.replace("sealed", 4, flipped(store.column("sealed", 4), BODY_AT + 30))


def flip_nonce(store: Tables) -> None:
    store.replace("sealed", 4, flipped(store.column("sealed", 4), len(PLAIN)))


def flip_envelope(store: Tables) -> None:
    store.replace("sealed", 4, flipped(store.column("sealed", 4), 0))


def exchange_body(store: Tables) -> None:
    body = encode_body(Message(role=Role.USER))
    store.replace("sealed", 4, PLAIN + b"n" * NONCE_BYTES + body)


def swap_bodies(store: Tables) -> None:
    first, second = store.column("sealed", 4), store.column("sealed", 10)
    store.replace("sealed", 4, second)
    store.replace("sealed", 10, first)


def remove_body(store: Tables) -> None:
    store.replace("sealed", 7, None)


def flip_header_text(store: Tables) -> None:
    header = store.column("header", 6)
    store.replace("header", 6, header.replace(b"message_14", b"message_15"))


def break_header(store: Tables) -> None:
    store.replace("header", 6, flipped(store.column("header", 6), 0))


def pad_header(store: Tables) -> None:
    store.replace("header", 6, store.column("header", 6).replace(b'":', b'": '))


def change_chain(store: Tables) -> None:
    store.replace("chain", 6, tagged_digest("chain", b"another"))


def change_last_chain(store: Tables) -> None:
    store.replace("chain", 12, tagged_digest("chain", b"another"))


def delete_record(store: Tables) -> None:
    store.run("DELETE FROM record WHERE stream = ? AND position = 10", store.stream())


def delete_first_records(store: Tables) -> None:
    store.run("DELETE FROM record WHERE stream = ? AND position <= 2", store.stream())


def swap_records(store: Tables) -> None:
    for before, after in ((9, 90), (10, 9), (90, 10)):
        store.run("UPDATE record SET position = ? WHERE stream = ? AND position = ?", after, store.stream(), before)


def copy_record_from_another_stream(store: Tables) -> None:
    header = store.one("SELECT header FROM record WHERE stream = ? AND position = 4", store.stream("support-18"))[0]
    store.replace("header", 4, header)


def delete_tail(store: Tables) -> None:
    store.run("DELETE FROM record WHERE stream = ? AND position > 10", store.stream())


def rewind_head(store: Tables) -> None:
    chain = store.column("chain", 10).decode()
    store.run("UPDATE stream SET position = 10, chain = ? WHERE id = ?", chain, store.stream())


def change_head_chain(store: Tables) -> None:
    store.run("UPDATE stream SET chain = ? WHERE id = ?", tagged_digest("chain", b"another"), store.stream())


def delete_link(store: Tables) -> None:
    store.run("DELETE FROM link WHERE stream = ? AND relation = 'answers'", store.stream())


def invent_link(store: Tables) -> None:
    row = ("local", store.stream(), "cites", "message_14", "message_8", 6, "main")
    store.run(
        "INSERT INTO link (tenant, stream, relation, source, target, position, branch) VALUES (?,?,?,?,?,?,?)", *row
    )


def change_state(store: Tables) -> None:
    store.run("UPDATE state SET value = 'abandoned' WHERE stream = ? AND value = 'answered'", store.stream())


def reopen_state(store: Tables) -> None:
    store.run("UPDATE state SET to_pos = NULL WHERE stream = ? AND value = 'open'", store.stream())


def invent_field(store: Tables) -> None:
    store.run("UPDATE state SET field = 'mood' WHERE stream = ? AND value = 'open'", store.stream())


def change_searchable_column(store: Tables) -> None:
    store.replace("branch", 10, "branch_26")


def delete_block(store: Tables) -> None:
    store.run("DELETE FROM block WHERE address = (SELECT address FROM block ORDER BY rowid LIMIT 1)")


def rename_conversation(store: Tables) -> None:
    store.run("UPDATE stream SET name = 'support-71' WHERE id = ?", store.stream())


@dataclass(frozen=True)
class Damage:
    """What is done to the store, and the findings: kind, stream, position."""

    how: Callable[[Tables], None]
    findings: list[tuple[str, str, int | None]]


TABLE = [
    Damage(flip_body, [("body", TALK, 4)]),
    Damage(flip_nonce, [("body", TALK, 4)]),
    Damage(flip_envelope, [("unreadable", TALK, 4)]),
    Damage(exchange_body, [("body", TALK, 4)]),
    Damage(swap_bodies, [("body", TALK, 4), ("body", TALK, 10)]),
    Damage(remove_body, [("missing_body", TALK, 7)]),
    Damage(flip_header_text, [("chain", TALK, 6)]),
    Damage(break_header, [("header", TALK, 6)]),
    Damage(pad_header, [("header", TALK, 6)]),
    Damage(change_chain, [("chain", TALK, 6)]),
    Damage(change_last_chain, [("chain", TALK, 12)]),
    Damage(delete_record, [("position", TALK, 11)]),
    Damage(delete_first_records, [("position", TALK, 3)]),
    Damage(swap_records, [("header", TALK, 9), ("header", TALK, 10)]),
    Damage(copy_record_from_another_stream, [("header", TALK, 4), ("body", TALK, 4)]),
    Damage(delete_tail, [("head", TALK, 12)]),
    Damage(rewind_head, [("head", TALK, 10)]),
    Damage(change_head_chain, [("head", TALK, 12)]),
    Damage(delete_link, [("projection", TALK, 8)]),
    Damage(invent_link, [("projection", TALK, 6)]),
    Damage(change_state, [("projection", TALK, 8)]),
    Damage(reopen_state, [("projection", TALK, 7)]),
    Damage(invent_field, [("projection", TALK, None)]),
    Damage(change_searchable_column, [("projection", TALK, 10)]),
    Damage(delete_block, [("block", TALK, 1)]),
    Damage(rename_conversation, [("stream", "support-71", 1)]),
]


@pytest.mark.parametrize("damage", TABLE, ids=lambda damage: damage.how.__name__)
def test_each_damage_is_found_where_it_was_done(store: Path, damage: Damage) -> None:
    assert verified(store).ok
    with tampering(store) as tables:
        damage.how(tables)

    report = verified(store)

    assert told(report.findings) == damage.findings
    assert report.found == len(damage.findings)
    assert not report.ok


def blob_file(store: Path) -> Path:
    (found,) = [path for path in Path(f"{store}.blobs").rglob("*") if path.is_file()]
    return found


def test_a_deleted_blob_is_found(store: Path) -> None:
    blob_file(store).unlink()

    assert told(verified(store).findings) == [("blob", TALK, 8)]


def test_an_altered_blob_is_found(store: Path) -> None:
    blob = blob_file(store)
    blob.write_bytes(flipped(blob.read_bytes(), -1 % blob.stat().st_size))

    assert told(verified(store).findings) == [("blob", TALK, 8)]


def test_two_damages_in_one_stream_are_two_findings(store: Path) -> None:
    with tampering(store) as tables:
        flip_body(tables)
        change_chain(tables)

    assert told(verified(store).findings) == [("body", TALK, 4), ("chain", TALK, 6)]


def test_a_sentence_tells_what_is_missing(store: Path) -> None:
    with tampering(store) as tables:
        delete_first_records(tables)

    assert str(verified(store).findings[0]) == (f"position: local/stream_1 ({TALK}) at 3: records 1 to 2 are missing")
