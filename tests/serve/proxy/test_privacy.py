"""Keys and content stand in no log, no list and no error, whatever goes wrong."""

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from callsheet.serve.proxy.settings import Handling
from tests.serve.proxy.proxies import OPEN, Running, running, settings
from tests.serve.proxy.scripted import STREAM, Got, Provider, Says, chat, chat_stream, message

KEY = "sk-CANARYKEY-0123456789abcdef"
SAID = "CANARYTEXT the user said this"


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """All that any library logs, at every level."""
    into = io.StringIO()
    handler = logging.StreamHandler(into)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(1)
    yield into
    root.removeHandler(handler)
    root.setLevel(before)


def requests(client: httpx2.Client) -> Iterator[httpx2.Response]:
    """Requests of every kind, with a key and words in each."""
    messages = [{"role": "user", "content": SAID}]
    bearer = {"authorization": f"Bearer {KEY}"}
    chat_body = {"model": "gpt-4o", "messages": messages}
    yield client.post("/v1/chat/completions", json=chat_body, headers=bearer)
    yield client.post("/v1/chat/completions", json={**chat_body, "stream": True}, headers=bearer)
    yield client.post("/v1/chat/completions", json={"model": f"{KEY} {SAID}", "messages": messages}, headers=bearer)
    yield client.post("/v1/chat/completions", json={"model": KEY, "messages": messages}, headers=bearer)
    yield client.post("/v1/chat/completions", content=f'{{"{SAID}'.encode(), headers=bearer)
    yield client.post("/v1/chat/completions", json={"model": "gpt-4o", "messages": SAID}, headers=bearer)
    yield client.post("/v1/chat/completions", json={**chat_body, "tools": SAID}, headers=bearer)
    named = {**bearer, "x-callsheet-conversation": SAID, "x-callsheet-user": SAID}
    yield client.post("/v1/chat/completions", json=chat_body, headers=named)
    anthropic = {"x-api-key": KEY, "anthropic-version": "2023-06-01"}
    claude = {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": messages}
    yield client.post("/v1/messages", json=claude, headers=anthropic)
    yield client.post("/v1/messages/count_tokens", json=claude, headers=anthropic)
    yield client.get(f"/v1/models?key={KEY}")
    yield client.post("/v1/embeddings", json={"input": SAID}, headers=bearer)
    yield client.get(f"/v1/files/{KEY}", headers=bearer)
    yield client.get(f"/{KEY}/{KEY}", headers=bearer)


def prove(proxy: Running, logged: io.StringIO, *, told: bool = True) -> None:
    rows = json.dumps(proxy.rows())
    for canary in ("CANARYKEY", "CANARYTEXT"):
        assert canary not in logged.getvalue()
        assert canary not in rows
    assert ("request=" in logged.getvalue()) == told


def says(got: Got) -> Says:
    """An answer in the format of the question."""
    if b'"stream":true' in got.body.replace(b" ", b""):
        return Says(pieces=chat_stream(SAID), headers=STREAM)
    return message(SAID) if b"claude" in got.body else chat(SAID)


@pytest.mark.parametrize("policy", ["balanced", "replay"])
def test_nothing_is_told_when_all_goes_well(
    upstream: Provider, tmp_path: Path, logged: io.StringIO, policy: str
) -> None:
    upstream.script = says
    handling = Handling(policy=OPEN) if policy == "replay" else Handling()
    with running(settings(tmp_path, upstream.address, handling=handling)) as proxy, proxy.client() as client:
        assert {found.status_code for found in requests(client)} <= {200, 400}
    prove(proxy, logged)


@pytest.mark.parametrize(
    "said",
    [
        Says(pieces=[f'{{"error": {{"message": "{KEY} {SAID}"}}}}'.encode()], status=401),
        Says(pieces=[f"data: {SAID} {KEY}\n\n".encode()], headers=STREAM, breaks=True),
        Says(pieces=[f"{KEY}{SAID}".encode()], length=10_000, breaks=True),
        Says(pieces=[b"x"], headers=((f"x-{SAID[:10]}", f"{KEY}\x01"),)),
    ],
)
def test_nothing_is_told_when_the_provider_fails(
    upstream: Provider, tmp_path: Path, logged: io.StringIO, said: Says
) -> None:
    upstream.script = lambda got: said
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client() as client:
        asking = requests(client)
        while True:
            try:
                if next(asking, None) is None:
                    break
            except httpx2.RemoteProtocolError:
                asking = iter(())
    prove(proxy, logged)


@pytest.mark.parametrize(
    "place",
    [
        "callsheet.serve.proxy.recognising.Recogniser.place",
        "callsheet.serve.proxy.preparing.write_request",
        "callsheet.serve.proxy.asking.address_of",
        "callsheet.serve.proxy.answering.Answering.gathered",
        "callsheet.wire.streaming.Gatherer.feed",
        "callsheet.runtime.conversation.Conversation.record",
        "callsheet.serve.proxy.journal.Journal.begin",
        "callsheet.serve.proxy.journal.Journal.end",
        "callsheet.serve.proxy.routes.route",
    ],
)
def test_nothing_is_told_when_we_fail(
    upstream: Provider, tmp_path: Path, logged: io.StringIO, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def fails(*_: object, **__: object) -> object:
        raise RuntimeError(f"{KEY} {SAID}")

    monkeypatch.setattr(place, fails)
    upstream.script = says
    with running(settings(tmp_path, upstream.address)) as proxy, proxy.client() as client:
        try:
            for found in requests(client):
                assert found.status_code < 600
        except httpx2.RemoteProtocolError:
            pass
    prove(proxy, logged, told=place != "callsheet.serve.proxy.routes.route")
    assert "error=RuntimeError" in logged.getvalue()
