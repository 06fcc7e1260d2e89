"""A service below HTTP: it reads a request and then sends bytes, or nothing, and hangs up as it is told."""

import socket
import struct
import threading
from enum import Enum
from types import TracebackType
from typing import Self

_NO_LINGER = struct.pack("ii", 1, 0)


class Ending(Enum):
    """How a connection ends."""

    #: Closed as usual, behind all bytes.
    CLOSED = "closed"
    #: Reset, so that the other side's reads fail.
    RESET = "reset"
    #: The sending half alone is closed; reading goes on until the other side closes.
    HALF = "half"
    #: Not at all, until the service ends.
    OPEN = "open"


class RawUpstream:
    """Answers every connection with the same bytes."""

    def __init__(self, sends: bytes, ending: Ending = Ending.CLOSED) -> None:
        self._sends, self._ending = sends, ending
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._open: list[socket.socket] = []
        #: The requests so far, as they came.
        self.received: list[bytes] = []

    @property
    def url(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for each in self._open:
            each.close()
        for thread in self._threads:
            thread.join(10)

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(connection)
            self._threads.append(threading.Thread(target=self._serve, args=(connection,), daemon=True))
            self._threads[-1].start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            self.received.append(_request(connection))
            connection.sendall(self._sends)
            if self._ending is Ending.OPEN:
                return
            if self._ending is Ending.HALF:
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
            if self._ending is Ending.RESET:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            connection.close()
        except OSError:
            connection.close()


def _request(connection: socket.socket) -> bytes:
    """A request with its body, as far as its header says how long that is."""
    found = b""
    while b"\r\n\r\n" not in found:
        piece = connection.recv(65536)
        if not piece:
            return found
        found += piece
    head, _, body = found.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    length = next((int(line.partition(b":")[2]) for line in lines if line.startswith(b"content-length:")), 0)
    while len(body) < length:
        piece = connection.recv(65536)
        if not piece:
            break
        body += piece
    return head + b"\r\n\r\n" + body
