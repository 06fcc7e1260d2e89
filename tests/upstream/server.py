"""The service itself: a web server in a thread, on a port of its own."""

import asyncio
import gzip
import json
import socket
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from types import TracebackType
from typing import Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests import prompt
from tests.upstream import gemini
from tests.upstream.apis import Apis, Asked, output_of
from tests.upstream.scripts import Broken, Counted, Failing, Gate, Json, Lost, Received, Reply, Step

WRONG_KEY = "wrong"
"""The key that is refused; any other is taken."""

_METHODS = ["GET", "POST", "DELETE", "PUT", "PATCH"]
_SSE = "text/event-stream; charset=utf-8"

prompt.install()


class _Cut(Exception):
    """Cuts the connection in the middle of an answer."""


class Upstream:
    """A service that says what it is told. Each request takes the next step; without one it says ``ok``.

    `rules`: requests must satisfy `callsheet.wire.validate` too, which is stricter than the providers in places.
    Without `checks` nothing is checked but keys, and no cache is kept: for measurements. `lean`: of the requests that
    came nothing is kept but what became of them, for long runs.
    """

    def __init__(self, *, rules: bool = True, checks: bool = True, lean: bool = False) -> None:
        self._rules, self._checks, self._lean = rules and checks, checks, lean
        self._steps: deque[Step] = deque()
        self._lock = threading.Lock()
        self._number = 0
        self._closing = False
        self._otherwise: Callable[[Received], Step] = lambda received: Reply(text="ok")
        #: All requests so far, in the order in which they came.
        self.received: list[Received] = []
        self.apis = Apis()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._server: _Server | None = None

    def __enter__(self) -> Self:
        self._socket.bind(("127.0.0.1", 0))
        app = Starlette(routes=[Route("/{path:path}", self._answer, methods=_METHODS)])
        self._server = _Server(
            uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=1, timeout_keep_alive=30)
        )
        self._server.begin(self._socket)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing = True
        if self._server is not None:
            self._server.end()
        self._socket.close()

    @property
    def url(self) -> str:
        """The address, without a path and without a slash at its end."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def will(self, *steps: Step) -> None:
        """What the next requests get that are not refused, in order."""
        with self._lock:
            self._steps.extend(steps)

    def otherwise(self, answer: Callable[[Received], Step]) -> None:
        """What requests get for which no step is left. Called in the server's thread, one request at a time."""
        self._otherwise = answer

    @property
    def bodies(self) -> list[Json]:
        """The bodies of all requests that were answered or refused in one of the formats."""
        return [received.body for received in self.received if received.body]

    # ------------------------------------------------------------------ answering

    async def _answer(self, request: Request) -> Response:
        received = await _received(request)
        with self._lock:
            self.received.append(received)
            self._number += 1
            number = self._number
        asked = self.apis.asked(request.url.path, request.query_params) if request.method == "POST" else None
        if asked is None:
            return self._other(request, received)
        response = self._in_format(asked, received, request, number)
        if self._lean:
            received.raw, received.body, received.headers = b"", {}, {}
        return response

    def _other(self, request: Request, received: Received) -> Response:
        """What is no question to a model."""
        status, found = 200, Json()
        path, kept = request.url.path, self.apis.kept.responses
        if path.endswith("/models"):
            found = {"object": "list", "data": [{"id": "m", "object": "model"}], "models": [{"name": "models/m"}]}
        elif "/responses/" in path:
            id, _, of = path.partition("/responses/")[2].partition("/")
            if id not in kept:
                status, found = 404, self.apis.responses.error(404, f"Response with id '{id}' not found.")
            elif request.method == "DELETE":
                del kept[id]
                found = {"id": id, "object": "response", "deleted": True}
            elif of == "input_items":
                found = {"object": "list", "data": self.apis.kept.items[id][:-1]}
            else:
                found = kept[id]
        else:
            found = {"object": "echo", "path": received.path, "method": received.method, "bytes": len(received.raw)}
        received.status = status
        received.over.set()
        return JSONResponse(found, status)

    def _in_format(self, asked: Asked, received: Received, request: Request, number: int) -> Response:
        body, api = received.body, asked.api
        try:
            refused = self._refused(asked, received, request)
        except (AttributeError, AssertionError, KeyError, TypeError, ValueError):
            refused = 400, "Invalid type for a parameter: the body does not have the shape of a request."
        if refused is not None:
            status, received.refused = refused
            return self._error(received, status, api.error(status, received.refused))
        if asked.counts:
            found: Json = {asked.counts: api.counted(body, 0).input}
            received.status = 200
            received.over.set()
            return JSONResponse(found)
        with self._lock:
            step = self._steps.popleft() if self._steps else None
            step = step if step is not None else self._otherwise(received)
        if isinstance(step, Failing):
            return self._failed(step, received, api.error(step.status, step.message))
        reply = step.reply if isinstance(step, Broken) else step
        named = {**body, "model": asked.model} if asked.model else body
        output = output_of(reply)
        unread = Counted(input=-(-len(received.raw) // 4), read=0, written=0, output=output)
        response = api.whole(reply, named, api.counted(body, output) if self._checks else unread, number)
        api.keep(body, response)
        received.status = 200
        headers = {"x-request-id": f"req_{number}"}
        if asked.stream if asked.stream is not None else body.get("stream") is True:
            pieces = gemini.listed(response) if asked.as_list else api.events(response, named)
            media = "application/json" if asked.as_list else _SSE
            error = api.error_event("Overloaded")
            return StreamingResponse(self._stream(pieces, step, received, error), headers=headers, media_type=media)
        return self._at_once(response, step, received, headers)

    def _refused(self, asked: Asked, received: Received, request: Request) -> tuple[int, str] | None:
        key = _key(received.headers, request.query_params)
        if key in (None, WRONG_KEY):
            return 401, "Incorrect API key provided"
        if not received.body:
            return 400, "We could not parse the JSON body of your request."
        why = asked.api.refuse(received.body, received.headers) if self._checks else None
        if why is not None:
            return 404 if isinstance(why, Lost) else 400, why
        if self._rules and not asked.counts and asked.api.wire in {wire.value for wire in Wire}:
            body = {**received.body, "model": asked.model} if asked.model else received.body
            found = problems(body, Wire(asked.api.wire))
            if found:
                return 400, f"{found[0].where}: {found[0].text} ({found[0].rule})"
        return None

    def _error(self, received: Received, status: int, body: Json, headers: Mapping[str, str] | None = None) -> Response:
        received.status = status
        received.over.set()
        return JSONResponse(body, status, headers=headers)

    def _failed(self, step: Failing, received: Received, body: Json) -> Response:
        headers = {"retry-after": str(step.retry_after)} if step.retry_after is not None else {}
        if step.body is None:
            return self._error(received, step.status, body, headers)
        received.status = step.status
        received.over.set()
        return Response(step.body, step.status, headers, media_type="text/html")

    def _at_once(self, response: Json, step: Step, received: Received, headers: Mapping[str, str]) -> Response:
        content = json.dumps(response).encode()
        if isinstance(step, Broken):
            sizes = {**headers, "content-length": str(len(content))}
            half = self._cut(content[: len(content) // 2], received)
            return StreamingResponse(half, headers=sizes, media_type="application/json")
        gate = step.gate if isinstance(step, Reply) else None
        if gate is None:
            received.over.set()
            return Response(content, headers=headers, media_type="application/json")
        return StreamingResponse(self._held(content, gate, received), headers=headers, media_type="application/json")

    async def _cut(self, content: bytes, received: Received) -> AsyncIterator[bytes]:
        yield content
        received.over.set()
        raise _Cut

    async def _held(self, content: bytes, gate: Gate, received: Received) -> AsyncIterator[bytes]:
        try:
            await self._wait(gate)
            yield content
        except asyncio.CancelledError:
            received.left = True
            raise
        finally:
            received.over.set()

    async def _stream(
        self, pieces: Iterable[bytes], step: Step, received: Received, error: bytes
    ) -> AsyncIterator[bytes]:
        broken = step if isinstance(step, Broken) else None
        reply = step.reply if isinstance(step, Broken) else step
        assert isinstance(reply, Reply)
        try:
            for number, piece in enumerate(pieces):
                if broken is not None and number == broken.after:
                    break
                if reply.gate is not None and number == reply.gate_before:
                    await self._wait(reply.gate)
                yield piece
                received.events += 1
                if reply.pause:
                    await asyncio.sleep(reply.pause)
            if broken is not None:
                if broken.sends or broken.error:
                    yield broken.sends + (error if broken.error else b"")
                if broken.cut:
                    raise _Cut
        except (asyncio.CancelledError, GeneratorExit):
            received.left = True
            raise
        finally:
            received.over.set()

    async def _wait(self, gate: Gate) -> None:
        while not gate.pass_through() and not self._closing:
            await asyncio.sleep(0.001)


async def _received(request: Request) -> Received:
    try:
        raw = await request.body()
    except ClientDisconnect:
        raw = b""
    try:
        body = json.loads(gzip.decompress(raw) if request.headers.get("content-encoding") == "gzip" else raw)
    except (ValueError, OSError):
        body = {}
    query = f"?{request.url.query}" if request.url.query else ""
    return Received(
        method=request.method,
        path=request.url.path + query,
        headers={name.lower(): value for name, value in request.headers.items()},
        raw=raw,
        body=body if isinstance(body, dict) else {},
    )


def _key(headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    given = (headers.get("x-api-key"), headers.get("x-goog-api-key"), query.get("key"), bearer)
    return next((key for key in given if key), None)


class _Server(uvicorn.Server):
    """Runs in a thread, and says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._listening = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, at: socket.socket) -> None:
        """Listen."""
        self._thread = threading.Thread(target=self.run, args=([at],), daemon=True)
        self._thread.start()
        assert self._listening.wait(30), "the service did not start"

    def end(self) -> None:
        """Stop, whatever clients still wait for."""
        self.should_exit = True
        if self._thread is not None:
            self._thread.join(30)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening.set()
