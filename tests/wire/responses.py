"""Whole responses as the APIs give them, made at random."""

import json

from hypothesis import strategies as st

Json = dict[str, object]

_texts = st.text(max_size=12)
_some_text = st.text(min_size=1, max_size=12)
_counts = st.integers(0, 100_000)
_values: st.SearchStrategy[object] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_texts, inner, max_size=2),
    max_leaves=5,
)
_objects = st.dictionaries(_texts, _values, max_size=3)


def _json_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _record(
    required: dict[str, st.SearchStrategy[object]], **optional: st.SearchStrategy[object]
) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries(required, optional=optional)


# --------------------------------------------------------------------------- Chat Completions

_arguments = _objects.map(_json_text) | st.sampled_from(["", "{", '{"a": "\\ud83e'])
_calls = st.one_of(
    _record(
        {
            "id": _some_text,
            "type": st.just("function"),
            "function": _record({"name": _some_text, "arguments": _arguments}),
        },
        extra_content=st.just({"google": {"thought_signature": "SIG="}}),
    ),
    _record({"id": _some_text, "type": st.just("custom"), "custom": _record({"name": _some_text, "input": _texts})}),
)
_messages = _record(
    {"role": st.just("assistant"), "content": st.none() | _texts},
    refusal=st.none() | _texts,
    tool_calls=st.none() | st.lists(_calls, max_size=3, unique_by=lambda call: str(call["id"])),
    function_call=st.none() | _record({"name": _some_text, "arguments": _arguments}),
    annotations=st.just([]) | st.just([{"type": "url_citation", "url_citation": {"url": "https://a.example"}}]),
    audio=st.none() | st.just({"id": "a", "data": "QUJD", "transcript": "Hm.", "expires_at": 9}),
    reasoning_content=st.none() | _texts,
    reasoning_details=st.just([{"type": "reasoning.text", "index": 0, "text": "Hm.", "signature": "S="}]),
)
_logprobs: st.SearchStrategy[object] = st.none() | st.just(
    {"content": [{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}], "refusal": None}
)


def _numbered(choices: list[Json]) -> list[Json]:
    return [{"index": at, **choice} for at, choice in enumerate(choices)]


chat_responses = _record(
    {
        "id": _some_text,
        "object": st.just("chat.completion"),
        "created": _counts,
        "model": _some_text,
        "choices": st.lists(
            _record(
                {
                    "message": _messages,
                    "finish_reason": st.sampled_from(["stop", "length", "tool_calls", "content_filter"]),
                },
                logprobs=_logprobs,
                content_filter_results=st.just({"hate": {"filtered": False}}),
            ),
            min_size=1,
            max_size=2,
        ).map(_numbered),
    },
    usage=_record(
        {"prompt_tokens": _counts, "completion_tokens": _counts, "total_tokens": _counts},
        prompt_tokens_details=_record({"cached_tokens": _counts}),
    ),
    system_fingerprint=st.none() | _some_text,
    service_tier=st.none() | st.just("default"),
    prompt_filter_results=st.just([{"prompt_index": 0, "content_filter_results": {}}]),
)

# --------------------------------------------------------------------------- Messages

_citation = {
    "type": "char_location",
    "cited_text": "a",
    "document_index": 0,
    "start_char_index": 0,
    "end_char_index": 1,
}
_called = {"id": _some_text, "name": _some_text, "input": _objects}
_blocks = st.one_of(
    _record(
        {"type": st.just("text"), "text": _texts}, citations=st.none() | st.just([_citation]) | st.just([_citation] * 2)
    ),
    _record({"type": st.just("thinking"), "thinking": _texts, "signature": _texts}),
    _record({"type": st.just("redacted_thinking"), "data": _some_text}),
    _record({"type": st.just("tool_use"), **_called}, caller=st.just({"type": "direct"})),
    _record({"type": st.just("server_tool_use"), **_called}),
    st.just({"type": "web_search_tool_result", "tool_use_id": "srv", "content": [{"type": "web_search_result"}]}),
    st.just({"type": "compaction", "content": "so far", "encrypted_content": "E="}),
    st.just({"type": "unheard_of", "what": {"ever": 1}}),
)
anthropic_responses = _record(
    {
        "id": _some_text,
        "type": st.just("message"),
        "role": st.just("assistant"),
        "model": _some_text,
        "content": st.lists(_blocks, max_size=4),
        "stop_reason": st.sampled_from(
            ["end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal"]
        ),
        "stop_sequence": st.none() | _some_text,
        "usage": _record(
            {"input_tokens": _counts, "output_tokens": _counts},
            cache_creation_input_tokens=_counts,
            cache_read_input_tokens=_counts,
            server_tool_use=st.none() | st.just({"web_search_requests": 1}),
            service_tier=st.just("standard"),
        ),
    },
    container=st.none() | st.just({"id": "c", "expires_at": "2027-01-01T00:00:00Z"}),
    stop_details=st.none() | st.just({"type": "refusal", "category": None, "explanation": None}),
    context_management=st.just({"applied_edits": []}),
)

# --------------------------------------------------------------------------- Responses

_ids = st.uuids().map(lambda id: f"id_{id.hex}")
_annotation = {"type": "url_citation", "start_index": 0, "end_index": 1, "title": "t", "url": "https://a.example"}
_output_parts = st.one_of(
    _record(
        {"type": st.just("output_text"), "text": _texts, "annotations": st.lists(st.just(_annotation), max_size=2)},
        logprobs=st.just([]) | st.just([{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}]),
    ),
    _record({"type": st.just("refusal"), "refusal": _texts}),
)
_item_states = st.sampled_from(["completed", "incomplete"])
_items = st.one_of(
    _record(
        {
            "type": st.just("message"),
            "id": _ids,
            "role": st.just("assistant"),
            "status": _item_states,
            "content": st.lists(_output_parts, max_size=3),
        },
        phase=st.none() | st.sampled_from(["commentary", "final_answer"]),
    ),
    _record(
        {
            "type": st.just("reasoning"),
            "id": _ids,
            "summary": st.lists(_record({"type": st.just("summary_text"), "text": _texts}), max_size=2),
        },
        content=st.none() | st.lists(_record({"type": st.just("reasoning_text"), "text": _texts}), max_size=2),
        encrypted_content=st.none() | _some_text,
        status=st.none() | _item_states,
    ),
    _record(
        {"type": st.just("function_call"), "id": _ids, "call_id": _ids, "name": _some_text, "arguments": _arguments},
        status=_item_states,
    ),
    _record({"type": st.just("custom_tool_call"), "id": _ids, "call_id": _ids, "name": _some_text, "input": _texts}),
    _record(
        {"type": st.just("mcp_call"), "id": _ids, "server_label": _texts, "name": _some_text, "arguments": _arguments},
        output=st.none() | _texts,
    ),
    _record(
        {"type": st.just("code_interpreter_call"), "id": _ids, "code": st.none() | _texts, "container_id": _some_text}
    ),
    _record({"type": st.just("web_search_call"), "id": _ids, "status": st.just("completed"), "action": _objects}),
    st.just({"type": "unheard_of", "what": {"ever": 1}}),
)
item_responses = _record(
    {
        "id": _some_text,
        "object": st.just("response"),
        "created_at": _counts,
        "model": _some_text,
        "status": st.sampled_from(["completed", "incomplete", "cancelled"]),
        "output": st.lists(_items, max_size=4),
    },
    usage=_record(
        {"input_tokens": _counts, "output_tokens": _counts, "total_tokens": _counts},
        input_tokens_details=_record({"cached_tokens": _counts}),
    ),
    error=st.none(),
    incomplete_details=st.none() | st.just({"reason": "max_output_tokens"}),
    instructions=st.none() | _texts,
    tools=st.just([]),
    metadata=_objects,
)


# --------------------------------------------------------------------------- Gemini

_gemini_parts = st.lists(
    st.one_of(
        _record({"text": _texts}, thought=st.booleans(), thoughtSignature=st.just("QQ==")),
        _record(
            {"functionCall": _record({"name": _some_text}, args=_objects, id=_some_text)},
            thoughtSignature=st.just("QQ=="),
        ),
        st.just({"executableCode": {"language": "PYTHON", "code": "1"}}),
        st.just({"inlineData": {"mimeType": "image/png", "data": "AAAA"}}),
    ),
    max_size=5,
)
_candidates = _record(
    {"finishReason": st.sampled_from(["STOP", "MAX_TOKENS", "SAFETY"])},
    content=_record({"role": st.just("model")}, parts=_gemini_parts),
    safetyRatings=st.just([{"category": "HARM_CATEGORY_HARASSMENT", "probability": "LOW"}]),
    groundingMetadata=_objects,
    tokenCount=_counts,
)


def _in_order(candidates: list[Json]) -> list[Json]:
    return [{"index": at, **candidate} for at, candidate in enumerate(candidates)]


gemini_responses = _record(
    {
        "candidates": st.lists(_candidates, min_size=1, max_size=2).map(_in_order),
        "usageMetadata": _record({"promptTokenCount": _counts}, thoughtsTokenCount=_counts),
    },
    modelVersion=_some_text,
    responseId=_some_text,
    createTime=st.just("2026-01-01T00:00:00Z"),
)
