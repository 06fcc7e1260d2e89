"""Odd ends of answers: a last line without its end, and a good status over what is no answer."""

import json
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from tests.serve.proxy.proxies import Running, read_events, running, settings
from tests.serve.proxy.scripted import STREAM, Got, Provider, Says, chat, sse
from tests.serve.proxy.test_proxy import asked

Json = dict[str, object]

_CHUNK: Json = {"id": "chatcmpl-9", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}
_FUNCTION: Json = {"name": "recall", "arguments": '{"query": "row 7"}'}
_RECALL: Json = {"index": 0, "id": "r1", "type": "function", "function": _FUNCTION}
TURNS = 4


def _delta(delta: Json, finish: str | None = None) -> Json:
    return {**_CHUNK, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _stream(*deltas: Json) -> list[bytes]:
    usage = {**_CHUNK, "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}}
    return sse(_delta({"role": "assistant", "content": ""}), *deltas, usage, "[DONE]")


CALLS = _stream(_delta({"tool_calls": [_RECALL]}), _delta({}, "tool_calls"))
SAYS = _stream(_delta({"content": "It is 7."}), _delta({}, "stop"))


def _calls() -> Says:
    message = {"role": "assistant", "content": None, "tool_calls": [{**_RECALL, "index": 0}]}
    body = json.loads(chat("").pieces[0])
    body["choices"] = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
    return Says(pieces=[json.dumps(body).encode()])


def _ask(proxy: Running, upstream: Provider, *answers: Says, streamed: bool) -> httpx2.Response:
    """The answer to a request that offers the recall tool, to which the provider says these."""
    messages: list[Json] = []
    for turn in range(TURNS):
        rows = [{"n": n, "text": f"row {n} of result {turn}: {n * 7_919 % 1_000}"} for n in range(600)]
        call = {"id": f"c{turn}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        messages += [
            {"role": "user", "content": f"question {turn}: what of it?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{turn}", "content": json.dumps(rows)},
            {"role": "assistant", "content": "I have seen it."},
        ]
    messages.append({"role": "user", "content": "what did the first one say in row 7?"})
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    more = {"stream": True, "stream_options": {"include_usage": True}} if streamed else {}
    said = iter(answers)
    upstream.script = lambda _: next(said)
    with proxy.client(headers={"authorization": "Bearer k"}) as client:
        body = {"model": "gpt-4o", "messages": messages, "tools": tools, **more}
        found = client.post("/v1/chat/completions", json=body)
    assert b'"recall"' in upstream.got[0].body, "it is not offered"
    assert len(upstream.got) == len(answers)
    return found


@pytest.mark.parametrize("cut", [0, 1, 2])
@pytest.mark.parametrize("rounds", [0, 1])
def test_a_last_line_without_its_end_is_the_last_event(
    upstream: Provider, tmp_path: Path, cut: int, rounds: int
) -> None:
    def ends(pieces: list[bytes]) -> Says:
        content = b"".join(pieces)
        return Says(pieces=[content[: len(content) - cut]], headers=STREAM)

    with running(settings(tmp_path, upstream.address)) as proxy:
        found = _ask(proxy, upstream, *[ends(CALLS)] * rounds, ends(SAYS), streamed=True)
    *events, last = read_events(found.content)
    assert last == "[DONE]"
    data = [json.loads(event) for event in events]
    choices = [choice for event in data for choice in event["choices"]]
    assert "".join(choice["delta"].get("content") or "" for choice in choices) == "It is 7."
    assert [choice["finish_reason"] for choice in choices if choice["finish_reason"]] == ["stop"]
    assert data[-1]["usage"]["completion_tokens"] == 2 * (rounds + 1)
    assert [row["outcome"] for row in proxy.rows()] == ["answered"]


def test_what_a_stream_ends_inside_of_goes_behind_the_end(upstream: Provider, tmp_path: Path) -> None:
    says = Says(pieces=[*SAYS, b'data: {"half'], headers=STREAM)
    with running(settings(tmp_path, upstream.address)) as proxy:
        found = _ask(proxy, upstream, says, streamed=True)
    assert found.content == b"".join(says.pieces)


# --------------------------------------------------------------------------- no answer

HTML = (("content-type", "text/html"),)
OVERLOADED = b'{"error": {"message": "overloaded", "type": "server_error"}}'
NONE: dict[str, tuple[Callable[[], Says], str]] = {
    "error": (lambda: Says(pieces=[OVERLOADED]), "refused"),
    "page": (lambda: Says(pieces=[b"<html>oops</html>"], headers=HTML), "refused"),
    "null": (lambda: Says(pieces=[b"null"]), "refused"),
    "nothing": (lambda: Says(pieces=[], length=0), "refused"),
    "empty": (lambda: Says(pieces=[b"{}"]), "refused"),
    "half": (lambda: Says(pieces=[b'{"id": "x", "choices": [{"index": 0, "mess']), "broken"),
}
each = pytest.mark.parametrize(("says", "outcome"), NONE.values(), ids=NONE)


@each
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_no_answer_behind_a_round_is_an_error(
    upstream: Provider, tmp_path: Path, says: Callable[[], Says], outcome: str, *, streamed: bool
) -> None:
    first = Says(pieces=CALLS, headers=STREAM) if streamed else _calls()
    with running(settings(tmp_path, upstream.address)) as proxy:
        found = _ask(proxy, upstream, first, says(), streamed=streamed)
    error = json.loads(read_events(found.content)[-1] if streamed else found.content)["error"]
    wanted = "overloaded" if says().pieces == [OVERLOADED] else "in place of an answer"
    assert wanted in error["message"]
    assert found.status_code == (200 if streamed else 502)
    assert [(row["outcome"], row["status"]) for row in proxy.rows()] == [(outcome, 502)]


@each
def test_no_answer_is_passed_on_and_noted_as_none(
    upstream: Provider, tmp_path: Path, says: Callable[[], Says], outcome: str
) -> None:
    def script(_: Got) -> Says:
        return says()

    upstream.script = script
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client() as client:
        found = client.post("/v1/chat/completions", json=asked("Hi"))
    assert (found.status_code, found.content) == (200, b"".join(says().pieces))
    (row,) = proxy.rows()
    assert row["outcome"] == outcome
    assert (row["cost"] is None) == (outcome == "refused")
