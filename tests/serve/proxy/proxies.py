"""A proxy that runs as it does for real: under its server, on a loopback port, with a store of its own."""

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import uvicorn

from callsheet.policy.sets import policy_set
from callsheet.serve.proxy.opening import Opening
from callsheet.serve.proxy.running import server
from callsheet.serve.proxy.settings import Format, Handling, Limits, Settings, Timeouts, Upstream
from tests import prompt

prompt.install()

OPEN = policy_set("replay")
"""Lets everything pass."""


@dataclass(kw_only=True)
class Running:
    """What runs."""

    port: int
    settings: Settings
    server: uvicorn.Server
    thread: threading.Thread

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, **options: object) -> httpx2.Client:
        return httpx2.Client(base_url=self.base, timeout=30, trust_env=False, **options)  # type: ignore[arg-type]

    def stop(self) -> None:
        """End it as a signal does."""
        self.server.should_exit = True
        self.thread.join()

    def rows(self) -> list[dict[str, object]]:
        """The list of requests."""
        connection = sqlite3.connect(f"{self.settings.database}.proxy/requests.db")
        connection.row_factory = sqlite3.Row
        try:
            return [dict(row) for row in connection.execute("SELECT * FROM request ORDER BY begun")]
        finally:
            connection.close()


def upstreams(address: str, *, timeouts: Timeouts | None = None) -> tuple[Upstream, ...]:
    """All formats at one address."""
    times = timeouts or Timeouts()
    return tuple(
        Upstream(name=name, format=format, address=address, provider=provider, timeouts=times)
        for name, format, provider in (
            ("openai", Format.OPENAI, "openai"),
            ("anthropic", Format.ANTHROPIC, "anthropic"),
            ("gemini", Format.GEMINI, "google"),
        )
    )


def settings(
    folder: Path,
    address: str,
    *,
    handling: Handling | None = None,
    limits: Limits | None = None,
    timeouts: Timeouts | None = None,
    **more: object,
) -> Settings:
    """Settings for tests."""
    said: dict[str, object] = {
        "port": 0,
        "database": str(folder / "callsheet.db"),
        "upstreams": upstreams(address, timeouts=timeouts),
        "handling": handling or Handling(),
        "limits": limits or Limits(shutdown_seconds=2),
        **more,
    }
    return Settings(**said)  # type: ignore[arg-type]


@contextmanager
def running(made: Settings, environment: Mapping[str, str] | None = None) -> Iterator[Running]:
    """A proxy that runs, until the block ends."""
    ports: list[int] = []
    ready = threading.Event()

    def started(port: int) -> None:
        ports.append(port)
        ready.set()

    one = server(Opening(settings=made, environment=environment or {}), started=started)
    thread = threading.Thread(target=one.run)
    thread.start()
    assert ready.wait(30), "the proxy did not start"
    found = Running(port=ports[0], settings=made, server=one, thread=thread)
    try:
        yield found
    finally:
        found.stop()


def read_events(content: bytes) -> Sequence[str]:
    """The data of server-sent events."""
    return [line.removeprefix("data: ") for line in content.decode().split("\n") if line.startswith("data: ")]
