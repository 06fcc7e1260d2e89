"""What the client's blocks say in a Messages request that only its own settings make valid: it goes back with them."""

from collections.abc import Callable

import pytest

from callsheet.wire.asked import read_request, write_request
from callsheet.wire.formats import render
from callsheet.wire.names import Wire
from tests.wire.equivalence import everything, own_blocks

Json = dict[str, object]

CITED: Json = {
    "type": "web_search_result_location",
    "cited_text": "x",
    "encrypted_index": "E=",
    "title": None,
    "url": "https://a.example",
}
OF_DOCUMENT: Json = {"type": "char_location", "cited_text": "x", "document_index": 0}
CALLER: Json = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}
DOCUMENT: Json = {
    "type": "document",
    "source": {"type": "text", "media_type": "text/plain", "data": "Facts."},
    "title": "t",
    "citations": {"enabled": True},
}
MCP: list[Json] = [
    {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "f", "server_name": "s", "input": {}},
    {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "content": [{"type": "text", "text": "1"}]},
]
COMPACTED: Json = {"type": "compaction", "content": "so far", "encrypted_content": "E="}


def _user(*blocks: Json) -> Json:
    return {"role": "user", "content": list(blocks)}


def _model(*blocks: Json) -> Json:
    return {"role": "assistant", "content": list(blocks)}


def _text(text: str, **more: object) -> Json:
    return {"type": "text", "text": text, **more}


def _use(id: str, **more: object) -> Json:
    return {"type": "tool_use", "id": id, "name": "f", "input": {}, **more}


def _result(id: str, *blocks: Json) -> Json:
    return {"type": "tool_result", "tool_use_id": id, "content": list(blocks)}


KEPT: dict[str, list[Json]] = {
    "citations of the web": [_user(_text("Hi")), _model(_text("Yes", citations=[CITED])), _user(_text("More"))],
    "who made a call": [_user(_text("Hi")), _model(_use("a", caller=CALLER)), _user(_result("a", _text("1")))],
    "a document that shall be cited": [_user(DOCUMENT, _text("Hi"))],
    "a document that a tool returned": [
        _user(_text("Hi")),
        _model(_use("a")),
        _user(_result("a", _text("1"), DOCUMENT)),
    ],
    "calls of a server": [_user(_text("Hi")), _model(_text("Let me see."), *MCP, _text("So.")), _user(_text("More"))],
    "nothing but blocks of a beta": [_user(_text("Hi")), _model(*MCP), _user(_text("More"))],
    "a compaction": [_user(_text("Hi")), _model(COMPACTED, _text("So.")), _user(_text("More"))],
    "the second of two that look alike": [
        _user(_text("Hi")),
        _model(_text("Yes")),
        _user(_text("More")),
        _model(_text("Yes", citations=[CITED])),
        _user(_text("More")),
    ],
    "a result of an unknown kind": [_user(_text("Hi")), _model(_use("a")), _user(_result("a", {"type": "new_block"}))],
    "thinking beside it": [
        _user(_text("Hi")),
        _model({"type": "thinking", "thinking": "Hm. ", "signature": "S="}, _text("Yes", citations=[CITED]), _use("a")),
        _user(_result("a", _text("1"))),
    ],
}


def _written(
    client: list[Json], sent: list[Json] | None = None, passes: Callable[[str], bool] = everything
) -> list[Json]:
    asked = read_request({"model": "m", "max_tokens": 9, "messages": client}, Wire.ANTHROPIC)
    other = read_request({"model": "m", "messages": sent or client}, Wire.ANTHROPIC)
    messages = write_request(asked, render(own_blocks(other), Wire.ANTHROPIC, model="m"), passes=passes)["messages"]
    assert isinstance(messages, list)
    for message in messages:
        for block in message["content"]:
            block.pop("cache_control", None)
    return messages


@pytest.mark.parametrize("messages", KEPT.values(), ids=KEPT)
def test_a_message_that_is_shown_unchanged_says_all_that_it_said(messages: list[Json]) -> None:
    assert _written(messages) == messages


def test_citations_that_count_documents_stay_out() -> None:
    cited = _text("Yes", citations=[OF_DOCUMENT, CITED])

    messages = _written([_user(_text("Hi")), _model(cited), _user(_text("More"))])

    assert messages[1] == _model(_text("Yes", citations=[CITED]))


def test_a_message_that_is_shown_changed_says_what_is_shown_alone() -> None:
    client = [_user(DOCUMENT, _text("Hi")), _model(_text("Yes", citations=[CITED])), _user(_text("More"))]
    sent = [_user(_text("Hi")), _model(_text("Ye")), _user(_text("More"))]

    assert _written(client, sent) == sent


def test_messages_that_are_not_shown_do_not_keep_others_from_theirs() -> None:
    client = [*KEPT["calls of a server"][:2], *KEPT["citations of the web"]]

    assert _written(client, client[2:]) == KEPT["citations of the web"]


def test_what_does_not_pass_stays_out() -> None:
    client = [_user(_text("Hi")), _model(*MCP, _text("Yes", citations=[CITED]), _use("a", caller=CALLER))]
    client.append(_user(_result("a", _text("1"), {"type": "new_block"})))

    bare = [client[0], _model(_text("Yes"), _use("a", caller=CALLER)), _user(_result("a", _text("1")))]
    assert _written(client, passes=lambda text: False) == bare
    partly = _written(client, passes=lambda text: "mcp_tool_use" in text)
    assert partly[1] == _model(MCP[0], _text("Yes"), _use("a", caller=CALLER))
