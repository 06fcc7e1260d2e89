"""The official `google-genai` client."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from google import genai
from google.genai import errors, types
from pydantic import BaseModel

from callsheet.serve.proxy.settings import Handling
from tests.serve.clients import hunt, logbook
from tests.serve.clients.sides import KEY, both, like, proxied
from tests.serve.proxy.proxies import OPEN
from tests.upstream import Called, Failing, Reply

MODEL = "gemini-2.5-flash"
FULL = Reply(thinking="Let me think.", text="Hello there, all of you.", calls=(Called("f", {"x": "ü"}), Called("f")))
DONE = Reply(text="Done.")
TOOL = types.Tool(function_declarations=[types.FunctionDeclaration(name="f", description="Does f.")])
KIND = types.GenerateContentConfig(system_instruction="Be kind.", tools=[TOOL], temperature=0.5)


class City(BaseModel):
    name: str
    people: int


def _client(base: str) -> genai.Client:
    return genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=base))


def _dumped(found: types.GenerateContentResponse) -> object:
    return like(found.model_dump(mode="json", exclude_none=True))


def _results(found: types.GenerateContentResponse) -> types.Content:
    calls = found.function_calls or []
    parts = [
        types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response={"result": 42}))
        for call in calls
    ]
    return types.Content(role="user", parts=parts)


def _contents(base: str) -> list[object]:
    """Two turns with parallel calls and signed thoughts."""
    contents: list[types.Content] = [types.Content(role="user", parts=[types.Part(text="Hi")])]
    seen: list[object] = []
    with _client(base) as client:
        for _ in range(2):
            found = client.models.generate_content(model=MODEL, contents=contents, config=KIND)
            seen.append(_dumped(found))
            assert found.candidates
            content = found.candidates[0].content
            assert content is not None
            contents += [content, _results(found)]
    return seen


def _chat(base: str) -> list[object]:
    """The chat helper, which keeps the history by itself, streamed and not."""
    with _client(base) as client:
        chat = client.chats.create(model=MODEL)
        first = chat.send_message("Hi")
        second = [_dumped(piece) for piece in chat.send_message_stream("And now?")]
        history = [content.model_dump(mode="json", exclude_none=True) for content in chat.get_history()]
    return [_dumped(first), *second, *history]


def _async(base: str) -> list[object]:
    async def use() -> list[object]:
        async with _client(base).aio as client:
            found = await client.models.generate_content(model=MODEL, contents="Hi", config=KIND)
            stream = await client.models.generate_content_stream(model=MODEL, contents="And?")
            return [_dumped(found), *[_dumped(piece) async for piece in stream]]

    return asyncio.run(use())


@pytest.mark.parametrize(
    ("use", "first", "conversations"),
    [(_contents, FULL, 1), (_chat, Reply(text="Hello"), 1), (_async, FULL, 2)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_it_sees_what_it_sees_without_the_proxy(
    tmp_path: Path, use: Callable[[str], list[object]], first: Reply, conversations: int
) -> None:
    _, rows = both(tmp_path, (first, DONE), use)
    assert [row["outcome"] for row in rows] == ["answered"] * 2
    assert len({row["conversation"] for row in rows}) == conversations


def test_structured_outputs_are_parsed(tmp_path: Path) -> None:
    def use(base: str) -> object:
        with _client(base) as client:
            config = types.GenerateContentConfig(response_mime_type="application/json", response_schema=City)
            return client.models.generate_content(model=MODEL, contents="Hi", config=config).parsed

    city = Reply(text='{"name": "Bremen", "people": 570000}')
    assert both(tmp_path, (city,), use)[0] == City(name="Bremen", people=570_000)


def test_errors_are_those_of_the_provider(tmp_path: Path) -> None:
    def use(base: str) -> list[object]:
        found: list[object] = []
        with _client(base) as client:
            for _ in range(2):
                with pytest.raises(errors.APIError) as raised:
                    client.models.generate_content(model=MODEL, contents="Hi")
                found.append((type(raised.value), raised.value.code, raised.value.message, raised.value.status))
        return found

    seen, _ = both(tmp_path, (Failing(429), Failing(503)), use)
    assert [found[1] for found in seen] == [429, 503]  # type: ignore[index]


@pytest.mark.parametrize("open", [True, False])
def test_tokens_are_counted_and_nothing_is_recorded(tmp_path: Path, open: bool) -> None:
    handling = Handling(policy=OPEN) if open else Handling()
    with proxied(tmp_path, handling=handling) as (upstream, proxy):
        with _client(upstream.url) as client:
            theirs = client.models.count_tokens(model=MODEL, contents="Hi").total_tokens
        with _client(proxy.base) as client:
            found = client.models.count_tokens(model=MODEL, contents="Hi").total_tokens
        assert len(upstream.received) == (2 if open else 1)
    assert found is not None
    assert found == theirs if open else found > 0
    assert not any(row["conversation"] for row in proxy.rows())


# --------------------------------------------------------------------------- a long task


def test_a_long_task_is_finished_while_old_results_leave_its_requests(tmp_path: Path) -> None:
    def read_page(number: int) -> str:
        """Read a page of the logbook."""
        return logbook.page(number)

    # Functions of Python are called by the client itself, which sends their results back.
    calling = types.AutomaticFunctionCallingConfig(maximum_remote_calls=logbook.PAGES + 2)
    config = types.GenerateContentConfig(tools=[read_page], automatic_function_calling=calling)
    with proxied(tmp_path, plays=hunt.plays) as (upstream, proxy):
        with _client(proxy.base) as client:
            found = client.models.generate_content(model=MODEL, contents=logbook.TASK, config=config)
        assert found.text == logbook.answer()
        assert not any(received.refused for received in upstream.received)
    rows = proxy.rows()
    assert len({row["conversation"] for row in rows}) == 1
    assert [row["outcome"] for row in rows] == ["answered"] * (logbook.PAGES + 1)
    assert hunt.leaves(rows)
