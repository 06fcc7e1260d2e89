"""What OpenAI Chat Completions refuses."""

import re
from collections.abc import Mapping, Sequence

from callsheet.wire.problem import Findings, Rule, is_object

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_PICTURE = re.compile(r"https?://.+|data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*", re.DOTALL)

_PARTS_BY_ROLE = {
    "system": {"text"},
    "developer": {"text"},
    "user": {"text", "image_url", "input_audio", "file"},
    "assistant": {"text", "refusal"},
    "tool": {"text"},
}
_REQUIRED = {"assistant": frozenset({"role"}), "tool": frozenset({"role", "content", "tool_call_id"})}
_OPTIONAL = {"assistant": frozenset({"content", "name", "tool_calls"}), "tool": frozenset[str]()}


def check(request: Mapping[str, object], findings: Findings) -> None:
    """Find what is wrong with a request."""
    findings.want_text(request.get("model"), "model")
    messages = findings.want_list(request.get("messages"), "messages") or ()
    ids: set[str] = set()
    due: list[str] = []
    for at, message in enumerate(messages):
        where = f"messages[{at}]"
        role = message.get("role") if isinstance(message, Mapping) else None
        if not isinstance(message, Mapping) or not isinstance(role, str) or role not in _PARTS_BY_ROLE:
            findings.add(Rule.ROLE, where, f"has the role {role!r}")
            continue
        _check_message(message, role, where, findings)
        if role == "tool":
            _check_result(message.get("tool_call_id"), due, where, findings)
            continue
        _check_answered(due, where, findings)
        due = _check_calls(message, where, ids, findings) if "tool_calls" in message else []
    _check_answered(due, "messages", findings)
    if "tools" in request:
        _check_tools(findings.want_list(request["tools"], "tools") or (), findings)


def _check_message(message: Mapping[str, object], role: str, where: str, findings: Findings) -> None:
    plain = (frozenset({"role", "content"}), frozenset({"name"}))
    findings.want_object(message, where, required=_REQUIRED.get(role, plain[0]), optional=_OPTIONAL.get(role, plain[1]))
    if "name" in message and not _matches(_NAME, message["name"]):
        findings.add(Rule.NAME, f"{where}.name", f"is {message['name']!r}")
    content = message.get("content")
    if content is None and role == "assistant" and message.get("tool_calls"):
        return
    if not isinstance(content, list):
        findings.want_text(content, f"{where}.content")
        return
    for at, part in enumerate(findings.want_list(content, f"{where}.content") or ()):
        _check_part(part, _PARTS_BY_ROLE[role], f"{where}.content[{at}]", findings)


def _check_part(part: object, allowed: set[str], where: str, findings: Findings) -> None:
    type = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(type, str) or type not in allowed:
        findings.add(Rule.SHAPE, where, f"has the type {type!r}")
        return
    found = findings.want_object(part, where, required=frozenset({"type", type})) or {}
    if type in ("text", "refusal"):
        findings.want_text(found.get(type), f"{where}.{type}")
    else:
        _check_media(type, found.get(type), f"{where}.{type}", findings)


def _check_media(type: str, value: object, where: str, findings: Findings) -> None:
    if type == "image_url":
        found = findings.want_object(value, where, required=frozenset({"url"}), optional=frozenset({"detail"})) or {}
        if not _matches(_PICTURE, found.get("url")):
            findings.add(Rule.MEDIA, where, "is no picture that is shown")
    elif type == "input_audio":
        found = findings.want_object(value, where, required=frozenset({"data", "format"})) or {}
        if found.get("format") not in ("wav", "mp3"):
            findings.add(Rule.MEDIA, where, f"is sound of the format {found.get('format')!r}")
    else:
        named = frozenset({"filename", "file_data", "file_id"})
        found = findings.want_object(value, where, required=frozenset(), optional=named) or {}
        if "file_id" not in found and not {"filename", "file_data"} <= found.keys():
            findings.add(Rule.MEDIA, where, "has neither an id nor data with a name")


def _check_calls(message: Mapping[str, object], where: str, ids: set[str], findings: Findings) -> list[str]:
    """Check the calls of a message; their ids, which have to be answered."""
    due: list[str] = []
    for at, call in enumerate(findings.want_list(message["tool_calls"], f"{where}.tool_calls") or ()):
        place = f"{where}.tool_calls[{at}]"
        inside = "custom" if isinstance(call, Mapping) and call.get("type") == "custom" else "function"
        found = findings.want_object(call, place, required=frozenset({"id", "type", inside})) or {}
        if found.get("type") != inside:
            findings.add(Rule.SHAPE, place, f"has the type {found.get('type')!r}")
        id = found.get("id")
        if not isinstance(id, str) or not 1 <= len(id) <= 40 or id in ids:
            findings.add(Rule.ID, f"{place}.id", f"is {id!r}: missing, longer than 40 characters, or used before")
        due.append(str(id))
        ids.add(str(id))
        _check_called(found.get(inside), inside, f"{place}.{inside}", findings)
    return due


def _check_called(value: object, inside: str, where: str, findings: Findings) -> None:
    given = "input" if inside == "custom" else "arguments"
    found = findings.want_object(value, where, required=frozenset({"name", given})) or {}
    if not _matches(_NAME, found.get("name")):
        findings.add(Rule.NAME, f"{where}.name", f"is {found.get('name')!r}")
    text = found.get(given)
    if not isinstance(text, str):
        findings.add(Rule.SHAPE, f"{where}.{given}", "is no text")
    elif inside == "function" and not is_object(text):
        findings.add(Rule.ARGUMENTS, f"{where}.{given}", "is not a JSON object")


def _check_result(id: object, due: list[str], where: str, findings: Findings) -> None:
    if id not in due:
        findings.add(Rule.PAIRING, where, f"answers {id!r}, which no call directly before it has")
        return
    if due[0] != id:
        findings.add(Rule.GROUPING, where, f"answers {id!r} before {due[0]!r}")
    due.remove(str(id))


def _check_answered(due: list[str], where: str, findings: Findings) -> None:
    for id in due:
        findings.add(Rule.PAIRING, where, f"the call {id!r} has no result before this")


def _check_tools(tools: Sequence[object], findings: Findings) -> None:
    names: set[str] = set()
    for at, tool in enumerate(tools):
        where = f"tools[{at}]"
        inside = "custom" if isinstance(tool, Mapping) and tool.get("type") == "custom" else "function"
        found = findings.want_object(tool, where, required=frozenset({"type", inside})) or {}
        function = found.get(inside)
        name = function.get("name") if isinstance(function, Mapping) else None
        if not isinstance(name, str) or not _matches(_NAME, name) or name in names:
            findings.add(Rule.TOOLS, where, f"has the name {name!r}: missing, of the wrong syntax, or used before")
            continue
        names.add(name)
        schema = function.get("parameters", {}) if isinstance(function, Mapping) else {}
        if not isinstance(schema, Mapping) or schema.get("type", "object") != "object":
            findings.add(Rule.TOOLS, f"{where}.function.parameters", "is not the schema of an object")


def _matches(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None
