"""Stopping: what is being answered comes to its end, or is recorded as far as it came; and begins anew where it was."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import httpx2
import pytest

import callsheet
from callsheet.serve.proxy.settings import Limits
from tests.serve.proxy.proxies import running, settings
from tests.serve.proxy.scripted import STREAM, Provider, Says, chat, chat_stream
from tests.serve.proxy.test_proxy import KEY, asked

CHAT = "/v1/chat/completions"


def test_a_stream_may_come_to_its_end(upstream: Provider, tmp_path: Path) -> None:
    rest = threading.Event()
    pieces = chat_stream("Hel", "lo")
    upstream.script = lambda got: Says(pieces=pieces, headers=STREAM, rest=rest)
    made = settings(tmp_path, upstream.address, limits=Limits(shutdown_seconds=30))
    with running(made) as proxy, proxy.client(headers=KEY) as client:
        with client.stream("POST", CHAT, json=asked("Hi", stream=True)) as answer:
            came = answer.iter_raw()
            first = next(came)
            proxy.server.should_exit = True
            rest.set()
            assert first + b"".join(came) == b"".join(pieces)
        proxy.stop()
    assert [row["outcome"] for row in proxy.rows()] == ["answered"]


def test_a_stream_that_takes_too_long_is_recorded_as_far_as_it_came(upstream: Provider, tmp_path: Path) -> None:
    pieces = chat_stream("Hel", "lo")
    said = Says(pieces=[b"".join(pieces[:3]), *pieces[3:]], headers=STREAM, rest=threading.Event())
    upstream.script = lambda got: said
    made = settings(tmp_path, upstream.address, limits=Limits(shutdown_seconds=1))
    body = asked("Hi", stream=True)
    with running(made) as proxy, proxy.client(headers=KEY) as client, client.stream("POST", CHAT, json=body) as answer:
        next(answer.iter_raw())
        proxy.stop()
    assert [row["outcome"] for row in proxy.rows()] == ["cut_off"]
    with callsheet.open(made.database) as runtime:
        talk = runtime.existing(runtime.conversations()[0])
        assert [item.text for item in talk.transcript(talk.branch_id) if hasattr(item, "text")] == ["Hi", "Hello"]


def test_a_conversation_goes_on_after_a_restart(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: chat("Hello")
    made = settings(tmp_path, upstream.address)
    said: list[str] = []
    names = set()
    for turn in range(3):
        said.append(f"question {turn}")
        with running(made) as proxy, proxy.client(headers=KEY) as client:
            names.add(client.post(CHAT, json=asked(*said)).headers["x-callsheet-conversation"])
        said.append("Hello")
    assert len(names) == 1


def test_what_a_killed_proxy_had_answered_is_known_to_the_next(upstream: Provider, tmp_path: Path) -> None:
    upstream.script = lambda got: chat("Hello")
    (tmp_path / "proxy.yaml").write_text(
        f"listen: 127.0.0.1:{free()}\nupstreams:\n  - {{name: a, format: openai, address: '{upstream.address}'}}\n"
    )
    names = set()
    said = ["Hi"]
    for _ in range(3):
        process, base = begin(tmp_path)
        try:
            found = httpx2.post(f"{base}{CHAT}", json=asked(*said), headers=KEY, trust_env=False, timeout=30)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert process.stderr is not None
            process.stderr.close()
        names.add(found.headers["x-callsheet-conversation"])
        said += ["Hello", "More"]
    assert len(names) == 1
    assert len(upstream.got) == 3


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_peace(upstream: Provider, tmp_path: Path, end: signal.Signals) -> None:
    (tmp_path / "proxy.yaml").write_text(
        f"listen: 127.0.0.1:{free()}\nupstreams:\n  - {{name: a, format: openai, address: '{upstream.address}'}}\n"
    )
    process, base = begin(tmp_path)
    process.send_signal(end)
    assert process.stderr is not None
    told = process.stderr.read()
    assert "Traceback" not in told
    assert f"stopped={base.strip()}\n" in told
    assert process.wait(30) in (0, 130, -end)
    process.stderr.close()


def test_a_port_that_is_taken_is_an_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, "-m", "callsheet", "serve", "--listen", listen],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "cannot listen" in done.stderr


def free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


def begin(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """A proxy in a process of its own, once it listens."""
    process = subprocess.Popen(
        [sys.executable, "-m", "callsheet", "serve", "--config", "proxy.yaml"],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "listening=" in line:
            return process, line.split("listening=")[1].split(" ")[0]
    raise AssertionError("it ended before it listened")
