"""An erased record stands nowhere any more: neither its body nor what was rendered of it; the rest stays as it was."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import callsheet
from callsheet import Conversation, Runtime
from callsheet.audit.erasing import erase
from callsheet.audit.indexing import index_of
from callsheet.audit.rebuild import rebuild
from callsheet.audit.report import FindingKind
from callsheet.audit.verify import verify
from callsheet.cli.audit import report_as_text
from callsheet.errors import BodyErased, Damaged, NotFound
from callsheet.graph.changes import CallResolved
from callsheet.graph.enums import CallStatus
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ToolArtifact, ToolMemory
from callsheet.graph.values import Text
from callsheet.testing import memory_runtime
from tests.runtime.acts import MODELS
from tests.runtime.replies import asks, call, openai_reply, result, user

POLICIES = ["balanced", "lean", "replay"]


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as opened:
        yield opened


def orchard(
    talk: Conversation, provider: str = "openai", policy: str = "balanced", turns: int = 3
) -> dict[str, RecordId]:
    """Some turns about an orchard, with a request for each step; the records by what they are."""
    ids: dict[str, RecordId] = {}
    (ids["system"],) = talk.record({"role": "system", "content": "You tend the orchard of MARLOW."}).ids
    for number in range(turns):
        (ids[f"question {number}"],) = talk.record(user(f"How is row {number} with its BRAMLEY{number} trees?")).ids
        sheet = talk.assemble(provider=provider, model=MODELS[provider], policy=policy)
        asked = asks(call(f"c{number}", "look", f'{{"row": {number}, "tag": "T{number}-OX{number}"}}'))
        (ids[f"asks {number}"],) = talk.record(openai_reply(asked), sheet=sheet).ids
        ids[f"call {number}"] = talk.pending()[0].id
        rows = "\n".join(f"tree {tree}: ripe in week {tree % 9}, PIPPIN{number}x{tree}" for tree in range(40))
        (ids[f"result {number}"],) = talk.record(result(f"c{number}", rows)).ids
        sheet = talk.assemble(provider=provider, model=MODELS[provider], policy=policy)
        (ids[f"answer {number}"],) = talk.record(openai_reply(f"Row {number} is fine."), sheet=sheet).ids
    return ids


def stored(talk: Conversation) -> bytes:
    return b"\n".join(block for sheet in talk.sheets() for block in sheet.blocks)


TOLD = [
    ("system", b"MARLOW"),
    ("question 0", b"BRAMLEY0"),
    ("question 2", b"BRAMLEY2"),
    ("call 1", b"OX1"),
    ("result 1", b"PIPPIN1"),
    ("result 2", b"PIPPIN2"),
]


@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("gone", "told"), TOLD, ids=[name for name, _ in TOLD])
def test_no_block_holds_what_was_erased_and_the_store_is_sound(
    runtime: Runtime, provider: str, policy: str, gone: str, told: bytes
) -> None:
    talk = runtime.conversation("orchard")
    ids = orchard(talk, provider, policy)
    assert told in stored(talk)

    done = erase(talk._session, [ids[gone]], by="gardener", reason="asked for")

    assert (done.bodies, done.blocks > 0) == (1, True)
    assert told not in stored(talk)
    for other, words in TOLD:
        assert words in stored(talk) or other == gone or provider == "anthropic" or other[-1:] == gone[-1:], other
    report = verify(runtime.ledger, index=index_of(runtime.ledger))
    assert report.ok
    assert (report.counts.erased, report.counts.erased_blocks) == (1, done.blocks)
    rebuild(runtime.ledger, index=index_of(runtime.ledger))
    assert verify(runtime.ledger, index=index_of(runtime.ledger)).ok
    assert f"rendered blocks, {done.blocks:,} erased" in report_as_text(report)
    talk.record(user("And all in all?"))
    for opened in (talk, runtime.conversation("orchard")):
        sheet = opened.assemble(provider=provider, model=MODELS[provider], policy=policy)
        assert told not in b"".join(sheet.blocks)


def test_a_request_says_that_a_part_of_it_was_erased_and_others_come_back_as_they_were(runtime: Runtime) -> None:
    talk = runtime.conversation("orchard")
    ids = orchard(talk)
    before = {sheet.id: sheet.blocks for sheet in talk.sheets()}
    erase(talk._session, [ids["question 1"]])
    after = talk.sheets()
    assert list(before) == [sheet.id for sheet in after]
    whole = [sheet for sheet in after if b"" not in sheet.blocks]
    assert [sheet.id for sheet in whole] == [sheet.id for sheet in after[:2]]
    for sheet in after:
        pairs = list(zip(sheet.blocks, before[sheet.id], strict=True))
        assert all(now in (b"", then) for now, then in pairs)
        assert ids["question 1"] in {one.record for one in sheet.selections} or b"" not in sheet.blocks
    with pytest.raises(BodyErased, match="part of this request was erased"):
        after[-1].request()
    assert after[-1].explain()
    talk.record(user("And now?"))
    assert b"BRAMLEY1" not in b"".join(talk.assemble(provider="openai", model="gpt-5.2").blocks)


def test_what_another_record_says_too_stays_in_the_requests_of_that_record(runtime: Runtime) -> None:
    talk, other = runtime.conversation("orchard"), runtime.conversation("meadow")
    said = talk.record(user("Water the quinces.")).ids
    same = other.record(user("Water the quinces.")).ids
    for one in (talk, other):
        one.assemble(provider="openai", model="gpt-5.2", policy="replay")
    erase(talk._session, said)
    assert b"quinces" in stored(other)
    erase(other._session, same)
    assert b"quinces" not in stored(other) + stored(talk)
    assert verify(runtime.ledger).ok


@pytest.mark.parametrize("text", ["ok", "\U0001f44d", "no", "Row 1 is fine."])
def test_a_text_without_a_word_of_its_own_is_found_as_a_whole(runtime: Runtime, text: str) -> None:
    talk = runtime.conversation("orchard")
    orchard(talk, policy="replay", turns=2)
    said = talk.record(user(text)).ids
    talk.assemble(provider="openai", model="gpt-5.2", policy="replay")
    kept = talk.record(user("Is it ok, or no? Row 1 is what I mean."), sheet=None).ids
    talk.assemble(provider="openai", model="gpt-5.2", policy="replay")
    erase(talk._session, said)
    encoded = b'{"role":"user","content":"' + text.encode() + b'"}'
    assert encoded not in stored(talk)
    assert b"what I mean" in stored(talk)
    assert kept


def test_erasing_in_a_file_leaves_no_byte_of_it_and_is_seen_from_outside(tmp_path: Path) -> None:
    path = tmp_path / "orchard.db"
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("orchard")
        ids = orchard(talk)
        blocks = {address for sheet in talk.sheets() for address in sheet.record.blocks}
        done = erase(talk._session, [ids["result 0"], ids["question 0"]])
        assert done.bodies == 2
        gone = [address for address in blocks if not _there(runtime, talk, address)]
        assert len(gone) == done.blocks
    with callsheet.open(path) as runtime:
        assert verify(runtime.ledger).ok
        assert b"BRAMLEY0" not in stored(runtime.conversation("orchard"))


def _there(runtime: Runtime, talk: Conversation, address: str) -> bool:
    try:
        return bool(runtime.ledger.blocks(talk._session.owner, (address,)))
    except Damaged:
        return False


def test_a_block_that_no_erasure_names_is_still_missed(runtime: Runtime) -> None:
    talk = runtime.conversation("orchard")
    ids = orchard(talk)
    erase(talk._session, [ids["result 0"]])
    last = talk.sheets(newest=1)[0].record.blocks[-1]
    runtime.ledger.erase_blocks(talk._session.owner, [last])
    report = verify(runtime.ledger)
    assert [finding.kind for finding in report.findings] == [FindingKind.BLOCK]
    assert last in report.findings[0].text
    with pytest.raises(Damaged):
        talk.sheets()


def test_an_interrupted_erasure_is_finished_by_the_next(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = runtime.conversation("orchard")
    ids = orchard(talk)
    ledger = runtime.ledger
    with monkeypatch.context() as patched:
        patched.setattr(type(ledger), "erase_blocks", lambda *_: None)
        erase(talk._session, [ids["result 0"]])
    assert b"PIPPIN0" in stored(talk)
    assert verify(ledger).ok
    erase(talk._session, [ids["result 0"]])
    assert b"PIPPIN0" not in stored(talk)
    assert verify(ledger).ok


def test_what_is_not_there_is_refused_and_nothing_is_erased(runtime: Runtime) -> None:
    talk = runtime.conversation("orchard")
    ids = orchard(talk, turns=1)
    before = runtime.ledger.head(talk._session.conversation.key)
    for wrong in ([], ["message_none"], [ids["system"], "artifact_none"]):
        with pytest.raises(NotFound, match="there is no record"):
            erase(talk._session, [RecordId(id) for id in wrong])
    assert runtime.ledger.head(talk._session.conversation.key) == before
    assert b"MARLOW" in stored(talk)


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_call_whose_result_is_erased_stays_answered_wherever_it_is_looked_at_from(kind: str, tmp_path: Path) -> None:
    with memory_runtime() if kind == "memory" else callsheet.open(tmp_path / "orchard.db") as runtime:
        talk = runtime.conversation("orchard")
        ids = orchard(talk, turns=2)
        older = talk.branch(at=ids["answer 0"], name="before the erasure")
        erase(talk._session, (ids["result 0"],))
        session = talk._session
        for _ in range(2):
            later = talk.branch(at=ids["answer 0"])
            for view in (talk, older, later):
                fresh = Runtime(session.ledger, tenant=runtime.tenant, ids=session.ids, clock=session.clock)
                assert not fresh.conversation("orchard").on(view.branch_id).pending()
                assert not view.pending()
            session.ledger.rebuild(session.conversation.key, index_of(session.ledger))


def test_a_call_that_was_reopened_before_its_result_is_erased_stays_open() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("orchard")
        ids = orchard(talk, turns=1)
        body = CallResolved(call=ids["call 0"], status=CallStatus.OPEN)
        talk._session.append(talk._view, lambda drafting: drafting.add(body, kind="call_resolved"))
        erase(talk._session, (ids["result 0"],))
        session = talk._session
        fresh = Runtime(session.ledger, tenant=runtime.tenant, ids=session.ids, clock=session.clock)
        assert [ids["call 0"]] == [waiting.id for waiting in fresh.conversation("orchard").pending()]


SECRET = "the orchard is sold to QUILLER for 48,215"


def merged(talk: Conversation) -> list[RecordId]:
    other = talk.branch(name="other")
    (said,) = other.record({"role": "assistant", "content": f"I found: {SECRET}."}).ids
    talk.merge("other")
    return [said]


def reported(talk: Conversation) -> list[RecordId]:
    child = talk.spawn("Look into it.", name="looker")
    child.complete(f"Done: {SECRET}.")
    return [child.history()[0][-1].id]


def last_word(talk: Conversation) -> list[RecordId]:
    child = talk.spawn("Look into it.", name="looker")
    (said,) = child.record({"role": "assistant", "content": f"Done: {SECRET}."}).ids
    child.complete()
    return [said]


def found(talk: Conversation, content: str = f"note: {SECRET}") -> RecordId:
    talk.record(asks(call("n1", "read_note")))
    return talk.record(result("n1", content)).ids[0]


def handed_on(talk: Conversation) -> list[RecordId]:
    source = found(talk)
    talk.spawn("Look into it.", name="looker", context=[source])
    return [source]


def recalled(talk: Conversation) -> list[RecordId]:
    source = found(talk)
    asked = talk.record(asks(call("r1", "recall", f'{{"reference": "{source}", "part": "lines 0:1"}}'))).pending[-1]
    talk.record(result("r1", talk.answer_recall(asked)))
    return [source]


def remembered(talk: Conversation) -> list[RecordId]:
    source, other = found(talk), talk.history()[0][-1].id
    talk.record(asks(call("n2", "read_note")))
    other = talk.record(result("n2", "the mill is let")).ids[0]
    talk.promote(source, other, summary=f"Known: {SECRET}.")
    return [source]


def twice(talk: Conversation) -> list[RecordId]:
    child = talk.spawn("Look into it.", name="looker")
    (said,) = child.record({"role": "assistant", "content": f"Done: {SECRET}."}).ids
    report = child.complete()
    talk.promote(report, summary=f"Known: {SECRET}.")
    talk.branch(name="later").send("And?", parents=[report])
    return [said]


@pytest.mark.parametrize("copy", [merged, reported, last_word, handed_on, recalled, remembered, twice])
@pytest.mark.parametrize("kind", ["memory", "file"])
def test_what_gives_the_words_of_a_record_again_goes_with_it(
    copy: Callable[[Conversation], list[RecordId]], kind: str, tmp_path: Path
) -> None:
    with memory_runtime() if kind == "memory" else callsheet.open(tmp_path / "orchard.db") as runtime:
        talk = runtime.conversation("orchard")
        ids = orchard(talk, turns=1)
        originals = copy(talk)
        talk.record(user("What is known of QUILLER?"))
        talk.assemble(provider="openai", model=MODELS["openai"], policy="lean")
        assert b"QUILLER for 48,215" in everything(talk)
        erase(talk._session, originals)
        assert b"QUILLER for 48,215" not in everything(talk)
        assert b"48,215" not in stored(talk)
        for opened in (talk, runtime.conversation("orchard")):
            sheet = opened.assemble(provider="openai", model=MODELS["openai"])
            assert b"48,215" not in b"".join(sheet.blocks)
            assert not any("48,215" in one.snippet for one in opened.search("48,215") if one.origin != "user")
        assert talk.recall(ids["result 0"]).text
        assert verify(runtime.ledger, index=index_of(runtime.ledger)).ok


@pytest.mark.parametrize("ways", ["message", "sources", "proposed", "accepted"])
def test_what_was_kept_of_the_user_from_a_record_goes_with_it(runtime: Runtime, ways: str) -> None:
    talk = runtime.conversation("orchard", user="mia")
    said, other = (talk.record(user(text)).ids[0] for text in ("I live in QUILLERTON.", "I grow plums."))
    value = "lives in QUILLERTON"
    runtime.remember("mia", "grows plums", always=True, source=other)
    match ways:
        case "message":
            talk.remember(value, message=said, always=True)
        case "sources":
            runtime.remember("mia", value, always=True, sources=[other, said])
        case "proposed" | "accepted":
            proposal = runtime.propose("mia", value, source=said)
            if ways == "accepted":
                runtime.accept("mia", proposal.id)
    kept = [one.id for waits in (False, True) for one in runtime.memories("mia", proposals=waits) if one.value == value]
    done = erase(talk._session, [said])
    assert kept
    assert set(kept) <= set(done.memories)
    assert [one.value for one in runtime.memories("mia", history=True)] == ["grows plums"]
    assert runtime.memories("mia", proposals=True) == []
    talk.record(user("Where do I live?"))
    for opened in (talk, runtime.conversation("orchard")):
        shown = b"".join(opened.assemble(provider="openai", model=MODELS["openai"]).blocks)
        assert b"QUILLERTON" not in shown
        assert b"grows plums" in shown
    assert erase(talk._session, [said]).memories == ()
    assert verify(runtime.ledger, index=index_of(runtime.ledger)).ok


def everything(talk: Conversation) -> bytes:
    """All that the records of a conversation hold."""
    session = talk._session
    records = session.ledger.records(session.conversation.key, limit=1_000)
    held = []
    for record in records:
        body = record.body
        if isinstance(body, Message | ToolArtifact):
            parts = body.parts if isinstance(body, Message) else body.content
            held += [session.read(part.text) for part in parts if isinstance(part, Text)]
        elif isinstance(body, ToolMemory):
            held.append(session.read(body.summary))
    return b"\n".join(held)
