"""The asynchronous face does what the other one does, and what it returns is asynchronous as well."""

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from callsheet.errors import NotFound
from callsheet.runtime.aio import AsyncConversation, AsyncRuntime, AsyncSubAgent
from callsheet.runtime.conversation import Conversation
from callsheet.testing import memory_runtime
from tests.runtime.replies import openai_reply, user

T = TypeVar("T")


def run(work: Callable[[AsyncRuntime], Awaitable[T]]) -> T:
    async def main() -> T:
        async with AsyncRuntime(memory_runtime()) as runtime:
            return await work(runtime)

    return asyncio.run(main())


def test_views_of_the_asynchronous_face_are_asynchronous() -> None:
    async def work(runtime: AsyncRuntime) -> None:
        talk = await runtime.conversation("harbour")
        said = (await talk.record(user("Which buoy is dark?"))).ids[0]
        await talk.record(openai_reply("The green one."))
        views = [
            await talk.branch(at=said),
            await talk.edit(said, "Which buoy is lit?"),
            await talk.send("And the red one?"),
            await talk.participant("pilot"),
            await talk.on("main"),
            await runtime.existing("harbour"),
        ]
        assert all(type(view) is AsyncConversation for view in views)
        assert len((await views[1].history())[0]) == 1

    run(work)


def test_a_sub_agent_works_and_ends_on_the_asynchronous_face() -> None:
    async def work(runtime: AsyncRuntime) -> None:
        talk = await runtime.conversation("harbour")
        await talk.record(user("Which buoy is dark?"))
        child = await talk.spawn("Sound the pier", name="sounder")
        assert type(child) is AsyncSubAgent
        await child.record(openai_reply("Four metres."))
        assert (await talk.child("sounder")).run_id == child.run_id
        await child.complete()
        (ended,) = await talk.children()
        assert ended.name == "sounder"
        other = await talk.spawn("Sound the quay", name="other")
        await other.fail("no line")
        assert len(await talk.children()) == 2

    run(work)


def test_skills_of_the_asynchronous_face_are_awaited() -> None:
    async def work(runtime: AsyncRuntime) -> None:
        assert not await runtime.skills.any
        await runtime.skills.add("knots", summary="Ties knots", instructions="Over, under, through.")
        assert await runtime.skills.any
        assert [skill.name for skill in await runtime.skills.list()] == ["knots"]
        talk = await runtime.conversation("harbour")
        await talk.offer_skills()
        await talk.activate("knots")
        assert [skill.name for skill in (await talk.skills()).active] == ["knots"]

    run(work)


def test_methods_run_in_another_thread_and_raise_what_the_other_face_raises() -> None:
    async def work(runtime: AsyncRuntime) -> None:
        talk = await runtime.conversation("harbour")
        seen: list[threading.Thread] = []

        class Message:
            def model_dump(self, **_: object) -> object:
                seen.append(threading.current_thread())
                return user("Which buoy is dark?")

        await talk.record(Message())
        assert threading.current_thread() not in seen
        assert seen
        with pytest.raises(NotFound, match="no branch 'dock'"):
            await talk.on("dock")

    run(work)


def test_a_method_looks_like_the_one_that_it_awaits() -> None:
    assert inspect.signature(AsyncConversation.recall) == inspect.signature(Conversation.recall)
    assert inspect.getdoc(AsyncConversation.recall) == inspect.getdoc(Conversation.recall)
    assert inspect.iscoroutinefunction(AsyncConversation.recall)
