"""The histories of cases as clients of each format hold them, with whatever is broken in them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from callsheet.wire.names import Wire

Json = dict[str, Any]

MODELS = {
    Wire.OPENAI: "gpt-5.2",
    Wire.OPENAI_RESPONSES: "gpt-5.2",
    Wire.ANTHROPIC: "claude-sonnet-4-5",
    Wire.GEMINI: "gemini-2.5-flash",
}
PATHS = {
    Wire.OPENAI: "/v1/chat/completions",
    Wire.OPENAI_RESPONSES: "/v1/responses",
    Wire.ANTHROPIC: "/v1/messages",
    Wire.GEMINI: "/v1beta/models/gemini-2.5-flash:generateContent",
}
HEADERS: Mapping[Wire, Mapping[str, str]] = {
    Wire.OPENAI: {"authorization": "Bearer k"},
    Wire.OPENAI_RESPONSES: {"authorization": "Bearer k"},
    Wire.ANTHROPIC: {"x-api-key": "k", "anthropic-version": "2023-06-01"},
    Wire.GEMINI: {"x-goog-api-key": "k"},
}


def body(history: Sequence[Json], wire: Wire, tools: Sequence[Json] = ()) -> Json:
    """A request with a history, and tools, that stand here as Chat Completions has them."""
    system = [message["content"] for message in history if message["role"] == "system"]
    said = [message for message in history if message["role"] != "system"]
    declared = [tool["function"] for tool in tools]
    match wire:
        case Wire.OPENAI:
            made: Json = {"messages": list(history)}
            offered: list[Json] = list(tools)
        case Wire.OPENAI_RESPONSES:
            made = {"input": [item for message in said for item in _items(message)]}
            made |= {"instructions": system[0]} if system else {}
            offered = [{"type": "function", "strict": False, **each} for each in declared]
        case Wire.ANTHROPIC:
            made = {"max_tokens": 2_000, "messages": [_message(message) for message in said]}
            made |= {"system": system[0]} if system else {}
            offered = [
                {"name": each["name"], "description": each["description"], "input_schema": each["parameters"]}
                for each in declared
            ]
        case Wire.GEMINI:
            names = {call["id"]: call["function"]["name"] for message in said for call in _calls(message)}
            made = {"contents": [_content(message, names) for message in said]}
            made |= {"systemInstruction": {"parts": [{"text": system[0]}]}} if system else {}
            plain = [{key: each[key] for key in ("name", "description")} for each in declared]
            shapes = [{"parametersJsonSchema": each["parameters"]} for each in declared]
            both = [one | other for one, other in zip(plain, shapes, strict=True)]
            offered = [{"functionDeclarations": both}] if both else []
    if wire is not Wire.GEMINI:
        made["model"] = MODELS[wire]
    return made | ({"tools": offered} if offered else {})


def _calls(message: Json) -> list[Json]:
    return message.get("tool_calls") or []


def _items(message: Json) -> list[Json]:
    if message["role"] == "tool":
        return [{"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}]
    text = message.get("content")
    found: list[Json] = [{"role": message["role"], "content": text}] if text is not None else []
    return found + [{"type": "function_call", "call_id": call["id"], **call["function"]} for call in _calls(message)]


def _message(message: Json) -> Json:
    if message["role"] == "tool":
        content: list[Json] = [
            {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
        ]
        return {"role": "user", "content": content}
    content = [{"type": "text", "text": message["content"]}] if message.get("content") is not None else []
    for call in _calls(message):
        given = _arguments(call)
        content.append({"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": given})
    return {"role": message["role"], "content": content}


def _content(message: Json, names: Mapping[str, str]) -> Json:
    if message["role"] == "tool":
        answer = {"name": names.get(message["tool_call_id"], "f"), "response": {"output": message["content"]}}
        return {"role": "user", "parts": [{"functionResponse": {"id": message["tool_call_id"], **answer}}]}
    parts: list[Json] = [{"text": message["content"]}] if message.get("content") is not None else []
    for call in _calls(message):
        made = {"id": call["id"], "name": call["function"]["name"], "args": _arguments(call)}
        parts.append({"functionCall": made})
    return {"role": "model" if message["role"] == "assistant" else "user", "parts": parts}


def _arguments(call: Json) -> Json:
    """Where a client holds an object, it has wrapped what was none."""
    try:
        found: Json = json.loads(call["function"]["arguments"])
    except ValueError:
        return {"INVALID_JSON": call["function"]["arguments"]}
    return found
