"""Requests of one credential are recognised one after the other, behind the answers that came before."""

import anyio
import pytest

from callsheet.serve.proxy import turns
from callsheet.serve.proxy.turns import Turns


async def test_requests_of_one_credential_take_turns_in_their_order() -> None:
    line, seen = Turns(), list[str]()

    async def one(name: str, scope: str, go: anyio.Event) -> None:
        async with line.turn(scope):
            seen.append(name)
            await go.wait()

    go, free = anyio.Event(), anyio.Event()
    free.set()
    async with anyio.create_task_group() as tasks:
        for name, scope, event in (("a", "k", go), ("b", "k", free), ("c", "k", free), ("other", "o", free)):
            tasks.start_soon(one, name, scope, event)
            await anyio.lowlevel.checkpoint()
            await anyio.lowlevel.checkpoint()
        assert seen == ["a", "other"]
        go.set()
    assert seen == ["a", "other", "b", "c"]


async def test_a_request_waits_for_the_answer_before_it() -> None:
    line, seen = Turns(), list[str]()

    async def record(begun: anyio.Event, go: anyio.Event) -> None:
        async with line.recording("k"):
            begun.set()
            await go.wait()
            seen.append("recorded")

    async def ask(scope: str) -> None:
        async with line.turn(scope):
            seen.append(scope)

    begun, go = anyio.Event(), anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(record, begun, go)
        await begun.wait()
        tasks.start_soon(ask, "k")
        await ask("o")
        go.set()
    assert seen == ["o", "recorded", "k"]


async def test_it_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "PATIENCE", 0.01)
    line = Turns()
    async with line.recording("k"), line.turn("k"):
        pass


async def test_nothing_is_left_of_a_line_that_nobody_stands_in() -> None:
    line = Turns()
    with pytest.raises(ValueError, match="failed"):
        async with line.turn("k"):
            raise ValueError("failed")
    with anyio.CancelScope() as scope:
        async with line.turn("k"):
            scope.cancel()
            await anyio.lowlevel.checkpoint()
    async with line.recording("k"):
        pass
    assert line._lines == {}
