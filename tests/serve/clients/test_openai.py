"""The official `openai` client."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from openai.types.responses import FunctionToolParam, ResponseInputParam
from pydantic import BaseModel

from callsheet.serve.proxy.settings import Handling
from tests.serve.clients import hunt, logbook
from tests.serve.clients.sides import KEY, both, like, proxied
from tests.serve.proxy.proxies import OPEN
from tests.upstream import Called, Failing, Reply

MODEL = "gpt-5.2"
FULL = Reply(thinking="Let me think.", text="Hello there, all of you.", calls=(Called("f", {"x": "ü"}), Called("f")))
PLAIN = Reply(text=FULL.text, calls=FULL.calls)  # OpenAI shows no thinking in Chat Completions
DONE = Reply(text="Done.")
SCHEMA: dict[str, object] = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}


class City(BaseModel):
    name: str
    people: int


def _client(base: str) -> openai.OpenAI:
    return openai.OpenAI(api_key=KEY, base_url=f"{base}/v1", max_retries=0)


def _async_client(base: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key=KEY, base_url=f"{base}/v1", max_retries=0)


TOOL: ChatCompletionToolParam = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
ITEM_TOOL: FunctionToolParam = {"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": False}
HI: list[ChatCompletionMessageParam] = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}]


# --------------------------------------------------------------------------- Chat Completions


def _chat(base: str) -> list[object]:
    """Two turns with tools, the first in parallel; not streamed."""
    messages = list(HI)
    seen: list[object] = []
    with _client(base) as client:
        for _ in range(2):
            found = client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL])
            seen.append(like(found.to_dict()))
            message = found.choices[0].message
            messages.append(message.to_dict())  # type: ignore[arg-type]
            for call in message.tool_calls or ():
                messages.append({"role": "tool", "tool_call_id": call.id, "content": "42"})
    return seen


def _chat_streamed(base: str) -> list[object]:
    """The same, streamed through the helper, with usage asked for."""
    messages = list(HI)
    seen: list[object] = []
    with _client(base) as client:
        for _ in range(2):
            with client.chat.completions.stream(
                model=MODEL, messages=messages, tools=[TOOL], stream_options={"include_usage": True}
            ) as stream:
                seen += [event.type for event in stream]
                found = stream.get_final_completion()
            assert found.usage is not None
            seen.append(like(found.to_dict()))
            message = found.choices[0].message
            messages.append(message.to_dict())  # type: ignore[arg-type]
            for call in message.tool_calls or ():
                messages.append({"role": "tool", "tool_call_id": call.id, "content": "42"})
    return seen


def _chat_async(base: str) -> list[object]:
    async def use() -> list[object]:
        async with _async_client(base) as client:
            found = await client.chat.completions.create(model=MODEL, messages=HI, tools=[TOOL])
            stream = await client.chat.completions.create(model=MODEL, messages=HI, stream=True)
            return [like(found.to_dict()), *[like(chunk.to_dict()) async for chunk in stream]]

    return asyncio.run(use())


# --------------------------------------------------------------------------- Responses


def _responses(base: str) -> list[object]:
    """A call, then its output by `previous_response_id`, then a question more."""
    seen: list[object] = []
    with _client(base) as client:
        first = client.responses.create(model=MODEL, input="Hi", instructions="Be kind.", tools=[ITEM_TOOL])
        second = client.responses.create(
            model=MODEL, previous_response_id=first.id, input=_outputs(first.to_dict()), tools=[ITEM_TOOL]
        )
        third = client.responses.create(model=MODEL, previous_response_id=second.id, input="More?")
        seen += [like(each.to_dict()) for each in (first, second, third)]
        seen.append(like(client.responses.retrieve(second.id).to_dict()))
    return seen


def _responses_whole(base: str) -> list[object]:
    """The same with the whole history each time, streamed, with encrypted reasoning."""
    history: ResponseInputParam = [{"role": "user", "content": "Hi"}]
    seen: list[object] = []
    with _client(base) as client:
        for _ in range(2):
            with client.responses.stream(
                model=MODEL, input=history, tools=[ITEM_TOOL], store=False, include=["reasoning.encrypted_content"]
            ) as stream:
                seen += [event.type for event in stream]
                found = stream.get_final_response()
            seen.append(like(found.to_dict()))
            history += [item.to_dict() for item in found.output]  # type: ignore[misc]
            history += _outputs(found.to_dict())
    return seen


def _responses_async(base: str) -> list[object]:
    async def use() -> list[object]:
        async with _async_client(base) as client:
            found = await client.responses.create(model=MODEL, input="Hi", tools=[ITEM_TOOL])
            stream = await client.responses.create(model=MODEL, input="And?", stream=True)
            events = [like(event.to_dict(), frozenset({"response"})) async for event in stream]
            return [like(found.to_dict()), *events]

    return asyncio.run(use())


def _outputs(response: dict[str, object]) -> ResponseInputParam:
    output = response["output"]
    assert isinstance(output, list)
    calls = [item["call_id"] for item in output if item["type"] == "function_call"]
    return [{"type": "function_call_output", "call_id": id, "output": "42"} for id in calls]


@pytest.mark.parametrize(
    ("use", "steps", "conversations"),
    [
        (_chat, (PLAIN, DONE), 1),
        (_chat_streamed, (PLAIN, DONE), 1),
        (_chat_async, (PLAIN, DONE), 2),
        (_responses, (FULL, DONE, DONE), 1),
        (_responses_whole, (FULL, DONE), 1),
        (_responses_async, (FULL, DONE), 2),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_it_sees_what_it_sees_without_the_proxy(
    tmp_path: Path, use: Callable[[str], list[object]], steps: tuple[Reply, ...], conversations: int
) -> None:
    _, rows = both(tmp_path, steps, use)
    answered = [row for row in rows if row["sent"] != "passed"]
    assert [row["outcome"] for row in answered] == ["answered"] * len(steps)
    assert len({row["conversation"] for row in answered}) == conversations


def test_structured_outputs_are_parsed(tmp_path: Path) -> None:
    city = Reply(text=json.dumps({"name": "Bremen", "people": 570_000}))

    def use(base: str) -> list[object]:
        with _client(base) as client:
            chat = client.chat.completions.parse(model=MODEL, messages=HI, response_format=City)
            item = client.responses.parse(model=MODEL, input="Hi", text_format=City)
        return [chat.choices[0].message.parsed, item.output_parsed]

    seen, _ = both(tmp_path, (city, city), use)
    assert seen == [City(name="Bremen", people=570_000)] * 2


def test_errors_are_those_of_the_provider(tmp_path: Path) -> None:
    def use(base: str) -> list[object]:
        found: list[object] = []
        with _client(base) as client:
            for ask in (
                lambda: client.chat.completions.create(model=MODEL, messages=HI),
                lambda: client.responses.create(model=MODEL, input="Hi"),
                lambda: client.responses.retrieve("resp_unknown"),
            ):
                with pytest.raises(openai.APIStatusError) as raised:
                    ask()
                problem = raised.value
                found.append((type(problem), problem.body, problem.response.headers.get("retry-after")))
        return found

    seen, _ = both(tmp_path, (Failing(429, retry_after=3), Failing(500)), use)
    kinds = [openai.RateLimitError, openai.InternalServerError, openai.NotFoundError]
    assert [found[0] for found in seen] == kinds  # type: ignore[index]


def test_it_tries_again_by_itself(tmp_path: Path) -> None:
    def use(base: str) -> object:
        with openai.OpenAI(api_key=KEY, base_url=f"{base}/v1", max_retries=2) as client:
            return like(client.chat.completions.create(model=MODEL, messages=HI).to_dict())

    _, rows = both(tmp_path, (Failing(429, retry_after=0), Failing(503, retry_after=0), DONE), use)
    assert [row["outcome"] for row in rows] == ["refused", "refused", "answered"]
    assert len({row["conversation"] for row in rows}) == 1


def test_models_are_listed(tmp_path: Path) -> None:
    def use(base: str) -> list[str]:
        with _client(base) as client:
            return [model.id for model in client.models.list()]

    assert both(tmp_path, (), use)[0] == ["m"]


def test_a_response_unknown_here_passes_where_all_may_pass(tmp_path: Path) -> None:
    with proxied(tmp_path, handling=Handling(policy=OPEN)) as (upstream, proxy):
        with _client(upstream.url) as client:
            first = client.responses.create(model=MODEL, input="Hi")
        with _client(proxy.base) as client:
            found = client.responses.create(model=MODEL, previous_response_id=first.id, input="More?")
    assert found.output_text == "ok"
    assert [row["sent"] for row in proxy.rows()] == ["unassembled"]


def test_a_response_unknown_here_is_lost_as_the_service_loses_one(tmp_path: Path) -> None:
    lost = pytest.raises(openai.BadRequestError, match="send the whole history")
    with proxied(tmp_path) as (upstream, proxy), _client(proxy.base) as client, lost as caught:
        client.responses.create(model=MODEL, previous_response_id="resp_elsewhere", input="More?")
    assert (caught.value.code, caught.value.param) == ("previous_response_not_found", "previous_response_id")
    assert upstream.bodies == []


@pytest.mark.parametrize("thinks", [False, True])
def test_a_chain_is_written_anew_where_no_thought_of_the_turn_lies_with_the_provider(
    tmp_path: Path, thinks: bool
) -> None:
    """What the provider keeps is billed again with each request of a chain, so it is weighed, and made smaller."""
    page = "\n".join(f"row {number}: nothing of note, as on every day before" for number in range(400))
    looks = Reply(thinking="I must look." if thinks else "", calls=(Called(ITEM_TOOL["name"]),))
    with proxied(tmp_path) as (upstream, proxy), _client(proxy.base) as client:
        previous: str | None = None
        asking: dict[str, Any] = {"model": MODEL, "tools": [ITEM_TOOL], "instructions": "Be kind."}
        for turn in range(12):
            upstream.will(looks, DONE)
            first = client.responses.create(**asking, input=f"What of {turn}?", previous_response_id=previous)
            outputs: Any = [dict(each, output=f"{turn} {page}") for each in _outputs(first.to_dict())]
            last = client.responses.create(**asking, input=outputs, previous_response_id=first.id)
            assert last.output_text == DONE.text
            previous = last.id
    assert [received.refused for received in upstream.received if received.refused] == []
    rows = proxy.rows()
    assert {row["conversation"] for row in rows} == {rows[0]["conversation"]}
    # The client's own request is what its provider would have read of it: more with each turn.
    asked = [int(str(row["asked"])) for row in rows]
    assert asked == sorted(asked)
    sent = [row["sent"] for row in rows]
    assert "sheet" in sent[0::2]
    assert ("sheet" in sent[1::2]) == (not thinks)
    assert all(
        "previous_response_id" not in body for body, how in zip(upstream.bodies, sent, strict=True) if how == "sheet"
    )
    assert max(int(str(row["input"])) for row in rows) < asked[-1] / 2


# --------------------------------------------------------------------------- a long task


def _hunt_chat(base: str) -> str:
    tool: ChatCompletionToolParam = {"type": "function", "function": {"name": logbook.TOOL, "parameters": SCHEMA}}
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": logbook.TASK}]
    with _client(base) as client:
        while True:
            found = client.chat.completions.create(model=MODEL, messages=messages, tools=[tool]).choices[0].message
            messages.append(found.to_dict())  # type: ignore[arg-type]
            if not found.tool_calls:
                return found.content or ""
            for call in found.tool_calls:
                assert call.type == "function"
                text = logbook.page(json.loads(call.function.arguments)["number"])
                messages.append({"role": "tool", "tool_call_id": call.id, "content": text})


def _hunt_responses(base: str, *, chained: bool) -> str:
    tool: FunctionToolParam = {"type": "function", "name": logbook.TOOL, "parameters": SCHEMA, "strict": False}
    history: ResponseInputParam = [{"role": "user", "content": logbook.TASK}]
    previous: str | None = None
    with _client(base) as client:
        while True:
            found = client.responses.create(model=MODEL, input=history, tools=[tool], previous_response_id=previous)
            calls = [item for item in found.output if item.type == "function_call"]
            if not calls:
                return found.output_text
            if chained:
                history, previous = [], found.id
            else:
                history += [item.to_dict() for item in found.output]  # type: ignore[misc]
            for call in calls:
                text = logbook.page(json.loads(call.arguments)["number"])
                history.append({"type": "function_call_output", "call_id": call.call_id, "output": text})


@pytest.mark.parametrize(
    ("use", "leaves"),
    [
        (_hunt_chat, True),
        (lambda base: _hunt_responses(base, chained=False), True),
        # The provider keeps the history, and bills it.
        (lambda base: _hunt_responses(base, chained=True), True),
    ],
    ids=["chat", "responses", "responses, chained"],
)
def test_a_long_task_is_finished_while_old_results_leave_its_requests(
    tmp_path: Path, use: Callable[[str], str], leaves: bool
) -> None:
    with proxied(tmp_path, plays=hunt.plays) as (upstream, proxy):
        assert use(proxy.base) == logbook.answer()
        assert not any(received.refused for received in upstream.received)
    rows = proxy.rows()
    assert len({row["conversation"] for row in rows}) == 1
    assert [row["outcome"] for row in rows] == ["answered"] * (logbook.PAGES + 1)
    assert hunt.leaves(rows) == leaves
