"""What Anthropic Messages refuses."""

import re
from collections.abc import Mapping, Sequence

from callsheet.wire.problem import Findings, Rule

_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+=*")

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_SERVER_BLOCKS = frozenset(
    {
        "server_tool_use",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "container_upload",
    }
)
_BY_PLACE = {
    "user": frozenset({"text", "image", "document", "search_result", "container_upload", "tool_result"}),
    "assistant": frozenset({"text", "thinking", "redacted_thinking", "tool_use"}) | _SERVER_BLOCKS,
    "tool_result": frozenset({"text", "image", "document", "search_result", "tool_reference"}),
    "system": frozenset({"text"}),
    "system_message": frozenset({"text", "tool_addition", "tool_removal"}),
}
_OF_SYSTEM = frozenset({"clear_at", "output_config"})
_KEYS = {
    "text": ({"type", "text"}, {"cache_control", "citations"}),
    "image": ({"type", "source"}, {"cache_control"}),
    "document": ({"type", "source"}, {"title", "context", "citations", "cache_control"}),
    "thinking": ({"type", "thinking", "signature"}, set[str]()),
    "redacted_thinking": ({"type", "data"}, set[str]()),
    "tool_use": ({"type", "id", "name", "input"}, {"cache_control", "caller"}),
    "tool_result": ({"type", "tool_use_id"}, {"content", "is_error", "cache_control"}),
}


def check(request: Mapping[str, object], findings: Findings) -> None:
    """Find what is wrong with a request."""
    findings.want_text(request.get("model"), "model")
    limit = request.get("max_tokens")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        findings.add(Rule.SHAPE, "max_tokens", f"is {limit!r}")
    if "system" in request:
        _check_content(request["system"], "system", "system", findings)
    messages = findings.want_list(request.get("messages"), "messages") or ()
    _check_order(messages, findings)
    ids: set[str] = set()
    due: list[str] = []
    for at, message in enumerate(messages):
        due = _check_message(message, due, ids, f"messages[{at}]", findings)
    if due:
        findings.add(Rule.PAIRING, "messages", f"calls without a result: {due}")
    tools = findings.want_list(request["tools"], "tools") or () if "tools" in request else ()
    _check_tools(tools, findings)
    if ids and not tools:
        findings.add(Rule.TOOLS, "tools", "are missing although the messages hold calls")


def _check_order(messages: Sequence[object], findings: Findings) -> None:
    roles = [message.get("role") if isinstance(message, Mapping) else None for message in messages]
    for at, role in enumerate(roles):
        if role not in ("user", "assistant", "system"):
            findings.add(Rule.ROLE, f"messages[{at}]", f"has the role {role!r}")
        if at and role == roles[at - 1]:
            findings.add(Rule.ORDER, f"messages[{at}]", f"is the second of {role!r} in a row")
        if role == "system" and (roles[at - 1 : at] != ["user"] or roles[at + 1 : at + 2] not in ([], ["assistant"])):
            findings.add(Rule.ORDER, f"messages[{at}]", "is a system message that does not end a turn of the user")
    if roles and roles[0] != "user":
        findings.add(Rule.ORDER, "messages[0]", "is not the user's")
    if roles and roles[-1] not in ("user", "system"):
        findings.add(Rule.ORDER, f"messages[{len(roles) - 1}]", "is the last and not the user's")


def _check_message(value: object, due: list[str], ids: set[str], where: str, findings: Findings) -> list[str]:
    """Check a message that has to answer the calls `due`; the calls that it makes itself."""
    role = value.get("role") if isinstance(value, Mapping) else None
    optional = _OF_SYSTEM if role == "system" else frozenset[str]()
    message = findings.want_object(value, where, required=frozenset({"role", "content"}), optional=optional) or {}
    if role == "system":
        _check_content(message.get("content"), "system_message", f"{where}.content", findings)
    if role not in ("user", "assistant"):
        return []
    blocks = _check_content(message.get("content"), str(role), f"{where}.content", findings)
    answered = [block.get("tool_use_id") for block in blocks if block.get("type") == "tool_result"]
    first = [block.get("tool_use_id") for block in blocks[: len(due)]]
    if sorted(map(str, answered)) != sorted(due):
        findings.add(Rule.PAIRING, where, f"answers {answered}, but the calls before it are {due}")
    elif first != due:
        findings.add(Rule.GROUPING, where, f"its first blocks do not answer {due} in this order")
    calls = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
    for id in calls:
        if id in ids:
            findings.add(Rule.ID, where, f"the call id {id!r} was used before")
        ids.add(id)
    if blocks and blocks[-1].get("type") in ("thinking", "redacted_thinking"):
        findings.add(Rule.ORDER, where, "ends with thinking")
    return calls


def _check_content(content: object, place: str, where: str, findings: Findings) -> list[Mapping[str, object]]:
    """Check text or blocks; the blocks."""
    if isinstance(content, str):
        findings.want_text(content, where)
        return []
    blocks: list[Mapping[str, object]] = []
    for at, block in enumerate(findings.want_list(content, where) or ()):
        type = block.get("type") if isinstance(block, Mapping) else None
        if isinstance(block, Mapping) and isinstance(type, str) and type in _BY_PLACE[place]:
            _check_block(block, type, f"{where}[{at}]", findings)
            blocks.append(block)
        else:
            findings.add(Rule.SHAPE, f"{where}[{at}]", f"has the type {type!r}")
    return blocks


def _check_block(block: Mapping[str, object], type: str, where: str, findings: Findings) -> None:
    if type in _KEYS:
        required, optional = _KEYS[type]
        findings.want_object(block, where, required=frozenset(required), optional=frozenset(optional))
    match type:
        case "text":
            findings.want_text(block.get("text"), f"{where}.text")
        case "image" | "document":
            _check_source(block.get("source"), type, f"{where}.source", findings)
        case "thinking":
            findings.want_text(block.get("signature"), f"{where}.signature")
        case "tool_use":
            _check_call(block, where, findings)
        case "tool_result":
            _check_result(block, where, findings)


def _check_source(value: object, block: str, where: str, findings: Findings) -> None:
    source = value if isinstance(value, Mapping) else {}
    data, mime = source.get("data"), source.get("media_type")
    match source.get("type"):
        case "base64":
            allowed = _PICTURES if block == "image" else frozenset({"application/pdf"})
            fine = (
                isinstance(mime, str)
                and mime in allowed
                and isinstance(data, str)
                and _BASE64.fullmatch(data) is not None
            )
        case "text":
            fine = block == "document" and mime == "text/plain" and isinstance(data, str) and bool(data.strip())
        case "url":
            fine = isinstance(url := source.get("url"), str) and url.startswith("https://")
        case "file":
            fine = bool(source.get("file_id"))
        case "content":
            fine = block == "document" and bool(source.get("content"))
        case _:
            fine = False
    if not fine:
        findings.add(Rule.MEDIA, where, f"is no source of {mime!r} for a block of type {block!r}")


def _check_call(block: Mapping[str, object], where: str, findings: Findings) -> None:
    if not isinstance(id := block.get("id"), str) or not _ID.fullmatch(id):
        findings.add(Rule.ID, f"{where}.id", f"is {id!r}")
    if not isinstance(name := block.get("name"), str) or not _NAME.fullmatch(name):
        findings.add(Rule.NAME, f"{where}.name", f"is {name!r}")
    if not isinstance(block.get("input"), dict):
        findings.add(Rule.ARGUMENTS, f"{where}.input", "is no object")


def _check_result(block: Mapping[str, object], where: str, findings: Findings) -> None:
    blocks = _check_content(block.get("content"), "tool_result", f"{where}.content", findings)
    failed = block.get("is_error", False)
    if not isinstance(failed, bool):
        findings.add(Rule.SHAPE, f"{where}.is_error", "is neither true nor false")
    if failed and any(part.get("type") != "text" for part in blocks):
        findings.add(Rule.MEDIA, where, "is an error and holds more than text")


def _check_tools(tools: Sequence[object], findings: Findings) -> None:
    names: set[str] = set()
    for at, tool in enumerate(tools):
        where = f"tools[{at}]"
        found: Mapping[str, object] = tool if isinstance(tool, Mapping) else {}
        name = found.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name in names:
            findings.add(Rule.TOOLS, where, f"has the name {name!r}: missing, of the wrong syntax, or used before")
            continue
        names.add(name)
        schema = found.get("input_schema")
        if found.get("type", "custom") == "custom" and not (
            isinstance(schema, Mapping) and schema.get("type") == "object"
        ):
            findings.add(Rule.TOOLS, f"{where}.input_schema", "is not the schema of an object")
