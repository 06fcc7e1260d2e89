"""Recorded traffic of providers: the bodies of requests, made again from the shape of chat that they are kept in."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass

from callsheet.wire.names import Wire
from tests.recordings import recording

Json = dict[str, object]

_FORMATS = {
    "chat_completions": Wire.OPENAI,
    "openai_responses": Wire.OPENAI_RESPONSES,
    "anthropic_messages": Wire.ANTHROPIC,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Cassette:
    """One recorded request with the reply behind it."""

    id: str
    wire: Wire
    body: Json
    #: The message that answered it; None: none was recorded.
    reply: Json | None


def cassettes(wire: Wire) -> Iterator[Cassette]:
    """Those of one format."""
    with gzip.open(recording("provider_cassettes.jsonl.gz"), "rt") as lines:
        for record in map(json.loads, lines):
            if _FORMATS.get(record["meta"]["wire_format"]) is wire:
                yield _cassette(record, wire)


def _cassette(record: Json, wire: Wire) -> Cassette:
    messages, meta = record["messages"], record["meta"]
    assert isinstance(messages, list)
    assert isinstance(meta, dict)
    body: Json = {"model": meta["model"]}
    reply = messages[-1] if messages[-1]["role"] == "assistant" else None
    if wire is Wire.OPENAI_RESPONSES:
        body["input"] = [item for message in messages[: -1 if reply else None] for item in items_of(message)]
    else:
        body |= _anthropic(messages) if wire is Wire.ANTHROPIC else {"messages": messages}
        listed = body["messages"]
        assert isinstance(listed, list)
        body["messages"] = listed[:-1] if reply is not None else listed
    if record["tools"]:
        body["tools"] = record["tools"]
    return Cassette(id=str(record["id"]), wire=wire, body=body, reply=reply)


def _anthropic(messages: list[Json]) -> Json:
    system = [str(message["content"]) for message in messages if message["role"] == "system"]
    turns: list[Json] = []
    for message in messages:
        role = _role(message)
        if role == "system" and message["role"] == "system":
            continue
        if not turns or turns[-1]["role"] != role:
            turns.append({"role": role, "content": []})
        content = turns[-1]["content"]
        assert isinstance(content, list)
        content += blocks_of(message)
    body: Json = {"max_tokens": 1024, "messages": turns}
    return {"system": "\n\n".join(system), **body} if system else body


def _role(message: Json) -> str:
    """Whose turn a message is in; tools are added by a system message."""
    content = message["content"]
    if isinstance(content, list) and all(part["type"] == "tool_addition" for part in content):
        return "system"
    return "user" if message["role"] == "tool" else str(message["role"])


def blocks_of(message: Json) -> list[Json]:
    """The content blocks of a message."""
    content = message["content"]
    if message["role"] == "tool":
        block: Json = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": content}
        return [{**block, "is_error": True} if message.get("x_is_error") else block]
    kept, calls = message.get("x_blocks") or [], message.get("tool_calls") or []
    assert isinstance(kept, list)
    assert isinstance(calls, list)
    said = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
    uses = [
        {
            "type": "tool_use",
            "id": call["id"],
            "name": call["function"]["name"],
            "input": json.loads(call["function"]["arguments"]),
        }
        for call in calls
    ]
    return [*kept, *said, *uses]


def items_of(message: Json) -> list[Json]:
    """The items of a message."""
    content, calls, kept = message["content"], message.get("tool_calls") or [], message.get("x_items") or []
    assert isinstance(kept, list)
    assert isinstance(calls, list)
    if message["role"] == "tool":
        return [{"type": "function_call_output", "call_id": message["tool_call_id"], "output": content}]
    said: list[Json] = [{"role": message["role"], "content": content}] if content else []
    called = [{"type": "function_call", "call_id": call["id"], **call["function"]} for call in calls]
    return [*kept, *said, *called]
