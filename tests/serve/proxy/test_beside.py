"""Nothing that a client sends beside texts is written again unjudged: every text and name of each format."""

import copy
import json
from collections.abc import Iterator

import pytest

import callsheet
from callsheet.serve.proxy.comparing import Comparing
from callsheet.serve.proxy.orders import Order
from callsheet.serve.proxy.preparing import Preparing
from callsheet.serve.proxy.recognising import Recogniser
from callsheet.serve.proxy.settings import Handling
from callsheet.serve.proxy.turned import Turned
from callsheet.serve.proxy.weighing import Memory, Scales
from callsheet.wire.names import Wire

SECRET = "sk-ant-api03-Zx8KqLw3Rt9Yb2Nm5Vc7Df1Gh4Jk6Pq"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
MARK = {"type": "ephemeral", "ttl": "5m"}
Path = tuple[str | int, ...]

BODIES: dict[Wire, tuple[str, dict[str, object]]] = {
    Wire.OPENAI: (
        "openai",
        {
            "model": "gpt-4o",
            "messages": [
                {
                    "role": "system",
                    "content": [{"type": "text", "text": "be kind", "cache_control": MARK}],
                    "name": "sys",
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "hello", "cache_control": MARK},
                        {"type": "image_url", "image_url": {"url": "https://x.example/a.png", "detail": "low"}},
                        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
                        {"type": "file", "file": {"file_id": "file-1", "filename": "a.pdf"}},
                        {
                            "type": "file",
                            "file": {"file_data": "data:application/pdf;base64,JVBERi0xLjQK", "filename": "b.pdf"},
                        },
                    ],
                    "name": "mia",
                },
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "I look", "annotations": "x"},
                        {"type": "refusal", "refusal": "no"},
                    ],
                    "name": "bot",
                    "reasoning_content": "hmm",
                    "audio": {"id": "a1"},
                    "prefix": True,
                    "annotations": [
                        {"type": "url_citation", "url_citation": {"url": "https://z.example", "title": "tt"}}
                    ],
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "look", "arguments": '{"x":"1"}', "extra": "e"},
                            "extra_content": {"google": {"thought_signature": "sig"}},
                            "more": "m",
                        },
                        {"id": "c2", "type": "custom", "custom": {"name": "cust", "input": "free"}},
                    ],
                },
                {
                    "role": "tool",
                    "tool_call_id": "c1",
                    "content": [{"type": "text", "text": "res", "cache_control": MARK}],
                    "name": "look",
                    "status": "s",
                },
                {"role": "tool", "tool_call_id": "c2", "content": "res2"},
                {"role": "assistant", "content": "ok", "refusal": "none"},
                {"role": "user", "content": "go on"},
            ],
            "tools": [
                {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}},
                {"type": "custom", "custom": {"name": "cust"}},
            ],
        },
    ),
    Wire.ANTHROPIC: (
        "anthropic",
        {
            "model": "claude-haiku-4-5",
            "max_tokens": 50,
            "system": [{"type": "text", "text": "be kind", "cache_control": MARK}],
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "text",
                            "text": "hello",
                            "cache_control": MARK,
                            "citations": [
                                {
                                    "type": "char_location",
                                    "cited_text": "ct",
                                    "document_title": "dt",
                                    "document_index": 0,
                                    "start_char_index": 0,
                                    "end_char_index": 1,
                                }
                            ],
                        },
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": PNG},
                            "cache_control": MARK,
                        },
                        {"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}},
                        {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
                        {
                            "type": "document",
                            "source": {"type": "text", "media_type": "text/plain", "data": "doc text"},
                            "title": "ti",
                            "context": "co",
                            "citations": {"enabled": True},
                        },
                        {
                            "type": "document",
                            "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQK"},
                            "title": "ti2",
                        },
                        {
                            "type": "document",
                            "source": {"type": "content", "content": [{"type": "text", "text": "inner"}]},
                            "title": "t3",
                            "context": "c3",
                        },
                        {
                            "type": "search_result",
                            "source": "https://s.example",
                            "title": "st",
                            "content": [{"type": "text", "text": "sr"}],
                            "citations": {"enabled": True},
                        },
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "hm", "signature": "sg"},
                        {"type": "redacted_thinking", "data": "rd"},
                        {"type": "text", "text": "I look"},
                        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
                        {
                            "type": "web_search_tool_result",
                            "tool_use_id": "srvtoolu_1",
                            "content": [
                                {
                                    "type": "web_search_result",
                                    "url": "https://w.example",
                                    "title": "wt",
                                    "encrypted_content": "ec",
                                    "page_age": "pa",
                                }
                            ],
                        },
                        {
                            "type": "tool_use",
                            "id": "toolu_1",
                            "name": "look",
                            "input": {"x": "1"},
                            "cache_control": MARK,
                            "caller": {"type": "direct"},
                        },
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "toolu_1",
                            "content": [
                                {"type": "text", "text": "res"},
                                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                                {"type": "tool_reference", "tool_name": "look"},
                            ],
                            "is_error": False,
                            "cache_control": MARK,
                        }
                    ],
                },
                {"role": "assistant", "content": "ok"},
                {"role": "user", "content": "go on"},
            ],
            "tools": [
                {"name": "look", "input_schema": {"type": "object"}},
                {"type": "web_search_20250305", "name": "web_search"},
            ],
        },
    ),
    Wire.GEMINI: (
        "google",
        {
            "systemInstruction": {"parts": [{"text": "be kind"}], "role": "sys"},
            "contents": [
                {
                    "role": "user",
                    "parts": [
                        {"text": "hello", "partMetadata": {"a": "b"}},
                        {"inlineData": {"mimeType": "image/png", "data": PNG, "displayName": "dn"}},
                        {
                            "fileData": {
                                "mimeType": "application/pdf",
                                "fileUri": "https://g.example/files/1",
                                "displayName": "fd",
                            }
                        },
                        {
                            "inlineData": {"mimeType": "video/mp4", "data": "AAAA"},
                            "videoMetadata": {"startOffset": "1s"},
                            "mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"},
                        },
                    ],
                },
                {
                    "role": "model",
                    "parts": [
                        {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
                        {"text": "I look", "thoughtSignature": "c2ln"},
                        {"executableCode": {"language": "PYTHON", "code": "print(1)", "id": "ec1"}},
                        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1", "id": "ec1"}},
                        {
                            "functionCall": {
                                "name": "look",
                                "args": {"x": "1"},
                                "id": "f1",
                                "partialArgs": [],
                                "willContinue": False,
                            },
                            "thoughtSignature": "c2ln",
                        },
                    ],
                },
                {
                    "role": "user",
                    "parts": [
                        {
                            "functionResponse": {
                                "name": "look",
                                "id": "f1",
                                "response": {"output": "res", "k": "v"},
                                "scheduling": "SILENT",
                                "parts": [
                                    {"inlineData": {"mimeType": "image/png", "data": PNG, "displayName": "x.png"}}
                                ],
                            }
                        }
                    ],
                },
                {"role": "model", "parts": [{"text": "ok"}]},
                {"role": "user", "parts": [{"text": "go on"}]},
            ],
            "tools": [{"functionDeclarations": [{"name": "look"}]}, {"codeExecution": {}}],
        },
    ),
    Wire.OPENAI_RESPONSES: (
        "openai-responses",
        {
            "model": "gpt-5.2",
            "instructions": "be kind",
            "input": [
                {"role": "developer", "content": "dev", "type": "message"},
                {
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": "hello"},
                        {"type": "input_image", "image_url": "https://x.example/a.png", "detail": "low"},
                        {"type": "input_image", "file_id": "file-1", "detail": "low"},
                        {
                            "type": "input_file",
                            "file_data": "data:application/pdf;base64,JVBERi0xLjQK",
                            "filename": "b.pdf",
                        },
                        {"type": "input_file", "file_url": "https://x.example/a.pdf"},
                        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
                    ],
                    "type": "message",
                    "status": "completed",
                    "id": "msg_u",
                },
                {
                    "type": "reasoning",
                    "id": "rs_1",
                    "summary": [{"type": "summary_text", "text": "sum"}],
                    "content": [{"type": "reasoning_text", "text": "rt"}],
                    "encrypted_content": "enc",
                    "status": "completed",
                },
                {
                    "type": "message",
                    "role": "assistant",
                    "id": "msg_1",
                    "status": "completed",
                    "phase": "commentary",
                    "content": [
                        {
                            "type": "output_text",
                            "text": "I look",
                            "annotations": [
                                {
                                    "type": "url_citation",
                                    "url": "https://z.example",
                                    "title": "tt",
                                    "start_index": 0,
                                    "end_index": 1,
                                }
                            ],
                            "logprobs": [],
                        },
                        {"type": "refusal", "refusal": "no"},
                    ],
                },
                {
                    "type": "web_search_call",
                    "id": "ws_1",
                    "status": "completed",
                    "action": {"type": "search", "query": "wq"},
                },
                {
                    "type": "code_interpreter_call",
                    "id": "ci_1",
                    "status": "completed",
                    "code": "print(1)",
                    "container_id": "cntr_1",
                    "outputs": [{"type": "logs", "logs": "lg"}],
                },
                {
                    "type": "file_search_call",
                    "id": "fs_1",
                    "status": "completed",
                    "queries": ["fq"],
                    "results": [{"file_id": "f", "filename": "fn", "text": "ft", "score": 0.5}],
                },
                {
                    "type": "mcp_call",
                    "id": "mcp_1",
                    "name": "mt",
                    "server_label": "sl",
                    "arguments": "{}",
                    "output": "mo",
                },
                {
                    "type": "image_generation_call",
                    "id": "ig_1",
                    "status": "completed",
                    "result": PNG,
                    "revised_prompt": "rp",
                },
                {
                    "type": "local_shell_call",
                    "id": "ls_1",
                    "call_id": "lc_1",
                    "status": "completed",
                    "action": {"type": "exec", "command": ["ls"], "env": {"A": "b"}},
                },
                {"type": "local_shell_call_output", "id": "ls_1", "output": "lo", "status": "completed"},
                {
                    "type": "function_call",
                    "id": "fc_1",
                    "call_id": "call_1",
                    "name": "look",
                    "arguments": '{"x":"1"}',
                    "status": "completed",
                    "namespace": "ns",
                },
                {"type": "custom_tool_call", "id": "ct_1", "call_id": "call_2", "name": "cust", "input": "free"},
                {
                    "type": "function_call_output",
                    "call_id": "call_1",
                    "output": [
                        {"type": "input_text", "text": "res"},
                        {"type": "input_image", "image_url": "https://y.example/b.png", "detail": "low"},
                    ],
                    "status": "completed",
                    "id": "fco",
                },
                {"type": "custom_tool_call_output", "call_id": "call_2", "output": "res2"},
                {"role": "assistant", "content": "ok"},
                {"role": "user", "content": "go on"},
            ],
            "tools": [
                {"type": "function", "name": "look", "parameters": {"type": "object"}},
                {"type": "custom", "name": "cust"},
                {"type": "web_search"},
            ],
        },
    ),
}

IDS = frozenset({"id", "call_id", "tool_call_id", "tool_use_id"})
"""What pairs calls and results."""

SEALED = frozenset({"thought_signature"})
"""What only the provider that made it can read; it refuses what was changed."""


def places(value: object, path: Path = ()) -> Iterator[tuple[Path, bool]]:
    """The place of every text, and (True) of every object, which may have one more name."""
    if isinstance(value, dict):
        for key, item in value.items():
            if path or key not in ("tools", "model"):
                yield from places(item, (*path, key))
        if path:
            yield path, True
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from places(item, (*path, at))
    elif isinstance(value, str):
        yield path, False


def with_secret(body: dict[str, object], path: Path, *, name: bool) -> dict[str, object]:
    made: dict[str, object] = copy.deepcopy(body)
    found: object = made
    for key in path[:-1]:
        found = found[key]  # type: ignore[index]
    last = path[-1]
    found[last] = {**found[last], SECRET: "1"} if name else SECRET  # type: ignore[index]
    return made


@pytest.mark.parametrize("wire", BODIES)
def test_no_secret_goes_out_wherever_it_stands(wire: Wire) -> None:
    provider, body = BODIES[wire]
    told = [
        (path, name)
        for path, name in places(body)
        if (path[-1] not in IDS | SEALED)
        and SECRET.encode() in sent(wire, provider, with_secret(body, path, name=name))
    ]
    assert told == []


def sent(wire: Wire, provider: str, body: dict[str, object]) -> bytes:
    """What goes to the provider; nothing where the request is refused."""
    model = None if "model" in body else "gemini-2.5-flash"
    with callsheet.open(":memory:") as runtime:
        preparing = Preparing(recogniser=Recogniser(runtime), comparing=Comparing(scales=Scales(), memory=Memory()))
        order = Order(
            wire=wire, provider=provider, model=model, stream=None, handling=Handling(), price=None,
            scope="t/k", named=None, user=None, at=0,
        )  # fmt: skip
        try:
            prepared = preparing.prepare(order, body)
        except Turned:
            return b""
    return prepared.content if prepared.content is not None else json.dumps(body).encode()


@pytest.mark.parametrize("wire", BODIES)
def test_without_one_all_goes_out(wire: Wire) -> None:
    provider, body = BODIES[wire]
    assert b"go on" in sent(wire, provider, body)
