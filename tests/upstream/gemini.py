"""generateContent, as Google answers."""

import json
from collections.abc import Iterator, Mapping, Sequence

from tests.upstream.cutting import pieces
from tests.upstream.scripts import Counted, Json, Reply
from tests.upstream.signing import signature

_KNOWN = {
    "contents",
    "systemInstruction",
    "system_instruction",
    "tools",
    "toolConfig",
    "tool_config",
    "safetySettings",
    "safety_settings",
    "generationConfig",
    "generation_config",
    "cachedContent",
    "cached_content",
    "labels",
    "store",
    "serviceTier",
    "service_tier",
    "model",
    "generateContentRequest",
}
_STATUSES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}
_STATUSES |= {429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}


_ALPHABET = str.maketrans("-_", "+/")


def refuse(body: Mapping[str, object], headers: Mapping[str, str]) -> str | None:
    """Why the service refuses a request; None: it does not."""
    if unknown := sorted(body.keys() - _KNOWN):
        return f'Invalid JSON payload received. Unknown name "{unknown[0]}": Cannot find field.'
    contents = body.get("contents")
    if not isinstance(contents, list) or not contents:
        return "* GenerateContentRequest.contents: contents is not specified"
    for at, content in enumerate(contents):
        if content.get("role", "user") not in ("user", "model", "function"):
            return f"Please use a valid role: user, model. (contents[{at}])"
        if not content.get("parts"):
            return f"* GenerateContentRequest.contents[{at}].parts: contents.parts must not be empty."
        for place, part in enumerate(content["parts"]):
            if not part.keys() - {"thought", "thoughtSignature", "thought_signature", "partMetadata"}:
                return f"contents[{at}].parts[{place}]: required oneof field 'data' must have one initialized field"
    return _of_turns(contents)


def _of_turns(contents: Sequence[Json]) -> str | None:
    due: list[str] = []
    before = ""
    for at, content in enumerate(contents):
        calls = _named(content, "functionCall", "function_call")
        results = _named(content, "functionResponse", "function_response")
        if due and len(results) != len(due):
            return (
                "Please ensure that the number of function response parts is equal to the number of function call "
                "parts of the function call turn."
            )
        if results and sorted(results) != sorted(due):
            return "Please ensure that function response turn comes immediately after a function call turn."
        if calls and before != "user":
            return (
                "Please ensure that function call turn comes immediately after a user turn or after a function "
                "response turn."
            )
        for place, part in enumerate(_parts(content)):
            sealed = part.get("thoughtSignature", part.get("thought_signature"))
            # Bytes, which the API takes in either alphabet of base64; its SDK sends the one for addresses.
            if sealed is not None and str(sealed).translate(_ALPHABET) != _sign(part):
                return f"Thought signature is not valid. (contents[{at}].parts[{place}])"
        due = calls
        before = str(content.get("role", "user"))
    if due:
        return "Please ensure that function call turn is followed by a function response turn."
    return None


def _parts(content: Json) -> list[Json]:
    parts = content["parts"]
    assert isinstance(parts, list)
    return parts


def _named(content: Json, *keys: str) -> list[str]:
    found = (part.get(key) for part in _parts(content) for key in keys)
    return [str(each["name"]) for each in found if isinstance(each, dict)]


def _sign(part: Mapping[str, object]) -> str:
    call = part.get("functionCall", part.get("function_call"))
    if isinstance(call, dict):
        return signature(str(call["name"]) + json.dumps(call.get("args") or {}, sort_keys=True))
    return signature(str(part.get("text")))


def error(status: int, message: str) -> Json:
    """The body of an error."""
    return {"error": {"code": status, "message": message, "status": _STATUSES.get(status, "UNKNOWN")}}


def error_event(message: str) -> bytes:
    """An error inside a stream."""
    return _event(error(503, message))


def counted_parts(body: Mapping[str, object]) -> list[object]:
    """What the cache goes by."""
    contents = body.get("contents")
    begun = [body.get("tools"), body.get("systemInstruction", body.get("system_instruction"))]
    return [*begun, *(contents if isinstance(contents, list) else [])]


def whole(reply: Reply, body: Mapping[str, object], count: Counted, number: int) -> Json:
    """The response."""
    parts: list[Json] = []
    if reply.thinking:
        parts.append({"text": reply.thinking, "thought": True})
    if reply.text:
        parts.append({"text": reply.text})
    for at, call in enumerate(reply.calls):
        part: Json = {"functionCall": {"id": f"fc_{number}_{at}", "name": call.name, "args": dict(call.arguments)}}
        if reply.thinking and at == 0:
            part["thoughtSignature"] = _sign(part)
        parts.append(part)
    candidate: Json = {"index": 0, "finishReason": "MAX_TOKENS" if reply.cut else "STOP"}
    candidate["content"] = {"role": "model", "parts": parts}
    if reply.refusal:
        candidate = {"index": 0, "finishReason": "SAFETY", "finishMessage": reply.refusal}
    thoughts = -(-len(reply.thinking) // 4)
    usage: Json = {"promptTokenCount": count.input, "candidatesTokenCount": max(0, count.output - thoughts)}
    usage |= {"thoughtsTokenCount": thoughts} if thoughts else {}
    usage |= {"cachedContentTokenCount": count.read} if count.read else {}
    usage["totalTokenCount"] = count.input + count.output
    model = str(body.get("model", "")).removeprefix("models/")
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model, "responseId": f"r{number}"}


def chunks(response: Json) -> Iterator[Json]:
    """The response in pieces, each a response of its own."""
    candidates = response["candidates"]
    assert isinstance(candidates, list)
    candidate = candidates[0]
    top = {key: response[key] for key in ("modelVersion", "responseId")}
    said: list[Json] = []
    for part in candidate.get("content", {}).get("parts", []):
        said += [{**part, "text": piece} for piece in pieces(part["text"])] if "text" in part else [part]
    for part in said[:-1]:
        yield {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}}], **top}
    last = {**candidate, "content": {"role": "model", "parts": said[-1:]}} if said else candidate
    yield {"candidates": [last], "usageMetadata": response["usageMetadata"], **top}


def events(response: Json, body: Mapping[str, object]) -> Iterator[bytes]:
    """The response as a stream of events."""
    yield from map(_event, chunks(response))


def listed(response: Json) -> Iterator[bytes]:
    """The response as a stream without ``alt=sse``: one JSON list, piece by piece."""
    for at, chunk in enumerate(chunks(response)):
        yield (b"[" if at == 0 else b",\r\n") + json.dumps(chunk, indent=2).encode()
    yield b"]"


def _event(data: Json) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\r\n\r\n"
