"""Histories as composing hands them to rendering, read from messages or made at random."""

import json
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from callsheet.assemble.blocks import Answer, Block, Call, Content, Media, Opaque, Part, Reasoning, Said, Text
from callsheet.graph.enums import Role
from callsheet.wire.names import Wire

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
)
_OPAQUE: tuple[dict[str, object], ...] = (
    {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"q": "\0"}},
    {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "x"}]},
    {"type": "tool_reference", "tool_name": "f", "cache_control": {"type": "ephemeral"}},
    {"type": "unheard_of"},
)
_REASONING: tuple[dict[str, object], ...] = (
    {"type": "thinking", "thinking": "Hm.\n ", "signature": "SIG="},
    {"type": "thinking", "thinking": "cut", "signature": ""},
    {"type": "redacted_thinking", "data": "Enc="},
    {"type": "thinking", "thinking": "\0", "signature": "SIG="},
)
_wires = st.sampled_from(["", *Wire, "gemini"])


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
)
answers = st.builds(
    Answer,
    call=st.none(),
    tool=st.none(),
    content=st.lists(st.one_of(text_parts, text_parts, media_parts, opaque_parts), max_size=3).map(tuple),
    form=forms,
    failed=st.sampled_from([None, True, False]),
    wire=_wires,
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


_spoken: st.SearchStrategy[list[Part]] = st.lists(st.one_of(text_parts, media_parts, opaque_parts), max_size=3)
_thought: st.SearchStrategy[list[Part]] = st.lists(reasoning_parts, max_size=2)
_asked: st.SearchStrategy[list[Part]] = st.lists(calls, max_size=3)

saids = st.one_of(
    _said(Role.USER, _spoken),
    _said(Role.SYSTEM, _spoken),
    _said(Role.DEVELOPER, _spoken),
    _said(
        Role.ASSISTANT, st.tuples(_thought, _spoken, _asked).map(lambda lists: [part for ps in lists for part in ps])
    ),
)
histories = st.lists(st.one_of(saids, saids, answers), min_size=1, max_size=8).map(composed)
"""Composed histories with everything odd that recording lets in."""
