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
