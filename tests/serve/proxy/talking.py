"""Clients with one tool, built on the official SDKs: each says something, answers calls, and sends its history back."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import anthropic
import openai
from google import genai
from google.genai import types as genai_types

PARAMETERS = {"type": "object", "properties": {"x": {"type": "string"}}}
STEPS = 10
"""Requests after which a client that is still asked for results gives up."""


class Talking(ABC):
    """A client in a conversation. `result` makes the result of a call of ``look``."""

    def __init__(self, base: str, *, streamed: bool, result: Callable[[], str]) -> None:
        self.streamed = streamed
        self.result = result
        self.history: list[Any] = []
        #: Names of all tools that were called of it.
        self.called: list[str] = []
        self.open(base)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()

    client: Any
    #: The last answer, or the last piece of it.
    whole: Any

    @property
    @abstractmethod
    def usage(self) -> int:
        """Tokens of the request, as the client was told."""

    @abstractmethod
    def open(self, base: str) -> None: ...

    @abstractmethod
    def asks(self, text: str) -> None: ...

    @abstractmethod
    def step(self) -> str | None:
        """One request; the text of the answer, or None where calls were answered."""

    def say(self, text: str) -> str:
        self.asks(text)
        for _ in range(STEPS):
            found = self.step()
            if found is not None:
                return found
        raise AssertionError("it never ends")


class Chat(Talking):
    def open(self, base: str) -> None:
        self.client = openai.OpenAI(api_key="k", base_url=f"{base}/v1", max_retries=0)

    def asks(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def step(self) -> str | None:
        tools = [{"type": "function", "function": {"name": "look", "parameters": PARAMETERS}}]
        asking: dict[str, Any] = {"model": "gpt-4o", "messages": self.history, "tools": tools}
        if self.streamed:
            with self.client.chat.completions.stream(**asking, stream_options={"include_usage": True}) as stream:
                self.whole = stream.get_final_completion()
        else:
            self.whole = self.client.chat.completions.create(**asking)
        message: Any = self.whole.choices[0].message
        said: dict[str, Any] = {"role": "assistant", "content": message.content}
        if message.tool_calls:
            said["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.function.name, "arguments": call.function.arguments},
                }
                for call in message.tool_calls
            ]
        self.history.append(said)
        for call in message.tool_calls or ():
            self.called.append(call.function.name)
            self.history.append({"role": "tool", "tool_call_id": call.id, "content": self.result()})
        return None if message.tool_calls else message.content or ""

    @property
    def usage(self) -> int:
        return int(self.whole.usage.prompt_tokens)


class Responses(Talking):
    def open(self, base: str) -> None:
        self.client = openai.OpenAI(api_key="k", base_url=f"{base}/v1", max_retries=0)

    def asks(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def step(self) -> str | None:
        asking: dict[str, Any] = {
            "model": "gpt-4o", "input": self.history, "instructions": "Be kind.", "store": False,
            "tools": [{"type": "function", "name": "look", "parameters": PARAMETERS, "strict": False}],
            "include": ["reasoning.encrypted_content"],
        }  # fmt: skip
        if self.streamed:
            with self.client.responses.stream(**asking) as stream:
                self.whole = stream.get_final_response()
        else:
            self.whole = self.client.responses.create(**asking)
        self.history += [item.to_dict() for item in self.whole.output]
        calls = [item for item in self.whole.output if item.type == "function_call"]
        for call in calls:
            self.called.append(call.name)
            self.history.append({"type": "function_call_output", "call_id": call.call_id, "output": self.result()})
        return None if calls else str(self.whole.output_text)

    @property
    def usage(self) -> int:
        return int(self.whole.usage.input_tokens)


class Messages(Talking):
    def open(self, base: str) -> None:
        self.client = anthropic.Anthropic(api_key="k", base_url=base, max_retries=0)

    def asks(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def step(self) -> str | None:
        asking: dict[str, Any] = {
            "model": "claude-haiku-4-5", "max_tokens": 2_000, "system": "Be kind.", "messages": self.history,
            "tools": [{"name": "look", "input_schema": PARAMETERS}],
            "thinking": {"type": "enabled", "budget_tokens": 1_024},
        }  # fmt: skip
        if self.streamed:
            with self.client.messages.stream(**asking) as stream:
                self.whole = stream.get_final_message()
        else:
            self.whole = self.client.messages.create(**asking)
        self.history.append({"role": "assistant", "content": [block.to_dict() for block in self.whole.content]})
        calls = [block for block in self.whole.content if block.type == "tool_use"]
        self.called += [call.name for call in calls]
        if calls:
            results = [{"type": "tool_result", "tool_use_id": call.id, "content": self.result()} for call in calls]
            self.history.append({"role": "user", "content": results})
            return None
        return "".join(block.text for block in self.whole.content if block.type == "text")

    @property
    def usage(self) -> int:
        usage = self.whole.usage
        return int(usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens)


class Gemini(Talking):
    def open(self, base: str) -> None:
        self.client = genai.Client(api_key="k", http_options=genai_types.HttpOptions(base_url=base))

    def asks(self, text: str) -> None:
        self.history.append(genai_types.UserContent(parts=[genai_types.Part(text=text)]))

    def step(self) -> str | None:
        look = genai_types.FunctionDeclaration(name="look", parameters_json_schema=PARAMETERS)
        config = genai_types.GenerateContentConfig(
            tools=[genai_types.Tool(function_declarations=[look])], system_instruction="Be kind."
        )
        asking: dict[str, Any] = {"model": "gemini-2.5-flash", "contents": list(self.history), "config": config}
        if self.streamed:
            chunks: list[Any] = list(self.client.models.generate_content_stream(**asking))
        else:
            chunks = [self.client.models.generate_content(**asking)]
        self.whole = chunks[-1]
        parts: list[Any] = [part for chunk in chunks for part in (chunk.candidates[0].content.parts or ())]
        self.history.append(genai_types.ModelContent(parts=parts))
        calls = [part.function_call for part in parts if part.function_call is not None]
        self.called += [call.name for call in calls]
        if calls:
            found = [{"id": call.id, "name": call.name, "response": {"result": self.result()}} for call in calls]
            answers = [genai_types.Part(function_response=genai_types.FunctionResponse(**one)) for one in found]
            self.history.append(genai_types.UserContent(parts=answers))
            return None
        return "".join(part.text or "" for part in parts if not part.thought)

    @property
    def usage(self) -> int:
        return int(self.whole.usage_metadata.prompt_token_count)


CLIENTS: list[type[Talking]] = [Chat, Responses, Messages, Gemini]
