"""The proxy as a process of its own, as people run it: it can be killed, and started again on the same store."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx2


class ProxyProcess:
    """``callsheet serve``, with a store in a folder."""

    def __init__(
        self,
        folder: Path,
        upstream: str,
        *,
        more: Mapping[str, object] | None = None,
        program: Sequence[str] = ("-m", "callsheet"),
    ) -> None:
        self._program = program
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        self.database = folder / "callsheet.db"
        formats = {"openai": "openai", "anthropic": "anthropic", "gemini": "google"}
        upstreams = [
            {"name": name, "format": name, "address": upstream, "provider": provider}
            for name, provider in formats.items()
        ]
        said = {"listen": f"127.0.0.1:{self.port}", "database": str(self.database), "upstreams": upstreams}
        self._config = folder / "proxy.yaml"
        self._config.write_text(json.dumps({**said, **(more or {})}))  # JSON is YAML
        #: Where its lines go.
        self.log = folder / "proxy.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.started = 0

    @property
    def base(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def id(self) -> int:
        """The id of the process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.started += 1
        command = [sys.executable, *self._program, "serve", "--config", str(self._config)]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        for _ in range(600):
            assert self._process.poll() is None, self.log.read_text()
            try:
                if httpx2.get(f"{self.base}/healthz", trust_env=False).status_code == 200:
                    return
            except httpx2.TransportError:
                time.sleep(0.05)
        raise AssertionError("the proxy did not start")

    def kill(self) -> None:
        """End it at once, whatever it does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it as an operator does."""
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(how)
            process.wait(60)

    def processor(self) -> float:
        """Seconds of processor time that it has taken. On Linux."""
        fields = Path(f"/proc/{self.id}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self) -> int:
        """Bytes of memory that it holds. On Linux."""
        pages = int(Path(f"/proc/{self.id}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def rows(database: Path) -> list[dict[str, object]]:
    """A proxy's list of requests."""
    with closing(sqlite3.connect(f"{database}.proxy/requests.db")) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute("SELECT * FROM request ORDER BY begun")]
