"""The guard that keeps tests off the network refuses what it must and lets through what it may."""

import socket
from collections.abc import Callable

import pytest

from tests.network import NetworkGuard, NetworkRefused, is_local

OUTSIDE = ("192.0.2.1", 9)
"""An address that is reserved for documentation."""


@pytest.mark.parametrize(
    ("target", "local"),
    [
        (("127.0.0.1", 80), True),
        (("127.8.9.10", 80), True),
        (("::1", 80, 0, 0), True),
        (("localhost", 80), True),
        ("/run/some.sock", True),
        (b"\0abstract", True),
        (None, True),
        (("10.0.0.1", 80), False),
        (("192.0.2.1", 443), False),
        (("2001:db8::1", 443, 0, 0), False),
        ("example.org", False),
        (b"example.org", False),
    ],
)
def test_only_this_machine_is_local(target: object, local: bool) -> None:
    assert is_local(target) is local


def _connect(sock: socket.socket) -> None:
    sock.connect(OUTSIDE)


def _connect_ex(sock: socket.socket) -> object:
    return sock.connect_ex(OUTSIDE)


def _datagram(sock: socket.socket) -> object:
    return sock.sendto(b"x", OUTSIDE)


def _look_up(sock: socket.socket) -> object:
    return socket.getaddrinfo("example.org", 443)


@pytest.mark.parametrize("way", [_connect, _connect_ex, _datagram, _look_up])
def test_every_way_out_is_refused_and_remembered(
    way: Callable[[socket.socket], object], network_guard: NetworkGuard
) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock, pytest.raises(NetworkRefused):
        way(sock)

    assert len(network_guard.attempts) == 1
    network_guard.attempts.clear()  # the attempt was the point of this test, so it is not held against it


def test_loopback_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        client.sendall(b"here")

        assert accepted.recv(4) == b"here"
        accepted.close()
