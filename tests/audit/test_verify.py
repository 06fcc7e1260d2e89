"""What a verification of an undamaged store says, and what it says against heads that were noted down before."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import callsheet
from callsheet.audit.report import FindingKind, Progress
from callsheet.audit.verify import verify
from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.changes import Erased, Pinned
from callsheet.graph.ids import RecordId, TenantId
from callsheet.graph.ports import Append, StoredRecord
from callsheet.graph.record import Draft, StreamKey
from callsheet.graph.times import Instant
from callsheet.ledger.crypto.signers import HmacSigner
from callsheet.ledger.memory import MemoryLedger
from callsheet.runtime.runtime import Runtime
from callsheet.testing import FixedClock, SequenceIds, memory_runtime
from tests.audit.stores import TALK, head, make_store, opened, tampering, told, verified

SIGNER = HmacSigner("prod-1", b"a key of more than sixteen bytes")


def test_everything_that_is_there_is_counted(store: Path) -> None:
    counts = verified(store).counts

    assert (counts.streams, counts.records, counts.bodies) == (6, 22, 22)
    assert (counts.blobs, counts.blocks, counts.erased) == (1, 4, 0)
    assert (counts.signed, counts.unsigned, counts.unchecked) == (0, 6, 0)


def test_one_tenant_is_verified_without_the_others(store: Path) -> None:
    with opened(store) as ledger:
        report = verify(ledger, tenant="other")

    assert {entry.head.tenant for entry in report.heads} == {"other"}
    assert report.counts.records == 4


def test_a_tenant_that_the_store_does_not_know_is_not_called_sound(store: Path) -> None:
    noted = head(store).replace("local/", "nobody/")

    with opened(store) as ledger:
        with pytest.raises(NotFound, match="nothing of the tenant 'nobody'"):
            verify(ledger, tenant="nobody")
        assert told(verify(ledger, tenant="nobody", expect=(noted,)).findings) == [("gone", "", None)]


def test_a_store_in_memory_is_verified_alike() -> None:
    with memory_runtime() as runtime:
        runtime.conversation("x").record({"role": "user", "content": "hello"})
        report = verify(runtime.ledger)

    assert report.ok
    assert report.counts.records == 4


def test_progress_is_told_in_records() -> None:
    told: list[Progress] = []
    with memory_runtime() as runtime:
        talk = runtime.conversation("x")
        talk.record([{"role": "user", "content": "hello"}] * 600)
        verify(runtime.ledger, progress=told.append)

    assert [(word.stream, word.done, word.total) for word in told] == [("x", 500, 603)]


# --------------------------------------------------------------------------- heads that were noted down


def test_a_head_noted_down_is_found_again_after_more_was_recorded(store: Path) -> None:
    noted = head(store)
    with callsheet.open(store) as runtime:
        runtime.conversation(TALK).record({"role": "user", "content": "Thank you"})

    assert verified(store, expect=(noted,)).ok
    assert head(store) != noted


def test_a_cut_tail_with_its_head_rewound_shows_only_against_a_noted_head(store: Path) -> None:
    noted = head(store)
    with tampering(store) as tables:
        tables.cut(8)

    assert verified(store).ok
    assert told(verified(store, expect=(noted,)).findings) == [("cut", TALK, 8)]


def test_another_history_of_the_same_length_shows_against_a_noted_head(store: Path) -> None:
    noted = head(store)
    with tampering(store) as tables:
        tables.cut(10)
    with callsheet.open(store) as runtime:
        talk = runtime.conversation(TALK)
        talk.record({"role": "user", "content": "one"})
        talk.record({"role": "user", "content": "two"})

    assert verified(store).ok
    assert told(verified(store, expect=(noted,)).findings) == [("replaced", TALK, 12)]


def test_a_stream_that_is_gone_shows_against_a_noted_head(store: Path) -> None:
    noted = head(store).replace("stream_1@", "stream_of_old@")

    assert told(verified(store, expect=(noted,)).findings) == [("gone", "", None)]


def test_an_empty_stream_is_expected_at_its_beginning(store: Path) -> None:
    with callsheet.open(store) as runtime:
        runtime.conversation("fresh")
    empty = head(store, "fresh", "sheets")

    assert "@0:" in empty
    assert verified(store, expect=(empty,)).ok
    assert not verified(store, expect=(empty.replace("sha256:", "sha512:"),)).ok


@pytest.mark.parametrize(
    "text",
    ["", "x", "local/s@1", "local/s@x:sha256:00", "s@1:sha256:00", "local/s@-1:c", "/s@1:c", f"local/s@{'1' * 5000}:c"],
    ids=lambda text: text[:20],
)
def test_what_is_no_head_is_refused(store: Path, text: str) -> None:
    with pytest.raises(InvalidOption, match="tenant/stream@position:chain"):
        verified(store, expect=(text,))


def test_an_expected_head_of_another_tenant_than_the_verified_one_is_refused(store: Path) -> None:
    noted = head(store)

    with opened(store) as ledger, pytest.raises(InvalidOption, match="only 'other' is verified"):
        verify(ledger, tenant="other", expect=(noted,))


# --------------------------------------------------------------------------- signatures


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    path = tmp_path / "signed.db"
    make_store(path, signer=SIGNER)
    return path


def test_signatures_are_checked_with_the_key(signed: Path) -> None:
    report = verified(signed, signer=SIGNER)

    assert report.ok
    assert (report.counts.signed, report.counts.unsigned, report.counts.unchecked) == (6, 0, 0)


def test_without_the_key_signatures_are_counted_as_unchecked(signed: Path) -> None:
    counts = verified(signed).counts

    assert (counts.signed, counts.unsigned, counts.unchecked) == (0, 0, 6)


def test_another_key_of_the_same_name_is_noticed(signed: Path) -> None:
    report = verified(signed, signer=HmacSigner("prod-1", b"another key of sixteen bytes"))

    assert {finding.kind for finding in report.findings} == {FindingKind.SIGNATURE}
    assert report.found == 6


def test_a_key_of_another_name_is_noticed(signed: Path) -> None:
    report = verified(signed, signer=HmacSigner("prod-2", b"a key of more than sixteen bytes"))

    assert "signed by hmac-sha256:prod-1, not by hmac-sha256:prod-2" in report.findings[0].text


def test_a_tail_cut_without_the_key_is_noticed(signed: Path) -> None:
    with tampering(signed) as tables:
        tables.cut(8)

    assert told(verified(signed, signer=SIGNER).findings) == [("signature", TALK, 8)]


def test_a_signature_taken_away_is_noticed(signed: Path) -> None:
    with tampering(signed) as tables:
        tables.run("UPDATE stream SET signature = NULL, signer = NULL WHERE id = ?", tables.stream())

    assert told(verified(signed, signer=SIGNER).findings) == [("signature", TALK, 12)]


# --------------------------------------------------------------------------- erasure


def erase(path: Path, position: int, *, noted_in: str) -> None:
    """Record an erasure in the stream of one conversation, and take a body of `TALK` away."""
    with opened(path) as ledger:
        streams = {stream.name: stream for stream in ledger.streams(TenantId("local")) if stream.kind == "conversation"}
        erased = StreamKey(tenant=TenantId("local"), stream=streams[TALK].id)
        (record,) = ledger.records(erased, after=position - 1, upto=position)
        note = Erased(bodies=((erased.stream, position),), records=(record.id,))
        draft = Draft(id=RecordId("erased_1"), at=record.header.at, body=note, nonce=b"n" * 16)
        ledger.append([Append(stream=streams[noted_in], drafts=(draft,))])
        ledger.erase_bodies(erased, (position,))


@pytest.mark.parametrize("noted_in", [TALK, "support-18"])
def test_a_body_erased_on_purpose_is_no_finding_wherever_its_tenant_noted_it(store: Path, noted_in: str) -> None:
    erase(store, 8, noted_in=noted_in)

    report = verified(store)

    assert told(report.findings) == []
    assert (report.counts.erased, report.counts.blobs) == (1, 0)


def test_an_erasure_record_of_another_body_excuses_nothing(store: Path) -> None:
    erase(store, 8, noted_in="support-18")
    with tampering(store) as tables:
        tables.replace("sealed", 4, None)

    assert told(verified(store).findings) == [("missing_body", TALK, 4)]


def test_an_erasure_record_that_is_itself_damaged_excuses_nothing(store: Path) -> None:
    erase(store, 8, noted_in="support-18")
    with tampering(store) as tables:
        at = tables.stream("support-18")
        tables.run("UPDATE record SET chain = 'sha256:00' WHERE stream = ? AND position = 5", at)

    assert told(verified(store).findings) == [("missing_body", TALK, 8), ("chain", "support-18", 5)]


class GrowingLedger(MemoryLedger):
    """Gets one more record in each stream while the stream is read for the first time."""

    def stored(self, key: StreamKey, *, after: int = 0) -> Iterator[StoredRecord]:
        for row in super().stored(key, after=after):
            yield row
            if row.position == 1:
                (stream,) = [stream for stream in self.streams() if stream.key == key]
                note = Draft(id=RecordId("late"), at=Instant(0), body=Pinned(records=(), pinned=True), nonce=b"n" * 16)
                self.append([Append(stream=stream, drafts=(note,))])


def test_streams_may_grow_while_they_are_verified() -> None:
    ledger = GrowingLedger()
    Runtime(ledger, tenant="local", ids=SequenceIds(), clock=FixedClock()).conversation("x")

    report = verify(ledger)

    assert told(report.findings) == []
    assert report.counts.records == 3
