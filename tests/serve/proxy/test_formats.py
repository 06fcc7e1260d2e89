"""Every format, by its official SDK, before a service that refuses what its provider would."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import types as genai_types

from callsheet.serve.proxy.settings import Handling
from tests.serve.proxy.proxies import OPEN, Running, running, settings
from tests.upstream import Called, Reply, Upstream

TOOL = {"type": "object", "properties": {"x": {"type": "string"}}}
ASKS = Reply(
    thinking="Let me look.", text="I look it up.", calls=(Called("look", {"x": "1"}), Called("look", {"x": "2"}))
)
ANSWERS = Reply(text="Both are fine.")
RESULT = json.dumps([{"n": n, "text": "row of a result"} for n in range(300)])
QUESTIONS = [f"question {n}: " + "what of it? " * 30 for n in range(8)]


@pytest.fixture
def service() -> Iterator[Upstream]:
    with Upstream() as started:
        yield started


def chat(proxy: Running, streamed: bool) -> None:
    with openai.OpenAI(api_key="k", base_url=f"{proxy.base}/v1", max_retries=0) as client:
        messages: list[Any] = [{"role": "system", "content": "Be kind."}]
        tools = [{"type": "function", "function": {"name": "look", "parameters": TOOL}}]
        asking: dict[str, Any] = {"model": "gpt-4o", "messages": messages, "tools": tools}
        for question in QUESTIONS:
            messages.append({"role": "user", "content": question})
            while True:
                if streamed:
                    with client.chat.completions.stream(**asking) as stream:
                        message: Any = stream.get_final_completion().choices[0].message
                else:
                    message = client.chat.completions.create(**asking).choices[0].message
                messages.append(message.model_dump(exclude_none=True, exclude={"parsed", "reasoning_content"}))
                if not message.tool_calls:
                    break
                for call in message.tool_calls:
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": RESULT})
                    call.function.__dict__.pop("parsed_arguments", None)
            assert message.content == ANSWERS.text


def responses(proxy: Running, streamed: bool) -> None:
    with openai.OpenAI(api_key="k", base_url=f"{proxy.base}/v1", max_retries=0) as client:
        input: list[Any] = []
        tools = [{"type": "function", "name": "look", "parameters": TOOL, "strict": False}]
        asking: dict[str, Any] = {
            "model": "gpt-4o", "input": input, "tools": tools, "instructions": "Be kind.", "store": False,
            "include": ["reasoning.encrypted_content"],
        }  # fmt: skip
        for question in QUESTIONS:
            input.append({"role": "user", "content": question})
            while True:
                if streamed:
                    with client.responses.stream(**asking) as stream:
                        found: Any = stream.get_final_response()
                else:
                    found = client.responses.create(**asking)
                input += [item.to_dict() for item in found.output]
                calls = [item for item in found.output if item.type == "function_call"]
                if not calls:
                    break
                input += [{"type": "function_call_output", "call_id": call.call_id, "output": RESULT} for call in calls]
            assert found.output_text == ANSWERS.text


def messages(proxy: Running, streamed: bool) -> None:
    with anthropic.Anthropic(api_key="k", base_url=proxy.base, max_retries=0) as client:
        history: list[Any] = []
        asking: dict[str, Any] = {
            "model": "claude-haiku-4-5", "max_tokens": 2_000, "system": "Be kind.", "messages": history,
            "tools": [{"name": "look", "input_schema": TOOL}], "thinking": {"type": "enabled", "budget_tokens": 1_024},
        }  # fmt: skip
        for question in QUESTIONS:
            history.append({"role": "user", "content": question})
            while True:
                if streamed:
                    with client.messages.stream(**asking) as stream:
                        found: Any = stream.get_final_message()
                else:
                    found = client.messages.create(**asking)
                history.append({"role": "assistant", "content": [part.to_dict() for part in found.content]})
                calls = [part for part in found.content if part.type == "tool_use"]
                if not calls:
                    break
                results = [{"type": "tool_result", "tool_use_id": call.id, "content": RESULT} for call in calls]
                history.append({"role": "user", "content": results})
            assert found.content[-1].text == ANSWERS.text


def gemini(proxy: Running, streamed: bool) -> None:
    options = genai_types.HttpOptions(base_url=proxy.base)
    with genai.Client(api_key="k", http_options=options) as client:
        look = genai_types.FunctionDeclaration(name="look", parameters_json_schema=TOOL)
        config = genai_types.GenerateContentConfig(
            tools=[genai_types.Tool(function_declarations=[look])], system_instruction="Be kind."
        )
        contents: list[genai_types.Content] = []
        for question in QUESTIONS:
            contents.append(genai_types.UserContent(parts=[genai_types.Part(text=question)]))
            while True:
                asking: dict[str, Any] = {"model": "gemini-2.5-flash", "contents": list(contents), "config": config}
                if streamed:
                    chunks: list[Any] = list(client.models.generate_content_stream(**asking))
                else:
                    chunks = [client.models.generate_content(**asking)]
                parts: list[Any] = [part for chunk in chunks for part in (chunk.candidates[0].content.parts or ())]
                contents.append(genai_types.ModelContent(parts=parts))
                calls = [part.function_call for part in parts if part.function_call is not None]
                if not calls:
                    break
                found = [{"id": call.id, "name": call.name, "response": {"result": RESULT}} for call in calls]
                results = [genai_types.Part(function_response=genai_types.FunctionResponse(**one)) for one in found]
                contents.append(genai_types.UserContent(parts=results))
            assert "".join(part.text or "" for part in parts if not part.thought) == ANSWERS.text


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("policy", ["balanced", "replay"])
@pytest.mark.parametrize("play", [chat, responses, messages, gemini])
def test_a_conversation_with_tools_is_one_conversation(
    service: Upstream, tmp_path: Path, play: Callable[[Running, bool], None], policy: str, *, streamed: bool
) -> None:
    service.will(*(ASKS, ANSWERS) * len(QUESTIONS))
    handling = Handling(policy=OPEN) if policy == "replay" else Handling()
    with running(settings(tmp_path, service.url, handling=handling)) as proxy:
        play(proxy, streamed)
    rows = proxy.rows()
    assert [received.refused for received in service.received if received.refused] == []
    assert [row["outcome"] for row in rows] == ["answered"] * 2 * len(QUESTIONS)
    assert len({row["conversation"] for row in rows}) == 1
    assert [row["how"] for row in rows] == ["begun"] + ["continued"] * (2 * len(QUESTIONS) - 1)
    asked, sent = (sum(int(str(row[name])) for row in rows) for name in ("asked", "assembled"))
    assert sent < asked if policy == "balanced" else sent <= asked
