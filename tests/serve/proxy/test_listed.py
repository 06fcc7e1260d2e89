"""Gemini's stream as one JSON list, for clients that do not ask for events."""

import json
import threading
from pathlib import Path

import httpx2
import pytest

import callsheet
from callsheet.serve.proxy.settings import Settings
from tests.serve.proxy.proxies import Running, running, settings
from tests.serve.proxy.scripted import Provider, Says

STREAM = "/v1beta/models/gemini-2.5-flash:streamGenerateContent"
KEY = {"x-goog-api-key": "k"}
ASKED = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}


def element(text: str, finish: str | None = None) -> bytes:
    ended = {"finishReason": finish} if finish else {}
    candidate = {"index": 0, "content": {"role": "model", "parts": [{"text": text}]}, **ended}
    return json.dumps({"candidates": [candidate], "responseId": "r-1", "modelVersion": "gemini-2.5-flash"}).encode()


WHOLE = b"[" + b",\r\n".join([element("Hel"), element("lo "), element("there", "STOP")]) + b"]"
FIRST, SECOND = WHOLE.index(b",\r\n"), WHOLE.index(b",\r\n", WHOLE.index(b"lo "))


def said(made: Settings) -> list[str]:
    with callsheet.open(made.database) as runtime:
        (name,) = runtime.conversations()
        talk = runtime.existing(name)
        return [str(item.text) for item in talk.transcript(talk.branch_id) if hasattr(item, "text")]


def received(proxy: Running) -> tuple[bytes, bool]:
    """What a client gets, and whether it came to its end."""
    found = b""
    with proxy.client(headers=KEY) as client, client.stream("POST", STREAM, json=ASKED) as answer:
        try:
            for piece in answer.iter_raw():
                found += piece
        except httpx2.RemoteProtocolError:
            return found, False
    return found, True


@pytest.mark.parametrize("size", [1, 7, 100, len(WHOLE)])
def test_a_list_passes_byte_for_byte_and_is_recorded(upstream: Provider, tmp_path: Path, size: int) -> None:
    upstream.script = lambda got: Says(pieces=[WHOLE[at : at + size] for at in range(0, len(WHOLE), size)])
    made = settings(tmp_path, upstream.address)
    with running(made) as proxy:
        assert received(proxy) == (WHOLE, True)
    assert [row["outcome"] for row in proxy.rows()] == ["answered"]
    assert said(made) == ["Hi", "Hello there"]


def test_a_list_passes_as_it_comes(upstream: Provider, tmp_path: Path) -> None:
    go = threading.Event()
    first = WHOLE[: FIRST + 3]
    upstream.script = lambda got: Says(pieces=[first, WHOLE[len(first) :]], rest=go)
    with (
        running(settings(tmp_path, upstream.address)) as proxy,
        proxy.client(headers=KEY) as client,
        client.stream("POST", STREAM, json=ASKED) as answer,
    ):
        pieces = answer.iter_raw()
        assert next(pieces) == first
        go.set()
        assert first + b"".join(pieces) == WHOLE


@pytest.mark.parametrize(
    ("end", "recorded"),
    [
        (1, ["Hi"]),
        (FIRST - 5, ["Hi"]),
        (FIRST, ["Hi", "Hel"]),
        (FIRST + 20, ["Hi", "Hel"]),
        (SECOND, ["Hi", "Hello "]),
        (len(WHOLE) - 1, ["Hi", "Hello there"]),
    ],
)
def test_a_list_that_breaks_off_is_passed_on_as_far_as_it_came_and_recorded(
    upstream: Provider, tmp_path: Path, end: int, recorded: list[str]
) -> None:
    upstream.script = lambda got: Says(pieces=[WHOLE[:end]], breaks=True)
    made = settings(tmp_path, upstream.address)
    with running(made) as proxy:
        assert received(proxy) == (WHOLE[:end], False)
    assert [row["outcome"] for row in proxy.rows()] == ["broken"]
    assert said(made) == recorded


def test_a_list_that_ends_too_early_is_passed_on_as_it_is(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: Says(pieces=[WHOLE[:SECOND] + b"]"])
    made = settings(tmp_path, upstream.address)
    with running(made) as proxy:
        assert received(proxy) == (WHOLE[:SECOND] + b"]", True)
    assert [row["outcome"] for row in proxy.rows()] == ["broken"]
    assert said(made) == ["Hi", "Hello "]


def test_what_came_of_a_list_until_its_client_left_is_recorded(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: Says(pieces=[WHOLE[:SECOND], WHOLE[SECOND:]], rest=threading.Event())
    made = settings(tmp_path, upstream.address)
    with running(made) as proxy, proxy.client(headers=KEY) as client:
        with client.stream("POST", STREAM, json=ASKED) as answer:
            next(answer.iter_raw())
        assert upstream.left_one.wait(30)
    assert [row["outcome"] for row in proxy.rows()] == ["cut_off"]
    assert said(made) == ["Hi", "Hello "]


def test_an_error_in_a_list_is_no_answer(upstream: Provider, tmp_path: Path) -> None:
    error = b'[{"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}]'
    upstream.script = lambda got: Says(pieces=[error])
    made = settings(tmp_path, upstream.address)
    with running(made) as proxy:
        assert received(proxy) == (error, True)
    assert [row["outcome"] for row in proxy.rows()] == ["refused"]
    assert said(made) == ["Hi"]
