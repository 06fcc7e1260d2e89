"""Messages and responses as providers send them."""

from collections.abc import Mapping

Json = dict[str, object]


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def call(id: str, tool: str = "get_order", arguments: str = "{}") -> Json:
    return {"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}}


def asks(*calls: Json, content: str | None = None) -> Json:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def result(id: str | None, content: object) -> Json:
    return {"role": "tool", "tool_call_id": id, "content": content}


def openai_reply(message: Mapping[str, object] | str, *, prompt: int = 0, finish: str = "stop") -> Json:
    said = {"role": "assistant", "content": message} if isinstance(message, str) else dict(message)
    reply: Json = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5.2-2026",
        "choices": [{"index": 0, "finish_reason": finish, "message": said}],
    }
    if prompt:
        reply["usage"] = {"prompt_tokens": prompt, "completion_tokens": 7, "total_tokens": prompt + 7}
    return reply


def anthropic_reply(text: str, *, prompt: int) -> Json:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": prompt, "output_tokens": 7},
    }


def tool(name: str = "get_order") -> Json:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
