"""What OpenAI Responses refuses."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from callsheet.wire.problem import Findings, Rule, is_object

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ID = re.compile(r"[!-~]{1,64}")
_PICTURE = re.compile(r"https?://.+|data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*", re.DOTALL)
_FILE = re.compile(r"data:[a-z0-9.+-]+/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]+=*", re.DOTALL)

_PARTS = {
    "input_text": ({"type", "text"}, {"prompt_cache_breakpoint"}),
    "input_image": ({"type"}, {"detail", "image_url", "file_id", "prompt_cache_breakpoint"}),
    "input_file": ({"type"}, {"detail", "filename", "file_data", "file_url", "file_id", "prompt_cache_breakpoint"}),
    "output_text": ({"type", "text"}, {"annotations", "logprobs"}),
    "refusal": ({"type", "refusal"}, set[str]()),
}
_INPUT = {"input_text", "input_image", "input_file"}
_OUTPUT = {"output_text", "refusal"}

#: Calls that have to be answered: the key of their id, the type of what answers, and the key under which it names it.
_ANSWERED = {
    "function_call": ("call_id", {"function_call_output"}, "call_id"),
    "custom_tool_call": ("call_id", {"custom_tool_call_output"}, "call_id"),
    "computer_call": ("call_id", {"computer_call_output"}, "call_id"),
    "local_shell_call": ("call_id", {"local_shell_call_output", "function_call_output"}, "id"),
    "shell_call": ("call_id", {"shell_call_output"}, "call_id"),
    "apply_patch_call": ("call_id", {"apply_patch_call_output"}, "call_id"),
    "tool_search_call": ("call_id", {"tool_search_output"}, "call_id"),
    "mcp_approval_request": ("id", {"mcp_approval_response"}, "approval_request_id"),
}
_OUTPUTS = {type for _, types, _ in _ANSWERED.values() for type in types}
_NAMED_BY = {"local_shell_call_output": "id", "mcp_approval_response": "approval_request_id"}

#: Items that the model or the service made, so that reasoning may stand before them; and what each must hold.
_MADE = {
    "web_search_call": {"id", "action", "status"},
    "file_search_call": {"id", "queries", "status"},
    "code_interpreter_call": {"id", "code", "container_id", "outputs", "status"},
    "image_generation_call": {"id", "result", "status"},
    "mcp_call": {"id", "arguments", "name", "server_label"},
    "mcp_list_tools": {"id", "server_label", "tools"},
    "mcp_approval_request": {"id", "arguments", "name", "server_label"},
    "tool_search_call": {"arguments"},
    "tool_search_output": {"tools"},
    "additional_tools": {"role", "tools"},
    "compaction": {"encrypted_content"},
    "computer_call": {"id", "call_id", "pending_safety_checks", "status"},
    "local_shell_call": {"id", "call_id", "action", "status"},
    "shell_call": {"call_id", "action"},
    "apply_patch_call": {"call_id", "operation", "status"},
    "program": {"id", "call_id", "code", "fingerprint"},
    "program_output": {"id", "call_id", "result", "status"},
}
#: Everything else that is known: outputs, and what refers or sets something.
_OTHERS = {
    "computer_call_output": {"call_id", "output"},
    "local_shell_call_output": {"id", "output"},
    "shell_call_output": {"call_id", "output"},
    "apply_patch_call_output": {"call_id", "status"},
    "mcp_approval_response": {"approval_request_id", "approve"},
    "item_reference": {"id"},
    "compaction_trigger": set[str](),
    "configuration_update": set[str](),
}
_CALL = ({"type", "call_id", "name"}, {"id", "status", "namespace", "caller", "async"})
_RESULT = ({"type", "call_id", "output"}, {"id", "status", "name", "namespace", "caller"})
_MESSAGE = ({"role", "content"}, {"type", "status", "id", "phase"})
_REASONING = ({"type", "id", "summary"}, {"content", "encrypted_content", "status"})

_HOSTED = {
    "file_search": {"vector_store_ids"},
    "computer": set[str](),
    "computer_use_preview": {"display_height", "display_width", "environment"},
    "web_search": set[str](),
    "web_search_2025_08_26": set[str](),
    "web_search_preview": set[str](),
    "web_search_preview_2025_03_11": set[str](),
    "mcp": {"server_label"},
    "code_interpreter": {"container"},
    "programmatic_tool_calling": set[str](),
    "image_generation": set[str](),
    "local_shell": set[str](),
    "shell": set[str](),
    "apply_patch": set[str](),
    "tool_search": set[str](),
    "namespace": {"name", "tools"},
}


def check(request: Mapping[str, object], findings: Findings) -> None:
    """Find what is wrong with a request."""
    if "prompt" not in request:
        findings.want_text(request.get("model"), "model")
    if request.get("instructions") is not None:
        findings.want_text(request["instructions"], "instructions")
    kept = request.get("previous_response_id") is not None or request.get("conversation") is not None
    if isinstance(request.get("input"), str):
        findings.want_text(request["input"], "input")
    elif request.get("input") is not None or not (kept or "prompt" in request):
        _Input(findings=findings, kept=kept).check(findings.want_list(request.get("input"), "input") or ())
    if request.get("tools") is not None and isinstance(request["tools"], list):
        _check_tools(request["tools"], findings)
    elif request.get("tools") is not None:
        findings.add(Rule.SHAPE, "tools", "is no list")


@dataclass(slots=True, kw_only=True)
class _Input:
    """Checks the items in turn."""

    findings: Findings
    #: Calls may lie in what the service keeps.
    kept: bool
    #: Calls that wait for their answer, in order: id and the types that answer.
    due: dict[str, set[str]] = field(default_factory=dict)
    calls: set[str] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)
    #: Where reasoning stands that nothing has followed yet.
    open: str | None = None

    def check(self, items: Sequence[object]) -> None:
        for at, value in enumerate(items):
            self._item(value, f"input[{at}]")
        if self.open is not None:
            self.findings.add(Rule.ORDER, self.open, "is reasoning without the item that followed it")
        for id in self.due:
            self.findings.add(Rule.PAIRING, "input", f"the call {id!r} has no result")

    def _item(self, value: object, where: str) -> None:
        if not isinstance(value, Mapping):
            self.findings.add(Rule.SHAPE, where, "is no object")
            return
        type = value.get("type", "message" if "role" in value else "item_reference")
        self._identity(value, type, where)
        if self.open is not None and not self._follows(value, type):
            self.findings.add(Rule.ORDER, self.open, "is reasoning without the item that followed it")
        self.open = where if type == "reasoning" else None
        if type == "message":
            self._message(value, where)
        elif type == "reasoning":
            self._reasoning(value, where)
        elif type in ("function_call", "custom_tool_call"):
            self._call(value, str(type), where)
        elif type in ("function_call_output", "custom_tool_call_output"):
            self._keys(value, _RESULT, where)
            _check_output(value.get("output"), f"{where}.output", self.findings)
        elif isinstance(type, str) and type in _MADE | _OTHERS:
            for key in sorted((_MADE | _OTHERS)[type] - value.keys()):
                self.findings.add(Rule.SHAPE, where, f"has no {key!r}")
        else:
            self.findings.add(Rule.SHAPE, where, f"has the type {type!r}")
            return
        self._pairing(value, str(type), where)

    def _keys(self, value: Mapping[str, object], keys: tuple[set[str], set[str]], where: str) -> None:
        required, optional = keys
        self.findings.want_object(value, where, required=frozenset(required), optional=frozenset(optional))

    def _identity(self, value: Mapping[str, object], type: object, where: str) -> None:
        id = value.get("id")
        if id is None or type in ("item_reference", "local_shell_call_output"):
            return
        if not isinstance(id, str) or not id or id in self.ids:
            self.findings.add(Rule.ID, f"{where}.id", f"is {id!r}: no text, or used before")
        self.ids.add(str(id))

    def _follows(self, value: Mapping[str, object], type: object) -> bool:
        if type == "message":
            return value.get("role") == "assistant"
        return type in ("reasoning", "function_call", "custom_tool_call", "item_reference") or type in _MADE

    def _message(self, value: Mapping[str, object], where: str) -> None:
        self._keys(value, _MESSAGE, where)
        role, content, place = value.get("role"), value.get("content"), f"{where}.content"
        if role not in ("user", "assistant", "system", "developer"):
            self.findings.add(Rule.ROLE, where, f"has the role {role!r}")
            return
        if role != "assistant" and self.due:
            self.findings.add(Rule.GROUPING, where, f"stands between the calls {list(self.due)} and their results")
        if isinstance(content, str):
            self.findings.want_text(content, place)
            return
        allowed = _OUTPUT if role == "assistant" else _INPUT
        for at, part in enumerate(self.findings.want_list(content, place) or ()):
            _check_part(part, allowed, f"{place}[{at}]", self.findings)

    def _reasoning(self, value: Mapping[str, object], where: str) -> None:
        self._keys(value, _REASONING, where)
        for key in ("summary", "content"):
            if key in value and not isinstance(value[key], list):
                self.findings.add(Rule.SHAPE, f"{where}.{key}", "is no list")
        if not isinstance(value.get("id"), str):
            self.findings.add(Rule.ID, f"{where}.id", "is no text")

    def _call(self, value: Mapping[str, object], type: str, where: str) -> None:
        required, optional = _CALL
        given = "input" if type == "custom_tool_call" else "arguments"
        self._keys(value, (required | {given}, optional), where)
        name, text = value.get("name"), value.get(given)
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            self.findings.add(Rule.NAME, f"{where}.name", f"is {name!r}")
        if not isinstance(text, str):
            self.findings.add(Rule.SHAPE, f"{where}.{given}", "is no text")
        elif given == "arguments" and not is_object(text):
            self.findings.add(Rule.ARGUMENTS, f"{where}.arguments", "is not a JSON object")

    def _pairing(self, value: Mapping[str, object], type: str, where: str) -> None:
        by_service = type in ("tool_search_call", "tool_search_output") and value.get("execution") != "client"
        if by_service:
            return
        if type in _ANSWERED:
            key, answers, _ = _ANSWERED[type]
            id = value.get(key)
            if not isinstance(id, str) or not _ID.fullmatch(id) or id in self.calls:
                text = f"is {id!r}: missing, longer than 64 characters, or used before"
                self.findings.add(Rule.ID, f"{where}.{key}", text)
            self.calls.add(str(id))
            self.due[str(id)] = answers
        elif type in _OUTPUTS:
            self._answers(str(value.get(_NAMED_BY.get(type, "call_id"))), type, where)

    def _answers(self, id: str, type: str, where: str) -> None:
        if id not in self.due:
            if not self.kept or id in self.calls:
                self.findings.add(Rule.PAIRING, where, f"answers {id!r}, which no open call before it has")
            return
        if type not in self.due[id]:
            self.findings.add(Rule.PAIRING, where, f"is no answer to the call {id!r}, which wants {self.due[id]}")
        first = next(iter(self.due))
        if first != id:
            self.findings.add(Rule.GROUPING, where, f"answers {id!r} before {first!r}")
        del self.due[id]


def _check_output(value: object, where: str, findings: Findings) -> None:
    if isinstance(value, str):
        findings.want_text(value, where)
        return
    for at, part in enumerate(findings.want_list(value, where) or ()):
        _check_part(part, _INPUT, f"{where}[{at}]", findings)


def _check_part(part: object, allowed: set[str], where: str, findings: Findings) -> None:
    type = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(part, Mapping) or not isinstance(type, str) or type not in allowed:
        findings.add(Rule.SHAPE, where, f"has the type {type!r}")
        return
    required, optional = _PARTS[type]
    findings.want_object(part, where, required=frozenset(required), optional=frozenset(optional))
    match type:
        case "input_text":
            findings.want_text(part.get("text"), f"{where}.text")
        case "output_text":
            findings.want_text(part.get("text"), f"{where}.text")
            if not isinstance(part.get("annotations", []), list):
                findings.add(Rule.SHAPE, f"{where}.annotations", "is no list")
        case "refusal":
            findings.want_text(part.get("refusal"), f"{where}.refusal")
        case "input_image":
            _check_image(part, where, findings)
        case _:
            _check_file(part, where, findings)


def _check_image(part: Mapping[str, object], where: str, findings: Findings) -> None:
    url, id = part.get("image_url"), part.get("file_id")
    shown = isinstance(url, str) and _PICTURE.fullmatch(url) is not None
    if not shown and not (url is None and isinstance(id, str) and id):
        findings.add(Rule.MEDIA, where, "is no picture that is shown")
    if part.get("detail", "auto") not in ("auto", "low", "high", "original", None):
        findings.add(Rule.MEDIA, f"{where}.detail", f"is {part.get('detail')!r}")


def _check_file(part: Mapping[str, object], where: str, findings: Findings) -> None:
    data, url, id = part.get("file_data"), part.get("file_url"), part.get("file_id")
    if data is not None:
        fine = isinstance(data, str) and _FILE.fullmatch(data) is not None and bool(part.get("filename"))
    else:
        fine = bool(id) or (isinstance(url, str) and url.startswith(("https://", "http://")))
    if not fine:
        findings.add(Rule.MEDIA, where, "has neither an id nor an address nor data with a name")


def _check_tools(tools: Sequence[object], findings: Findings) -> None:
    names: set[str] = set()
    for at, tool in enumerate(tools):
        where = f"tools[{at}]"
        found: Mapping[str, object] = tool if isinstance(tool, Mapping) else {}
        type, name = found.get("type"), found.get("name")
        if isinstance(type, str) and type in _HOSTED:
            for key in sorted(_HOSTED[type] - found.keys()):
                findings.add(Rule.TOOLS, where, f"has no {key!r}")
            continue
        if type not in ("function", "custom"):
            findings.add(Rule.TOOLS, where, f"has the type {type!r}")
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name in names:
            findings.add(Rule.TOOLS, where, f"has the name {name!r}: missing, of the wrong syntax, or used before")
            continue
        names.add(name)
        schema = found.get("parameters")
        if schema is not None and (not isinstance(schema, Mapping) or schema.get("type", "object") != "object"):
            findings.add(Rule.TOOLS, f"{where}.parameters", "is not the schema of an object")
