"""What the proxy must stand on real sockets: slow loris, bombs, half-closed connections, broken framing."""

import gzip
import json
import select
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import pytest

import callsheet
from callsheet.serve.proxy.settings import Limits
from tests.serve.proxy.proxies import running, settings
from tests.serve.proxy.scripted import STREAM, Provider, Says, chat, chat_stream, sse
from tests.serve.proxy.test_proxy import KEY, asked
from tests.serve.proxy.test_trouble import CHAT, connect, head

BODY = json.dumps(asked("Hi")).encode()
COUNT = "/v1/messages/count_tokens"


def dripped(client: socket.socket, content: bytes) -> bytes:
    """What comes back when bytes are sent one by one until something does; they are sent again and again."""
    for at in range(2_000):
        try:
            client.sendall(bytes([content[at % len(content)]]))
            if select.select([client], [], [], 0.01)[0]:
                return client.recv(1_000)
        except ConnectionError:
            return b""
    raise AssertionError("it waits for ever")


# --------------------------------------------------------------------------- slow loris


def test_a_head_that_comes_by_single_bytes_is_not_waited_for(upstream: Provider, tmp_path: Path) -> None:
    limits = Limits(head_seconds=0.3, shutdown_seconds=2)
    with running(settings(tmp_path, upstream.address, limits=limits)) as proxy, connect(proxy) as client:
        client.sendall(b"POST / HTTP/1.1\r\n")
        assert dripped(client, b"x-more: and more\r\n") == b""
    assert upstream.got == []


def test_a_second_head_is_not_waited_for_longer_than_the_first(upstream: Provider, tmp_path: Path) -> None:
    # Long enough for a busy machine to read the first one.
    limits = Limits(head_seconds=2, shutdown_seconds=2)
    with running(settings(tmp_path, upstream.address, limits=limits)) as proxy, connect(proxy) as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n")
        first = b""
        while not first.endswith(b'{"status":"ok"}'):  # Its head and its body may come apart.
            first += client.recv(1_000)
        assert first.startswith(b"HTTP/1.1 200 ")
        client.sendall(b"POST / HTTP/1.1\r\n")
        assert dripped(client, b"x-more: and more\r\n") == b""


@pytest.mark.parametrize("target", [CHAT, "/v1/files"])
def test_a_body_that_comes_by_single_bytes_is_not_waited_for(upstream: Provider, tmp_path: Path, target: str) -> None:
    # Long enough for a busy machine to send a body that comes.
    limits = Limits(body_seconds=2, shutdown_seconds=2)
    with running(settings(tmp_path, upstream.address, limits=limits)) as proxy, connect(proxy) as client:
        client.sendall(head(10_000_000).replace(CHAT.encode(), target.encode()))
        assert dripped(client, b"x").startswith(b"HTTP/1.1 408 ")
        with proxy.client(headers=KEY) as other:
            upstream.script = lambda got: chat("Hello")
            assert other.post(CHAT, json=asked("Hi")).status_code == 200


def test_a_body_that_comes_slowly_but_comes_is_waited_for(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: chat("Hello")
    # Longer in all than is waited for a body that does not come, so that a pause of a busy machine is no fault.
    limits = Limits(body_seconds=2, shutdown_seconds=2)
    content = json.dumps(asked("Hi " * 50_000)).encode()
    with running(settings(tmp_path, upstream.address, limits=limits)) as proxy, connect(proxy) as client:
        client.sendall(head(len(content)))
        for at in range(0, len(content), 5_000):
            client.sendall(content[at : at + 5_000])
            assert not select.select([client], [], [], 0.08)[0] or at + 5_000 >= len(content)
        assert client.recv(1_000).startswith(b"HTTP/1.1 200 ")


# --------------------------------------------------------------------------- bombs

_PACKERS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "deflate": zlib.compress}
_PACKERS["gzip, gzip"] = lambda content: gzip.compress(gzip.compress(content))


@pytest.mark.parametrize("packing", _PACKERS)
@pytest.mark.parametrize("target", [CHAT, COUNT])
def test_a_body_that_unpacks_to_too_much_is_refused(
    upstream: Provider, tmp_path: Path, packing: str, target: str
) -> None:
    bomb = _PACKERS[packing](b" " * 50_000_000 + BODY)
    made = settings(tmp_path, upstream.address, limits=Limits(body=100_000, shutdown_seconds=2))
    assert len(bomb) < 100_000
    with running(made) as proxy, proxy.client(headers=KEY) as client:
        found = client.post(target, content=bomb, headers={"content-encoding": packing})
        assert (found.status_code, bool(found.json()["error"]["message"])) == (413, True)
        upstream.script = lambda got: chat("Hello")
        assert client.post(CHAT, json=asked("Hi")).status_code == 200
    assert len(upstream.got) == 1


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_an_answer_that_unpacks_to_too_much_passes_as_it_came(
    upstream: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr("callsheet.serve.proxy.answering.LARGEST", 100_000)
    bomb = gzip.compress(b" " * 50_000_000 + b"{}")
    headers = (("content-type", kind), ("content-encoding", "gzip"))
    upstream.script = lambda got: Says(pieces=[bomb], headers=headers)
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client(headers=KEY) as client:
        with client.stream("POST", CHAT, json=asked("Hi")) as answer:
            assert b"".join(answer.iter_raw()) == bomb
        seen = client.get("/callsheet/status").json()
    assert seen["errors"] == {}


# --------------------------------------------------------------------------- half-closed connections


@pytest.mark.parametrize(
    "sent",
    [b"", b"POST /v1/chat", head(100), head(100) + b'{"model"'],
    ids=["nothing", "half a head", "a head", "half a body"],
)
def test_a_client_that_closes_its_half_before_its_request_is_whole(
    upstream: Provider, tmp_path: Path, sent: bytes
) -> None:
    with running(settings(tmp_path, upstream.address)) as proxy, connect(proxy) as client:
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        assert client.recv(1_000) == b""
        with proxy.client(headers=KEY) as other:
            upstream.script = lambda got: chat("Hello")
            assert other.post(CHAT, json=asked("Hi")).status_code == 200
    # Where its head had come, it is a request that was left.
    assert [row["outcome"] for row in proxy.rows()][-1] == "answered"
    assert len(upstream.got) == 1


def test_a_client_that_closes_its_half_while_the_provider_thinks_is_gone(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: Says(pieces=[b"{}"], first=threading.Event())
    with running(settings(tmp_path, upstream.address)) as proxy, connect(proxy) as client:
        client.sendall(head(len(BODY)) + BODY)
        assert upstream.asked.wait(30)
        client.shutdown(socket.SHUT_WR)
        assert upstream.left_one.wait(30)
    assert [(row["outcome"], row["status"]) for row in proxy.rows()] == [("cut_off", 499)]


# --------------------------------------------------------------------------- providers that speak no HTTP

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
_CHUNKED = _HEAD + b"transfer-encoding: chunked\r\n\r\n"
_SAID = b"".join(chat_stream("Hello", " there")[:2])


@contextmanager
def says(content: bytes) -> Iterator[str]:
    """A provider that says these bytes to whatever it is asked, and closes; its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def run() -> None:
            while True:
                try:
                    made, _ = server.accept()
                except OSError:
                    return
                with made:
                    got = b""
                    while b"\r\n\r\n" not in got:
                        got += made.recv(65_536)
                    size = int(got.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                    while len(got.partition(b"\r\n\r\n")[2]) < size:
                        got += made.recv(65_536)
                    made.sendall(content)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.mark.parametrize(
    "content",
    [b"", b"HTTP/1.1 200", b"SSH-2.0-OpenSSH_9.6\r\n\r\n", _HEAD, b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n"],
    ids=["nothing", "half a line", "another protocol", "half a head", "a length that is none"],
)
def test_a_provider_that_breaks_off_before_its_answer_begins(tmp_path: Path, content: bytes) -> None:
    with says(content) as address, running(settings(tmp_path, address)) as proxy, proxy.client(headers=KEY) as client:
        found = client.post(CHAT, content=BODY)
    assert (found.status_code, bool(found.json()["error"]["message"])) == (502, True)
    assert [row["outcome"] for row in proxy.rows()] == ["unreached"]


def _chunk(content: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(content), content)


@pytest.mark.parametrize(
    "content",
    [
        _CHUNKED + _chunk(_SAID) + b"zz\r\n",
        _CHUNKED + _chunk(_SAID) + b"ffff\r\ndata: {",
        _CHUNKED + _chunk(_SAID),
        _HEAD + b"content-length: 9999\r\n\r\n" + _SAID,
        _HEAD + b"\r\n" + _SAID,
    ],
    ids=["a size that is none", "half a chunk", "no last chunk", "less than its length", "no length"],
)
def test_a_stream_whose_framing_breaks_is_passed_on_as_far_as_it_came_and_recorded(
    tmp_path: Path, content: bytes
) -> None:
    with says(content) as address:
        made = settings(tmp_path, address)
        with running(made) as proxy, proxy.client(headers=KEY) as client:
            found = b""
            with suppress(httpx2.RemoteProtocolError), client.stream("POST", CHAT, json=asked("Hi")) as answer:
                for piece in answer.iter_raw():
                    found += piece
            seen = client.get("/callsheet/status").json()
    assert found.startswith(_SAID)
    assert seen["errors"] == {}
    assert [row["outcome"] for row in proxy.rows()] == ["broken"]
    assert _recorded(made.database) == ["Hi", "Hello"]


def test_a_stream_that_breaks_inside_a_character_keeps_what_came_before_it(upstream: Provider, tmp_path: Path) -> None:
    (event,) = sse({"choices": [{"index": 0, "delta": {"content": "x"}}]})
    cut = event[: event.index(b'"x"')] + '"é'.encode()[:-1]
    upstream.script = lambda got: Says(pieces=[_SAID, cut], headers=STREAM, breaks=True)
    made = settings(tmp_path, upstream.address)
    with running(made) as proxy, proxy.client(headers=KEY) as client:
        found = client.post(CHAT, json=asked("Hi", stream=True))
    assert found.content.startswith(_SAID + cut)
    assert _recorded(made.database) == ["Hi", "Hello"]


def _recorded(database: str) -> list[str]:
    with callsheet.open(database) as runtime:
        (name,) = runtime.conversations()
        talk = runtime.existing(name)
        return [str(item.text) for item in talk.transcript(talk.branch_id) if hasattr(item, "text")]
