"""What the proxy adds to a streamed answer, beside the same request sent to the same provider directly.

    python benchmarks/proxy.py [--streams N ...] [--messages N] [--requests N] [--open N] [--json]

The provider is the scripted service of the tests, in a process of its own; the proxy is `callsheet serve` in another,
with its default policy set and a SQLite file; this process asks. Each stream is a client with a conversation of its
own: it has sent a history of so many messages and goes on with it, a question and an answer at a time, ten times; then
another takes its place, so that histories stay about as long. Asked in turns is the provider directly and the proxy,
each with all streams at once. Printed for each number of streams, as p50 and p95 in milliseconds: until the first byte
of the answer and until its end, direct and through the proxy; what the proxy adds to each, as the difference of the
medians (and of the p95); and the processor time that the proxy takes for a request, which other load on the machine
changes little. Then the memory that the proxy's process has grown by for each stream that is open, with such a history.
On Linux.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.serve.lean import Got, LeanClient
from tests.serve.processes import ProxyProcess

STREAMS = (1, 16, 64)
MESSAGES = 100
REQUESTS = 192
OPEN = 100
GOES_ON = 10
_CHAT = "/v1/chat/completions"
_TEXT = "The parcel was seen at the depot in Bremen and at the harbour, and then nobody knew where it had gone. "

Message = dict[str, object]


@contextmanager
def provider() -> Iterator[str]:
    """The scripted service; its address."""
    command = [sys.executable, "-m", "tests.upstream"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


class Client:
    """A client that goes on with a conversation, through the proxy and directly."""

    def __init__(self, number: int, direct: str, proxied: str, messages: int) -> None:
        self._headers = {"authorization": f"Bearer sk-{number}"}
        self._sides = {"direct": LeanClient(direct), "proxy": LeanClient(proxied)}
        asked = [f"{number}/{at}: {_TEXT * (1 + at % 5)}" for at in range(messages - 1)]
        self._history = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(asked)]

    def body(self, model: str = "gpt-5.2") -> Message:
        return {"model": model, "messages": self._history, "stream": True}

    async def ask(self, side: str) -> Got:
        """One answer. The conversation goes on with what comes through the proxy."""
        got = await self._sides[side].post(_CHAT, self.body(), self._headers)
        assert got.status == 200, got.content
        if side == "proxy":
            said = _said(got.content)
            self._history += [{"role": "assistant", "content": said}, {"role": "user", "content": f"And? {_TEXT}"}]
        return got

    async def hold(self, model: str) -> None:
        """Ask, and stay until the answer has begun."""
        try:
            await self._sides["proxy"].post(_CHAT, self.body(model), self._headers)
        finally:
            self._sides["proxy"].leave()

    def close(self) -> None:
        for side in self._sides.values():
            side.leave()


def _said(content: bytes) -> str:
    events = [json.loads(line[6:]) for line in content.splitlines() if line.startswith(b"data: {")]
    choices = [choice for event in events for choice in event["choices"]]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


async def measure(proxy: ProxyProcess, direct: str, streams: int, messages: int, requests: int) -> dict[str, float]:
    clients: list[Client] = []
    times: dict[str, list[Got]] = {"direct": [], "proxy": []}
    processor = 0.0
    rounds = max(3, requests // streams)
    for turn in range(rounds):
        if turn % GOES_ON == 0:
            for client in clients:
                client.close()
            numbers = range(streams * 1_000 + turn * streams, streams * 1_000 + (turn + 1) * streams)
            clients = [Client(number, direct, proxy.base, messages) for number in numbers]
            for client in clients:  # the whole history is new: apart
                await client.ask("proxy")
        for side in times:
            before = proxy.processor()
            times[side] += await asyncio.gather(*[client.ask(side) for client in clients])
            processor += proxy.processor() - before if side == "proxy" else 0.0
    for client in clients:
        client.close()
    made: dict[str, float] = {"streams": streams, "requests": rounds * streams}
    for name in ("first", "whole"):
        for side, found in times.items():
            values = [1e3 * getattr(got, name) for got in found]
            made[f"{side}_{name}_p50"] = statistics.median(values)
            made[f"{side}_{name}_p95"] = statistics.quantiles(values, n=20)[-1]
        for mark in ("p50", "p95"):
            made[f"added_{name}_{mark}"] = made[f"proxy_{name}_{mark}"] - made[f"direct_{name}_{mark}"]
    made["processor_ms"] = 1e3 * processor / (rounds * streams)
    return made


async def held(proxy: ProxyProcess, direct: str, streams: int, messages: int) -> float:
    """Kilobytes of memory for each stream that is open, in a process that had one at a time until then."""
    clients = [Client(number, direct, proxy.base, messages) for number in range(streams)]
    for client in clients:
        await client.ask("proxy")  # what the store remembers of a conversation is no part of an open stream
    before = proxy.resident()
    tasks = [asyncio.ensure_future(client.hold("slow")) for client in clients]
    begun = 0
    while begun < streams:
        await asyncio.sleep(0.2)
        begun = await _streaming(proxy)
    found = (proxy.resident() - before) / streams / 1_000
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return found


async def _streaming(proxy: ProxyProcess) -> int:
    """How many streams are open."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    writer.write(b"GET /callsheet/status HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
    answer = await reader.read()
    writer.close()
    return int(json.loads(answer.partition(b"\r\n\r\n")[2])["open"])


async def run(arguments: argparse.Namespace) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder, provider() as direct:
        with ProxyProcess(Path(folder), direct) as proxy:
            found = [
                await measure(proxy, direct, streams, arguments.messages, arguments.requests)
                for streams in arguments.streams
            ]
        Path(folder, "memory").mkdir()
        with ProxyProcess(Path(folder, "memory"), direct) as proxy:
            memory = await held(proxy, direct, arguments.open, arguments.messages)
    return {"messages": arguments.messages, "streams": found, "kilobytes_per_open_stream": memory}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, nargs="+", default=STREAMS)
    parser.add_argument("--messages", type=int, default=MESSAGES)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--open", type=int, default=OPEN)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = asyncio.run(run(arguments))
    if arguments.json:
        print(json.dumps(found))
        return
    rows = found["streams"]
    assert isinstance(rows, list)
    for name, title in (("first", "until the first byte"), ("whole", "until the end")):
        print(f"{title}, ms        direct p50    p95   proxy p50    p95   added p50    p95")
        for one in rows:
            sides = [one[f"{side}_{name}_{mark}"] for side in ("direct", "proxy", "added") for mark in ("p50", "p95")]
            print(f"{one['streams']:>4} streams {' ':>14}" + " ".join(f"{value:>9.1f}" for value in sides))
    for one in rows:
        print(f"processor time of the proxy at {one['streams']} streams: {one['processor_ms']:.1f} ms a request")
    print(f"memory: {found['kilobytes_per_open_stream']:.0f} kB for each open stream")


if __name__ == "__main__":
    main()
