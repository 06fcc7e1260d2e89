"""Messages, as Anthropic answers."""

import json
from collections.abc import Iterator, Mapping, Sequence

from anthropic.types.beta.message_create_params import MessageCreateParamsBase
from anthropic.types.message_create_params import MessageCreateParamsBase as StableParams

from tests.upstream.cutting import pieces
from tests.upstream.scripts import Counted, Json, Lost, Reply
from tests.upstream.signing import behind, signature

_KNOWN = {*MessageCreateParamsBase.__annotations__, *StableParams.__annotations__, "stream"} - {"betas"}
_THOUGHTS = ("thinking", "redacted_thinking")
_MOST_MARKS = 4


def refuse(body: Mapping[str, object], headers: Mapping[str, str], *, counting: bool = False) -> str | None:
    """Why the service refuses a request; None: it does not."""
    if "anthropic-version" not in headers:
        return "anthropic-version: header is required"
    for key in ("model", "messages") if counting else ("model", "max_tokens", "messages"):
        if key not in body:
            return f"{key}: Field required"
    if unknown := sorted(body.keys() - _KNOWN):
        return f"{unknown[0]}: Extra inputs are not permitted"
    messages = body["messages"]
    if not isinstance(messages, list) or not messages:
        return "messages: at least one message is required"
    return (
        _of_marks(body)
        or _of_texts(body)
        or _of_turns(messages)
        or _of_pairs(messages)
        or _of_thoughts(body, messages)
        or _of_choice(body)
    )


def _of_marks(body: Mapping[str, object]) -> str | None:
    marks = list(_marks([body.get(key) for key in ("tools", "system", "messages")]))
    used = len(marks) + bool(body.get("cache_control"))
    if used > _MOST_MARKS:
        return f"A maximum of {_MOST_MARKS} blocks with cache_control may be provided. Found {used}."
    lives = [given.get("ttl", "5m") for given in marks]
    if "5m" in lives and "1h" in lives[lives.index("5m") :]:
        return "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
    return None


def _marks(value: object) -> Iterator[Json]:
    """Every mark, in the order in which the service reads the request."""
    if isinstance(value, list):
        for item in value:
            yield from _marks(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "cache_control" and isinstance(item, dict):
                yield item
            else:
                yield from _marks(item)


def _of_texts(body: Mapping[str, object]) -> str | None:
    system = body.get("system")
    for where, block in _blocks_of(system, "system"):
        if block.get("type") == "text" and not str(block.get("text")).strip():
            return f"{where}: text content blocks must be non-empty"
    for where, _, block in _all(body["messages"]):
        if block.get("type") == "text" and not str(block.get("text")).strip():
            return f"{where}: text content blocks must contain non-whitespace text"
        if block.get("type") == "text" and block.get("cache_control") and not block.get("text"):
            return f"{where}: cache_control cannot be set for empty text blocks"
        if block.get("type") in _THOUGHTS and block.get("cache_control"):
            return f"{where}.cache_control: Extra inputs are not permitted"
    return None


def _blocks_of(content: object, where: str) -> Iterator[tuple[str, Json]]:
    if isinstance(content, list):
        yield from ((f"{where}.{at}", block) for at, block in enumerate(content))
    elif content is not None:
        yield where, {"type": "text", "text": content}


def _all(messages: object) -> Iterator[tuple[str, int, Json]]:
    assert isinstance(messages, list)
    for at, message in enumerate(messages):
        for where, block in _blocks_of(message.get("content"), f"messages.{at}.content"):
            yield where, at, block


def _of_turns(messages: Sequence[Json]) -> str | None:
    if messages[0].get("role") != "user":
        return 'messages: first message must use the "user" role'
    for at, message in enumerate(messages):
        role, after = message.get("role"), messages[at + 1].get("role") if at + 1 < len(messages) else None
        if role not in ("user", "assistant", "system"):
            return f"messages.{at}.role: Input should be 'user', 'assistant' or 'system'"
        if role == "system" and after not in (None, "assistant"):
            return "role 'system' must precede an 'assistant' message or end the array"
        content = message.get("content")
        if content in ("", []) and not (role == "assistant" and at == len(messages) - 1):
            what = "all messages must have non-empty content except for the optional final assistant message"
            return f"messages.{at}: {what}"
    return None


def _of_pairs(messages: Sequence[Json]) -> str | None:
    """Results stand first in the turn behind their calls; turns of one role in a row are one."""
    turns: list[tuple[object, list[Json], int]] = []
    for at, message in enumerate(messages):
        blocks = [block for _, block in _blocks_of(message.get("content"), "")]
        if message["role"] == "system":
            continue
        if turns and turns[-1][0] == message["role"]:
            turns[-1][1].extend(blocks)
        else:
            turns.append((message["role"], blocks, at))
    due: list[str] = []
    seen: set[str] = set()
    for role, blocks, at in turns:
        answered = [str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"]
        if missing := [id for id in due if id not in answered]:
            return (
                f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
                f"next message."
            )
        if strange := [id for id in answered if id not in due]:
            return (
                f"messages.{at}: unexpected `tool_use_id` found in `tool_result` blocks: {strange[0]}. Each "
                f"`tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        if len(set(answered)) < len(answered):
            return f"messages.{at}: each tool_use must have a single result. Found multiple `tool_result` blocks"
        kinds = [block.get("type") == "tool_result" for block in blocks]
        if sorted(kinds, reverse=True) != kinds:
            return f"messages.{at}: `tool_result` blocks must come before other content"
        due = [str(block.get("id")) for block in blocks if role == "assistant" and block.get("type") == "tool_use"]
        if len(set(due)) < len(due) or seen & set(due):
            return f"messages.{at}: `tool_use` ids must be unique"
        seen |= set(due)
    return f"messages: `tool_use` ids were found without `tool_result` blocks: {', '.join(due)}" if due else None


def _of_thoughts(body: Mapping[str, object], messages: Sequence[Json]) -> str | None:
    for where, at, block in _all(messages):
        signed = signature(str(block.get("thinking")), behind(body, at))
        if block.get("type") == "thinking" and block.get("signature") != signed:
            bound = " The block is bound to a different conversation." if behind(body, at) else ""
            return f"{where}: Invalid `signature` in `thinking` block.{bound}"
        if block.get("type") == "redacted_thinking" and not block.get("data"):
            return f"{where}: Invalid `data` in `redacted_thinking` block"
    thinking = body.get("thinking")
    if not isinstance(thinking, dict) or thinking.get("type") != "enabled":
        return None
    limit, spent = body.get("max_tokens"), thinking.get("budget_tokens")
    if isinstance(limit, int) and isinstance(spent, int) and spent >= limit:
        return "`max_tokens` must be greater than `thinking.budget_tokens`."
    last = next((at for at in range(len(messages) - 1, -1, -1) if messages[at]["role"] == "assistant"), None)
    if last is None:
        return None
    blocks = [block for _, block in _blocks_of(messages[last].get("content"), "")]
    calls = any(block.get("type") == "tool_use" for block in blocks)
    if calls and blocks[0].get("type") not in _THOUGHTS:
        return (
            f"messages.{last}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
            f"`{blocks[0].get('type')}`. When `thinking` is enabled, a final `assistant` message must start with a "
            f"thinking block."
        )
    return None


def _of_choice(body: Mapping[str, object]) -> str | None:
    choice, thinking = body.get("tool_choice"), body.get("thinking")
    if not isinstance(choice, dict):
        return None
    tools = body.get("tools")
    if choice.get("type") != "none" and not tools:
        return "tool_choice: may only be specified while providing tools."
    if choice.get("type") in ("any", "tool") and isinstance(thinking, dict) and thinking.get("type") == "enabled":
        return "Thinking may not be enabled when tool_choice forces tool use."
    return None


def error(status: int, message: str) -> Json:
    """The body of an error."""
    kinds = {401: "authentication_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error"}
    kind = kinds.get(status, "overloaded_error" if status == 529 else "api_error" if status >= 500 else None)
    made: Json = {"type": kind or "invalid_request_error", "message": message}
    if isinstance(message, Lost):
        made["details"] = {"error_code": "thread_not_found"}
    return {"type": "error", "error": made, "request_id": "req_1"}


def error_event(message: str) -> bytes:
    """An error inside a stream."""
    return _event({"type": "error", "error": {"type": "overloaded_error", "message": message}})


def whole(reply: Reply, body: Mapping[str, object], count: Counted, number: int) -> Json:
    """The response."""
    content: list[Json] = []
    if reply.thinking:
        listed = body.get("messages", [])
        assert isinstance(listed, list)
        signed = signature(reply.thinking, behind(body, len(listed)))
        content.append({"type": "thinking", "thinking": reply.thinking, "signature": signed})
    if reply.text or reply.refusal:
        content.append({"type": "text", "text": reply.text or reply.refusal})
    for at, call in enumerate(reply.calls):
        content.append(
            {"type": "tool_use", "id": f"toolu_{number}_{at}", "name": call.name, "input": dict(call.arguments)}
        )
    reason = "tool_use" if reply.calls else "end_turn"
    reason = "max_tokens" if reply.cut else "refusal" if reply.refusal else reason
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": count.input - count.read - count.written,
            "cache_read_input_tokens": count.read,
            "cache_creation_input_tokens": count.written,
            "output_tokens": count.output,
            "service_tier": "standard",
        },
    }


def events(response: Json, body: Mapping[str, object]) -> Iterator[bytes]:
    """The response as a stream."""
    usage, content = response["usage"], response["content"]
    assert isinstance(usage, dict)
    assert isinstance(content, list)
    begun = {**response, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield _event({"type": "message_start", "message": begun})
    yield _event({"type": "ping"})
    for index, block in enumerate(content):
        start, deltas = _in_pieces(block)
        yield _event({"type": "content_block_start", "index": index, "content_block": start})
        for delta in deltas:
            yield _event({"type": "content_block_delta", "index": index, "delta": delta})
        yield _event({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": response["stop_reason"], "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": usage["output_tokens"]}})
    yield _event({"type": "message_stop"})


def _in_pieces(block: Json) -> tuple[Json, list[Json]]:
    match block["type"]:
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
        case "thinking":
            thoughts: list[Json] = [
                {"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])
            ]
            signed: Json = {"type": "signature_delta", "signature": block["signature"]}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*thoughts, signed]
        case _:
            texts = ["", *pieces(json.dumps(block["input"]))]
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": text} for text in texts]


def _event(data: Json) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()
