"""A provider that says what a test wants, byte for byte: on a loopback port, in a thread with a loop of its own."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Got:
    """A request as it came."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name), None)

    @property
    def json(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.body)
        return found


@dataclass(kw_only=True)
class Says:
    """An answer. Pieces are written one by one; between them a test may wait for what it likes."""

    pieces: Sequence[bytes]
    status: int = 200
    headers: Sequence[tuple[str, str]] = (("content-type", "application/json"),)
    #: Instead of chunks: a content-length, and the pieces as they are.
    length: int | None = None
    #: The connection breaks behind the last piece.
    breaks: bool = False
    #: Nothing is said before this is set, nor behind the first piece before this is.
    first: threading.Event | None = None
    rest: threading.Event | None = None


@dataclass(kw_only=True)
class Provider:
    """What runs."""

    port: int = 0
    got: list[Got] = field(default_factory=list)
    #: What it says to each request.
    script: Callable[[Got], Says] = field(default=lambda _: Says(pieces=[b"{}"]))
    #: Requests whose connection was closed by the other side before the answer was over.
    left: int = 0
    asked: threading.Event = field(default_factory=threading.Event)
    left_one: threading.Event = field(default_factory=threading.Event)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                got = await _read(reader)
                if got is None:
                    break
                self.got.append(got)
                self.asked.set()
                if not await self._say(self.script(got), reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self._left()
        finally:
            writer.close()

    def _left(self) -> None:
        self.left += 1
        self.left_one.set()

    async def _say(self, says: Says, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        away = asyncio.ensure_future(reader.read(1))

        async def wait(event: threading.Event | None) -> bool:
            """Whether the client is still there when it is set."""
            while event is not None and not event.is_set():
                done, _ = await asyncio.wait({away}, timeout=0.005)
                if done:
                    return False
            return not away.done()

        if not await wait(says.first):
            self._left()
            return False
        lines = [f"HTTP/1.1 {says.status} Said"]
        lines += [f"{name}: {value}" for name, value in says.headers]
        lines.append("transfer-encoding: chunked" if says.length is None else f"content-length: {says.length}")
        writer.write("\r\n".join([*lines, "", ""]).encode())
        for at, piece in enumerate(says.pieces):
            if at == 1 and not await wait(says.rest):
                self._left()
                return False
            writer.write(piece if says.length is not None else b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
            await asyncio.sleep(0)
        if says.breaks:
            writer.transport.abort()
            return False
        if says.length is None:
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        away.cancel()
        return False


async def _read(reader: asyncio.StreamReader) -> Got | None:
    head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
    if not head:
        return None
    first, *rest = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in rest if line)]
    known = {name.lower(): value for name, value in headers}
    body = b""
    if "content-length" in known:
        body = await reader.readexactly(int(known["content-length"]))
    elif known.get("transfer-encoding") == "chunked":
        while size := int((await reader.readuntil(b"\r\n")).strip(), 16):
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readexactly(2)
    return Got(method=method, target=target, headers=headers, body=body)


@contextmanager
def provider() -> Iterator[Provider]:
    """A provider that runs."""
    made = Provider()
    ready = threading.Event()
    loop = asyncio.new_event_loop()

    servers: list[asyncio.Server] = []

    async def run() -> None:
        server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
        made.port = server.sockets[0].getsockname()[1]
        servers.append(server)
        ready.set()

    thread = threading.Thread(target=lambda: (loop.run_until_complete(run()), loop.run_forever()), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield made
    finally:

        async def stop() -> None:
            servers[0].close()
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            loop.stop()

        asyncio.run_coroutine_threadsafe(stop(), loop)
        thread.join()
        loop.close()


# --------------------------------------------------------------------------- what providers say


def sse(*data: object, names: Sequence[str] = ()) -> list[bytes]:
    """Server-sent events."""
    found = []
    for at, one in enumerate(data):
        name = f"event: {names[at]}\n" if at < len(names) else ""
        text = one if isinstance(one, str) else json.dumps(one)
        found.append(f"{name}data: {text}\n\n".encode())
    return found


STREAM = (("content-type", "text/event-stream; charset=utf-8"), ("x-request-id", "req_1"))


def chat(text: str, *, prompt: int = 20, cached: int = 0, output: int = 5, id: str = "chatcmpl-1") -> Says:
    """A whole answer of Chat Completions."""
    body = json.dumps(
        {
            "id": id,
            "object": "chat.completion",
            "created": 1,
            "model": "gpt-4o",
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"},
            ],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": output,
                "total_tokens": prompt + output,
                "prompt_tokens_details": {"cached_tokens": cached},
            },
        }
    ).encode()
    return Says(pieces=[body], length=len(body))


def chat_stream(*texts: str, done: bool = True, usage: bool = True) -> list[bytes]:
    """The same as a stream."""
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}

    def delta(fields: dict[str, object], finish: str | None = None) -> dict[str, object]:
        return {**base, "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}

    events: list[object] = [delta({"role": "assistant", "content": ""})]
    events += [delta({"content": text}) for text in texts]
    events.append(delta({}, "stop"))
    if usage:
        events.append({**base, "choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 5}})
    return sse(*events, *(["[DONE]"] if done else []))


def message(text: str, *, id: str = "msg_1") -> Says:
    """A whole answer of Anthropic."""
    body = json.dumps(
        {
            "id": id,
            "type": "message",
            "role": "assistant",
            "model": "claude-haiku-4-5",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 20, "output_tokens": 5},
        }
    ).encode()
    return Says(pieces=[body], length=len(body))
