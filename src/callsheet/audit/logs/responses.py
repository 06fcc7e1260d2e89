"""Items of OpenAI's Responses API, as logs keep them, put together to messages of Chat Completions.

Reasoning, with its encrypted content, and calls that the provider itself ran have no place in that shape: they stay
with the message that they came with, untouched, under ``x_items``.
"""

import json
from collections.abc import Mapping, Sequence
from enum import Enum

from callsheet.audit.logs.jsonlines import listed, mapping, text

_RAN_BY_PROVIDER = frozenset(
    {"web_search_call", "file_search_call", "image_generation_call", "code_interpreter_call", "mcp_call"}
)
_ASIDE = frozenset({"reasoning", "compaction", "compaction_summary", "mcp_list_tools"}) | _RAN_BY_PROVIDER
_INPUT_ROLES = frozenset({"user", "system", "developer"})


class Kind(Enum):
    """What an item is a part of."""

    #: An assistant's message, together with the items before and behind it that are as well.
    ASSISTANT = "assistant"
    #: A message of its own.
    INPUT = "input"
    #: The result of a call, a message of its own.
    RESULT = "result"


def kind_of(item: Mapping[str, object]) -> Kind | None:
    """What an item is a part of; None: it is not understood."""
    type = item.get("type", "message")
    if type == "message":
        role = item.get("role")
        if role == "assistant":
            return Kind.ASSISTANT
        return Kind.INPUT if isinstance(role, str) and role in _INPUT_ROLES else None
    if not isinstance(type, str):
        return None
    if type in _ASIDE or (type.endswith("_call") and _call_id(item) is not None):
        return Kind.ASSISTANT
    return Kind.RESULT if type.endswith("_output") and _call_id(item) is not None else None


def name_of(item: Mapping[str, object]) -> str:
    """What to call an item that is not understood."""
    type, role = item.get("type", "message"), item.get("role")
    return f"item {type}" + (f" of {role}" if isinstance(role, str) else "")


def message(items: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """The message of Chat Completions of items that make one up."""
    first = items[0]
    match kind_of(first):
        case Kind.INPUT:
            return {"role": first.get("role"), "content": _content(first.get("content"))}
        case Kind.RESULT:
            return _result(first)
        case _:
            return _assistant(items)


def _assistant(items: Sequence[Mapping[str, object]]) -> dict[str, object]:
    parts: list[object] = []
    calls: list[object] = []
    aside: list[object] = []
    for item in items:
        type = item.get("type", "message")
        if type == "message":
            content = _content(item.get("content"))
            parts += [{"type": "text", "text": content}] if isinstance(content, str) else listed(content)
        elif type in _ASIDE:
            aside.append(item)
        else:
            calls.append(_call(item))
    texts = [mapping(part) for part in parts]
    plain = len(texts) == 1 and texts[0].keys() == {"type", "text"} and texts[0]["type"] == "text"
    return {
        "role": "assistant",
        "content": texts[0]["text"] if plain else parts or None,
        **({"tool_calls": calls} if calls else {}),
        **({"x_items": aside} if aside else {}),
    }


def _call(item: Mapping[str, object]) -> dict[str, object]:
    type, id = item.get("type"), _call_id(item)
    name = text(item.get("name")) or str(type).removesuffix("_call")
    space = text(item.get("namespace"))
    name = f"{space}.{name}" if space is not None else name
    if type == "custom_tool_call":
        return {"id": id, "type": "custom", "custom": {"name": name, "input": _as_text(item.get("input"))}}
    if type == "function_call":
        arguments = _as_text(item.get("arguments"))
    else:
        told = {"id", "call_id", "type", "status", "name", "namespace"}
        arguments = _as_text({key: value for key, value in item.items() if key not in told})
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _result(item: Mapping[str, object]) -> dict[str, object]:
    output = item.get("output")
    held = mapping(output)
    if isinstance(held.get("content"), str | list):
        # As older versions of Codex have it.
        failed = {"x_status": "failed"} if held.get("success") is False else {}
        return {"role": "tool", "tool_call_id": _call_id(item), "content": _content(held["content"]), **failed}
    if not isinstance(output, str | list):
        told = {"id", "call_id", "type", "status"}
        rest = output if output is not None else {key: value for key, value in item.items() if key not in told}
        output = _as_text(rest)
    return {"role": "tool", "tool_call_id": _call_id(item), "content": _content(output)}


def _content(content: object) -> object:
    return [_part(part) for part in content] if isinstance(content, list) else content


def _part(part: object) -> object:
    found = mapping(part)
    match found.get("type"):
        case "input_text" | "output_text" | "text" if isinstance(found.get("text"), str):
            return {"type": "text", "text": found["text"]}
        case "input_image":
            image = {"url": found.get("image_url"), "detail": found.get("detail")}
            if isinstance(image["url"], str):
                return {"type": "image_url", "image_url": {key: value for key, value in image.items() if value}}
        case "input_file":
            file = {key: found[key] for key in ("file_id", "file_data", "filename") if isinstance(found.get(key), str)}
            return {"type": "file", "file": file}
    return part


def _call_id(item: Mapping[str, object]) -> str | None:
    return text(item.get("call_id"))


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
