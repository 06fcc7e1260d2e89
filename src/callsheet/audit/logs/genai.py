"""What spans of generative AI hold of a request, in every version of the conventions, as messages of Chat Completions.

Now messages stand in attributes as lists of parts. Before, each was an event of its own, on the span or in a log;
before that they stood in numbered attributes (``gen_ai.prompt.0.content``), as some instrumentations still have it.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from callsheet.audit.logs.jsonlines import count, listed, mapping, text
from callsheet.audit.logs.spans import Attributes, Event, Span, structured
from callsheet.audit.logs.values import Answered
from callsheet.graph.values import Usage

Message = dict[str, object]

OPERATIONS = frozenset({"chat", "text_completion", "generate_content"})
"""Operations that ask a model."""

_NUMBERED = re.compile(r"gen_ai\.(prompt|completion)\.(\d{1,6})\.(.+)")
_CALL = re.compile(r"tool_calls\.(\d{1,4})\.(id|name|arguments)")
_EVENT = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
_DETAILS = "gen_ai.client.inference.operation.details"
_PROVIDERS = {
    "azure.ai.openai": "openai",
    "az.ai.openai": "openai",
    "gcp.gemini": "google",
    "gcp.vertex_ai": "google",
    "gcp.gen_ai": "google",
    "gemini": "google",
    "mistral_ai": "mistral",
    "x_ai": "x-ai",
    "xai": "x-ai",
}


def asks_model(span: Span) -> bool:
    """Whether the span is one request to a model."""
    operation = span.attributes.get("gen_ai.operation.name")
    if isinstance(operation, str):
        return operation in OPERATIONS
    return any(name.startswith(("gen_ai.prompt", "gen_ai.completion", "gen_ai.usage.")) for name in span.attributes)


def answered(attributes: Attributes) -> Answered:
    """What the span tells of the request."""
    named = text(attributes.get("gen_ai.provider.name")) or text(attributes.get("gen_ai.system"))
    provider = named.lower() if named is not None else None
    told = any(name.startswith("gen_ai.usage.") for name in attributes)
    return Answered(
        provider=_PROVIDERS.get(provider, provider) if provider is not None else None,
        model=text(attributes.get("gen_ai.response.model")) or text(attributes.get("gen_ai.request.model")),
        response=text(attributes.get("gen_ai.response.id")),
        usage=_usage(attributes) if told else None,
    )


def _usage(attributes: Attributes) -> Usage:
    def told(*names: str) -> int:
        return next(filter(None, (count(attributes.get(f"gen_ai.usage.{name}")) for name in names)), 0)

    cached = told("cache_read.input_tokens", "cache_read_input_tokens", "details.cache_read_tokens")
    written = told("cache_creation.input_tokens", "cache_creation_input_tokens", "details.cache_write_tokens")
    input = told("input_tokens", "prompt_tokens")
    return Usage(
        # By the conventions with what was cached; instrumentations of Anthropic's client leave that out.
        input=input if input >= cached + written else input + cached + written,
        output=told("output_tokens", "completion_tokens"),
        cached_input=cached,
        cache_write=written,
        reasoning=told("reasoning.output_tokens", "details.reasoning_tokens"),
    )


def messages(span: Span) -> tuple[list[Message], list[Message], list[Message]]:
    """The instructions, what was said before, and what the model answered; three empty lists where nothing is told."""
    told = dict(span.attributes)
    for event in span.events:
        if event.name == _DETAILS:
            told |= event.attributes
    system = [_said("system", listed(structured(told.get("gen_ai.system_instructions"))))]
    before = list(_messages(structured(told.get("gen_ai.input.messages"))))
    after = list(_messages(structured(told.get("gen_ai.output.messages"))))
    if not before and not after:
        before, after = _of_events(span)
    if not before and not after:
        before, after = _numbered(told, "prompt"), _numbered(told, "completion")
    instructions = [each for each in system if each["content"]]
    while not instructions and before and before[0]["role"] in ("system", "developer"):
        instructions.append(before.pop(0))
    return instructions, before, after


def _messages(values: object) -> Iterator[Message]:
    for value in map(mapping, listed(values)):
        role, parts = text(value.get("role")) or "user", listed(value.get("parts"))
        results = [part for part in map(mapping, parts) if part.get("type") == "tool_call_response"]
        for part in results:
            output = part.get("response", part.get("result"))
            yield {"role": "tool", "tool_call_id": text(part.get("id")), "content": _as_text(output)}
        others = [part for part in parts if mapping(part).get("type") != "tool_call_response"]
        if others or not results:
            yield _said("user" if role == "tool" else role, others)


def _said(role: str, parts: Sequence[object]) -> Message:
    content: list[object] = []
    calls: list[object] = []
    aside: list[object] = []
    for part in map(mapping, parts):
        kind, held = part.get("type"), part.get("content")
        if kind == "text" and isinstance(held, str):
            content.append({"type": "text", "text": held})
        elif kind == "tool_call":
            calls.append(_call(part.get("id"), part.get("name"), part.get("arguments")))
        elif (picture := _picture(part)) is not None:
            content.append(picture)
        else:
            aside.append(part)
    plain = [mapping(each).get("text") for each in content] if len(content) == 1 else []
    return {
        "role": _role(role),
        "content": plain[0] if plain and isinstance(plain[0], str) else content or None,
        **({"tool_calls": calls} if calls else {}),
        **({"x_items": aside} if aside else {}),
    }


def _picture(part: Mapping[str, object]) -> Message | None:
    kind, mime = part.get("type"), part.get("mime_type")
    if part.get("modality") != "image" and not (isinstance(mime, str) and mime.startswith("image/")):
        return None
    if kind == "blob" and isinstance(part.get("content"), str):
        return {"type": "image_url", "image_url": {"url": f"data:{mime or 'image/png'};base64,{part['content']}"}}
    if kind == "uri" and isinstance(part.get("uri"), str):
        return {"type": "image_url", "image_url": {"url": part["uri"]}}
    return None


def _of_events(span: Span) -> tuple[list[Message], list[Message]]:
    events = list(span.events)
    for value in map(mapping, listed(structured(span.attributes.get("events")))):
        events.append(Event(name=str(value.get("event.name")), attributes=value))
    before: list[Message] = []
    after: list[Message] = []
    for event in events:
        found = _EVENT.fullmatch(event.name)
        if found is not None:
            before.append(_of_event(found[1], event.attributes))
        elif event.name == "gen_ai.choice":
            held = structured(event.attributes.get("message"))
            after.append(_of_event("assistant", mapping(held) or {**event.attributes, "content": held}))
        elif event.name in ("gen_ai.content.prompt", "gen_ai.content.completion"):
            key = event.name.replace("content.", "")
            values = [mapping(each) for each in listed(structured(event.attributes.get(key)))]
            into = before if key == "gen_ai.prompt" else after
            into += [_of_event(text(value.get("role")) or "user", value) for value in values]
    return before, after


def _of_event(role: str, held: Mapping[str, object]) -> Message:
    content = held.get("content")
    if role == "tool":
        id = text(held.get("id")) or text(held.get("tool_call_id"))
        return {"role": "tool", "tool_call_id": id, "content": _as_text(content)}
    made: Message = {"role": _role(text(held.get("role")) or role), "content": content}
    if not isinstance(content, str | list) and content is not None:
        made["content"] = _as_text(content)
    calls = []
    for call in map(mapping, listed(structured(held.get("tool_calls")))):
        function = mapping(call.get("function")) or call
        calls.append(_call(call.get("id"), function.get("name"), function.get("arguments")))
    return made | ({"tool_calls": calls} if calls else {})


def _numbered(attributes: Attributes, kind: str) -> list[Message]:
    values: dict[int, dict[str, object]] = defaultdict(dict)
    for name, value in attributes.items():
        found = _NUMBERED.fullmatch(name)
        if found is not None and found[1] == kind:
            values[int(found[2])][found[3]] = value
    made: list[Message] = []
    for _, held in sorted(values.items()):
        calls: dict[int, dict[str, object]] = defaultdict(dict)
        for name, value in held.items():
            found = _CALL.fullmatch(name)
            if found is not None:
                calls[int(found[1])][found[2]] = value
        asked = [_call(call.get("id"), call.get("name"), call.get("arguments")) for _, call in sorted(calls.items())]
        role = text(held.get("role")) or ("user" if kind == "prompt" else "assistant")
        one = _of_event(role, {**held, "role": role, "tool_calls": None})
        made.append(one | ({"tool_calls": asked} if asked and role == "assistant" else {}))
    return made


def _call(id: object, name: object, arguments: object) -> Message:
    given = arguments if arguments is not None else {}
    return {
        "id": text(id),
        "type": "function",
        "function": {"name": text(name) or "", "arguments": _as_text(given)},
    }


def _role(role: str) -> str:
    return {"model": "assistant", "ai": "assistant", "human": "user"}.get(role, role)


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
