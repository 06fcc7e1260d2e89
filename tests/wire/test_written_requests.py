"""Laws of whole requests: written with its own history, a request is equivalent, valid, and the same when it is
written again.
"""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.assemble.blocks import Block
from callsheet.errors import InvalidMessage
from callsheet.wire.asked import Asked, read_request, write_request
from callsheet.wire.formats import export, render
from callsheet.wire.media import base64_of, data_url
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields
from callsheet.wire.validate import problems
from tests.wire.equivalence import everything, own_blocks, says_the_same
from tests.wire.histories import PDF, PNG, histories
from tests.wire.sdk import accept

Json = dict[str, object]

table = pytest.mark.parametrize("wire", [Wire.OPENAI, Wire.ANTHROPIC])


def _again(asked: Asked) -> Fields:
    return write_request(asked, render(own_blocks(asked), asked.wire, model="m"), passes=everything)


@table
@given(history=histories)
def test_a_valid_request_is_written_as_an_equivalent_and_valid_one(wire: Wire, history: Sequence[Block]) -> None:
    asked = read_request(render(history, wire, model="m"), wire)

    body = _again(asked)

    assert says_the_same(read_request(body, wire), asked)
    assert problems(body, wire) == []
    assert json.loads(json.dumps(body)) == body


@table
@given(history=histories, data=st.data())
def test_a_request_that_goes_on_begins_as_the_one_before(
    wire: Wire, history: Sequence[Block], data: st.DataObject
) -> None:
    body = render(history, wire, model="m")
    messages = _messages(body)
    # Results of OpenAI's are messages, and none may be missing.
    ends = [end for end, after in enumerate([*messages, {}]) if end and after.get("role") != "tool"]
    end = data.draw(st.sampled_from(ends))

    first = _messages(_again(read_request({**body, "messages": messages[:end]}, wire)))
    second = _messages(_again(read_request(body, wire)))

    assert _unmarked(second[:end]) == _unmarked(first)


def _unmarked(value: object) -> object:
    if isinstance(value, dict):
        return {key: _unmarked(item) for key, item in value.items() if key != "cache_control"}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


@table
@given(history=histories)
def test_whatever_was_read_is_written_validly_and_nothing_of_it_is_changed(
    wire: Wire, history: Sequence[Block]
) -> None:
    messages = [each for each in export(history, wire) if each.get("role") != "function"]
    body: Json = {"model": "m", "max_tokens": 9, "messages": messages} if messages else {}
    before = json.dumps(body)
    try:
        asked = read_request(body, wire)
    except InvalidMessage:
        return
    if not asked.blocks:
        return

    first = read_request(_again(asked), wire)

    assert json.dumps(body) == before
    assert _again(first) == _again(read_request(_again(first), wire))


def _messages(body: Fields) -> list[Json]:
    messages = body["messages"]
    assert isinstance(messages, list)
    return messages


_PICTURE = data_url("image/png", PNG)
_PAPER = data_url("application/pdf", PDF)
MEDIA: list[tuple[Wire, Json]] = [
    (Wire.OPENAI, {"type": "image_url", "image_url": {"url": _PICTURE, "detail": "high"}}),
    (Wire.OPENAI, {"type": "image_url", "image_url": {"url": "https://a.example/a.png"}}),
    (Wire.OPENAI, {"type": "file", "file": {"file_data": _PAPER, "filename": "a.pdf"}}),
    (Wire.OPENAI, {"type": "file", "file": {"file_id": "file-1"}}),
    (Wire.OPENAI, {"type": "input_audio", "input_audio": {"data": base64_of(b"abc"), "format": "wav"}}),
    (
        Wire.ANTHROPIC,
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64_of(PNG)}},
    ),
    (Wire.ANTHROPIC, {"type": "image", "source": {"type": "url", "url": "https://a.example/a.png"}}),
    (Wire.ANTHROPIC, {"type": "image", "source": {"type": "file", "file_id": "file_1"}}),
    (
        Wire.ANTHROPIC,
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": base64_of(PDF)},
            "title": "t",
            "context": "c",
        },
    ),
    (Wire.ANTHROPIC, {"type": "document", "source": {"type": "url", "url": "https://a.example/a.pdf"}}),
    (Wire.ANTHROPIC, {"type": "document", "source": {"type": "file", "file_id": "file_1"}}),
    (
        Wire.ANTHROPIC,
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Facts."}},
    ),
    (
        Wire.ANTHROPIC,
        {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "Facts."}]}},
    ),
    (
        Wire.ANTHROPIC,
        {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "x"}]},
    ),
    (Wire.ANTHROPIC, {"type": "container_upload", "file_id": "file_1"}),
]


@pytest.mark.parametrize(("wire", "part"), MEDIA, ids=[f"{wire}-{part['type']}" for wire, part in MEDIA])
def test_pictures_and_files_go_out_as_they_came(wire: Wire, part: Json) -> None:
    message: Json = {"role": "user", "content": [{"type": "text", "text": "See:"}, part]}
    body: Json = {"model": "m", "max_tokens": 9, "messages": [message]}

    found = _again(read_request(body, wire))

    assert _messages(found) == [message]
    assert problems(found, wire) == []
    accept(found, wire)
