"""Documents in conversations: found by the recall tool beside what was said, read by reference, under the policies."""

import json
from collections.abc import Iterator

import pytest

from callsheet import Conversation, Runtime
from callsheet.audit.verify import verify
from callsheet.errors import NotFound
from callsheet.graph.enums import Privacy, StreamKind
from callsheet.graph.nodes import ToolArtifact
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.recall.request import DEFAULT_LIMIT
from tests.hashing import Hashing
from tests.runtime.documenting.shop import RETURNS_1, RETURNS_2, fill, opened
from tests.runtime.replies import Json, asks, call, result, user

LONG = "\n\n".join(f"## Part {at}\n\nThe furnace part {at} is told about here at some length." for at in range(400))


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with opened() as made:
        fill(made)
        yield made


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    made = runtime.conversation("talk")
    made.record(user("My kiln arrived broken."))
    made.record({"role": "assistant", "content": "Let me look at the goods that arrived."})
    return made


def chunk_of(runtime: Runtime, document: str) -> str:
    return str(runtime.knowledge.search(document, document=document)[0].reference)


def answered(talk: Conversation, arguments: Json, provider: str = "openai") -> str:
    """What a model gets that was shown a sheet and asks for this."""
    talk.record(user("Please look it up."))
    sheet = talk.assemble(provider=provider, model="gpt-5.2")
    asked = call("r1", "recall", json.dumps(arguments))
    talk.record(asks(asked), sheet=sheet)
    (pending,) = talk.pending()
    text = talk.answer_recall(pending)
    talk.record(result("r1", text))
    return text


def artifact(runtime: Runtime) -> Record:
    """The newest result of the conversation."""
    (stream,) = runtime.ledger.streams(kind=StreamKind.CONVERSATION)
    return runtime.ledger.nodes(stream.key, NodeQuery(kinds=("artifact",), newest=True, limit=1))[0]


def test_a_search_of_a_conversation_finds_passages_beside_what_was_said(runtime: Runtime, talk: Conversation) -> None:
    found = talk.search("goods that arrive broken")
    assert {one.origin for one in found} >= {"document RET-01, version 1", "assistant"}
    passage = next(one for one in found if one.origin.startswith("document"))
    assert passage.reference == chunk_of(runtime, "RET-01")
    assert "broken" in passage.snippet
    assert talk.search("KIL-7781")[0].exact


def test_chunks_and_documents_are_recalled_by_reference(runtime: Runtime, talk: Conversation) -> None:
    document = runtime.knowledge.get("RET-01")
    chunk = chunk_of(runtime, "RET-01")
    assert talk.recall(document.id).bytes.decode() == RETURNS_1
    assert talk.recall(chunk).bytes.decode() == RETURNS_1
    assert talk.recall(f" {chunk}. ").reference == chunk
    assert talk.recall(chunk.removeprefix("chunk_")).reference == chunk
    line = talk.recall(chunk, lines=(2, 3))
    assert line.bytes == b"Goods go back within 30 days.\n"
    assert "(document RET-01, version 1; under Returns)" in line.text
    assert "1 match" in talk.recall(document.id, search="broken").text


def test_an_older_version_says_what_replaced_it(runtime: Runtime, talk: Conversation) -> None:
    chunk = chunk_of(runtime, "RET-01")
    newer = runtime.knowledge.replace("RET-01", RETURNS_2, version="2")
    assert f"replaced since: now version 2, {newer})" in talk.recall(chunk).text
    assert not any("version 1" in one.origin for one in talk.search("goods go back within days"))


def test_a_model_finds_and_reads_passages(runtime: Runtime, talk: Conversation) -> None:
    chunk = chunk_of(runtime, "RET-01")
    found = answered(talk, {"query": "goods broken replaced"})
    assert f"{chunk} (document RET-01, version 1, " in found
    read = answered(talk, {"reference": chunk})
    assert read.endswith(RETURNS_1)
    body = artifact(runtime).body
    assert isinstance(body, ToolArtifact)
    assert body.recalls == chunk
    assert [one.origin for one in talk.search("arrives broken is replaced")].count("recall") == 0
    assert verify(runtime.ledger).ok


def test_what_may_not_go_to_a_provider_is_not_there_for_it(runtime: Runtime, talk: Conversation) -> None:
    runtime.knowledge.add("SEC-1", "The kiln of Mia Berg, broken goods.", privacy="connected_account")
    id = runtime.knowledge.get("SEC-1").id
    chunk = chunk_of(runtime, "SEC-1")
    assert "SEC-1" not in answered(talk, {"query": "kiln broken goods SEC-1"}).partition("\n")[2]
    for reference in (str(id), chunk):
        unknown = answered(talk, {"reference": reference[:-1] + "x"})
        assert answered(talk, {"reference": reference}) == unknown.replace(reference[:-1] + "x", reference)
    assert talk.recall(chunk).bytes


def test_what_was_recalled_has_the_class_of_its_document(runtime: Runtime, talk: Conversation) -> None:
    runtime.knowledge.add("PER-1", "Mia Berg lives at the harbour, kiln 9.", privacy="personal")
    for arguments in ({"reference": chunk_of(runtime, "PER-1")}, {"query": "harbour PER-1"}):
        assert "harbour" in answered(talk, dict(arguments))
        assert artifact(runtime).header.privacy is Privacy.PERSONAL


def test_the_byte_budget_bounds_what_a_model_gets(runtime: Runtime, talk: Conversation) -> None:
    id = runtime.knowledge.add("LNG-1", LONG)
    text = answered(talk, {"reference": str(id)})
    assert len(text.encode()) < DEFAULT_LIMIT + 1_000
    assert "to read on" in text
    given = b""
    more = talk.recall(id, limit=5_000)
    while True:
        given += more.bytes
        if more.more is None:
            break
        more = talk.recall(id, lines=more.more.lines, bytes=more.more.bytes, limit=5_000)
    assert given.decode() == LONG


def test_secrets_are_markers_wherever_a_text_is_cut() -> None:
    """Also where a chunk holds a part of one, or holds it away from its name."""
    body = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj" for _ in range(60))
    text = f"# Keys\n\n-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n\nThe end.\n"
    with opened() as runtime:
        id = runtime.knowledge.add("KEY-1", text)
        talk = runtime.conversation("talk")
        assert runtime.knowledge.get("KEY-1").chunks > 2
        shown = [
            runtime.knowledge.get("KEY-1").text,
            talk.recall(id).text,
            repr(talk.search("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj")),
        ]
        shown += [repr(passage) for passage in runtime.knowledge.search("keys KEY-1", k=20)]
        shown += [talk.recall(passage.reference).text for passage in runtime.knowledge.search("keys KEY-1", k=20)]
        assert len(shown) > 5
        assert not any("VJTUt9Us8cKj" in one.replace("query", "") for one in shown[:2] + shown[3:])
        assert sum("[secret:" in one for one in shown) >= 3


def test_another_tenant_s_documents_are_not_there(runtime: Runtime, talk: Conversation) -> None:
    other = Runtime(runtime.ledger, tenant="other", ids=runtime._ids, clock=runtime._clock)
    theirs = other.knowledge.add("RET-01", "Broken goods are thrown away by zebras.")
    chunk = other.knowledge.search("zebras")[0].reference
    assert not any("zebras" in one.snippet for one in talk.search("broken goods zebras"))
    for reference in (theirs, chunk):
        with pytest.raises(NotFound, match="no reference"):
            talk.recall(reference)


def test_what_is_a_secret_in_the_text_is_one_in_title_and_headings(runtime: Runtime, talk: Conversation) -> None:
    value = "Tr0ub4dorAnd3More"
    text = (
        f"# Access\n\npassword = {value}\n\n"
        + "The kiln is told about. " * 90
        + f"\n\n# How {value} came about\n\nIt was."
    )
    id = runtime.knowledge.add("ACC-1", text, title=f"On {value}")
    passages = runtime.knowledge.search("ACC-1 access came about", document="ACC-1")
    shown = [repr(passages), repr(runtime.knowledge.get("ACC-1")), talk.recall(id).text, repr(talk.search("ACC-1"))]
    shown += [talk.recall(passage.reference).text for passage in passages]
    assert len(passages) > 1
    assert not any(value in one for one in shown)
    assert any("[secret:" in passage.heading for passage in passages)
    (stream,) = runtime.ledger.streams(kind=StreamKind.WORKSPACE)
    positions = range(1, 40)
    assert value.casefold() not in repr(runtime.ledger.indexed(stream.key, positions)).casefold()


@pytest.mark.parametrize("vectors", [False, True], ids=["words", "vectors"])
@pytest.mark.parametrize("query", ["goods broken replaced", "KIL-7781", "Öfen Häuser", "warranty RET-01 kilns"])
def test_what_is_hidden_from_a_boundary_changes_no_byte_of_an_answer(vectors: bool, query: str) -> None:
    with opened(embedder=Hashing() if vectors else None) as runtime:
        fill(runtime)
        talk = runtime.conversation("talk")
        talk.record(user("My kiln arrived broken."))
        answered(talk, {"query": "goods"})
        runtime.work()
        before = talk.answer_recall({"query": query})
        assert "document" in before
        other = Runtime(runtime.ledger, tenant="other", ids=runtime._ids, clock=runtime._clock)
        for at, text in enumerate((RETURNS_1, RETURNS_2, f"{query} {query}", "Goods, kilns, KIL-7781, RET-01, Öfen.")):
            other.knowledge.add(f"theirs {at}", text)
            runtime.knowledge.add(f"hidden {at}", text, privacy="connected_account")
        runtime.knowledge.replace("RET-01", f"{query} and nothing else", version="9", privacy="secret")
        runtime.work()
        assert talk.answer_recall({"query": query}) == before
        assert any("hidden" in one.origin for one in talk.search(query, limit=50))
