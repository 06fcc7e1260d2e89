"""Every malformed body on every route: the client gets an error as its provider makes them, with a reason."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from callsheet.serve.proxy.settings import Handling
from tests.serve.clients.sides import proxied
from tests.serve.proxy.proxies import OPEN

Body = dict[str, Any]

SECRET = "sk-very-secret-key"
PLACES: dict[str, tuple[str, str, dict[str, str]]] = {
    "chat": ("/v1/chat/completions", "openai", {"authorization": f"Bearer {SECRET}"}),
    "responses": ("/v1/responses", "openai", {"authorization": f"Bearer {SECRET}"}),
    "messages": ("/v1/messages", "anthropic", {"x-api-key": SECRET, "anthropic-version": "2023-06-01"}),
    "count": ("/v1/messages/count_tokens", "anthropic", {"x-api-key": SECRET, "anthropic-version": "2023-06-01"}),
    "gemini": ("/v1beta/models/gemini-2.5-flash:generateContent", "gemini", {"x-goog-api-key": SECRET}),
}
LISTS = {"chat": "messages", "responses": "input", "messages": "messages", "count": "messages"}


def whole(place: str, **more: object) -> Body:
    """A body with nothing wrong in it."""
    if place.startswith("gemini"):
        return {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], **more}
    given: Body = {"model": "m", LISTS[place]: [{"role": "user", "content": "Hi"}]}
    return given | ({"max_tokens": 9} if place == "messages" else {}) | more


def said(place: str, *values: object) -> Body:
    """A body with these messages."""
    name = LISTS.get(place, "contents")
    return whole(place, **{name: list(values)})


RAW: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"hello",
    "cut off": b'{"model": "m", "messages": [',
    "two values": b"{} {}",
    "a list": b"[]",
    "a text": b'"x"',
    "null": b"null",
    "a number": b"1",
    "no UTF-8": b'{"model": "\xff"}',
    "UTF-16": '{"model": "m"}'.encode("utf-16"),
    "deep": b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
    "deep lists": b"[" * 100_000,
    "no number": b'{"model": "m", "temperature": NaN}',
}

MADE: dict[str, Callable[[str], object]] = {
    "nothing in it": lambda place: {},
    "no messages": lambda place: whole(place, **{LISTS.get(place, "contents"): None}),
    "messages are a number": lambda place: whole(place, **{LISTS.get(place, "contents"): 7}),
    "messages are an object": lambda place: whole(place, **{LISTS.get(place, "contents"): {"a": 1}}),
    "no message": said,
    "a message is null": lambda place: said(place, None),
    "a message is a number": lambda place: said(place, 1),
    "a message is a list": lambda place: said(place, []),
    "an empty message": lambda place: said(place, {}),
    "a role is a number": lambda place: said(place, {"role": 1, "content": "x", "parts": [{"text": "x"}]}),
    "a strange role": lambda place: said(place, {"role": "alien", "content": "x", "parts": [{"text": "x"}]}),
    "content is a number": lambda place: said(place, {"role": "user", "content": 1, "parts": 1}),
    "content is an object": lambda place: said(place, {"role": "user", "content": {}, "parts": {}}),
    "a part is null": lambda place: said(place, {"role": "user", "content": [None], "parts": [None]}),
    "a part is a number": lambda place: said(place, {"role": "user", "content": [1], "parts": [1]}),
    "a part of no type": lambda place: said(place, {"role": "user", "content": [{}], "parts": [{}]}),
    "text is a number": lambda place: said(
        place, {"role": "user", "content": [{"type": "text", "text": 1}], "parts": [{"text": 1}]}
    ),
    "calls are a text": lambda place: said(
        place, {"role": "assistant", "content": None, "tool_calls": "x", "parts": [{"functionCall": "x"}]}
    ),
    "a call of nothing": lambda place: said(
        place,
        {"role": "assistant", "content": [{"type": "tool_use"}], "tool_calls": [{}], "parts": [{"functionCall": {}}]},
    ),
    "a result of nothing": lambda place: said(
        place, {"role": "tool", "content": "x", "parts": [{"functionResponse": {}}]}
    ),
    "a result without its call": lambda place: said(
        place,
        {"role": "user", "content": "Hi", "parts": [{"text": "Hi"}]},
        {"role": "tool", "tool_call_id": "x", "content": "x", "parts": [{"functionResponse": {"name": "f"}}]},
    ),
    "an item of no kind": lambda place: said(place, {"type": "marvel"}),
    "a model is a number": lambda place: whole(place, model=1),
    "a model is null": lambda place: whole(place, model=None),
    "a long model": lambda place: whole(place, model="m" * 100_000),
    "a model with lines": lambda place: whole(place, model="m\r\nx-evil: 1\n{}\x00"),
    "tools are an object": lambda place: whole(place, tools={"a": 1}),
    "a tool is null": lambda place: whole(place, tools=[None]),
    "a tool without a name": lambda place: whole(place, tools=[{"type": "function", "function": {}}]),
    "a choice is a number": lambda place: whole(place, tool_choice=1, toolConfig=1),
    "a choice of nothing": lambda place: whole(place, tool_choice={}, toolConfig={"functionCallingConfig": 1}),
    "stream is a text": lambda place: whole(place, stream="yes"),
    "a system prompt is a number": lambda place: whole(place, system=1, instructions=1, systemInstruction=1),
    "a limit is a text": lambda place: whole(place, max_tokens="x", max_output_tokens="x", generationConfig="x"),
    "a limit below nothing": lambda place: whole(
        place, max_tokens=-1, max_output_tokens=-1, generationConfig={"maxOutputTokens": -1}
    ),
    "a previous response is a number": lambda place: whole(place, previous_response_id=1, thread=1),
    "a thread of nothing": lambda place: whole(place, conversation={}, thread={"type": "continue"}),
    "a great number": lambda place: whole(place, seed=10**400),
    "half a character": lambda place: said(place, {"role": "user", "content": "\ud800", "parts": [{"text": "\ud800"}]}),
}


_PROVIDERS_OWN = {"a call of nothing", "a tool without a name", "a great number", "half a character"}
"""What the provider is the judge of: here it takes some of them."""

_MENDED = {"a result of nothing", "a result without its call"}
"""What may stand in histories of agents that were interrupted: it goes out as a request that the provider takes."""


_COUNTED = {
    "calls are a text",
    "a long model",
    "a model with lines",
    "a limit is a text",
    "a limit below nothing",
    "a thread of nothing",
}
"""What does not change the count of a request, which is answered here."""


def shaped(kind: str, status: int, content: bytes) -> str:
    """The reason in an error of a provider; raises what is wrong with its shape."""
    found = json.loads(content)
    error = found["error"]
    if kind == "anthropic":
        assert found["type"] == "error"
        assert error["type"]
    elif kind == "gemini":
        assert error["code"] == status
        assert error["status"]
    else:
        assert error["type"]
        assert "param" in error
        assert "code" in error
    message = error["message"]
    assert isinstance(message, str)
    return message


@pytest.fixture(scope="module", params=["balanced", "open"])
def side(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[httpx2.Client, bool]]:
    """A client of a proxy under the default policy set, and of one where everything may pass; whether it is that."""
    handling = Handling(policy=OPEN) if request.param == "open" else Handling()
    with proxied(tmp_path_factory.mktemp("malformed"), handling=handling) as (_, proxy), proxy.client() as made:
        yield made, request.param == "open"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("wrong", [*RAW, *MADE])
def test_every_malformed_body_gets_an_error_of_its_provider(
    side: tuple[httpx2.Client, bool], caplog: pytest.LogCaptureFixture, place: str, wrong: str
) -> None:
    client, open = side
    target, kind, headers = PLACES[place]
    content = RAW[wrong] if wrong in RAW else json.dumps(MADE[wrong](place)).encode()
    with caplog.at_level("DEBUG"):
        found = client.post(target, content=content, headers={"content-type": "application/json", **headers})
    assert found.status_code == 200 or 400 <= found.status_code < 500, found.content
    if found.status_code >= 400:
        assert len(shaped(kind, found.status_code, found.content)) > 5
    else:
        right = _PROVIDERS_OWN | _MENDED | (_COUNTED if place == "count" else set()) | (MADE.keys() if open else set())
        assert wrong in right, "what is no request was let through"
    assert SECRET not in caplog.text
    assert SECRET not in found.text


def test_it_goes_on_serving(side: tuple[httpx2.Client, bool]) -> None:
    for place, (target, _, headers) in PLACES.items():
        found = side[0].post(target, json=whole(place), headers=headers)
        assert found.status_code == 200, found.content
