"""Servers and clients of tests without the waits and the work that no test is about.

A run of the tests makes some thousand of them. uvicorn looks ten times a second whether it is to end, and gives its
connections another tenth to close; each client of HTTP reads the certificates of all authorities, which takes 27 ms of
the processor, although no test speaks TLS.
"""

import asyncio
import ssl
from functools import cache
from typing import Any

import httpcore2
import uvicorn.server

_LOOKS = 0.01
"""Seconds after which a server looks whether it is to end, and whether its connections are closed."""


class _Prompt:
    """asyncio as uvicorn's server has it, whose waits between two looks are short."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, _LOOKS))


@cache
def install() -> None:
    """Have them so from here on in this process."""
    for module, name, value in (
        (uvicorn.server, "asyncio", _Prompt()),
        (ssl, "create_default_context", cache(ssl.create_default_context)),
        (httpcore2, "default_ssl_context", cache(httpcore2.default_ssl_context)),
    ):
        setattr(module, name, value)
