"""The cases about the shape of requests, sent through the proxy by a client of each format.

The service behind it refuses what its provider would, and what `wire.validate` finds (U1 to U4); the same request twice
must be the same bytes (U7). Each is sent as it is, where what is valid may go out as it came, and once more with
something that must be marked, so that what goes out is assembled.
"""

import base64
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from callsheet.assemble.standins import NO_RESULT
from callsheet.policy.sets import policy_set
from callsheet.serve.proxy.settings import Handling
from callsheet.wire.names import Wire
from tests.cases import clients
from tests.cases.checks import CHECKS, Played, texts
from tests.cases.histories import HISTORIES, TOOLS, Json
from tests.cases.test_cases import HERE
from tests.serve.proxy.proxies import Running, running, settings
from tests.upstream import Called, Reply, Upstream

_SHAPES = re.compile(r"DEV-(0[1-9]|10|12|35|46|48)(-.*)?")
CASES = [case for case in HERE if _SHAPES.fullmatch(str(case["id"]))]
#: Those that look at a request alone, not at what is stored.
SEEN = {
    "pair", "pairs", "instruction", "last_user_text", "ends_on_result", "shows", "once", "results_in_call_order",
    "one_turn_of_results", "arguments_are_objects",
}  # fmt: skip

SECRET = "AKIA" + "IOSFODNN7" + "EXAMPLE"
MARKED: dict[Wire, Json] = {
    Wire.OPENAI: {"stop": [f"key {SECRET}"]},
    Wire.OPENAI_RESPONSES: {"metadata": {"note": f"key {SECRET}"}},
    Wire.ANTHROPIC: {"stop_sequences": [f"key {SECRET}"]},
    Wire.GEMINI: {"generationConfig": {"stopSequences": [f"key {SECRET}"]}},
}
"""A parameter that does not go out as it came: so neither does the request."""


@pytest.fixture(scope="module", params=["balanced", "replay"])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Upstream, Running]]:
    handling = Handling(policy=policy_set(request.param))
    with Upstream() as upstream:
        folder: Path = tmp_path_factory.mktemp("proxied")
        with running(settings(folder, upstream.url, handling=handling)) as proxy:
            yield upstream, proxy


marked = pytest.mark.parametrize("marked", [False, True], ids=["as it is", "assembled"])
each = pytest.mark.parametrize("wire", Wire)


def send(both: tuple[Upstream, Running], body: Json, wire: Wire) -> Json:
    """What the service gets for a request, which it must not refuse."""
    upstream, proxy = both
    with proxy.client() as client:
        found = client.post(clients.PATHS[wire], json=body, headers=clients.HEADERS[wire])
    received = upstream.received[-1]
    assert (found.status_code, received.refused) == (200, None), found.text
    json.dumps(received.body, ensure_ascii=False).encode("utf-8")  # U6
    return received.body


def seen(body: Json, wire: Wire) -> Played:
    """A request as the checks of cases look at one."""

    class Sheet:
        def __init__(self) -> None:
            self.wire = wire

        def request(self) -> Json:
            return body

        def messages(self) -> object:
            return next(body[key] for key in ("messages", "input", "contents") if key in body)

    provider = {Wire.OPENAI_RESPONSES: "openai-responses"}.get(wire, wire.value)
    nothing = cast("Any", None)
    sheet = cast("Any", Sheet())
    return Played(runtime=nothing, talk=nothing, provider=provider, policy="", tools=[], sheet=sheet)


def history_of(case: Json) -> list[clients.Json]:
    """Its messages, with a word of the user's behind what was cut off."""
    found = HISTORIES[str(case["made"])]() if "made" in case else case["history"]
    messages = [cast("clients.Json", message) for message in cast("list[object]", found)]
    plain = [message["choices"][0]["message"] if "choices" in message else message for message in messages]
    cut = plain[-1]["role"] == "assistant"
    return [*plain, {"role": "user", "content": "Go on."}] if cut else plain


@marked
@each
@pytest.mark.parametrize("case", CASES, ids=[str(case["id"]) for case in CASES])
def test_every_request_that_the_service_sees_is_one_that_it_takes(
    both: tuple[Upstream, Running], case: Json, wire: Wire, marked: bool
) -> None:
    history = history_of(case)
    tools = [cast("clients.Json", tool) for tool in TOOLS[str(case["tools"])]()] if "tools" in case else []
    more = MARKED[wire] if marked else {}
    body = send(both, clients.body(history, wire, tools) | more, wire)
    again = send(both, clients.body(history, wire, tools) | more, wire)
    assert _plain(again) == _plain(body)
    played = seen(body, wire)
    expected = cast("Json", case["expect"])
    for name in SEEN & expected.keys():
        CHECKS[name](played, expected[name])
    if "stand_in_for" in expected:
        CHECKS["pair"](played, {"call": expected["stand_in_for"], "result": NO_RESULT})
    # It goes on: with the answer, and another question.
    history += [{"role": "assistant", "content": "ok"}, {"role": "user", "content": "Is that all of it?"}]
    further = send(both, clients.body(history, wire, tools) | more, wire)
    CHECKS["last_user_text"](seen(further, wire), "Is that all of it?")


def _plain(body: Json) -> str:
    """A request without the digits of its markers, which are those of its conversation."""
    return re.sub(r"#[0-9a-f]{6}\]", "]", json.dumps(body))


# --------------------------------------------------------------------------- what one format alone has

RAW = bytes(random.Random(3).randrange(256) for _ in range(30_000))
PIXELS = base64.b64encode(b"\x89PNG\r\n\x1a\n" + RAW).decode()


def _picture(wire: Wire) -> Json:
    """A request in which a tool has returned a picture: DEV-12."""
    call = {"id": "shot1", "type": "function", "function": {"name": "shot", "arguments": "{}"}}
    history: list[clients.Json] = [
        {"role": "user", "content": "What does panel 6 show?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "shot1", "content": "screen of panel 6"},
    ]
    body = clients.body(history, wire)
    uri = f"data:image/png;base64,{PIXELS}"
    text = "screen of panel 6"
    match wire:
        case Wire.OPENAI:
            content = [{"type": "text", "text": text}, {"type": "image", "mimeType": "image/png", "data": PIXELS}]
            body["messages"][-1]["content"] = content
        case Wire.OPENAI_RESPONSES:
            parts = [{"type": "input_text", "text": text}, {"type": "input_image", "image_url": uri}]
            body["input"][-1]["output"] = parts
        case Wire.ANTHROPIC:
            source = {"type": "base64", "media_type": "image/png", "data": PIXELS}
            body["messages"][-1]["content"][0]["content"] = [
                {"type": "text", "text": text},
                {"type": "image", "source": source},
            ]
        case Wire.GEMINI:
            part = {"inlineData": {"mimeType": "image/png", "data": PIXELS}}
            body["contents"][-1]["parts"][0]["functionResponse"]["parts"] = [part]
    return body


_DATA = {"url", "image_url", "data", "thoughtSignature"}
"""Where the bytes of a picture stand, in each format."""


@marked
@each
def test_dev_12_a_picture_in_a_result_is_a_picture(both: tuple[Upstream, Running], wire: Wire, marked: bool) -> None:
    body = send(both, _picture(wire) | (MARKED[wire] if marked else {}), wire)
    words = list(texts(_without_pictures(body)))
    assert any("screen of panel 6" in text for text in words)
    assert not any(re.search(r"[A-Za-z0-9+/]{64}", text) for text in words)
    assert PIXELS in json.dumps(body)
    row = both[1].rows()[-1]
    assert int(str(row["assembled"])) < 5_000


def _without_pictures(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_pictures(item) for key, item in value.items() if key not in _DATA}
    return [_without_pictures(item) for item in value] if isinstance(value, list) else value


@marked
@each
def test_dev_05_06_07_what_the_model_sealed_stands_where_it_stood(
    both: tuple[Upstream, Running], wire: Wire, marked: bool
) -> None:
    """The service refuses thoughts that were changed, that are missing, or that stand by themselves."""
    upstream, _ = both
    thinks = {"thinking": {"type": "enabled", "budget_tokens": 1_024}} if wire is Wire.ANTHROPIC else {}
    sealed = {"store": False, "include": ["reasoning.encrypted_content"]} if wire is Wire.OPENAI_RESPONSES else {}
    more = thinks | sealed | (MARKED[wire] if marked else {})
    tools = [cast("clients.Json", tool) for tool in TOOLS["reserve_room"]()]
    body = clients.body([{"role": "user", "content": f"Is tank 2 safe to drain? {wire} {marked}"}], wire, tools) | more
    key = next(key for key in ("messages", "input", "contents") if key in body)
    calls = (Called("reserve_room", {"room_id": "2", "start": "", "end": ""}),)
    upstream.will(Reply(thinking="Need the gauge.\n\n ", calls=calls), Reply(thinking="Fine.\n ", text="Yes."))
    with both[1].client() as client:
        for _ in range(2):
            found = client.post(clients.PATHS[wire], json=body, headers=clients.HEADERS[wire])
            assert (found.status_code, upstream.received[-1].refused) == (200, None), found.text
            body = body | {key: [*body[key], *_answered(found.json(), wire)]}
        body[key].append(clients.body([{"role": "user", "content": "And tank 3?"}], wire)[key][0])
        found = client.post(clients.PATHS[wire], json=body, headers=clients.HEADERS[wire])
    assert (found.status_code, upstream.received[-1].refused) == (200, None), found.text
    sent = json.dumps(upstream.received[-1].body)
    for given in re.findall(r'"(?:signature|encrypted_content|thoughtSignature)": ?"([^"]+)"', json.dumps(body)):
        assert given in sent
    assert len({row["conversation"] for row in both[1].rows()[-3:]}) == 1


def _answered(response: Json, wire: Wire) -> list[Json]:
    """The turn of a response as its client keeps it, with the results of its calls."""
    match wire:
        case Wire.OPENAI:
            message = cast("Any", response)["choices"][0]["message"]
            calls = message.get("tool_calls") or []
            said = {key: value for key, value in message.items() if key in ("role", "content", "tool_calls")}
            return [said, *({"role": "tool", "tool_call_id": call["id"], "content": "0.4 bar"} for call in calls)]
        case Wire.OPENAI_RESPONSES:
            output = cast("list[Json]", response["output"])
            ids = [item["call_id"] for item in output if item["type"] == "function_call"]
            return [*output, *({"type": "function_call_output", "call_id": id, "output": "0.4 bar"} for id in ids)]
        case Wire.ANTHROPIC:
            content = cast("list[Json]", response["content"])
            ids = [block["id"] for block in content if block["type"] == "tool_use"]
            turn: Json = {"role": "assistant", "content": content}
            results = [{"type": "tool_result", "tool_use_id": id, "content": "0.4 bar"} for id in ids]
            return [turn, {"role": "user", "content": results}] if results else [turn]
        case Wire.GEMINI:
            content = cast("Any", response)["candidates"][0]["content"]
            made = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
            answers = [
                {"functionResponse": {"id": call.get("id"), "name": call["name"], "response": {"output": "0.4 bar"}}}
                for call in made
            ]
            return [content, {"role": "user", "parts": answers}] if answers else [content]


@marked
@each
def test_dev_35_the_beginning_of_a_request_is_that_of_the_one_before(
    both: tuple[Upstream, Running], wire: Wire, marked: bool
) -> None:
    upstream, proxy = both
    tools = [cast("clients.Json", tool) for tool in TOOLS["reserve_room"]()]
    system = {"role": "system", "content": f"You book rooms. {wire} {marked}"}
    begun = [system, {"role": "user", "content": f"Book a room. {wire} {marked}"}]
    body = clients.body(begun, wire, tools) | (MARKED[wire] if marked else {})
    key = next(key for key in ("messages", "input", "contents") if key in body)
    before: list[object] = []
    for turn in range(3):
        calls = (Called("reserve_room", {"room_id": str(turn), "start": "", "end": ""}),)
        upstream.will(Reply(calls=calls), Reply(text=f"Booked {turn}."))
        for _ in range(2):
            with proxy.client() as client:
                found = client.post(clients.PATHS[wire], json=body, headers=clients.HEADERS[wire])
            assert (found.status_code, upstream.received[-1].refused) == (200, None), found.text
            parts = [_unmarked(part) for part in _parts(upstream.received[-1].body)]
            assert parts[: len(before)] == before
            before = parts
            body[key] += _answered(found.json(), wire)
        body[key] += clients.body([{"role": "user", "content": f"And another, {turn}."}], wire)[key]


def _parts(body: Json) -> Iterator[object]:
    for key in ("tools", "system", "instructions", "systemInstruction", "messages", "input", "contents"):
        value = body.get(key)
        yield from value if isinstance(value, list) else [value] if value is not None else []


def _unmarked(value: object) -> object:
    """Without marks for the cache, and a text that is one part as the text itself: neither changes what is kept."""
    if isinstance(value, dict):
        found = {key: _unmarked(item) for key, item in value.items() if key != "cache_control"}
        content = found.get("content")
        if isinstance(content, list) and len(content) == 1 and content[0].keys() == {"type", "text"}:
            found["content"] = content[0]["text"]
        return found
    return [_unmarked(item) for item in value] if isinstance(value, list) else value
