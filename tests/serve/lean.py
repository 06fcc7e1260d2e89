"""A client with nothing in it but what measuring and long runs need: one connection, one request after the other."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import msgspec


class Severed(Exception):
    """The connection ended before the answer did."""


@dataclass(kw_only=True, slots=True)
class Got:
    """An answer. Times are seconds since the request was begun to be sent."""

    status: int
    headers: dict[str, str]
    content: bytes
    first: float
    whole: float


class LeanClient:
    """One connection, opened again where the other side closed it."""

    def __init__(self, base: str) -> None:
        self._at = urlsplit(base)
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def leave(self) -> None:
        """Go away, in the middle of an answer too."""
        writer, self._reader, self._writer = self._writer, None, None
        if writer is not None:
            writer.transport.abort()

    async def post(self, path: str, body: object, headers: Mapping[str, str], *, leave_after: int | None = None) -> Got:
        """Ask, and read the answer. Raises `Severed`. `leave_after`: go away behind so many bytes of the answer."""
        content = body if isinstance(body, bytes) else msgspec.json.encode(body)
        lines = [f"POST {path} HTTP/1.1", f"host: {self._at.netloc}", f"content-length: {len(content)}"]
        lines += [f"{name}: {value}" for name, value in {"content-type": "application/json", **headers}.items()]
        head = "\r\n".join([*lines, "", ""]).encode()
        try:
            return await self._ask(head + content, leave_after)
        except (OSError, EOFError, asyncio.IncompleteReadError) as problem:
            self.leave()
            raise Severed(type(problem).__name__) from None

    async def _ask(self, sent: bytes, leave_after: int | None) -> Got:
        if self._writer is None or self._reader is None:
            self._reader, self._writer = await asyncio.open_connection(self._at.hostname, self._at.port, limit=1 << 24)
        reader, writer = self._reader, self._writer
        began = time.perf_counter()
        writer.write(sent)
        if leave_after == 0:
            await writer.drain()
            raise EOFError
        status, headers = await _head(reader)
        pieces: list[bytes] = []
        first = 0.0
        size = 0
        async for piece in _body(reader, headers):
            first = first or time.perf_counter() - began
            pieces.append(piece)
            size += len(piece)
            if leave_after is not None and size >= leave_after:
                raise EOFError
        whole = time.perf_counter() - began
        if headers.get("connection") == "close":
            self.leave()
        return Got(status=status, headers=headers, content=b"".join(pieces), first=first or whole, whole=whole)


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines[1:] if line)
    return int(lines[0].split(" ")[1]), {name.strip().lower(): value.strip() for name, _, value in pairs}


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> AsyncIterator[bytes]:
    if "chunked" not in headers.get("transfer-encoding", ""):
        left = int(headers.get("content-length", "0"))
        if left:
            yield await reader.readexactly(left)
        return
    while size := int(await reader.readuntil(b"\r\n"), 16):
        yield await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)
