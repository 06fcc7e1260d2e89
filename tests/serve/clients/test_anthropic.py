"""The official `anthropic` client."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import anthropic
import pytest
from anthropic import omit
from anthropic.types import MessageParam, ToolParam
from pydantic import BaseModel

from callsheet.serve.proxy.settings import Handling
from tests.serve.clients import hunt, logbook
from tests.serve.clients.sides import KEY, both, like, proxied
from tests.serve.proxy.proxies import OPEN
from tests.upstream import Called, Failing, Reply

MODEL = "claude-haiku-4-5"
FULL = Reply(thinking="Let me think.", text="Hello there, all of you.", calls=(Called("f", {"x": "ü"}), Called("f")))
DONE = Reply(text="Done.")
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
        if threads:
            # Tools and system text lie with the provider, so nothing can be written in the place of this request.
            with pytest.raises(anthropic.BadRequestError, match="send the whole history"):
                runner.until_done()
        else:
            runner.until_done()
    assert not any(secret.encode() in received.raw for received in upstream.received)
    assert all(body["system"] == "Be kind." and body["tools"] for body in upstream.bodies)
    assert len(upstream.bodies) == (1 if threads else 2)
