"""Chat Completions, as OpenAI answers."""

import json
from collections.abc import Iterator, Mapping

from openai.types.chat.completion_create_params import CompletionCreateParamsBase

from tests.upstream.cutting import pieces
from tests.upstream.scripts import Counted, Json, Reply

_KNOWN = {*CompletionCreateParamsBase.__annotations__, "stream"}
_PLACES = {"system", "developer", "user", "assistant", "tool", "function"}


def refuse(body: Mapping[str, object], headers: Mapping[str, str]) -> str | None:
    """Why the service refuses a request; None: it does not."""
    if not isinstance(body.get("model"), str) or not body["model"]:
        return "you must provide a model parameter"
    if unknown := sorted(body.keys() - _KNOWN):
        return f"Unrecognized request argument supplied: {unknown[0]}"
    if body.get("stream_options") is not None and not body.get("stream"):
        return "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    if body.get("tool_choice") is not None and not body.get("tools"):
        return "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
    if body.get("tools") == []:
        return "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead."
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "Invalid 'messages': empty array."
    return _of_messages(messages)


def _of_messages(messages: list[Json]) -> str | None:
    due: set[str] = set()
    answerable = False
    for at, message in enumerate(messages):
        role = message.get("role")
        if role not in _PLACES:
            return f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool'."
        if role == "tool":
            id = str(message.get("tool_call_id"))
            if not answerable:
                return (
                    f"Invalid parameter: messages with role 'tool' must be a response to a preceding message with "
                    f"'tool_calls' (messages.[{at}].role)."
                )
            if id not in due:
                return f"Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of previous message."
            due.discard(id)
            continue
        if due:
            return _unanswered(due)
        calls = message.get("tool_calls")
        if calls == []:
            return f"Invalid 'messages[{at}].tool_calls': empty array."
        due = {str(call["id"]) for call in calls} if isinstance(calls, list) else set()
        answerable = bool(due)
        if message.get("content") is None and not calls and not message.get("audio") and role != "assistant":
            return f"Invalid value for 'content': expected a string, got null. (messages.[{at}].content)"
    return _unanswered(due) if due else None


def _unanswered(due: set[str]) -> str:
    return (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {', '.join(sorted(due))}"
    )


def error(status: int, message: str) -> Json:
    """The body of an error."""
    kind = {401: "invalid_request_error", 429: "requests"}.get(status, "invalid_request_error")
    kind = "server_error" if status >= 500 else kind
    code = {401: "invalid_api_key", 429: "rate_limit_exceeded"}.get(status)
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def error_event(message: str) -> bytes:
    """An error inside a stream."""
    return _event(error(500, message))


def counted_parts(body: Mapping[str, object]) -> list[object]:
    """What the cache goes by."""
    messages = body.get("messages")
    return [body.get("tools"), *(messages if isinstance(messages, list) else [])]


def whole(reply: Reply, body: Mapping[str, object], count: Counted, number: int) -> Json:
    """The response."""
    calls = [
        {
            "id": f"call_{number}_{at}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for at, call in enumerate(reply.calls)
    ]
    message: Json = {"role": "assistant", "content": reply.text or None, "refusal": reply.refusal or None}
    message |= {"tool_calls": calls} if calls else {}
    message |= {"reasoning_content": reply.thinking} if reply.thinking else {}
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(reply)}],
        "usage": {
            "prompt_tokens": count.input,
            "completion_tokens": count.output,
            "total_tokens": count.input + count.output,
            "prompt_tokens_details": {"cached_tokens": count.read, "audio_tokens": 0},
        },
        "service_tier": "default",
    }


def _finish(reply: Reply) -> str:
    if reply.cut:
        return "length"
    return "tool_calls" if reply.calls else "stop"


def events(response: Json, body: Mapping[str, object]) -> Iterator[bytes]:
    """The response as a stream. Usage comes where the client asks for it."""
    choices, options = response["choices"], body.get("stream_options")
    assert isinstance(choices, list)
    message = choices[0]["message"]
    with_usage = isinstance(options, dict) and options.get("include_usage") is True
    left: Json = {"usage": None} if with_usage else {}
    top: Json = {key: value for key, value in response.items() if key not in ("choices", "usage")} | left
    top["object"] = "chat.completion.chunk"

    def chunk(delta: Json, finish: str | None = None) -> bytes:
        said = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event({**top, "choices": [said], "obfuscation": "xxxx"})

    yield chunk({"role": "assistant", "content": "" if message["content"] else None, "refusal": None})
    for key in "reasoning_content", "content", "refusal":
        for piece in pieces(message.get(key)):
            yield chunk({key: piece})
    for at, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        yield chunk({"tool_calls": [{"index": at, **call, "function": {"name": function["name"], "arguments": ""}}]})
        for piece in pieces(function["arguments"]):
            yield chunk({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    yield chunk({}, choices[0]["finish_reason"])
    if with_usage:
        yield _event({**top, "choices": [], "usage": response["usage"]})
    yield b"data: [DONE]\n\n"


def _event(data: Json) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"
