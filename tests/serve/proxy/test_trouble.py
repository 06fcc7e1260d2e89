"""Clients and providers that do not behave: each gets an answer that it understands, and nothing is lost."""

import json
import socket
import threading
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

import callsheet
from callsheet.serve.proxy.settings import Handling, Limits, Timeouts, Upstream
from tests.serve.proxy.proxies import OPEN, Running, running, settings
from tests.serve.proxy.scripted import STREAM, Provider, Says, chat, chat_stream
from tests.serve.proxy.test_proxy import KEY, asked

CHAT = "/v1/chat/completions"
SHAPES = {
    "openai": (CHAT, KEY),
    "anthropic": ("/v1/messages", {"x-api-key": "k"}),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "wrong",
    [
        (b"{", {}, 400),
        (b"", {}, 400),
        (b"[1]", {}, 400),
        (b"\xff\xfe", {}, 400),
        (b'{"model": NaN}', {}, 400),
        (b"[" * 5_000 + b"]" * 5_000, {}, 400),
        (b'{"a":' * 300 + b"1" + b"}" * 300, {}, 400),
        (b"{}", {"content-encoding": "gzip"}, 400),
        (b"{}", {"content-encoding": "br"}, 415),
        (b"x" * 20_001, {}, 413),
    ],
)
def test_a_malformed_body_gets_the_providers_own_error(
    upstream: Provider, tmp_path: Path, shape: str, wrong: tuple[bytes, dict[str, str], int]
) -> None:
    content, headers, status = wrong
    target, key = SHAPES[shape]
    made = settings(tmp_path, upstream.address, limits=Limits(body=20_000, shutdown_seconds=2))
    with running(made) as proxy, proxy.client(headers=key) as client:
        found = client.post(target, content=content, headers=headers)
        counts = client.get("/callsheet/status").json()["requests"]
    assert found.status_code == status
    assert counts[f"outcome.{'limited' if status == 413 else 'invalid'}"] == 1
    assert found.headers["content-type"] == "application/json"
    assert found.json()["error"]["message"]
    assert upstream.got == []


def test_a_body_that_grows_too_large_is_cut_off(upstream: Provider, tmp_path: Path) -> None:
    made = settings(tmp_path, upstream.address, limits=Limits(body=20_000, shutdown_seconds=2))
    with running(made) as proxy, proxy.client(headers=KEY) as client:
        found = client.post(CHAT, content=iter([b"x" * 10_000] * 3))
        assert found.status_code == 413
        passed = client.post("/v1/files", content=iter([b"x" * 10_000] * 3))
        assert passed.status_code == 413


# --------------------------------------------------------------------------- slow and rude clients


def connect(proxy: Running) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", proxy.port), timeout=30)
    made.settimeout(30)
    return made


def head(size: int) -> bytes:
    return f"POST {CHAT} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer k\r\ncontent-length: {size}\r\n\r\n".encode()


def test_a_head_that_does_not_come_is_not_waited_for(upstream: Provider, tmp_path: Path) -> None:
    made = settings(tmp_path, upstream.address, limits=Limits(head_seconds=0.2, shutdown_seconds=2))
    with running(made) as proxy:
        for begun in (b"", b"POST /v1/chat/completions HTTP/1.1\r\nhost:"):
            with connect(proxy) as client, suppress(ConnectionResetError):  # It may be closed before that is sent.
                client.sendall(begun)
                assert client.recv(1_000) == b""


def test_a_body_that_does_not_come_is_not_waited_for(upstream: Provider, tmp_path: Path) -> None:
    made = settings(tmp_path, upstream.address, limits=Limits(body_seconds=0.2, shutdown_seconds=2))
    with running(made) as proxy, connect(proxy) as client:
        client.sendall(head(100) + b"{")
        assert client.recv(1_000).startswith(b"HTTP/1.1 408 ")


def test_a_client_that_leaves_before_its_body_is_over(upstream: Provider, tmp_path: Path) -> None:
    with running(settings(tmp_path, upstream.address)) as proxy:
        with connect(proxy) as client:
            client.sendall(head(100) + b"{")
        with proxy.client(headers=KEY) as other:
            upstream.script = lambda got: chat("Hello")
            assert other.post(CHAT, json=asked("Hi")).status_code == 200
    assert len(upstream.got) == 1


@pytest.mark.parametrize("leaves", ["close", "half"])
def test_a_client_that_leaves_in_the_middle_ends_the_request_to_the_provider(
    upstream: Provider, tmp_path: Path, leaves: str
) -> None:
    never = threading.Event()
    upstream.script = lambda got: Says(pieces=chat_stream("Hel", "lo"), headers=STREAM, rest=never)
    body = json.dumps(asked("Hi", stream=True)).encode()
    made = settings(tmp_path, upstream.address)
    with running(made) as proxy:
        with connect(proxy) as client:
            client.sendall(head(len(body)) + body)
            assert client.recv(10)
            if leaves == "half":
                client.shutdown(socket.SHUT_WR)
                assert upstream.left_one.wait(30)
        assert upstream.left_one.wait(30)
    assert [row["outcome"] for row in proxy.rows()] == ["cut_off"]


def test_what_came_until_a_client_left_is_recorded(upstream: Provider, tmp_path: Path) -> None:
    never = threading.Event()
    pieces = chat_stream("Hel", "lo", " there")
    upstream.script = lambda got: Says(pieces=[b"".join(pieces[:3]), *pieces[3:]], headers=STREAM, rest=never)
    made = settings(tmp_path, upstream.address)
    with running(made) as proxy, proxy.client(headers=KEY) as client:
        with client.stream("POST", CHAT, json=asked("Hi", stream=True)) as answer:
            next(answer.iter_raw())
        assert upstream.left_one.wait(30)
    with callsheet.open(made.database) as runtime:
        (name,) = runtime.conversations()
        talk = runtime.existing(name)
        assert [item.text for item in talk.transcript(talk.branch_id) if hasattr(item, "text")] == ["Hi", "Hello"]


def test_a_client_that_takes_nothing_slows_its_provider_and_is_left_in_the_end(
    upstream: Provider, tmp_path: Path
) -> None:
    piece = b": " + b"x" * 100_000 + b"\n\n"
    upstream.script = lambda got: Says(pieces=[piece] * 1_000, headers=STREAM)
    body = json.dumps(asked("Hi", stream=True)).encode()
    limits = Limits(stalled_seconds=0.5, shutdown_seconds=2)
    with running(settings(tmp_path, upstream.address, limits=limits)) as proxy, connect(proxy) as client:
        client.sendall(head(len(body)) + body)
        assert upstream.left_one.wait(30), "100 MB were taken for a client that takes nothing"
    assert [row["outcome"] for row in proxy.rows()] == ["cut_off"]


def test_more_requests_at_once_than_allowed_are_told_to_wait(upstream: Provider, tmp_path: Path) -> None:
    go = threading.Event()
    upstream.script = lambda got: Says(pieces=chat("Hello").pieces, first=go)
    made = settings(tmp_path, upstream.address, limits=Limits(streams=1, shutdown_seconds=2))
    with running(made) as proxy, proxy.client(headers=KEY) as client:
        found: list[httpx2.Response] = []
        one = threading.Thread(target=lambda: found.append(client.post(CHAT, json=asked("Hi"))))
        one.start()
        assert upstream.asked.wait(30)
        refused = client.post(CHAT, json=asked("Hi"))
        go.set()
        one.join()
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert refused.json()["error"]["message"]
    assert found[0].status_code == 200


# --------------------------------------------------------------------------- providers in trouble


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503, 529])
def test_an_error_of_the_provider_comes_back_as_it_was(upstream: Provider, tmp_path: Path, status: int) -> None:
    said = b'{"error": {"message": "theirs", "type": "t"}}'
    headers = (("content-type", "application/json"), ("retry-after", "17"), ("x-ratelimit-remaining", "0"))
    upstream.script = lambda got: Says(pieces=[said], status=status, headers=headers)
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        found = client.post(CHAT, json=asked("Hi"))
        upstream.script = lambda got: chat("Hello")
        again = client.post(CHAT, json=asked("Hi"))
    assert (found.status_code, found.content) == (status, said)
    assert (found.headers["retry-after"], found.headers["x-ratelimit-remaining"]) == ("17", "0")
    assert again.headers["x-callsheet-conversation"] == found.headers["x-callsheet-conversation"]
    assert [(row["outcome"], row["status"]) for row in proxy.rows()] == [("refused", status), ("answered", 200)]


@pytest.mark.parametrize("shape", SHAPES)
def test_an_upstream_that_is_not_there(upstream: Provider, tmp_path: Path, shape: str) -> None:
    target, key = SHAPES[shape]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    body = {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    with running(settings(tmp_path, f"http://127.0.0.1:{port}")) as proxy, proxy.client(headers=key) as client:
        found = client.post(target, json=body)
        passed = client.get("/v1/models")
    assert found.status_code == passed.status_code == 502
    assert "could not be reached" in found.json()["error"]["message"]
    assert [row["outcome"] for row in proxy.rows()] == ["unreached", "unreached"]


def test_an_upstream_that_does_not_answer_in_time(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: Says(pieces=[b"{}"], first=threading.Event())
    made = settings(tmp_path, upstream.address, timeouts=Timeouts(connect=0.2, answer=0.2))
    with running(made) as proxy, proxy.client(headers=KEY) as client:
        found = client.post(CHAT, json=asked("Hi"))
    assert found.status_code == 504
    assert found.json()["error"]["message"]


def test_an_upstream_that_falls_silent_in_its_stream(upstream: Provider, tmp_path: Path) -> None:
    pieces = chat_stream("Hel", "lo")
    upstream.script = lambda got: Says(pieces=pieces, headers=STREAM, rest=threading.Event())
    # Long enough for a busy machine to pass the first piece on.
    made = settings(tmp_path, upstream.address, timeouts=Timeouts(silence=2))
    with running(made) as proxy, proxy.client(headers=KEY) as client:
        found = client.post(CHAT, json=asked("Hi", stream=True))
    assert found.content.startswith(pieces[0])
    last = json.loads(found.content.decode().rsplit("data: ", 1)[1])
    assert "nothing came for too long" in last["error"]["message"]
    assert [row["outcome"] for row in proxy.rows()] == ["broken"]


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_stream_that_breaks(upstream: Provider, tmp_path: Path, at: int) -> None:
    pieces = chat_stream("Hel", "lo")[:at]
    upstream.script = lambda got: Says(pieces=pieces, headers=STREAM, breaks=True)
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        found = client.post(CHAT, json=asked("Hi", stream=True))
        upstream.script = lambda got: chat("Hello")
        assert client.post(CHAT, json=asked("Hi")).status_code == 200
    assert b"connection broke" in found.content
    assert [row["outcome"] for row in proxy.rows()] == ["broken", "answered"]


def test_a_stream_that_breaks_behind_the_end_of_the_answer_is_an_answer(upstream: Provider, tmp_path: Path) -> None:
    pieces = chat_stream("Hel", "lo")[:4]
    upstream.script = lambda got: Says(pieces=pieces, headers=STREAM, breaks=True)
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        found = client.post(CHAT, json=asked("Hi", stream=True))
    assert found.content == b"".join(pieces)
    assert [row["outcome"] for row in proxy.rows()] == ["answered"]


def test_a_connection_that_stays_open_behind_the_end_is_not_waited_for(
    upstream: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = chat_stream("Hel", "lo")
    said = Says(pieces=[b"".join(pieces), b": more\n\n"], headers=STREAM, rest=threading.Event())
    upstream.script = lambda got: said
    monkeypatch.setattr("callsheet.serve.proxy.answering.LINGER", 0.1)
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        found = client.post(CHAT, json=asked("Hi", stream=True))
    assert found.content == b"".join(pieces)
    assert [row["outcome"] for row in proxy.rows()] == ["answered"]


def test_a_stream_that_ends_too_early_is_passed_on_as_it_is(upstream: Provider, tmp_path: Path) -> None:
    pieces = chat_stream("Hel", "lo")[:2]
    upstream.script = lambda got: Says(pieces=pieces, headers=STREAM)
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        found = client.post(CHAT, json=asked("Hi", stream=True))
    assert found.content == b"".join(pieces)
    assert [row["outcome"] for row in proxy.rows()] == ["broken"]


@pytest.mark.parametrize(
    "garbage", [b"data: {not json\n\n", b"\xff\xfe\xfd\n\n", b"event: x\ndata\n\n", b"data: 7\n\n"]
)
def test_broken_events_pass_and_the_rest_is_recorded(upstream: Provider, tmp_path: Path, garbage: bytes) -> None:
    pieces = chat_stream("Hel", "lo")
    pieces.insert(2, garbage)
    upstream.script = lambda got: Says(pieces=pieces, headers=STREAM)
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        found = client.post(CHAT, json=asked("Hi", stream=True))
        upstream.script = lambda got: chat("Fine")
        again = client.post(CHAT, json=asked("Hi", "Hello", "More"))
    assert found.content == b"".join(pieces)
    assert again.headers["x-callsheet-conversation"] == found.headers["x-callsheet-conversation"]


def test_an_answer_that_is_cut_short_is_left_unfinished(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: Says(pieces=[b'{"half": '], length=1_000, breaks=True)
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        for target in (CHAT, "/v1/files"):
            with pytest.raises(httpx2.RemoteProtocolError):
                client.post(target, json=asked("Hi"))
    assert [row["outcome"] for row in proxy.rows()] == ["broken", "broken"]


def test_redirects_are_not_followed_and_cookies_not_kept(upstream: Provider, tmp_path: Path) -> None:
    headers = (("location", "http://elsewhere.example/"), ("set-cookie", "session=1; Path=/"))
    upstream.script = lambda got: Says(pieces=[b"go"], status=307, headers=headers)
    with running(settings(tmp_path, upstream.address)) as proxy:
        with proxy.client(headers=KEY) as client:
            found = client.get("/v1/models")
        with proxy.client(headers={"authorization": "Bearer other"}) as client:
            client.get("/v1/models")
    assert (found.status_code, found.headers["location"]) == (307, "http://elsewhere.example/")
    assert [got.header("cookie") for got in upstream.got] == [None, None]


# --------------------------------------------------------------------------- ourselves in trouble


class _Fails:
    """A recogniser that is broken."""

    def place(self, *_: object, **__: object) -> object:
        raise RuntimeError("CANARY: what a bug says may hold content")


@pytest.mark.parametrize(("policy", "status"), [("replay", 200), ("balanced", 503)])
def test_where_we_fail_the_request_passes_only_if_nothing_could_be_kept_back(
    upstream: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str, status: int
) -> None:
    monkeypatch.setattr("callsheet.serve.proxy.recognising.Recogniser.place", _Fails.place)
    upstream.script = lambda got: chat("Hello")
    handling = Handling(policy=OPEN) if policy == "replay" else Handling()
    body = json.dumps(asked("Hi"), indent=3).encode()
    with running(settings(tmp_path, upstream.address, handling=handling)) as proxy, proxy.client(headers=KEY) as client:
        found = client.post(CHAT, content=body)
        seen = client.get("/callsheet/status").json()
    assert found.status_code == status
    assert "CANARY" not in found.text
    assert [got.body for got in upstream.got] == ([body] if status == 200 else [])
    assert seen["errors"] == {"prepare:RuntimeError": 1}
    assert [row["outcome"] for row in proxy.rows()] == ["answered" if status == 200 else "failed"]


def test_an_answer_that_cannot_be_recorded_still_comes(
    upstream: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("callsheet.runtime.conversation.Conversation.record", _Fails.place)
    upstream.script = lambda got: chat("Hello")
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        found = client.post(CHAT, json=asked("Hi"))
        seen = client.get("/callsheet/status").json()
    assert found.content == chat("Hello").pieces[0]
    assert seen["errors"] == {"record:RuntimeError": 1}
    assert [(row["outcome"], row["output"]) for row in proxy.rows()] == [("answered", 5)]


@pytest.mark.parametrize("streamed", [False, True])
def test_an_answer_that_is_too_long_to_be_put_together_passes_all_the_same(
    upstream: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, streamed: bool
) -> None:
    monkeypatch.setattr("callsheet.serve.proxy.answering.LARGEST", 500)
    pieces = chat_stream(*["Hello"] * 20) if streamed else list(chat("Hello " * 200).pieces)
    kind = STREAM if streamed else (("content-type", "application/json"),)
    upstream.script = lambda got: Says(pieces=pieces, headers=kind)
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        found = client.post(CHAT, json=asked("Hi", stream=streamed))
    assert found.content == b"".join(pieces)
    assert [row["outcome"] for row in proxy.rows()] == ["answered"]


def test_pages_of_browsers_may_not_spend_the_operators_key(upstream: Provider, tmp_path: Path) -> None:
    keyed = settings(tmp_path, upstream.address)
    one = keyed.upstreams[0]
    own = Upstream(name="own", format=one.format, address=one.address, provider="openai", fill={"authorization": "OWN"})
    upstream.script = lambda got: chat("Hello")
    made = settings(tmp_path, upstream.address, upstreams=(own,))
    with running(made, {"OWN": "Bearer sk-own"}) as proxy, proxy.client() as client:
        for name, value in (("origin", "https://evil.example"), ("host", "evil.example:8377"), ("host", "[")):
            assert client.post(CHAT, json=asked("Hi"), headers={name: value}).status_code == 403
        assert client.post(CHAT, json=asked("Hi")).status_code == 200
    assert [got.header("authorization") for got in upstream.got] == ["Bearer sk-own"]
