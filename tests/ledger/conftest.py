"""Every store that a test opens is closed behind it: newer Pythons complain about connections that are not."""

from collections.abc import Iterator

import pytest

from callsheet.ledger.sqlite.connections import Connections


@pytest.fixture(autouse=True)
def closed_behind_each_test(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    opened: list[Connections] = []
    start = Connections._start

    def tracked(self: Connections) -> None:
        start(self)
        opened.append(self)

    monkeypatch.setattr(Connections, "_start", tracked)
    yield
    for connections in opened:
        connections.close()
