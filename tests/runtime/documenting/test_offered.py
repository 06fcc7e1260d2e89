"""The recall tool is offered where there are documents that it may read, and reads one by its name."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from callsheet import Conversation, Runtime
from callsheet.errors import NotFound
from callsheet.graph.enums import Level
from callsheet.graph.nodes import ToolArtifact
from callsheet.policy.sets import BALANCED
from callsheet.policy.settings import ClassForms
from callsheet.runtime.sheet import Sheet
from tests.runtime.documenting.shop import opened

CLOSED = replace(BALANCED, name="closed", privacy=ClassForms(document=Level.SAFE))


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with opened() as made:
        yield made


def tools(sheet: Sheet) -> list[str]:
    return [str(tool["function"]["name"]) for tool in sheet.tools()]  # type: ignore[index]


def asked(talk: Conversation, **options: object) -> Sheet:
    talk.record({"role": "user", "content": "How long is the warranty?"})
    return talk.assemble(provider="openai", model="gpt-5.2", **options)  # type: ignore[arg-type]


def test_a_fresh_conversation_is_offered_it_once_there_is_a_document(runtime: Runtime) -> None:
    assert tools(asked(runtime.conversation("before"))) == []
    runtime.knowledge.add("WAR-03", "Two years.")
    talk = runtime.conversation("after")
    sheet = asked(talk)
    assert tools(sheet) == ["recall"]
    assert "Two years." in talk.answer_recall({"query": "warranty two years"})
    assert talk.rebuild(sheet).same
    assert talk.rebuild(sheet).same_blocks == talk.rebuild(sheet).blocks
    assert tools(asked(runtime.conversation("without"), recall=False)) == []
    assert tools(asked(runtime.conversation("replayed"), policy="replay")) == []


def test_a_document_that_may_not_be_read_is_no_reason(runtime: Runtime) -> None:
    runtime.knowledge.add("WAR-03", "Two years.", privacy="document")
    assert tools(asked(runtime.conversation("a"), policy=CLOSED)) == []
    assert tools(asked(runtime.conversation("b"))) == ["recall"]
    runtime.knowledge.remove("WAR-03")
    assert tools(asked(runtime.conversation("c"))) == []


def test_a_document_that_comes_later_changes_no_request_before_the_next_rewrite(runtime: Runtime) -> None:
    talk = runtime.conversation("a")
    first = asked(talk)
    talk.record({"role": "assistant", "content": "I do not know."}, sheet=first)
    runtime.knowledge.add("WAR-03", "Two years.")
    second = asked(talk)
    assert tools(second) == []
    assert talk.rebuild(second).same


def test_a_document_is_read_by_its_name(runtime: Runtime) -> None:
    runtime.knowledge.add("WAR-03", "Two years.", version="1")
    runtime.knowledge.replace("WAR-03", "Three years.", version="2")
    talk = runtime.conversation("a")
    asked(talk)
    assert "Three years." in talk.answer_recall({"reference": "WAR-03"})
    assert "Three years." in talk.recall("[WAR-03]").text
    for wrong in ("WAR-04", "war", "WAR"):
        with pytest.raises(NotFound):
            talk.recall(wrong)


def test_the_name_of_a_document_that_may_not_be_read_is_answered_like_none(runtime: Runtime) -> None:
    talk = runtime.conversation("a")
    asked(talk, policy=CLOSED)
    without = talk.answer_recall({"reference": "WAR-03"})
    runtime.knowledge.add("WAR-03", "Two years.", privacy="document")
    assert talk.answer_recall({"reference": "WAR-03"}) == without


def test_what_is_read_by_a_name_is_as_private_as_the_document(runtime: Runtime) -> None:
    runtime.knowledge.add("WAR-03", "Two years.", privacy="document")
    talk = runtime.conversation("a")
    sheet = asked(talk)
    called = {"id": "c", "type": "function", "function": {"name": "recall", "arguments": '{"reference": "WAR-03"}'}}
    talk.record({"role": "assistant", "content": None, "tool_calls": [called]}, sheet=sheet)
    (pending,) = talk.pending()
    answered = talk.record({"role": "tool", "tool_call_id": "c", "content": talk.answer_recall(pending)})
    (record,) = runtime.ledger.get(talk._session.conversation.key, answered.ids)
    assert record.header.privacy == "document"
    assert isinstance(record.body, ToolArtifact)
    assert record.body.recalls == runtime.knowledge.get("WAR-03").id


def told(sheet: Sheet) -> str:
    """What the recall tool of a request is said to do."""
    (tool,) = sheet.tools()
    return str(tool["function"]["description"])  # type: ignore[index]


def test_a_model_is_told_how_many_documents_there_are_and_of_a_few_their_titles(runtime: Runtime) -> None:
    knowledge = runtime.knowledge
    knowledge.add("WAR-03", "Two years.", title="Warranty")
    assert "or search 1 document (Warranty): " in told(asked(runtime.conversation("one")))
    knowledge.add("RET-01", "14 days.", version="1")
    knowledge.replace("RET-01", "30 days.", version="2", title="Return policy")
    talk = runtime.conversation("two")
    sheet = asked(talk)
    assert "or search 2 documents (Warranty; Return policy): " in told(sheet)
    assert talk.rebuild(sheet).same_blocks == talk.rebuild(sheet).blocks
    for number in range(3):
        knowledge.add(f"SHP-{number}", "By ship.")
    assert "or search 5 documents: " in told(asked(runtime.conversation("many")))


def test_long_titles_are_not_told(runtime: Runtime) -> None:
    runtime.knowledge.add("WAR-03", "Two years.", title="All about warranty " * 8)
    assert "or search 1 document: " in told(asked(runtime.conversation("a")))


def test_what_may_not_be_read_is_neither_counted_nor_named(runtime: Runtime) -> None:
    runtime.knowledge.add("WAR-03", "Two years.", title="Warranty")
    without = told(asked(runtime.conversation("a"), policy=CLOSED))
    for number in range(5):
        runtime.knowledge.add(f"RET-{number}", "30 days.", title="Return policy", privacy="document")
    assert told(asked(runtime.conversation("b"), policy=CLOSED)) == without
    assert "or search 6 documents: " in told(asked(runtime.conversation("c")))


def test_a_title_makes_no_request_stricter_and_tells_no_secret(runtime: Runtime) -> None:
    secret = "sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6" * 2
    runtime.knowledge.add("KEY-01", "How keys are kept.", title=f"Key {secret}")
    named = told(asked(runtime.conversation("a")))
    assert "or search 1 document (Key " in named
    assert secret not in named
    runtime.knowledge.add("WAR-03", "Two years.", title="Warranty", privacy="document")
    talk = runtime.conversation("b")
    sheet = asked(talk)
    assert "or search 2 documents: " in told(sheet)
    assert sheet.record.titled == ()


def test_what_is_told_stays_until_the_next_rewrite_or_until_a_title_is_gone(runtime: Runtime) -> None:
    runtime.knowledge.add("WAR-03", "Two years.", title="Warranty")
    talk = runtime.conversation("a")
    first = asked(talk)
    runtime.knowledge.add("RET-01", "30 days.", title="Return policy")
    talk.record({"role": "assistant", "content": "Two years."}, sheet=first)
    second = asked(talk)
    assert second.record.rewritten == ""
    assert told(second) == told(first)
    assert talk.rebuild(second).same_blocks == talk.rebuild(second).blocks
    runtime.knowledge.remove("WAR-03")
    talk.record({"role": "assistant", "content": "As I said."}, sheet=second)
    assert "or search 1 document (Return policy): " in told(asked(talk))
