"""The official `anthropic` client."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import pytest
from anthropic import omit
from anthropic.types import MessageParam, ToolParam
from pydantic import BaseModel

from callsheet.serve.proxy.settings import Handling
from tests.serve.clients import hunt, logbook
from tests.serve.clients.sides import KEY, both, like, proxied
from tests.serve.proxy.proxies import OPEN, running, settings
from tests.upstream import Called, Failing, Reply, Upstream

MODEL = "claude-haiku-4-5"
FULL = Reply(thinking="Let me think.", text="Hello there, all of you.", calls=(Called("f", {"x": "ü"}), Called("f")))
DONE = Reply(text="Done.")
DONE_THINKING = Reply(thinking="I have seen it.", text="Done.")
TOOL: ToolParam = {"name": "f", "input_schema": {"type": "object"}}
HI: list[MessageParam] = [{"role": "user", "content": "Hi"}]


class City(BaseModel):
    name: str
    people: int


def _client(base: str, retries: int = 0) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key=KEY, base_url=base, max_retries=retries)


def _results(message: anthropic.types.Message) -> MessageParam:
    uses = [block.id for block in message.content if block.type == "tool_use"]
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "42"} for id in uses]}


def _messages(base: str) -> list[object]:
    """Two turns with thinking and parallel calls."""
    messages = list(HI)
    seen: list[object] = []
    with _client(base) as client:
        for _ in range(2):
            found = client.messages.create(
                model=MODEL,
                max_tokens=2_000,
                system="Be kind.",
                messages=messages,
                tools=[TOOL],
                thinking={"type": "enabled", "budget_tokens": 1_024},
            )
            seen.append(like(found.to_dict()))
            messages += [{"role": "assistant", "content": found.content}, _results(found)]
    return seen


def _streamed(base: str) -> list[object]:
    """The same through the helper."""
    messages = list(HI)
    seen: list[object] = []
    with _client(base) as client:
        for _ in range(2):
            with client.messages.stream(
                model=MODEL, max_tokens=2_000, system="Be kind.", messages=messages, tools=[TOOL]
            ) as stream:
                seen += [event.type for event in stream]
                found = stream.get_final_message()
            seen.append(like(found.to_dict()))
            messages += [{"role": "assistant", "content": found.content}, _results(found)]
    return seen


def _async(base: str) -> list[object]:
    async def use() -> list[object]:
        async with anthropic.AsyncAnthropic(api_key=KEY, base_url=base, max_retries=0) as client:
            found = await client.messages.create(model=MODEL, max_tokens=99, messages=HI, tools=[TOOL])
            async with client.messages.stream(model=MODEL, max_tokens=99, messages=HI) as stream:
                texts = [text async for text in stream.text_stream]
            return [like(found.to_dict()), texts]

    return asyncio.run(use())


@pytest.mark.parametrize(
    ("use", "conversations"),
    [(_messages, 1), (_streamed, 1), (_async, 2)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_it_sees_what_it_sees_without_the_proxy(
    tmp_path: Path, use: Callable[[str], list[object]], conversations: int
) -> None:
    _, rows = both(tmp_path, (FULL, DONE), use)
    assert [row["outcome"] for row in rows] == ["answered"] * 2
    assert len({row["conversation"] for row in rows}) == conversations


def test_structured_outputs_are_parsed(tmp_path: Path) -> None:
    def use(base: str) -> object:
        with _client(base) as client:
            return client.messages.parse(model=MODEL, max_tokens=99, messages=HI, output_format=City).parsed_output

    city = Reply(text=json.dumps({"name": "Bremen", "people": 570_000}))
    assert both(tmp_path, (city,), use)[0] == City(name="Bremen", people=570_000)


def test_errors_are_those_of_the_provider(tmp_path: Path) -> None:
    def use(base: str) -> list[object]:
        found: list[object] = []
        with _client(base) as client:
            for _ in range(2):
                with pytest.raises(anthropic.APIStatusError) as raised:
                    client.messages.create(model=MODEL, max_tokens=99, messages=HI)
                problem = raised.value
                found.append((type(problem), problem.body, problem.response.headers.get("retry-after")))
        return found

    seen, _ = both(tmp_path, (Failing(429, retry_after=3), Failing(529)), use)
    assert seen[0][0] is anthropic.RateLimitError  # type: ignore[index]


def test_it_tries_again_by_itself(tmp_path: Path) -> None:
    def use(base: str) -> object:
        with _client(base, retries=2) as client:
            return like(client.messages.create(model=MODEL, max_tokens=99, messages=HI).to_dict())

    _, rows = both(tmp_path, (Failing(529, retry_after=0), DONE), use)
    assert [row["outcome"] for row in rows] == ["refused", "answered"]
    assert len({row["conversation"] for row in rows}) == 1


@pytest.mark.parametrize("open", [True, False])
def test_tokens_are_counted_and_nothing_is_recorded(tmp_path: Path, open: bool) -> None:
    handling = Handling(policy=OPEN) if open else Handling()
    with proxied(tmp_path, handling=handling) as (upstream, proxy):
        with _client(upstream.url) as client:
            theirs = client.messages.count_tokens(model=MODEL, messages=HI, tools=[TOOL]).input_tokens
        with _client(proxy.base) as client:
            found = client.messages.count_tokens(model=MODEL, messages=HI, tools=[TOOL]).input_tokens
        assert len(upstream.received) == (2 if open else 1)
    assert found == theirs if open else found > 0
    assert not any(row["conversation"] for row in proxy.rows())


@pytest.mark.parametrize("policy", ["balanced", "replay"])
@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-opus-4-8"])
def test_thoughts_stand_behind_what_they_were_had_behind_or_not_at_all(tmp_path: Path, model: str, policy: str) -> None:
    """Newer models refuse a thought before which anything has changed: a history that was written anew has none."""
    page = "\n".join(f"row {number}: nothing of note, as on every day before" for number in range(300))
    messages: list[MessageParam] = []
    handling = Handling(policy=OPEN) if policy == "replay" else Handling()
    asking: dict[str, Any] = {"model": model, "max_tokens": 2_000, "system": "Be kind.", "tools": [TOOL]}
    with Upstream(rules=False) as upstream:
        for turn in range(16):
            # In the middle the proxy begins anew, and knows no more what it sent.
            if turn % 8 == 0:
                opened = running(settings(tmp_path, upstream.url, handling=handling))
                proxy = opened.__enter__()
            with _client(proxy.base) as client:
                upstream.will(Reply(thinking=f"I must look {turn}.", calls=(Called("f"),)), DONE_THINKING)
                messages.append({"role": "user", "content": f"What of {turn}?"})
                for _ in range(2):
                    found = client.messages.create(**asking, messages=messages)
                    messages.append({"role": "assistant", "content": [each.to_dict() for each in found.content]})
                    if found.stop_reason == "tool_use":
                        results = _results(found)
                        results["content"][0]["content"] = f"{turn} {page}"  # type: ignore[index]
                        messages.append(results)
            if turn % 8 == 7:
                opened.__exit__(None, None, None)
    assert [received.refused for received in upstream.received if received.refused] == []
    rows = proxy.rows()
    assert len({row["conversation"] for row in rows}) == 1
    assert "sheet" in {row["sent"] for row in rows}
    assembled = [json.dumps(body) for body, row in zip(upstream.bodies, rows, strict=True) if row["sent"] == "sheet"]
    # What was thought since is there again.
    assert not assembled or any('"thinking":' in body for body in assembled)


# --------------------------------------------------------------------------- a long task


def _hunt_runner(base: str, *, stream: bool, threads: bool) -> str:
    """The tool runner: it calls a function of Python and sends its result back, by itself."""

    @anthropic.beta_tool
    def read_page(number: int) -> str:
        """Read a page of the logbook.

        Args:
            number: The number of the page.
        """
        return logbook.page(number)

    with _client(base) as client:
        if not stream:
            last = client.beta.messages.tool_runner(
                model=MODEL,
                max_tokens=2_000,
                tools=[read_page],
                messages=[{"role": "user", "content": logbook.TASK}],
                thread=omit if threads else False,
            ).until_done()
        else:
            streams = client.beta.messages.tool_runner(
                model=MODEL,
                max_tokens=2_000,
                tools=[read_page],
                messages=[{"role": "user", "content": logbook.TASK}],
                stream=True,
                thread=omit if threads else False,
            )
            for each in streams:
                last = each.get_final_message()
        return "".join(block.text for block in last.content if block.type == "text")


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("stream", [False, True])
def test_a_long_task_is_finished_while_old_results_leave_its_requests(
    tmp_path: Path, stream: bool, threads: bool
) -> None:
    with proxied(tmp_path, plays=hunt.plays) as (upstream, proxy):
        assert _hunt_runner(proxy.base, stream=stream, threads=threads) == logbook.answer()
        assert not any(received.refused for received in upstream.received)
    rows = proxy.rows()
    assert len({row["conversation"] for row in rows}) == 1
    assert [row["outcome"] for row in rows] == ["answered"] * (logbook.PAGES + 1)
    assert hunt.leaves(rows) == (not threads)


@pytest.mark.parametrize("threads", [False, True])
def test_what_is_kept_from_the_provider_never_costs_an_agent_its_tools(tmp_path: Path, threads: bool) -> None:
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5"

    @anthropic.beta_tool
    def f() -> str:
        """Tell the token."""
        return f"The token is {secret}."

    with proxied(tmp_path) as (upstream, proxy), _client(proxy.base) as client:
        upstream.will(Reply(calls=(Called("f"),)), DONE)
        runner = client.beta.messages.tool_runner(
            model=MODEL, max_tokens=99, system="Be kind.", tools=[f], messages=[], thread=omit if threads else False
        )
        runner.append_messages({"role": "user", "content": "Hi"})
        # Tools and system text of a thread lie with the provider, so nothing can be written in the place of a request
        # that goes on with it. The client is told so as the service does, and sends the whole history in a new one.
        runner.until_done()
    assert not any(secret.encode() in received.raw for received in upstream.received)
    assert all(body["system"] == "Be kind." and body["tools"] for body in upstream.bodies)
    assert [body.get("thread") for body in upstream.bodies] == [{"type": "create"} if threads else None] * 2


def test_a_thread_that_is_not_known_here_is_lost_as_the_service_loses_one(tmp_path: Path) -> None:
    lost = pytest.raises(anthropic.NotFoundError, match="send the whole history")
    with proxied(tmp_path) as (upstream, proxy), _client(proxy.base) as client, lost as caught:
        client.beta.messages.create(
            model=MODEL,
            max_tokens=99,
            messages=[{"role": "user", "content": "More?"}],
            thread={"type": "continue", "previous_message_id": "msg_elsewhere"},
        )
    assert caught.value.error_code == "thread_not_found"
    assert upstream.bodies == []


def test_a_turn_that_the_service_paused_goes_on_in_its_thread_without_a_message(tmp_path: Path) -> None:
    with proxied(tmp_path) as (upstream, proxy), _client(proxy.base) as client:
        upstream.will(Reply(text="I search."), DONE)
        first = client.beta.messages.create(
            model=MODEL, max_tokens=99, messages=[{"role": "user", "content": "Hi"}], thread={"type": "create"}
        )
        second = client.beta.messages.create(
            model=MODEL, max_tokens=99, messages=[], thread={"type": "continue", "previous_message_id": first.id}
        )
    assert [block.to_dict()["text"] for block in second.content] == ["Done."]
    assert [body["messages"] for body in upstream.bodies] == [HI, []]
    assert [row["how"] for row in proxy.rows()] == ["begun", "repeated"]
