"""One client's large requests do not take the proxy from the others."""

import json
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.serve.proxy.bodies import decoded
from callsheet.serve.proxy.crowding import LARGE
from callsheet.serve.proxy.orders import Order
from callsheet.serve.proxy.prepared import Prepared
from callsheet.serve.proxy.preparing import Preparing
from callsheet.serve.proxy.settings import Handling, Limits
from callsheet.serve.proxy.turned import Turned
from tests.serve.proxy.proxies import OPEN, running, settings
from tests.serve.proxy.scripted import Provider, chat
from tests.serve.proxy.test_proxy import asked

PATH = "/v1/chat/completions"
TURN = {"role": "user", "content": "Hi"}
MANY: dict[str, tuple[str, Callable[[int], dict[str, object]]]] = {
    "chat": (PATH, lambda n: {"model": "gpt-4o", "messages": [TURN] * n}),
    "responses": ("/v1/responses", lambda n: {"model": "gpt-4o", "input": [TURN] * n}),
    "messages": ("/v1/messages", lambda n: {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [TURN] * n}),
    "gemini": ("/v1beta/models/gemini-2.5-flash:generateContent", lambda n: {"contents": [{"parts": []}] * n}),
}


@pytest.mark.parametrize(("path", "body"), MANY.values(), ids=MANY)
def test_a_request_of_too_many_messages_is_refused_but_where_all_passes(
    upstream: Provider, tmp_path: Path, path: str, body: Callable[[int], dict[str, object]]
) -> None:
    limits = Limits(messages=3, shutdown_seconds=2)
    with running(settings(tmp_path, upstream.address, limits=limits)) as proxy, proxy.client() as client:
        refused = client.post(path, json=body(4))
        assert client.post(path, json=body(3)).status_code != 413
    assert refused.status_code == 413
    assert "4 messages; 3 are taken" in refused.text
    assert "limits.messages" in refused.text
    sent = len(upstream.got)
    for handling in (Handling(observe_only=True), Handling(policy=OPEN)):
        made = settings(tmp_path, upstream.address, limits=limits, handling=handling)
        with running(made) as proxy, proxy.client() as client:
            assert client.post(path, json=body(4)).status_code == 200
        assert proxy.rows()[-1]["sent"] == "unassembled"
    assert [json.loads(got.body) for got in upstream.got[sent:]] == [body(4)] * 2


VALUES = b'{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}],"metadata":{"list":[%b]}}'


@pytest.mark.parametrize("value", [b"[]", b"{}", b"0", b'""', b'{"a":[1,2]}', b"[" * 99 + b"]" * 99])
def test_a_body_of_more_values_than_may_be_is_not_decoded(value: bytes) -> None:
    with pytest.raises(Turned) as turned:
        decoded(VALUES % b",".join([value] * 1_001), 1_000)
    assert turned.value.status == 413
    assert "more than 1,000 values" in turned.value.message


@pytest.mark.parametrize(
    "text", ["[],{}," * 1_000, '\\",[' * 1_000, "[" * 5_000, '"' * 2_001 + ",[", "\\" * 4_001 + ",{"], ids=str.__len__
)
def test_what_stands_in_texts_are_no_values(text: str) -> None:
    found = decoded(json.dumps({"a": text, "b": [text, {"c": text}]}).encode(), 1_000)
    assert found == {"a": text, "b": [text, {"c": text}]}


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_as_many_values_as_may_be_are_decoded(value: object) -> None:
    content = json.dumps(value, indent=1).encode()
    signs = _values(value)
    assert decoded(content, signs) == value
    if len(content) > signs - 1 and signs > 1:
        with pytest.raises(Turned):
            decoded(content, signs - 2)


def _values(value: object) -> int:
    """The value with all in it; an object or list that is empty counts once more, for what it could hold."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max(1, sum(map(_values, inner)))
    return 1


@pytest.mark.parametrize("observe", [False, True])
def test_such_a_body_is_refused_but_where_all_passes(upstream: Provider, tmp_path: Path, observe: bool) -> None:
    body = VALUES % b",".join([b"[]"] * 600_000)
    made = settings(tmp_path, upstream.address, handling=Handling(observe_only=observe))
    with running(made) as proxy, proxy.client() as client:
        found = client.post(PATH, content=body, headers={"content-type": "application/json"})
    assert found.status_code == (200 if observe else 413)
    assert [got.body for got in upstream.got] == ([body] if observe else [])


def test_large_requests_leave_a_thread_and_are_not_begun_once_their_clients_left(
    upstream: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream.script = lambda got: chat("Hello")
    prepare, begun, go = Preparing.prepare, threading.Semaphore(0), threading.Event()
    scopes: list[str] = []

    def waits(self: Preparing, order: Order, body: object) -> Prepared:
        if len(str(body)) > LARGE:
            scopes.append(order.scope)
            begun.release()
            go.wait(60)
            return Prepared(sent=prepare(self, order, asked("Hi")).sent, content=None)
        return prepare(self, order, body)

    monkeypatch.setattr(Preparing, "prepare", waits)
    large = json.dumps(asked("a" * LARGE)).encode()

    def post(client: httpx2.Client, key: str, content: bytes) -> int:
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        return client.post(PATH, content=content, headers=headers).status_code

    with (
        running(settings(tmp_path, upstream.address)) as proxy,
        proxy.client() as client,
        ThreadPoolExecutor(1) as pool,
    ):
        try:
            first = pool.submit(post, client, "a", large)
            assert begun.acquire(timeout=30)
            head = f"POST {PATH} HTTP/1.1\r\nhost: h\r\nauthorization: Bearer b\r\ncontent-length: {len(large)}\r\n\r\n"
            with socket.create_connection(("127.0.0.1", proxy.port)) as second:
                second.sendall(head.encode() + large)
                while client.get("/callsheet/status").json()["open"] < 2:
                    pass
                assert post(client, "c", json.dumps(asked("Hi")).encode()) == 200
            left = any(client.get("/callsheet/status").json()["open"] == 1 for _ in range(1_000))
        finally:
            go.set()
        assert first.result() == 200
    assert left
    assert len(scopes) == 1
    assert len(upstream.got) == 2
