"""Cases that need a new process, another provider in between, or several writers."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest

import callsheet
from callsheet import Conversation
from callsheet.errors import InvalidTime
from callsheet.graph.nodes import Message
from callsheet.graph.times import isoformat
from callsheet.testing import memory_runtime
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.cases.checks import texts

THINKING = {"type": "thinking", "thinking": "Need the gauge.\n\n ", "signature": "SIG-8841=="}


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own."""
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)


BOTH = pytest.mark.parametrize("policy", ["balanced", "replay"])


def anthropic(talk: Conversation, policy: str) -> bytes:
    return json.dumps(talk.assemble(provider="anthropic", model="claude-sonnet-4-5", policy=policy).request()).encode()


@BOTH
def test_dev_05_thinking_survives_restarts_and_other_providers_byte_for_byte(tmp_path: Path, policy: str) -> None:
    path = tmp_path / "tank.db"
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("tank")
        talk.record({"role": "user", "content": "Is tank 2 safe to drain?"})
        talk.record(
            {
                "role": "assistant",
                "content": [THINKING, {"type": "tool_use", "id": "tu_9", "name": "gauge", "input": {"tank": 2}}],
            }
        )
        result = {"type": "tool_result", "tool_use_id": "tu_9", "content": "0.4 bar"}
        talk.record({"role": "user", "content": [result]})
        first = anthropic(talk, policy)

    with callsheet.open(path) as runtime:
        talk = runtime.conversation("tank")
        assert first == anthropic(talk, policy)
        other = list(texts(talk.assemble(provider="openai", model="gpt-5.2", policy=policy).request()))
        assert not any("Need the gauge" in text or "SIG-8841" in text for text in other)
        assert first == anthropic(talk, policy)

    turn = json.loads(first)["messages"][1]["content"]
    assert [THINKING, {"type": "tool_use", "id": "tu_9", "name": "gauge", "input": {"tank": 2}}] == turn


@BOTH
def test_dev_10_ids_of_calls_are_the_same_after_a_restart(tmp_path: Path, policy: str) -> None:
    path = tmp_path / "prices.db"
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("prices")
        talk.record({"role": "user", "content": "Prices."})
        for price in ("2.10", "3.75", "0.40"):
            call = {"id": "call_0", "type": "function", "function": {"name": "price", "arguments": "{}"}}
            talk.record({"role": "assistant", "content": None, "tool_calls": [call]})
            talk.record({"role": "tool", "tool_call_id": "call_0", "content": price})
        before = talk.assemble(provider="openai", model="gpt-5.2", policy=policy).request()

    again = run(
        "import callsheet, json, sys\n"
        "with callsheet.open(sys.argv[1]) as runtime:\n"
        "    talk = runtime.conversation('prices')\n"
        "    sheet = talk.assemble(provider='openai', model='gpt-5.2', policy=sys.argv[2])\n"
        "    print(json.dumps(sheet.request()))\n",
        str(path),
        policy,
    )
    assert again.stderr == ""
    assert before == json.loads(again.stdout)


KILLED = """
import callsheet, os, sys
runtime = callsheet.open(sys.argv[1])
talk = runtime.conversation("valves")
talk.record({"role": "user", "content": "Open the valve and read the gauge."})
names = {"e1": "post_notice", "e2": "open_valve", "e3": "read_gauge"}
calls = [{"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}} for id, name in names.items()]
talk.record({"role": "assistant", "content": None, "tool_calls": calls})
talk.record({"role": "tool", "tool_call_id": "e1", "content": "posted"})
os._exit(9)
"""


@BOTH
def test_dev_31_after_a_kill_e1_is_answered_and_e2_and_e3_are_open(tmp_path: Path, policy: str) -> None:
    path = tmp_path / "valves.db"
    assert 9 == run(KILLED, str(path)).returncode

    with callsheet.open(path) as runtime:
        talk = runtime.conversation("valves")
        assert [("e2", "open_valve"), ("e3", "read_gauge")] == [(c.provider_id, c.tool) for c in talk.pending()]
        talk.record({"role": "tool", "tool_call_id": "e3", "content": "0.4"})
        talk.record({"role": "tool", "tool_call_id": "e2", "content": "opened"})
        request = talk.assemble(provider="openai", model="gpt-5.2", policy=policy).request()
        assert not problems(request, Wire.OPENAI)
        messages = request["messages"]
        assert isinstance(messages, list)
        assert ["posted", "opened", "0.4"] == [m["content"] for m in messages if m["role"] == "tool"]
        assert () == talk.pending()


def test_dev_36_a_time_without_zone_is_refused_when_stored_and_when_asked() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("times")
        for at in ("2026-05-01T10:00:00+09:00", "2026-05-01T02:00:00Z", 1777600800):
            talk.record({"role": "user", "content": str(at)}, at=at)
        before = talk.history()
        for naive in ("2026-05-01T01:30:00", datetime(2026, 5, 1, 1, 45)):
            with pytest.raises(InvalidTime, match="has no zone"):
                talk.record({"role": "user", "content": "R"}, at=naive)
            with pytest.raises(InvalidTime, match="has no zone"):
                talk.assemble(provider="openai", model="gpt-5.2", now=naive)

        assert before == talk.history()
        stored = [isoformat(record.header.at) for record in before[0] if isinstance(record.body, Message)]
        assert ["2026-05-01T01:00:00Z", "2026-05-01T02:00:00Z", "2026-05-01T02:00:00Z"] == stored
        assert all(item.at.tzinfo is not None for item in talk.transcript())


WRITER = """
import callsheet, sys
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with callsheet.open(path) as runtime:
    talk = runtime.conversation(name)
    for number in range(count):
        talk.record({"role": "user", "content": f"{sys.argv[4]} {number}"})
        print(number, flush=True)
"""

READER = """
import callsheet, sys
with callsheet.open(sys.argv[1]) as runtime:
    for _ in range(40):
        for name in runtime.conversations():
            runtime.conversation(name).transcript()
"""


def spoken(path: Path, name: str) -> list[str]:
    with callsheet.open(path) as runtime:
        return [item.text for item in runtime.conversation(name).transcript() if isinstance(item, callsheet.Spoken)]


def test_dev_37_many_processes_write_and_read_one_file(tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    callsheet.open(path).close()
    with ThreadPoolExecutor(10) as pool:
        writers = [pool.submit(run, WRITER, str(path), f"thread-{n}", "200", f"w{n}") for n in range(8)]
        readers = [pool.submit(run, READER, str(path)) for _ in range(2)]
        done = [future.result() for future in (*writers, *readers)]
    assert [(0, "")] * 10 == [(each.returncode, each.stderr) for each in done]
    for number in range(8):
        assert [f"w{number} {n}" for n in range(200)] == spoken(path, f"thread-{number}")


def test_dev_37_two_processes_on_one_thread_agree_on_one_order(tmp_path: Path) -> None:
    path = tmp_path / "one.db"
    callsheet.open(path).close()
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda who: run(WRITER, str(path), "shared", "100", who), ("a", "b")))
    assert [(0, "")] * 2 == [(each.returncode, each.stderr) for each in done]
    texts_ = spoken(path, "shared")
    assert 200 == len(texts_)
    for who in ("a", "b"):
        assert [f"{who} {n}" for n in range(100)] == [text for text in texts_ if text.startswith(who)]
