"""Histories as composing hands them to rendering, read from messages or made at random."""

import json
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from callsheet.assemble.blocks import Answer, Block, Call, Content, Media, Opaque, Part, Reasoning, Said, Text
from callsheet.graph.enums import Role
from callsheet.wire.formats import parse_messages
from callsheet.wire.names import Wire

Json = dict[str, object]

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010800000000"
    "3a7e9b550000000a49444154789c636000000002000148afa4710000000049454e44ae426082"
)
PDF = b"%PDF-1.4\n%%EOF\n"


def with_ids(blocks: Sequence[Block]) -> list[Block]:
    """Blocks of messages that pair, with an id for each call that has none, by position."""
    made: list[Block] = []
    due: list[str] = []
    number = 0
    for block in blocks:
        if isinstance(block, Answer):
            made.append(replace(block, call=block.call or due.pop(0)))
            continue
        parts: list[Part] = []
        for part in block.parts:
            if isinstance(part, Call) and part.id is None:
                number += 1
                due.append(f"call_{number}")
                parts.append(replace(part, id=f"call_{number}"))
            else:
                parts.append(part)
        made.append(replace(block, parts=tuple(parts)))
    return made


def composed(blocks: Sequence[Block]) -> list[Block]:
    """Blocks of messages whose results stand behind their calls, with what composing adds: an id for every call, an
    answer for every call, something to see in every message.
    """
    made: list[Block] = []
    waiting = list(blocks)
    number = 0
    while waiting:
        block = waiting.pop(0)
        if isinstance(block, Answer):
            made.append(Said(role=Role.USER, parts=(Text(text="[a result without a call]"),)))
            continue
        parts: list[Part] = []
        answers: list[Answer] = []
        for part in block.parts:
            if not isinstance(part, Call):
                parts.append(part)
                continue
            number += 1
            named = replace(part, id=f"{part.id or 'call'}_{number}")
            found = waiting.pop(0) if waiting and isinstance(waiting[0], Answer) else Answer(call=None)
            assert isinstance(found, Answer)
            parts.append(named)
            answers.append(replace(found, call=named.id, content=_visible_content(found.content)))
        made.append(replace(block, parts=_visible(parts)))
        made.extend(answers)
    return made


def _visible(parts: Sequence[Part]) -> tuple[Part, ...]:
    shows = any(isinstance(part, Call | Media) or (isinstance(part, Text) and part.text.strip()) for part in parts)
    return tuple(parts) if shows else (*parts, Text(text="(empty)"))


def _visible_content(content: Sequence[Content]) -> tuple[Content, ...]:
    shows = any(isinstance(part, Media) or (isinstance(part, Text) and part.text.strip()) for part in content)
    return tuple(content) if shows else (*content, Text(text="(no output)"))


def is_complete(blocks: Sequence[Block], end: int) -> bool:
    """Whether no answer is due behind the first `end` blocks."""
    return end == len(blocks) or not isinstance(blocks[end], Answer)


# --------------------------------------------------------------------------- at random

_CHARACTERS = st.one_of(
    st.characters(), st.sampled_from(["\0", "\ud83e", "\udd9c", " ", "\n", "\x1b", "ä", "\U0001f99c"])
)
texts = st.text(_CHARACTERS, max_size=12)

_ARGUMENTS = (
    "",
    "{}",
    '{"b": 1, "a": [true, null, "ä"]}',
    '{"cut": "off',
    '["list"]',
    '{"x": NaN}',
    '{"x": 1e999}',
    '{"x": 1, "x": 2}',
    '{"nul": "\\u0000", "half": "\\ud83e"}',
    '{"raw": "\ud83e"}',
    "\0{}",
    '{"long": 123456789012345678901234567890, "exact": 0.12345678901234567890123}',
    '{"deep": ' + "[" * 500 + "]" * 500 + "}",
)

_EXTRAS = (
    b"",
    b'{"cache_control":{"type":"ephemeral"}}',
    b'{"type":"refusal"}',
    b'{"citations":[{"type":"x"}],"n":NaN}',
    b'{"message":{"id":"msg_1","type":"message","status":"completed","phase":"commentary"},"annotations":[]}',
    b'{"message":{"id":"msg_2","status":"odd"},"type":"refusal"}',
    b'{"message":null}',
    b'{"message":{"id":"rs_1\\u0000","content":"string"}}',
    b'{"thoughtSignature":"QQ=="}',
    b'{"thought_signature":"","thought":false}',
)
_OPAQUE: tuple[dict[str, object], ...] = (
    {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"q": "\0"}},
    {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "x"}]},
    {"type": "tool_reference", "tool_name": "f", "cache_control": {"type": "ephemeral"}},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "\0"}},
    {"type": "mcp_list_tools", "id": "ws_1", "server_label": "s", "tools": [], "error": None},
    {"type": "compaction", "encrypted_content": "E="},
    {"type": "code_interpreter_call", "id": "ci_1"},
    {"type": "item_reference", "id": "msg_1"},
    {"type": "unheard_of"},
    {"executableCode": {"language": "PYTHON", "code": "\0"}},
    {"code_execution_result": {"outcome": "OUTCOME_OK", "output": None}, "thought_signature": "QQ=="},
    {"toolCall": {}, "thoughtSignature": 7},
    {"videoCall": {"a": 1}},
)
_REASONING: tuple[dict[str, object], ...] = (
    {"type": "thinking", "thinking": "Hm.\n ", "signature": "SIG="},
    {"type": "thinking", "thinking": "cut", "signature": ""},
    {"type": "redacted_thinking", "data": "Enc="},
    {"type": "thinking", "thinking": "\0", "signature": "SIG="},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E=", "status": None},
    {"type": "reasoning", "id": "rs_2", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
    {"type": "reasoning", "id": "rs_3", "summary": []},
    {"type": "reasoning", "id": "rs_\0", "summary": [], "encrypted_content": "E="},
    {"thought": True, "text": "Hm.\n "},
    {"thought": True, "text": ""},
    {"text": "", "thoughtSignature": "QQ=="},
    {"thought_signature": "not base64!", "thought": None},
    {"thought": True, "text": "\0", "thought_signature": "_-8="},
)
_NATIVE: tuple[tuple[Json, Json], ...] = (
    (
        {"type": "computer_call", "id": "cu_1", "call_id": "c", "status": "completed", "pending_safety_checks": []}
        | {"action": {"type": "screenshot"}},
        {"type": "computer_call_output", "call_id": "c"}
        | {"output": {"type": "computer_screenshot", "image_url": "https://pictures.example/a.png"}},
    ),
    (
        {"type": "local_shell_call", "id": "ls_1", "call_id": "c", "status": "completed"}
        | {"action": {"type": "exec", "command": ["ls\0"], "env": {}}},
        {"type": "local_shell_call_output", "id": "c", "output": "a\ud83e"},
    ),
    (
        {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "c", "output": []},
    ),
    (
        {"type": "shell_call", "id": "sh_1", "call_id": "c", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "c"}
        | {"output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]},
    ),
    (
        {"type": "mcp_approval_request", "id": "c", "arguments": "{}", "name": "f", "server_label": "s"},
        {"type": "mcp_approval_response", "approval_request_id": "c", "approve": False, "reason": "no\0"},
    ),
)
_wires = st.sampled_from(["", *Wire, "unheard-of"])


def _raw(value: dict[str, object]) -> bytes:
    return json.dumps(value).encode()


text_parts = st.builds(Text, text=texts, extras=st.sampled_from(_EXTRAS))
media_parts = st.builds(
    Media,
    mime=st.sampled_from(["", "image/png", "image/tiff", "application/pdf", "text/plain", "audio/wav", "x/y"]),
    data=st.sampled_from([None, PNG, PDF, b"plain \xc3\xa4", b"\xff\xfe", b""]),
    url=st.sampled_from([None, "https://pictures.example/a.png", "file:///etc/hosts", "data:,x"]),
    wire=_wires,
    extras=st.sampled_from(
        [
            b"",
            b'{"type":"image_url","image_url":{"url":"","detail":"low"}}',
            b'{"type":"file","file":{"file_id":"f\\u0000","filename":"\\ud83e.pdf"}}',
            b'{"type":"document","source":{"type":"file","file_id":"f1"},"title":"\\u0000","context":" "}',
            b'{"inlineData":{"mimeType":"image/png","data":""},"videoMetadata":{"fps":1},"thoughtSignature":"QQ=="}',
            b'{"file_data":{"file_uri":"gs://b/\\u0000"},"media_resolution":null}',
        ]
    ),
)
opaque_parts = st.builds(Opaque, wire=_wires, raw=st.sampled_from(_OPAQUE).map(_raw))
reasoning_parts = st.builds(Reasoning, wire=_wires, raw=st.sampled_from(_REASONING).map(_raw))
forms = st.sampled_from(["string", "parts", "null", "absent"])
calls = st.builds(
    Call,
    id=texts,
    tool=texts,
    arguments=st.sampled_from(_ARGUMENTS),
    kind=st.sampled_from(["function", "custom", "function_call", ""]),
    wire=_wires,
    extras=st.sampled_from(
        [b"", b'{"functionCall":{},"thoughtSignature":"QQ=="}', b'{"function_call":{"id":"a"},"thought_signature":"?"}']
    ),
)
answers = st.builds(
    Answer,
    call=st.none(),
    tool=st.none(),
    content=st.lists(st.one_of(text_parts, text_parts, media_parts, opaque_parts), max_size=3).map(tuple),
    form=forms,
    failed=st.sampled_from([None, True, False]),
    wire=_wires,
    extras=st.sampled_from(
        [
            b"",
            b'{"functionResponse":{"name":"f"}}',
            b'{"functionResponse":{"response":{"result":null}}}',
            b'{"function_response":{"id":"a","response":{"error":""}}}',
        ]
    ),
)


def _said(role: Role, parts: st.SearchStrategy[list[Part]]) -> st.SearchStrategy[Said]:
    return st.builds(
        Said,
        role=st.just(role),
        parts=parts.map(tuple),
        form=forms,
        wire=_wires,
        name=st.one_of(st.none(), texts),
    )


def _alone(block: Block) -> list[Block]:
    return [block]


_spoken: st.SearchStrategy[list[Part]] = st.lists(st.one_of(text_parts, media_parts, opaque_parts), max_size=3)
_thought: st.SearchStrategy[list[Part]] = st.lists(reasoning_parts, max_size=2)
_asked: st.SearchStrategy[list[Part]] = st.lists(calls, max_size=3)

_native_pairs = st.sampled_from(_NATIVE).map(
    lambda pair: parse_messages([dict(item) for item in pair], Wire.OPENAI_RESPONSES)
)


@st.composite
def native_turns(draw: st.DrawFn) -> list[Block]:
    """A turn with calls of tools that a provider defines, and its results, of which some are not what they were."""
    parts: list[Part] = [*draw(_thought), *draw(_spoken)]
    results: list[Block] = []
    for said, answer in draw(st.lists(_native_pairs, min_size=1, max_size=2)):
        assert isinstance(said, Said)
        assert isinstance(answer, Answer)
        parts += said.parts
        results.append(answer if draw(st.booleans()) else draw(answers))
    return [Said(role=Role.ASSISTANT, parts=tuple(parts), wire=Wire.OPENAI_RESPONSES), *results]


saids = st.one_of(
    _said(Role.USER, _spoken),
    _said(Role.SYSTEM, _spoken),
    _said(Role.DEVELOPER, _spoken),
    _said(
        Role.ASSISTANT, st.tuples(_thought, _spoken, _asked).map(lambda lists: [part for ps in lists for part in ps])
    ),
)
histories = st.lists(
    st.one_of(saids.map(_alone), saids.map(_alone), answers.map(_alone), native_turns()), min_size=1, max_size=8
).map(lambda turns: composed([block for turn in turns for block in turn]))
"""Composed histories with everything odd that recording lets in."""
