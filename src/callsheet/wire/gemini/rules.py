"""What Gemini's generateContent refuses."""

import re
from collections.abc import Mapping, Sequence

from callsheet.wire.problem import Findings, Rule

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:\-]{0,127}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_\-]+={0,2}")
_OLDER = re.compile(r"(.*/)?gemini-[12]([^0-9].*)?", re.IGNORECASE)

_MIME = re.compile(
    r"image/(png|jpeg|webp|heic|heif)|audio/[\w.+-]+|video/[\w.+-]+|text/[\w.+-]+|application/(pdf|json)"
)
_BY_ROLE = {
    "user": frozenset({"text", "inlineData", "fileData", "functionResponse"}),
    "model": frozenset(
        {
            "text",
            "inlineData",
            "fileData",
            "functionCall",
            "executableCode",
            "codeExecutionResult",
            "toolCall",
            "toolResponse",
        }
    ),
    "system": frozenset({"text"}),
    "result": frozenset({"inlineData", "fileData"}),
}
_BESIDE = {
    "user": {"videoMetadata", "mediaResolution"},
    "model": {"thought", "thoughtSignature", "videoMetadata", "mediaResolution"},
    "system": set[str](),
    "result": {"videoMetadata", "mediaResolution"},
}

Part = Mapping[str, object]


def check(request: Mapping[str, object], findings: Findings) -> None:
    """Find what is wrong with a request."""
    model = findings.want_text(request.get("model"), "model")
    if "systemInstruction" in request:
        _check_system(request["systemInstruction"], findings)
    contents = findings.want_list(request.get("contents"), "contents") or ()
    _check_order(contents, findings)
    ids: set[str] = set()
    due: list[Part] = []
    turns: list[tuple[object, list[Part]]] = []
    for at, content in enumerate(contents):
        parts = _check_content(content, f"contents[{at}]", findings)
        _check_answers(parts, due, f"contents[{at}]", findings)
        due = _check_calls(parts, ids, f"contents[{at}]", findings)
        turns.append((content.get("role") if isinstance(content, Mapping) else None, parts))
    if due:
        findings.add(Rule.PAIRING, "contents", f"calls without a result: {[call.get('name') for call in due]}")
    if model is not None and not _OLDER.fullmatch(model):
        _check_signatures(turns, findings)
    if "tools" in request:
        _check_tools(findings.want_list(request["tools"], "tools") or (), findings)


def _check_system(value: object, findings: Findings) -> None:
    found = findings.want_object(
        value, "systemInstruction", required=frozenset({"parts"}), optional=frozenset({"role"})
    )
    if found is not None:
        _check_parts(found.get("parts"), "system", "systemInstruction.parts", findings)


def _check_order(contents: Sequence[object], findings: Findings) -> None:
    roles = [content.get("role") if isinstance(content, Mapping) else None for content in contents]
    for at, role in enumerate(roles):
        if role not in ("user", "model"):
            findings.add(Rule.ROLE, f"contents[{at}]", f"has the role {role!r}")
        if at and role == roles[at - 1]:
            findings.add(Rule.ORDER, f"contents[{at}]", f"is the second of {role!r} in a row")
    if roles and roles[0] != "user":
        findings.add(Rule.ORDER, "contents[0]", "is not the user's")
    if roles and roles[-1] != "user":
        findings.add(Rule.ORDER, f"contents[{len(roles) - 1}]", "is the last and not the user's")


def _check_content(value: object, where: str, findings: Findings) -> list[Part]:
    """Check one content; its parts."""
    content = findings.want_object(value, where, required=frozenset({"role", "parts"})) or {}
    role = content.get("role")
    return _check_parts(content.get("parts"), role, f"{where}.parts", findings) if role in ("user", "model") else []


def _check_parts(value: object, role: object, where: str, findings: Findings) -> list[Part]:
    parts: list[Part] = []
    allowed, beside = _BY_ROLE[str(role)], _BESIDE[str(role)]
    for at, part in enumerate(findings.want_list(value, where) or ()):
        place = f"{where}[{at}]"
        kinds = part.keys() & allowed if isinstance(part, Mapping) else set[str]()
        if not isinstance(part, Mapping) or len(kinds) != 1:
            findings.add(Rule.SHAPE, place, f"is not one of {', '.join(sorted(allowed))}")
            continue
        (kind,) = kinds
        findings.want_object(part, place, required=frozenset({kind}), optional=frozenset(beside))
        _check_part(part, kind, place, findings)
        parts.append(part)
    return parts


def _check_part(part: Part, kind: str, where: str, findings: Findings) -> None:
    signature = part.get("thoughtSignature")
    if signature is not None and not (isinstance(signature, str) and _BASE64.fullmatch(signature)):
        findings.add(Rule.SHAPE, f"{where}.thoughtSignature", "is no base64")
    if not isinstance(part.get("thought", False), bool):
        findings.add(Rule.SHAPE, f"{where}.thought", "is neither true nor false")
    inner, place = part.get(kind), f"{where}.{kind}"
    match kind:
        case "text":
            if inner != "" or signature is None:
                findings.want_text(inner, place)
        case "inlineData":
            _check_data(inner, place, findings)
        case "fileData":
            _check_file(inner, place, findings)
        case "functionCall":
            _check_named(inner, "args", frozenset(), place, findings)
        case "functionResponse":
            found = _check_named(inner, "response", frozenset({"parts"}), place, findings)
            if "parts" in found:
                _check_parts(found["parts"], "result", f"{place}.parts", findings)
        case _:
            if not isinstance(inner, Mapping) or not inner:
                findings.add(Rule.SHAPE, place, "is no object that says something")


def _check_data(value: object, where: str, findings: Findings) -> None:
    found = findings.want_object(value, where, required=frozenset({"mimeType", "data"})) or {}
    mime, data = found.get("mimeType"), found.get("data")
    if not isinstance(mime, str) or not _MIME.fullmatch(mime):
        findings.add(Rule.MEDIA, f"{where}.mimeType", f"is {mime!r}")
    if not isinstance(data, str) or not _BASE64.fullmatch(data):
        findings.add(Rule.MEDIA, f"{where}.data", "is no base64")


def _check_file(value: object, where: str, findings: Findings) -> None:
    found = findings.want_object(value, where, required=frozenset({"fileUri"}), optional=frozenset({"mimeType"})) or {}
    findings.want_text(found.get("fileUri"), f"{where}.fileUri")
    if "mimeType" in found:
        findings.want_text(found["mimeType"], f"{where}.mimeType")


def _check_named(value: object, given: str, more: frozenset[str], where: str, findings: Findings) -> Part:
    found = findings.want_object(value, where, required=frozenset({"name", given}), optional=frozenset({"id"}) | more)
    if found is None:
        return {}
    name = found.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        findings.add(Rule.NAME, f"{where}.name", f"is {name!r}")
    if "id" in found and not (isinstance(found["id"], str) and found["id"]):
        findings.add(Rule.ID, f"{where}.id", f"is {found['id']!r}")
    if not isinstance(found.get(given), dict):
        findings.add(Rule.ARGUMENTS, f"{where}.{given}", "is no object")
    return found


def _named(parts: Sequence[Part], kind: str) -> list[Part]:
    return [inner for part in parts if isinstance(inner := part.get(kind), Mapping)]


def _check_answers(parts: Sequence[Part], due: Sequence[Part], where: str, findings: Findings) -> None:
    """Check that a content begins with the results of the calls before it, and holds no others."""
    results = _named(parts, "functionResponse")
    asked, given = [_key(call) for call in due], [_key(result) for result in results]
    if sorted(map(str, asked)) != sorted(map(str, given)):
        findings.add(Rule.PAIRING, where, f"answers {given}, but the calls before it are {asked}")
    elif asked != given or len(_named(parts[: len(due)], "functionResponse")) != len(due):
        findings.add(Rule.GROUPING, where, f"its first parts do not answer {asked} in this order")


def _key(inner: Part) -> tuple[object, object]:
    return inner.get("id"), inner.get("name")


def _check_calls(parts: Sequence[Part], ids: set[str], where: str, findings: Findings) -> list[Part]:
    """Check the ids of the calls of a content; the calls."""
    calls = _named(parts, "functionCall")
    for id in (str(call["id"]) for call in calls if "id" in call):
        if id in ids:
            findings.add(Rule.ID, where, f"the call id {id!r} was used before")
        ids.add(id)
    return calls


def _check_signatures(turns: Sequence[tuple[object, Sequence[Part]]], findings: Findings) -> None:
    """Check that the first call of each step since the user spoke last is signed: newer models demand it."""
    spoken = [
        at
        for at, (role, parts) in enumerate(turns)
        if role == "user" and any("functionResponse" not in part for part in parts)
    ]
    for at in range(spoken[-1] if spoken else 0, len(turns)):
        calls = [part for part in turns[at][1] if "functionCall" in part]
        if calls and "thoughtSignature" not in calls[0]:
            findings.add(Rule.SIGNATURE, f"contents[{at}]", "its first call has no thoughtSignature")


def _check_tools(tools: Sequence[object], findings: Findings) -> None:
    names: set[str] = set()
    for at, tool in enumerate(tools):
        if not isinstance(tool, Mapping) or not tool or not all(isinstance(v, dict | list) for v in tool.values()):
            findings.add(Rule.TOOLS, f"tools[{at}]", "is no tool")
            continue
        if "functionDeclarations" in tool:
            where = f"tools[{at}].functionDeclarations"
            for place, each in enumerate(findings.want_list(tool["functionDeclarations"], where) or ()):
                _check_function(each, names, f"{where}[{place}]", findings)


def _check_function(value: object, names: set[str], where: str, findings: Findings) -> None:
    found: Part = value if isinstance(value, Mapping) else {}
    name = found.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in names:
        findings.add(Rule.TOOLS, where, f"has the name {name!r}: missing, of the wrong syntax, or used before")
        return
    names.add(name)
    schemas = [found[key] for key in ("parameters", "parametersJsonSchema") if key in found]
    if len(schemas) > 1:
        findings.add(Rule.TOOLS, where, "has its parameters in two ways")
    for schema in schemas:
        kind = schema.get("type") if isinstance(schema, Mapping) else None
        if not isinstance(kind, str) or kind.lower() != "object":
            findings.add(Rule.TOOLS, where, "its parameters are not the schema of an object")
