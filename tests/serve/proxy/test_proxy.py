"""What goes through the proxy: clients get what providers say, byte for byte, and it is recorded beside."""

import gzip
import json
import threading
from pathlib import Path

import pytest

import callsheet
from callsheet.serve.proxy.settings import Handling
from tests.serve.proxy.proxies import OPEN, running, settings
from tests.serve.proxy.scripted import STREAM, Provider, Says, chat, chat_stream, message, sse

KEY = {"authorization": "Bearer sk-test"}


def asked(*said: str, stream: bool = False, **more: object) -> dict[str, object]:
    """A request of Chat Completions: the user and the model by turns."""
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(said)]
    return {"model": "gpt-4o", "messages": messages, "temperature": 0.5, "stream": stream, **more}


def test_an_answer_comes_back_as_it_was_and_the_conversation_goes_on(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: chat("Hello there")
    made = settings(tmp_path, upstream.address)
    with running(made) as proxy, proxy.client(headers=KEY) as client:
        first = client.post("/v1/chat/completions", json=asked("Hi"))
        second = client.post("/v1/chat/completions", json=asked("Hi", "Hello there", "And now?"))
    assert first.content == chat("Hello there").pieces[0]
    assert first.headers["x-callsheet-conversation"] == second.headers["x-callsheet-conversation"]
    assert upstream.got[1].json["messages"] == asked("Hi", "Hello there", "And now?")["messages"]
    assert upstream.got[1].json["temperature"] == 0.5
    assert upstream.got[0].header("authorization") == "Bearer sk-test"
    with callsheet.open(made.database) as runtime:
        (name,) = runtime.conversations()
        talk = runtime.existing(name)
        said = [item.text for item in talk.transcript(talk.branch_id) if hasattr(item, "text")]
        assert said == ["Hi", "Hello there", "And now?", "Hello there"]
        assert talk.counters().tokens_in == 40


@pytest.mark.parametrize("name", [None, "my talk", "grün"])
def test_what_an_answer_calls_its_conversation_names_it_in_a_request(
    upstream: Provider, tmp_path: Path, name: str | None
) -> None:
    upstream.script = lambda got: chat("Hello there")
    named = {} if name is None else {b"x-callsheet-conversation": name.encode("latin-1")}
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        first = client.post("/v1/chat/completions", json=asked("Hi"), headers=named)
        again = {b"x-callsheet-conversation": first.headers["x-callsheet-conversation"].encode("latin-1")}
        second = client.post("/v1/chat/completions", json=asked("Something else"), headers=again)
    assert first.status_code == second.status_code == 200
    assert len({row["conversation"] for row in proxy.rows()}) == 1
    assert upstream.got[1].header("x-callsheet-conversation") is None
    # What answers call it is also what the list and the log call it, and what it is found by.
    (id,) = {one.headers["x-callsheet-conversation"] for one in (first, second)}
    assert id == proxy.rows()[0]["conversation"]
    with callsheet.open(proxy.settings.database) as runtime:
        assert name is None or runtime.existing(id).name.endswith(f"/{name}")


def test_two_keys_never_share_a_conversation(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: chat("Hello there")
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client() as client:
        names = set()
        for key in ("sk-1", "sk-2"):
            headers = {"authorization": f"Bearer {key}"}
            for body in (asked("Hi"), asked("Hi", "Hello there", "More")):
                found = client.post("/v1/chat/completions", json=body, headers=headers)
                names.add(found.headers["x-callsheet-conversation"])
    assert len(names) == 2


def test_a_stream_passes_as_it_comes_and_byte_for_byte(upstream: Provider, tmp_path: Path) -> None:
    pieces = [b": keep alive\n\n", *chat_stream("Hel", "lo")]
    rest = threading.Event()
    upstream.script = lambda got: Says(pieces=pieces, headers=STREAM, rest=rest)
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        with client.stream("POST", "/v1/chat/completions", json=asked("Hi", stream=True)) as answer:
            came = answer.iter_raw()
            # The provider waits with the rest until the client has the first piece.
            assert next(came) == pieces[0]
            rest.set()
            assert b"".join(came) == b"".join(pieces[1:])
            assert answer.headers["x-request-id"] == "req_1"
        again = client.post("/v1/chat/completions", json=asked("Hi", "Hello", "More"))
        assert again.headers["x-callsheet-conversation"] == answer.headers["x-callsheet-conversation"]


@pytest.mark.parametrize("streamed", [False, True])
def test_what_is_packed_on_the_way_stays_packed_and_is_read_beside(
    upstream: Provider, tmp_path: Path, streamed: bool
) -> None:
    plain = b"".join(chat_stream("Hello")) if streamed else chat("Hello").pieces[0]
    packed = gzip.compress(plain)
    kind = "text/event-stream" if streamed else "application/json"
    headers = (("content-type", kind), ("content-encoding", "gzip"))
    upstream.script = lambda got: Says(pieces=[packed[:40], packed[40:]], headers=headers)
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        first = client.post("/v1/chat/completions", json=asked("Hi", stream=streamed))
        second = client.post("/v1/chat/completions", json=asked("Hi", "Hello", "More"))
    assert first.content == plain
    assert upstream.got[0].header("accept-encoding") == "identity"
    assert first.headers["x-callsheet-conversation"] == second.headers["x-callsheet-conversation"]


@pytest.mark.parametrize("way", ["chunked", "gzip"])
def test_bodies_of_clients_come_in_any_form(upstream: Provider, tmp_path: Path, way: str) -> None:
    upstream.script = lambda got: chat("Hello")
    body = json.dumps(asked("Hi")).encode()
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        if way == "chunked":
            found = client.post("/v1/chat/completions", content=iter([body[:10], body[10:]]))
        else:
            packed = gzip.compress(body)
            found = client.post("/v1/chat/completions", content=packed, headers={"content-encoding": "gzip"})
    assert found.status_code == 200
    got = upstream.got[0]
    content = gzip.decompress(got.body) if got.header("content-encoding") == "gzip" else got.body
    assert json.loads(content)["messages"] == [{"role": "user", "content": "Hi"}]


def test_anthropic(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: message("Hello")
    body = {"model": "claude-haiku-4-5", "max_tokens": 100, "messages": [{"role": "user", "content": "Hi"}]}
    headers = {"x-api-key": "sk-ant", "anthropic-version": "2023-06-01", "anthropic-beta": "some-beta"}
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=headers) as client:
        first = client.post("/v1/messages", json=body)
        goes_on = [*body["messages"], {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "More"}]  # type: ignore[misc]
        second = client.post("/v1/messages", json={**body, "messages": goes_on})
    assert first.content == message("Hello").pieces[0]
    assert first.headers["x-callsheet-conversation"] == second.headers["x-callsheet-conversation"]
    assert upstream.got[0].header("anthropic-beta") == "some-beta"
    assert upstream.got[0].target == "/v1/messages"


@pytest.mark.parametrize(
    ("method", "target", "headers"),
    [
        ("GET", "/v1/models", KEY),
        ("GET", "/v1/models?limit=3", {"x-api-key": "k", "anthropic-version": "2023-06-01"}),
        ("GET", "/v1/responses/resp_1", KEY),
        ("GET", "/v1/responses/resp_1/input_items?limit=2", KEY),
        ("POST", "/v1/responses/resp_1/cancel", KEY),
        ("DELETE", "/v1/responses/resp_1", KEY),
        ("POST", "/v1/embeddings", KEY),
        ("GET", "/v1beta/models?key=k", {}),
        ("PATCH", "/v1/what%2Fever/%E2%82%AC?a=%20b&a=c", KEY),
    ],
)
def test_everything_else_passes_through_untouched(
    upstream: Provider, tmp_path: Path, method: str, target: str, headers: dict[str, str]
) -> None:
    said = Says(pieces=[b"\x00any", b"thing"], status=207, headers=(("content-type", "x/y"), ("x-own", "1")))
    upstream.script = lambda got: said
    content = b'{"not": json' if method in ("POST", "PATCH") else b""
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=headers) as client:
        found = client.request(method, target, content=content)
    assert (found.status_code, found.content, found.headers["x-own"]) == (207, b"\x00anything", "1")
    (got,) = upstream.got
    assert (got.method, got.target, got.body) == (method, target, content)
    assert [row["sent"] for row in proxy.rows()] == ["passed"]


def test_an_upstream_is_chosen_by_its_name_in_the_address(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: chat("Hello")
    with running(settings(tmp_path, f"{upstream.address}/v1")) as proxy, proxy.client(headers=KEY) as client:
        client.post("/openai/v1/chat/completions", json=asked("Hi"))
        client.get("/openai/models")
    assert [got.target for got in upstream.got] == ["/v1/chat/completions", "/v1/models"]


def test_observe_only_changes_nothing_and_reports(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: chat("fine " * 50, prompt=1_000)
    made = settings(tmp_path, upstream.address, handling=Handling(observe_only=True))
    said: list[str] = ["Begin"]
    with running(made) as proxy, proxy.client(headers=KEY) as client:
        for turn in range(14):
            body = json.dumps(asked(*said), indent=1).encode()
            found = client.post("/v1/chat/completions", content=body)
            assert upstream.got[-1].body == body
            said += ["fine " * 50, f"question {turn} " + "of many words " * 60]
    asked_tokens, sent_tokens = map(int, found.headers["x-callsheet-tokens"].split("/"))
    assert asked_tokens == sent_tokens
    rows = proxy.rows()
    assert {row["sent"] for row in rows} == {"own"}
    assert rows[-1]["assembled"] < rows[-1]["asked"]  # type: ignore[operator]
    assert rows[-1]["how"] == "continued"


def test_a_long_history_is_sent_smaller(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: chat("fine " * 50)
    said: list[str] = ["Begin"]
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        for turn in range(14):
            client.post("/v1/chat/completions", json=asked(*said))
            said += ["fine " * 50, f"question {turn} " + "of many words " * 60]
    assert len(upstream.got[-1].body) < len(json.dumps(asked(*said[:-2])))
    assert upstream.got[-1].json["messages"][-1]["content"] == said[-3]  # type: ignore[index]


def test_what_cannot_be_read_goes_as_it_came_where_nothing_may_be_kept_back(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: Says(pieces=[b'{"error": "theirs"}'], status=400)
    body = b'{"model": "gpt-4o", "messages": "what is this"}'
    made = settings(tmp_path, upstream.address, handling=Handling(policy=OPEN))
    with running(made) as proxy, proxy.client(headers=KEY) as client:
        found = client.post("/v1/chat/completions", content=body)
    assert (found.status_code, found.content) == (400, b'{"error": "theirs"}')
    assert upstream.got[0].body == body
    assert [row["sent"] for row in proxy.rows()] == ["unassembled"]


def test_what_cannot_be_read_is_refused_where_something_may_be_kept_back(upstream: Provider, tmp_path: Path) -> None:
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        found = client.post("/v1/chat/completions", content=b'{"model": "gpt-4o", "messages": "what is this"}')
    assert found.status_code == 400
    assert "messages" in found.json()["error"]["message"]
    assert upstream.got == []


def test_a_secret_never_goes_out_where_the_policy_set_keeps_it(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: chat("Hello")
    secret = "AKIA" + "IOSFODNN7" + "EXAMPLE"
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        found = client.post("/v1/chat/completions", json=asked(f"My key is {secret}, keep it"))
    assert found.status_code == 200
    assert secret.encode() not in upstream.got[0].body


def test_counts_are_given_here_where_content_may_not_go_out_unseen(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: Says(pieces=[b'{"input_tokens": 7}'])
    body = {"model": "claude-haiku-4-5", "messages": [{"role": "user", "content": "Hi"}]}
    headers = {"x-api-key": "sk-ant", "anthropic-version": "2023-06-01"}
    with running(settings(tmp_path / "a", upstream.address)) as proxy, proxy.client(headers=headers) as client:
        here = client.post("/v1/messages/count_tokens", json=body)
    assert here.json()["input_tokens"] > 0
    assert upstream.got == []
    open_one = settings(tmp_path / "b", upstream.address, handling=Handling(policy=OPEN))
    with running(open_one) as proxy, proxy.client(headers=headers) as client:
        there = client.post("/v1/messages/count_tokens", json=body)
    assert there.json() == {"input_tokens": 7}
    with callsheet.open(open_one.database) as runtime:
        assert runtime.conversations() == []


def test_the_proxy_tells_how_it_is(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: chat("Hello")
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        client.post("/v1/chat/completions", json=asked("Hi"))
        assert client.get("/healthz").json() == {"status": "ok"}
        found = client.get("/callsheet/status").json()
        assert found["requests"]["outcome.answered"] == 1
        for host in ("evil.example", "[", "evil.example:8377"):
            assert client.get("/callsheet/status", headers={"host": host}).status_code == 403
        for host in ("localhost:8377", "127.0.0.1", "[::1]:80"):
            assert client.get("/callsheet/status", headers={"host": host}).status_code == 200
        assert client.get("/callsheet/status", headers={"x-forwarded-for": "1.2.3.4"}).status_code == 403


def test_an_operator_has_a_token(upstream: Provider, tmp_path: Path) -> None:
    made = settings(tmp_path, upstream.address, operator="TOKEN")
    with running(made, {"TOKEN": "open sesame"}) as proxy, proxy.client() as client:
        assert client.get("/callsheet/status").status_code == 403
        assert client.get("/callsheet/status", headers={"authorization": "Bearer no"}).status_code == 403
        assert client.get("/callsheet/status", headers={"authorization": "Bearer open sesame"}).status_code == 200


def test_errors_inside_a_stream_are_no_answers(upstream: Provider, tmp_path: Path) -> None:
    pieces = sse({"error": {"message": "overloaded", "type": "server_error"}})
    upstream.script = lambda got: Says(pieces=pieces, headers=STREAM)
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        found = client.post("/v1/chat/completions", json=asked("Hi", stream=True))
    assert found.content == b"".join(pieces)
    assert [row["outcome"] for row in proxy.rows()] == ["refused"]
