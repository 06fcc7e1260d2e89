"""Messages of LangChain as they are serialised, as messages of Chat Completions; none of its classes is needed.

In MessagePack an object is a module, a class, its fields and the way to build it; here the fields are taken and nothing
is built.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from callsheet.audit.logs.jsonlines import count, listed, mapping, text
from callsheet.audit.logs.values import Answered
from callsheet.graph.values import Usage

_DEEPEST = 100
"""Objects within objects: each is an encoding of its own, and a file may hold any number of them within each other."""

_MAKERS = {"claude": "anthropic", "gemini": "google", "gpt": "openai", "o1": "openai", "o3": "openai", "o4": "openai"}
"""How names of models begin, where the provider is not told."""

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}


@dataclass(frozen=True, slots=True)
class Object:
    """An object of some class, unbuilt."""

    name: str
    fields: object


def unpacked(data: bytes) -> object:
    """The value of MessagePack with LangGraph's extensions. Raises `ValueError` for what cannot be read."""
    try:
        return _unpacked(data, 0)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise ValueError(f"not MessagePack ({problem})") from None


def _unpacked(data: bytes, depth: int) -> object:
    if depth > _DEEPEST:
        raise ValueError("objects within objects, too deep")

    def extension(code: int, content: memoryview) -> object:
        value = _unpacked(bytes(content), depth + 1)
        # Module, class, and the fields or arguments; what else stands there says how to build it.
        if isinstance(value, list | tuple) and len(value) >= 3 and isinstance(value[1], str):
            return Object(value[1], value[2])
        return Object("", value)

    return msgspec.msgpack.decode(data, ext_hook=extension)


def from_json(value: object) -> object:
    """The same of the JSON form: what it says is an object of a class becomes one, unbuilt."""
    if isinstance(value, list):
        return [from_json(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value.get("lc") in (1, 2) and isinstance(value.get("id"), list):
        names = [name for name in value["id"] if isinstance(name, str)]
        return Object(names[-1] if names else "", from_json(value.get("kwargs")))
    return {key: from_json(each) for key, each in value.items()}


def is_message(value: object) -> bool:
    """Whether it is a message of LangChain."""
    return isinstance(value, Object) and value.name.removesuffix("Chunk").endswith("Message")


def fields_of(value: object) -> dict[str, object]:
    """The fields of a message."""
    return mapping(value.fields) if isinstance(value, Object) else {}


def message(value: Object) -> dict[str, object]:
    """The message in the shape of Chat Completions; blocks that have no place there stay as they are."""
    found = fields_of(value)
    named = found.get("type")
    kind = named.removesuffix("MessageChunk").lower() if isinstance(named, str) else ""
    role = _ROLES.get(kind) or _role(value.name, found)
    content = plain(found.get("content"))
    made: dict[str, object] = {"role": role, "content": content}
    if role == "assistant":
        return made | _asked(found, content)
    if role == "tool":
        made["tool_call_id"] = text(found.get("tool_call_id"))
        made |= {"x_status": "failed"} if found.get("status") == "error" else {}
    return made


def _asked(found: Mapping[str, object], content: object) -> dict[str, object]:
    calls = [_call(mapping(call)) for call in listed(found.get("tool_calls"))]
    calls += [_call(mapping(call)) for call in listed(found.get("invalid_tool_calls"))]
    made: dict[str, object] = {"tool_calls": calls} if calls else {}
    if isinstance(content, list):
        # Blocks of calls stand in the list of calls already; reasoning has no place in the shape.
        named = [(mapping(block).get("type"), block) for block in content]
        texts = [block for kind, block in named if kind == "text"]
        aside = [block for kind, block in named if kind not in ("text", "tool_use", "tool_call", "function_call")]
        made |= {"content": [{"type": "text", "text": mapping(block).get("text")} for block in texts] or None}
        made |= {"x_items": aside} if aside else {}
    elif content == "" and calls:
        made["content"] = None
    return made


def _call(call: Mapping[str, object]) -> dict[str, object]:
    given = call.get("args")
    arguments = given if isinstance(given, str) else json.dumps(plain(given) or {}, ensure_ascii=False)
    return {
        "id": text(call.get("id")),
        "type": "function",
        "function": {"name": text(call.get("name")) or "", "arguments": arguments},
    }


def _role(name: str, found: Mapping[str, object]) -> str:
    """By the class, where the fields do not tell."""
    if name.startswith("Chat"):
        return text(found.get("role")) or "user"
    kind = name.removesuffix("Chunk").removesuffix("Message").lower()
    return _ROLES.get(kind, "user")


def answered(value: Object) -> Answered:
    """What a message of a model tells of its request."""
    found = fields_of(value)
    told, took = mapping(found.get("response_metadata")), mapping(found.get("usage_metadata"))
    details, made = mapping(took.get("input_token_details")), mapping(took.get("output_token_details"))
    model = text(told.get("model_name")) or text(told.get("model"))
    usage = Usage(
        input=count(took.get("input_tokens")),
        output=count(took.get("output_tokens")),
        cached_input=count(details.get("cache_read")),
        cache_write=count(details.get("cache_creation")),
        reasoning=count(made.get("reasoning")),
    )
    return Answered(
        provider=text(told.get("model_provider")) or _provider(model),
        model=model,
        # The message's own id serves where the provider's is missing: it tells the same answer in several states.
        response=text(told.get("id")) or text(found.get("id")),
        usage=usage if took else None,
    )


def _provider(model: str | None) -> str | None:
    if model is None:
        return None
    return next((provider for start, provider in _MAKERS.items() if model.startswith(start)), None)


def plain(value: object) -> object:
    """A value with nothing but JSON in it: objects as their fields, bytes as text."""
    if isinstance(value, Object):
        return plain(value.fields)
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(each) for each in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "replace")
    return value if isinstance(value, str | int | float) or value is None else str(value)
