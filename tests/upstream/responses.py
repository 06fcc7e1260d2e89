"""Responses, as OpenAI answers. It keeps what it answered, unless it shall not."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from openai.types.responses.response_create_params import ResponseCreateParamsBase

from tests.upstream.cutting import pieces
from tests.upstream.scripts import Counted, Json, Reply
from tests.upstream.signing import signature

_KNOWN = {*ResponseCreateParamsBase.__annotations__, "stream"}
_CALLS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
_OUTPUTS = {"message", "function_call", "custom_tool_call", "reasoning", "web_search_call", "file_search_call"}


@dataclass(slots=True)
class Kept:
    """What the service keeps between requests."""

    #: By id of a response: all items up to it, and itself.
    items: dict[str, list[Json]] = field(default_factory=dict)
    responses: dict[str, Json] = field(default_factory=dict)
    #: By id of an item: the reasoning that it came behind.
    thought: dict[str, str] = field(default_factory=dict)

    def before(self, body: Mapping[str, object]) -> list[Json]:
        """The items that stand before those of a request."""
        return self.items.get(str(body.get("previous_response_id")), [])

    def keep(self, body: Mapping[str, object], response: Json) -> None:
        """Keep a response, where the request lets it."""
        output = response["output"]
        assert isinstance(output, list)
        reasoning = ""
        for item in output:
            if item["type"] == "reasoning":
                reasoning = str(item["id"])
            elif reasoning:
                self.thought[str(item["id"])] = reasoning
        if body.get("store", True) is not False:
            self.items[str(response["id"])] = [*self.before(body), *items(body), *output]
            self.responses[str(response["id"])] = response


def items(body: Mapping[str, object]) -> list[Json]:
    """The items of a request."""
    given = body.get("input")
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return given if isinstance(given, list) else []


def refuse(body: Mapping[str, object], headers: Mapping[str, str], kept: Kept) -> str | None:
    """Why the service refuses a request; None: it does not."""
    if unknown := sorted(body.keys() - _KNOWN):
        return f"Unknown parameter: '{unknown[0]}'."
    if not body.get("model") and not body.get("prompt"):
        return "Missing required parameter: 'model'."
    previous = body.get("previous_response_id")
    if previous is not None and previous not in kept.items:
        return f"Previous response with id '{previous}' not found."
    if not items(body) and previous is None and not body.get("prompt"):
        return "Missing required parameter: 'input'."
    if body.get("tool_choice") not in (None, "auto", "none") and not body.get("tools"):
        return "Tool choice must be specified together with 'tools'."
    for at, item in enumerate(items(body)):
        if problem := _of_item(item, f"input[{at}]", kept):
            return problem
    listed = [*kept.before(body), *items(body)]
    return _of_pairs(listed) or _of_reasoning(items(body), listed, kept)


def _of_item(item: Json, where: str, kept: Kept) -> str | None:
    kind = item.get("type", "message")
    if kind == "message" and item.get("role") not in ("user", "assistant", "system", "developer"):
        return f"Invalid value: '{item.get('role')}'. ({where}.role)"
    if kind == "message" and item.get("content") in (None, []):
        return f"Missing required parameter: '{where}.content'."
    parts = item.get("content")
    said = "output_text" if item.get("role") == "assistant" else "input_text"
    for place, part in enumerate(parts if isinstance(parts, list) and kind == "message" else ()):
        other = "input_text" if said == "output_text" else "output_text"
        if part.get("type") == other:
            return f"Invalid value: '{other}'. Supported values are: '{said}' … ({where}.content[{place}])"
    if kind in _CALLS and not str(item.get("call_id") or ""):
        return f"Missing required parameter: '{where}.call_id'."
    if kind == "function_call" and not isinstance(item.get("arguments"), str):
        return f"Missing required parameter: '{where}.arguments'."
    id = item.get("id")
    if kind == "reasoning":
        known = any(id == each.get("id") for found in kept.items.values() for each in found)
        sealed, summary = item.get("encrypted_content"), item.get("summary")
        if not isinstance(summary, list):
            return f"Missing required parameter: '{where}.summary'."
        if sealed is not None and sealed != _sealed("".join(str(each["text"]) for each in summary)):
            return f"The encrypted content for item {id} could not be verified."
        if sealed is None and not known:
            return f"Item with id '{id}' not found. Items are not persisted when `store` is set to false."
    if kind == "item_reference" and not any(id == each.get("id") for found in kept.items.values() for each in found):
        return f"Item with id '{id}' not found."
    return None


def _of_pairs(listed: Sequence[Json]) -> str | None:
    calls: dict[str, bool] = {}
    for item in listed:
        kind, id = item.get("type"), str(item.get("call_id"))
        if kind in _CALLS:
            if id in calls:
                return f"Duplicate call_id '{id}'."
            calls[id] = False
        elif kind in _CALLS.values():
            if id not in calls:
                return f"No tool call found for function call output with call_id {id}."
            calls[id] = True
    missing = [id for id, answered in calls.items() if not answered]
    return f"No tool output found for function call {missing[0]}." if missing else None


def _of_reasoning(given: Sequence[Json], listed: Sequence[Json], kept: Kept) -> str | None:
    ids = {str(item.get("id")) for item in listed if item.get("type") in ("reasoning", "item_reference")}
    for at, item in enumerate(given):
        after = given[at + 1] if at + 1 < len(given) else {}
        kind = after.get("type", "message" if "role" in after else None)
        follows = kind in _OUTPUTS and after.get("role", "assistant") == "assistant"
        if item.get("type") == "reasoning" and not follows:
            return f"Item '{item.get('id')}' of type 'reasoning' was provided without its required following item."
        thought = kept.thought.get(str(item.get("id")))
        if thought is not None and thought not in ids:
            return (
                f"Item '{item.get('id')}' of type '{item.get('type')}' was provided without its required 'reasoning' "
                f"item: '{thought}'."
            )
    return None


def _sealed(thought: str) -> str:
    return "gAAAA" + signature(thought)


def error_event(message: str) -> bytes:
    """An error inside a stream."""
    return _event({"type": "error", "code": "server_error", "message": message, "param": None, "sequence_number": 99})


def counted_parts(body: Mapping[str, object], kept: Kept) -> list[object]:
    """What the cache goes by."""
    return [body.get("tools"), body.get("instructions"), *kept.before(body), *items(body)]


def whole(reply: Reply, body: Mapping[str, object], count: Counted, number: int) -> Json:
    """The response."""
    output: list[Json] = []
    if reply.thinking:
        thought: Json = {"id": f"rs_{number}", "type": "reasoning"}
        thought["summary"] = [{"type": "summary_text", "text": reply.thinking}]
        included = body.get("include")
        if isinstance(included, list) and "reasoning.encrypted_content" in included:
            thought["encrypted_content"] = _sealed(reply.thinking)
        output.append(thought)
    if reply.text or reply.refusal:
        part: Json = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        part = part if reply.text else {"type": "refusal", "refusal": reply.refusal}
        said: Json = {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": "completed"}
        output.append({**said, "content": [part]})
    for at, call in enumerate(reply.calls):
        made: Json = {"id": f"fc_{number}_{at}", "type": "function_call", "call_id": f"call_{number}_{at}"}
        made |= {"name": call.name, "arguments": json.dumps(call.arguments), "status": "completed"}
        output.append(made)
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": "incomplete" if reply.cut else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if reply.cut else None,
        "instructions": body.get("instructions"),
        "model": body.get("model"),
        "output": output,
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": body.get("previous_response_id"),
        "store": body.get("store", True),
        "temperature": 1.0,
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "top_p": 1.0,
        "metadata": body.get("metadata", {}),
        "usage": {
            "input_tokens": count.input,
            "input_tokens_details": {"cached_tokens": count.read},
            "output_tokens": count.output,
            "output_tokens_details": {"reasoning_tokens": -(-len(reply.thinking) // 4)},
            "total_tokens": count.input + count.output,
        },
    }


def events(response: Json, body: Mapping[str, object]) -> Iterator[bytes]:
    """The response as a stream."""
    begun = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    output = response["output"]
    assert isinstance(output, list)
    said: list[Json] = [{"type": f"response.{each}", "response": begun} for each in ("created", "in_progress")]
    for index, item in enumerate(output):
        said += ({**each, "output_index": index} for each in _of_output(item))
    said.append({"type": f"response.{response['status']}", "response": response})
    for number, each in enumerate(said):
        yield _event({**each, "sequence_number": number})


def _of_output(item: Json) -> Iterator[Json]:
    at: Json = {"item_id": item["id"]}
    match item["type"]:
        case "reasoning":
            yield {"type": "response.output_item.added", "item": {**item, "summary": []}}
            summary = item["summary"]
            assert isinstance(summary, list)
            for index, part in enumerate(summary):
                here, name = {**at, "summary_index": index}, "response.reasoning_summary"
                yield {"type": f"{name}_part.added", **here, "part": {**part, "text": ""}}
                for piece in pieces(part["text"]):
                    yield {"type": f"{name}_text.delta", **here, "delta": piece}
                yield {"type": f"{name}_text.done", **here, "text": part["text"]}
                yield {"type": f"{name}_part.done", **here, "part": part}
        case "message":
            yield {"type": "response.output_item.added", "item": {**item, "content": [], "status": "in_progress"}}
            content = item["content"]
            assert isinstance(content, list)
            for index, part in enumerate(content):
                yield from _of_part(part, {**at, "content_index": index})
        case _:
            yield {"type": "response.output_item.added", "item": {**item, "arguments": "", "status": "in_progress"}}
            for piece in pieces(item["arguments"]):
                yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
            done: Json = {"type": "response.function_call_arguments.done", **at}
            yield {**done, "arguments": item["arguments"], "name": item["name"]}
    yield {"type": "response.output_item.done", "item": item}


def _of_part(part: Json, here: Json) -> Iterator[Json]:
    key = "refusal" if part["type"] == "refusal" else "text"
    name = "response.refusal" if key == "refusal" else "response.output_text"
    more: Json = {} if key == "refusal" else {"logprobs": []}
    yield {"type": "response.content_part.added", **here, "part": {**part, key: ""}}
    for piece in pieces(part[key]):
        yield {"type": f"{name}.delta", **here, "delta": piece, **more}
    yield {"type": f"{name}.done", **here, key: part[key], **more}
    yield {"type": "response.content_part.done", **here, "part": part}


def _event(data: Json) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()
