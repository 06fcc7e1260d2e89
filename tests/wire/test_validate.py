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
    Wire.OPENAI_RESPONSES: """{
"model": "m",
"instructions": "Be brief.",
"input": [
 {"role": "user", "content": [
  {"type": "input_text", "text": "x"}, {"type": "input_image", "image_url": "https://a", "detail": "low"}]},
 {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E="},
 {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary",
  "content": [{"type": "output_text", "text": "Wait.", "annotations": []}]},
 {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": "{}"},
 {"type": "custom_tool_call", "call_id": "b", "name": "g", "input": "ls"},
 {"type": "function_call_output", "call_id": "a", "output": "1"},
 {"type": "custom_tool_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "2"}]},
 {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
 {"role": "assistant", "content": "Done."},
 {"role": "developer", "content": "Be careful."},
 {"role": "user", "content": [
  {"type": "input_file", "file_data": "data:application/pdf;base64,AA==", "filename": "n"},
  {"type": "input_file", "file_url": "https://b"}]}],
"tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": false},
 {"type": "web_search"}]}""",
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
    Wire.GEMINI: """{
"model": "m",
"systemInstruction": {"parts": [{"text": "Be brief."}]},
"contents": [
 {"role": "user", "parts": [{"text": "x"}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}]},
 {"role": "model", "parts": [
  {"thought": true, "text": "Hm."},
  {"executableCode": {"language": "PYTHON", "code": "1"}},
  {"functionCall": {"id": "a", "name": "f", "args": {}}, "thoughtSignature": "_-8="},
  {"functionCall": {"name": "g:h.i-j", "args": {"x": 1}}}]},
 {"role": "user", "parts": [
  {"functionResponse": {"id": "a", "name": "f", "response": {"output": "1"}}},
  {"functionResponse": {"name": "g:h.i-j", "response": {}, "parts": [
   {"inlineData": {"mimeType": "application/pdf", "data": "AA=="}}]}},
  {"text": "y"},
  {"fileData": {"fileUri": "gs://b/c", "mimeType": "video/mp4"}, "videoMetadata": {"fps": 1}}]},
 {"role": "model", "parts": [{"text": "", "thoughtSignature": "Qg=="}]},
 {"role": "user", "parts": [{"text": "z"}]},
 {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "QQ=="}]},
 {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"result": [1]}}}]}],
"tools": [
 {"functionDeclarations": [
  {"name": "f", "parametersJsonSchema": {"type": "object"}}, {"name": "k", "parameters": {"type": "OBJECT"}}]},
 {"googleSearch": {}}]}""",
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
    ('{"role": "user", "content": [{"type": "text", "text": "x"}]}', '{"role": "robot", "content": "x"}', Rule.ROLE),
    ('{"role": "user", "content": [{"type": "text", "text": "x"}]}', '{"role": "system", "content": "x"}', Rule.ORDER),
    ('"type": "text", "text": "x"}]}', '"type": "text", "text": "x"}]}, {"role": "user", "content": "y"}', Rule.ORDER),
    (
        '"type": "text", "text": "x"}]}',
        '"type": "text", "text": "x"}]}, {"role": "system", "content": [{"type": "image"}]}',
        Rule.SHAPE,
    ),
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
RESPONSES_FAULTS = [
    ('"model": "m",', "", Rule.SHAPE),
    ('"instructions": "Be brief."', '"instructions": " "', Rule.EMPTY),
    ('"instructions": "Be brief."', '"instructions": ["x"]', Rule.SHAPE),
    ('"input": [', '"input": "", "x": [', Rule.EMPTY),
    ('"input": [', '"x": [', Rule.SHAPE),
    ('"text": "x"', '"text": " "', Rule.EMPTY),
    ('"text": "x"', r'"text": "\u0000"', Rule.ENCODING),
    ('"type": "input_text", "text": "x"', '"type": "text", "text": "x"', Rule.SHAPE),
    ('"type": "input_text", "text": "x"', '"type": "output_text", "text": "x"', Rule.SHAPE),
    ('"text": "x"', '"text": "x", "cache_control": {}', Rule.UNKNOWN_KEY),
    ('"detail": "low"', '"detail": "tiny"', Rule.MEDIA),
    ('"image_url": "https://a", ', "", Rule.MEDIA),
    ('"https://a"', '"data:image/tiff;base64,AA=="', Rule.MEDIA),
    ('"data:application/pdf;base64,AA=="', '"AA=="', Rule.MEDIA),
    ('"https://b"', '"file:///etc/hosts"', Rule.MEDIA),
    (', "filename": "n"', "", Rule.MEDIA),
    ('"role": "developer"', '"role": "tool"', Rule.ROLE),
    ('{"role": "developer", "content": "Be careful."}', '"Be careful."', Rule.SHAPE),
    ('"content": "Be careful."', '"content": "x", "name": "Mia"', Rule.UNKNOWN_KEY),
    ('"content": "Be careful."', '"content": []', Rule.EMPTY),
    ('{"type": "reasoning", "id": "rs_1", ', '{"type": "reasoning", ', Rule.SHAPE),
    (', "summary": []', "", Rule.SHAPE),
    ('"summary": []', '"summary": null', Rule.SHAPE),
    ('"encrypted_content": "E="', '"encrypted_content": "E=", "model": "m"', Rule.UNKNOWN_KEY),
    ('"id": "fc_1"', '"id": "msg_1"', Rule.ID),
    ('"encrypted_content": "E="}', '"encrypted_content": "E="}, {"role": "user", "content": "y"}', Rule.ORDER),
    ('{"role": "assistant", "content": "Done."}', '{"type": "reasoning", "id": "rs_2", "summary": []}', Rule.ORDER),
    ('"annotations": []', '"annotations": null', Rule.SHAPE),
    ('"content": "Done."', '"content": [{"type": "input_text", "text": "Done."}]', Rule.SHAPE),
    ('"call_id": "a", "name"', '"call_id": "b", "name"', Rule.ID),
    ('"call_id": "a", "name"', '"name"', Rule.SHAPE),
    ('"call_id": "a", "name"', f'"call_id": "{"a" * 65}", "name"', Rule.ID),
    ('"name": "f", "arguments"', '"name": "f.g", "arguments"', Rule.NAME),
    ('"arguments": "{}"', '"arguments": "{"', Rule.ARGUMENTS),
    ('"arguments": "{}"', '"arguments": {}', Rule.SHAPE),
    ('{"type": "function_call_output", "call_id": "a", "output": "1"},', "", Rule.PAIRING),
    ('"function_call_output", "call_id": "a"', '"function_call_output", "call_id": "c"', Rule.PAIRING),
    ('"type": "custom_tool_call_output"', '"type": "function_call_output"', Rule.PAIRING),
    ('"output": "1"', '"output": ""', Rule.EMPTY),
    ('"output": "1"', '"output": [{"type": "output_text", "text": "1"}]', Rule.SHAPE),
    (
        '{"type": "function_call_output"',
        '{"role": "user", "content": "y"}, {"type": "function_call_output"',
        Rule.GROUPING,
    ),
    ('"action": {"type": "search", "query": "q"}', '"x": 1', Rule.SHAPE),
    ('"type": "web_search_call"', '"type": "unheard_of"', Rule.SHAPE),
    ('"type": "function", "name": "f", "parameters"', '"type": "function", "name": "a b", "parameters"', Rule.TOOLS),
    ('"parameters": {"type": "object"}', '"parameters": {"type": "array"}', Rule.TOOLS),
    ('{"type": "web_search"}', '{"type": "file_search"}', Rule.TOOLS),
    ('{"type": "web_search"}', '{"type": "function", "function": {"name": "g"}}', Rule.TOOLS),
    ('{"type": "web_search"}', '{"type": "function", "name": "f"}', Rule.TOOLS),
]
GEMINI_FAULTS = [
    ('"model": "m",', "", Rule.SHAPE),
    ('{"parts": [{"text": "Be brief."}]}', '"Be brief."', Rule.SHAPE),
    ('"Be brief."', '" "', Rule.EMPTY),
    ('[{"text": "Be brief."}]', "[]", Rule.EMPTY),
    ('{"text": "Be brief."}', '{"inlineData": {"mimeType": "image/png", "data": "AA=="}}', Rule.SHAPE),
    ('"contents": [', '"messages": [', Rule.SHAPE),
    ('{"text": "x"}', '{"text": ""}', Rule.EMPTY),
    ('{"text": "x"}', '{"text": 1}', Rule.SHAPE),
    ('{"text": "x"}', '"x"', Rule.SHAPE),
    ('{"text": "x"}', "{}", Rule.SHAPE),
    ('{"text": "x"}', '{"text": "x", "functionResponse": {}}', Rule.SHAPE),
    ('{"text": "x"}', '{"text": "x", "type": "text"}', Rule.UNKNOWN_KEY),
    ('{"text": "x"}', '{"text": "x", "thoughtSignature": "S=="}', Rule.UNKNOWN_KEY),
    ('{"text": "x"}', '{"functionCall": {"name": "f", "args": {}}}', Rule.SHAPE),
    ('"text": "x"', r'"text": "\u0000"', Rule.ENCODING),
    ('"image/png"', '"image/gif"', Rule.MEDIA),
    ('"image/png", "data": "AA=="', '"image/png", "data": ""', Rule.MEDIA),
    ('"image/png", "data": "AA=="', '"image/png", "data": "AA==", "displayName": "n"', Rule.UNKNOWN_KEY),
    ('"gs://b/c"', '" "', Rule.EMPTY),
    ('{"role": "user", "parts": [{"text": "x"}', '{"role": "system", "parts": [{"text": "x"}', Rule.ROLE),
    ('{"role": "user", "parts": [{"text": "x"}', '{"parts": [{"text": "x"}', Rule.SHAPE),
    ('"contents": [', '"contents": [{"role": "user", "parts": [{"text": "w"}]}, ', Rule.ORDER),
    ('"contents": [', '"contents": [{"role": "model", "parts": [{"text": "w"}]}, ', Rule.ORDER),
    ('"result": [1]}}}]}]', '"result": [1]}}}]}, {"role": "model", "parts": [{"text": "w"}]}]', Rule.ORDER),
    ('{"role": "user", "parts": [{"text": "z"}]},', "", Rule.ORDER),
    ('{"role": "user", "parts": [{"text": "z"}]}', '{"role": "user", "parts": []}', Rule.EMPTY),
    ('"thought": true', '"thought": "yes"', Rule.SHAPE),
    ('"_-8="', '"not base64!"', Rule.SHAPE),
    ('"args": {}}, "thoughtSignature": "QQ=="', '"args": {}}', Rule.SIGNATURE),
    ('{"language": "PYTHON", "code": "1"}', "{}", Rule.SHAPE),
    ('"id": "a", "name": "f", "args"', '"id": "", "name": "f", "args"', Rule.ID),
    ('{"name": "f", "args": {}}, "thoughtSignature": "QQ=="', '{"id": "a", "name": "f", "args": {}}', Rule.ID),
    ('"name": "f", "args": {}', '"name": "1f", "args": {}', Rule.NAME),
    ('"name": "f", "args": {}', '"args": {}', Rule.SHAPE),
    ('"name": "f", "args": {}', '"name": "f", "args": "{}"', Rule.ARGUMENTS),
    ('"name": "f", "args": {}', '"name": "f"', Rule.SHAPE),
    ('"response": {"output": "1"}', '"response": "1"', Rule.ARGUMENTS),
    ('{"functionResponse": {"id": "a", "name": "f", "response": {"output": "1"}}},', "", Rule.PAIRING),
    ('{"id": "a", "name": "f", "response"', '{"name": "f", "response"', Rule.PAIRING),
    ('{"id": "a", "name": "f", "response"', '{"id": "a", "name": "g", "response"', Rule.PAIRING),
    ('{"functionResponse": {"id": "a"', '{"text": "w"}, {"functionResponse": {"id": "a"', Rule.GROUPING),
    ('{"text": "z"}', '{"functionResponse": {"name": "f", "response": {}}}', Rule.PAIRING),
    ('{"inlineData": {"mimeType": "application/pdf", "data": "AA=="}}', '{"text": "w"}', Rule.SHAPE),
    ('{"googleSearch": {}}', "{}", Rule.TOOLS),
    ('{"googleSearch": {}}', '{"type": "function"}', Rule.TOOLS),
    ('"name": "k"', '"name": "f"', Rule.TOOLS),
    ('"name": "k"', '"name": "a b"', Rule.TOOLS),
    ('{"type": "OBJECT"}', '{"type": "ARRAY"}', Rule.TOOLS),
    ('"parameters": {', '"parametersJsonSchema": {"type": "object"}, "parameters": {', Rule.TOOLS),
]
FAULTS = [
    *((Wire.GEMINI, *fault) for fault in GEMINI_FAULTS),
    *((Wire.OPENAI, *fault) for fault in OPENAI_FAULTS),
    *((Wire.OPENAI_RESPONSES, *fault) for fault in RESPONSES_FAULTS),
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
