"""No test reaches a network: connections to anything but this machine are refused and held against the test."""

import socket
from collections.abc import Callable
from ipaddress import ip_address
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_LOCAL_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost"})


class NetworkRefused(OSError):
    """A test tried to reach beyond this machine."""


class NetworkGuard:
    """Refuses connections, datagrams and name look-ups beyond this machine, and remembers each attempt.

    Remembering matters: code that swallows the refusal has still tried.
    """

    def __init__(self) -> None:
        self.attempts: list[str] = []

    def install(self) -> None:
        """Guard this process from here on."""
        for name, position in (("connect", 1), ("connect_ex", 1), ("sendto", -1)):
            setattr(socket.socket, name, self._guarded(getattr(socket.socket, name), position))
        for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "create_connection"):
            setattr(socket, name, self._guarded(getattr(socket, name), 0))

    def _guarded(self, real: Callable[P, R], position: int) -> Callable[P, R]:
        def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
            given = args[position] if args else kwargs.get("host", kwargs.get("address"))
            if not is_local(given):
                self.attempts.append(f"{real.__name__}({given!r})")
                raise NetworkRefused(f"tests reach no network: {real.__name__}({given!r})")
            return real(*args, **kwargs)

        return guarded


def is_local(target: object) -> bool:
    """Whether an address, or a host's name, is this machine: loopback, a Unix socket, or nowhere at all."""
    host = target[0] if isinstance(target, tuple) and target else target
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if not host:
        return True
    if not isinstance(host, str):
        return False
    if host[0] in "/\0" or host.lower() in _LOCAL_NAMES:
        return True
    try:
        return ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
