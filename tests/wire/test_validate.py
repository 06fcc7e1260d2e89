"""The validator finds each fault by itself: every row breaks a valid request in one way, by an edit of its JSON."""

import json

import pytest

from callsheet.wire.names import Wire
from callsheet.wire.problem import Rule
from callsheet.wire.validate import problems
from tests.wire.sdk import accept

VALID = {
    Wire.OPENAI: """{
"model": "m",
"messages": [
 {"role": "system", "content": "Be brief."},
 {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "https://a"}}]},
 {"role": "assistant", "content": null, "tool_calls": [
  {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
  {"id": "b", "type": "custom", "custom": {"name": "g", "input": "ls"}}]},
 {"role": "tool", "tool_call_id": "a", "content": "1"},
 {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "2"}]},
 {"role": "user", "name": "Mia", "content": [
  {"type": "file", "file": {"file_data": "data:,x", "filename": "n"}},
  {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}]}],
"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]}""",
    Wire.ANTHROPIC: """{
"model": "m",
"max_tokens": 10,
"system": [{"type": "text", "text": "Be brief."}],
"messages": [
 {"role": "user", "content": [{"type": "text", "text": "x"}]},
 {"role": "assistant", "content": [
  {"type": "thinking", "thinking": "", "signature": "S"},
  {"type": "tool_use", "id": "a", "name": "f", "input": {}},
  {"type": "tool_use", "id": "b", "name": "f", "input": {}}]},
 {"role": "user", "content": [
  {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "1"}]},
  {"type": "tool_result", "tool_use_id": "b", "content": "2", "is_error": true},
  {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
  {"type": "document", "source": {"type": "url", "url": "https://a"}, "title": "t"}]}],
"tools": [{"name": "f", "input_schema": {"type": "object"}}]}""",
}

OPENAI_FAULTS = [
    ('"model": "m",', "", Rule.SHAPE),
    ('"Be brief."', '" "', Rule.EMPTY),
    ('"Be brief."', "null", Rule.SHAPE),
    ('"Be brief."', "[]", Rule.EMPTY),
    ('"Be brief."', r'"a\u0000"', Rule.ENCODING),
    ('"Be brief."', r'"\ud83e"', Rule.ENCODING),
    ('"role": "system"', '"role": "critic"', Rule.ROLE),
    ('"role": "system"', '"role": "tool", "tool_call_id": "z"', Rule.PAIRING),
    ('{"role": "system", "content": "Be brief."}', '"Be brief."', Rule.ROLE),
    ('"content": "Be brief."', '"content": "x", "x_step": 1', Rule.UNKNOWN_KEY),
    ('"content": "Be brief."', '"content": [{"type": "image_url"}]', Rule.SHAPE),
    ('"type": "text", "text": "x"', '"type": "text", "text": ""', Rule.EMPTY),
    ('"type": "text", "text": "x"', '"type": "text", "text": "x", "y": NaN', Rule.UNKNOWN_KEY),
    ('"type": "text", "text": "x"', '"type": "video", "text": "x"', Rule.SHAPE),
    ('"url": "https://a"', '"url": "data:image/tiff;base64,AA=="', Rule.MEDIA),
    ('"url": "https://a"', '"url": "file:///etc/hosts"', Rule.MEDIA),
    ('"format": "wav"', '"format": "ogg"', Rule.MEDIA),
    (', "filename": "n"', "", Rule.MEDIA),
    ('"id": "a", ', "", Rule.SHAPE),
    ('"id": "a"', '"id": ""', Rule.ID),
    ('"id": "a"', f'"id": "{"a" * 41}"', Rule.ID),
    ('"id": "b"', '"id": "a"', Rule.ID),
    (
        '"type": "function", "function": {"name": "f", "arguments"',
        '"type": "x", "function": {"name": "f", "arguments"',
        Rule.SHAPE,
    ),
    ('"name": "f", "arguments"', '"name": "a b", "arguments"', Rule.NAME),
    ('"arguments": "{}"', '"arguments": "[]"', Rule.ARGUMENTS),
    ('"arguments": "{}"', '"arguments": "{"', Rule.ARGUMENTS),
    ('"arguments": "{}"', r'"arguments": "{\"a\": NaN}"', Rule.ARGUMENTS),
    ('"arguments": "{}"', '"arguments": {}', Rule.SHAPE),
    ('{"role": "tool", "tool_call_id": "a", "content": "1"},', "", Rule.PAIRING),
    ('"tool_call_id": "a"', '"tool_call_id": "b"', Rule.PAIRING),
    ('"content": "1"', '"content": "1", "name": "f"', Rule.UNKNOWN_KEY),
    ('"content": "1"', '"content": ""', Rule.EMPTY),
    (
        '{"role": "tool", "tool_call_id": "a"',
        '{"role": "user", "content": "x"}, {"role": "tool", "tool_call_id": "a"',
        Rule.PAIRING,
    ),
    ('"name": "Mia"', '"name": "Mia M."', Rule.NAME),
    ('"tools": [', '"tools": [], "x": [', Rule.EMPTY),
    ('"name": "f", "parameters"', '"name": "", "parameters"', Rule.TOOLS),
    ('"parameters": {"type": "object"}', '"parameters": {"type": "array"}', Rule.TOOLS),
]
ANTHROPIC_FAULTS = [
    ('"max_tokens": 10,', "", Rule.SHAPE),
    ('"max_tokens": 10', '"max_tokens": 0', Rule.SHAPE),
    ('[{"type": "text", "text": "Be brief."}]', '" "', Rule.EMPTY),
    ('[{"type": "text", "text": "Be brief."}]', "[]", Rule.EMPTY),
    ('"type": "text", "text": "Be brief."', '"type": "image", "source": {}', Rule.SHAPE),
    ('"text": "x"', '"text": "\\n"', Rule.EMPTY),
    ('"text": "x"', '"text": "x", "extra": 1', Rule.UNKNOWN_KEY),
    ('"text": "x"', r'"text": "\u0000"', Rule.ENCODING),
    ('[{"type": "text", "text": "x"}]', "[]", Rule.EMPTY),
    ('[{"type": "text", "text": "x"}]', '["x"]', Rule.SHAPE),
    ('[{"type": "text", "text": "x"}]', "null", Rule.SHAPE),
    ('{"role": "user", "content": [{"type": "text", "text": "x"}]},', "", Rule.ORDER),
    ('{"role": "user", "content": [{"type": "text", "text": "x"}]}', '{"role": "system", "content": "x"}', Rule.ROLE),
    ('"type": "text", "text": "x"}]}', '"type": "text", "text": "x"}]}, {"role": "user", "content": "y"}', Rule.ORDER),
    (
        '"type": "url", "url": "https://a"}, "title": "t"}]}',
        '"type": "url", "url": "https://a"}}]}, {"role": "assistant", "content": "z"}',
        Rule.ORDER,
    ),
    ('"type": "text", "text": "x"', '"type": "thinking", "thinking": "", "signature": "S"', Rule.SHAPE),
    ('"signature": "S"', '"signature": ""', Rule.EMPTY),
    (', "signature": "S"', "", Rule.SHAPE),
    ('"id": "a"', '"id": "a b"', Rule.ID),
    ('"id": "a"', f'"id": "{"a" * 65}"', Rule.ID),
    ('"id": "a"', '"id": "b"', Rule.ID),
    ('"id": "a", "name": "f"', '"id": "a", "name": "f.g"', Rule.NAME),
    ('"id": "a", "name": "f", "input": {}', '"id": "a", "name": "f", "input": "{}"', Rule.ARGUMENTS),
    ('"id": "a", "name": "f", "input": {}', '"id": "a", "name": "f", "input": {"x": NaN}', Rule.ENCODING),
    ('{"type": "tool_result", "tool_use_id": "b", "content": "2", "is_error": true},', "", Rule.PAIRING),
    ('"tool_use_id": "b"', '"tool_use_id": "c"', Rule.PAIRING),
    ('"tool_use_id": "a", "content"', '"tool_use_id": "b", "content"', Rule.PAIRING),
    (
        '{"type": "tool_result", "tool_use_id": "a"',
        '{"type": "text", "text": "y"}, {"type": "tool_result", "tool_use_id": "a"',
        Rule.GROUPING,
    ),
    ('"content": "2"', '"content": ""', Rule.EMPTY),
    ('"content": "2", ', "", Rule.SHAPE),
    ('"content": "2"', '"content": [{"type": "search_result"}]', Rule.MEDIA),
    ('"is_error": true', '"is_error": "yes"', Rule.SHAPE),
    ('"image/png"', '"image/tiff"', Rule.MEDIA),
    ('"data": "AA=="', '"data": ""', Rule.MEDIA),
    ('"https://a"', '"file:///etc/hosts"', Rule.MEDIA),
    ('"name": "f", "input_schema"', '"name": "a b", "input_schema"', Rule.TOOLS),
    ('"input_schema": {"type": "object"}', '"input_schema": {}', Rule.TOOLS),
    ('"tools": [{"name": "f", "input_schema": {"type": "object"}}]', '"x": 1', Rule.TOOLS),
]
FAULTS = [
    *((Wire.OPENAI, *fault) for fault in OPENAI_FAULTS),
    *((Wire.ANTHROPIC, *fault) for fault in ANTHROPIC_FAULTS),
]


@pytest.mark.parametrize("wire", list(Wire))
def test_the_request_without_faults_is_valid(wire: Wire) -> None:
    request = json.loads(VALID[wire])

    assert problems(request, wire) == []
    accept(request, wire)


@pytest.mark.parametrize(("wire", "old", "new", "rule"), FAULTS)
def test_a_fault_is_found(wire: Wire, old: str, new: str, rule: Rule) -> None:
    assert old in VALID[wire]

    found = problems(json.loads(VALID[wire].replace(old, new, 1)), wire)

    assert rule in {problem.rule for problem in found}


def test_results_in_another_order_than_their_calls_are_found() -> None:
    request = json.loads(VALID[Wire.OPENAI])
    messages = request["messages"]
    messages[3], messages[4] = messages[4], messages[3]

    assert [problem.rule for problem in problems(request, Wire.OPENAI)] == [Rule.GROUPING]
    assert problems(request, Wire.OPENAI)[0].where == "messages[3]"


@pytest.mark.parametrize("wire", list(Wire))
@pytest.mark.parametrize("value", [b"x", (1,), {1}, float("inf")])
def test_what_json_does_not_know_is_found(wire: Wire, value: object) -> None:
    request = json.loads(VALID[wire]) | {"metadata": {"x": [value]}}

    assert [(problem.rule, problem.where) for problem in problems(request, wire)] == [(Rule.ENCODING, "metadata.x[0]")]
