"""Calls of tools that the service defines and the client runs: computers, shells, patches, searches, approvals.

They are calls and results like any others; what they ask for stands as a JSON object in the arguments. A request holds
them as items of their own kind only when call and output both still are what they were; else as a function's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from callsheet.assemble.blocks import Answer, Call, Content, Media, Opaque, Text
from callsheet.assemble.standins import NO_OUTPUT
from callsheet.graph.enums import Defect
from callsheet.wire import content, defects, media
from callsheet.wire.arguments import exact_object
from callsheet.wire.cleaning import MergedKeys, clean_value
from callsheet.wire.jsontext import decode_object, encode, encode_bytes, extras, own_extras
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields, fields, take_text

WIRE: Final = Wire.OPENAI_RESPONSES

OBJECT: Final = "object"
"""The form of content that stood as one object."""

STREAMS: Final = ("stdout", "stderr")
"""What a shell printed is a text for each of these; among the text's extras, under its name, which command printed it.
How each command ended stands in the extras of the result.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """One of these tools."""

    #: The type of the item that calls it, and the name that its calls have here.
    call: str
    tool: str
    #: Which keys of the call say what is asked for; any of them is enough.
    asks: tuple[str, ...]
    output: str
    #: Under which key the output has its content; none: it is told in words, and the item stands in the extras.
    shows: str = ""
    told: Callable[[Fields], str] = lambda _: ""
    id: str = "call_id"
    answers: str = "call_id"
    #: Keys that the service demands beside these.
    call_has: frozenset[str] = frozenset()
    output_has: frozenset[str] = frozenset()


def _tell_approval(found: Fields) -> str:
    said = "approved" if found.get("approve") is True else "not approved"
    reason = found.get("reason")
    return f"{said}: {reason}" if isinstance(reason, str) and reason else said


def _tell_tools(found: Fields) -> str:
    tools = found.get("tools")
    names = [tool.get("name") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    return "tools found: " + (", ".join(name for name in names if isinstance(name, str)) or "none")


_SHELL_OUTPUT: Final = "shell_call_output"
_KINDS: Final = (
    Kind(
        call="computer_call",
        tool="computer",
        asks=("action", "actions"),
        output="computer_call_output",
        shows="output",
        call_has=frozenset({"id", "pending_safety_checks", "status"}),
    ),
    Kind(
        call="local_shell_call",
        tool="local_shell",
        asks=("action",),
        output="local_shell_call_output",
        shows="output",
        answers="id",
        call_has=frozenset({"id", "status"}),
    ),
    Kind(call="shell_call", tool="shell", asks=("action",), output=_SHELL_OUTPUT, shows="output"),
    Kind(
        call="apply_patch_call",
        tool="apply_patch",
        asks=("operation",),
        output="apply_patch_call_output",
        shows="output",
        call_has=frozenset({"status"}),
        output_has=frozenset({"status"}),
    ),
    Kind(
        call="tool_search_call",
        tool="tool_search",
        asks=("arguments",),
        output="tool_search_output",
        told=_tell_tools,
        call_has=frozenset({"execution"}),
        output_has=frozenset({"tools"}),
    ),
    Kind(
        call="mcp_approval_request",
        tool="mcp_approval",
        asks=("arguments", "name", "server_label"),
        output="mcp_approval_response",
        id="id",
        answers="approval_request_id",
        told=_tell_approval,
        output_has=frozenset({"approve"}),
    ),
)
_CALLS: Final[Mapping[str, Kind]] = {kind.call: kind for kind in _KINDS}
_OUTPUTS: Final[Mapping[str, Kind]] = {kind.output: kind for kind in _KINDS}
_SEARCH: Final = frozenset({"tool_search_call", "tool_search_output"})


def is_run_by_client(found: Fields, type: str) -> bool:
    """Whether an item is such a call or output. A search for tools may be run by either side."""
    if type in _SEARCH and found.get("execution") != "client":
        return False
    return type in _CALLS or type in _OUTPUTS


def parse(found: Fields, type: str, where: str) -> Call | Answer:
    """Read such a call or output."""
    return _call(found, _CALLS[type], where) if type in _CALLS else _answer(found, _OUTPUTS[type], where)


def _call(found: Fields, kind: Kind, where: str) -> Call:
    del found["type"]
    id = take_text(found, kind.id, where)
    arguments = encode({key: found.pop(key) for key in kind.asks if key in found}, where)
    return Call(
        id=id,
        tool=kind.tool,
        arguments=arguments,
        kind=kind.call,
        wire=WIRE,
        extras=extras(found, where),
        defects=defects.of_call(id, kind.tool, arguments),
    )


def _answer(found: Fields, kind: Kind, where: str) -> Answer:
    call = take_text(found, kind.answers, where)
    form, parts = _taken(found, kind, where) if kind.shows else (content.ABSENT, [Text(text=kind.told(found))])
    odd = defects.of_content(parts, empty=True)
    return Answer(
        call=call,
        content=tuple(parts),
        form=form,
        wire=WIRE,
        extras=extras(found, where),
        defects=odd if call is not None else (Defect.MISSING_ID, *odd),
    )


def _taken(found: Fields, kind: Kind, where: str) -> tuple[str, list[Content]]:
    value, place = found.get(kind.shows), f"{where}.{kind.shows}"
    if isinstance(value, str):
        del found[kind.shows]
        return content.STRING, [Text(text=value)] if value else []
    if isinstance(value, list | tuple) and kind.output == _SHELL_OUTPUT:
        chunks = [fields(chunk, f"{place}[{at}]") for at, chunk in enumerate(value)]
        found[kind.shows] = chunks
        return content.ABSENT, [text for at, chunk in enumerate(chunks) for text in _printed(chunk, at, place)]
    if value is None or isinstance(value, list | tuple):
        return content.ABSENT, []
    part = fields(found.pop(kind.shows), place)
    return OBJECT, [media.read(part, WIRE, place) or Opaque(wire=WIRE, raw=encode_bytes(part, place))]


def _printed(chunk: Fields, at: int, where: str) -> list[Text]:
    """Take what one command printed."""
    taken = {stream: chunk.pop(stream) for stream in STREAMS if isinstance(chunk.get(stream), str)}
    return [Text(text=str(text), extras=extras({stream: at}, where)) for stream, text in taken.items()]


# --------------------------------------------------------------------------- as recorded


def kind_of(call: Call) -> Kind | None:
    """Which of these tools a call is of, where it came as one."""
    return _CALLS.get(call.kind) if call.wire == WIRE else None


def kind_answered(answer: Answer) -> Kind | None:
    """Which of these tools an output is of, where it came as one."""
    return _OUTPUTS.get(str(own_extras(answer.extras, answer.wire, WIRE).get("type")))


def exported_call(call: Call, kind: Kind) -> Fields:
    """The item that the call was read from."""
    asked = exact_object(call.arguments)
    written: Fields = {"type": kind.call} | (asked if asked is not None else decode_object(call.arguments.encode()))
    if call.id is not None:
        written[kind.id] = call.id
    return written | own_extras(call.extras, call.wire, WIRE)


def exported_answer(answer: Answer, kind: Kind) -> Fields:
    """The item that the output was read from."""
    written: Fields = {} if answer.call is None else {kind.answers: answer.call}
    own = own_extras(answer.extras, answer.wire, WIRE)
    if answer.form == content.STRING:
        written[kind.shows] = "".join(part.text for part in answer.content if isinstance(part, Text))
    elif answer.form == OBJECT:
        (written[kind.shows],) = (_object(part) for part in answer.content if not isinstance(part, Text))
    elif kind.output == _SHELL_OUTPUT:
        _put_printed(own, answer.content)
    return written | own


def _object(part: Media | Opaque) -> Fields:
    return media.as_recorded(part) if isinstance(part, Media) else decode_object(part.raw)


def _put_printed(own: Fields, parts: Sequence[Content]) -> bool:
    """Put what commands printed back into the item; whether every part is that, and has its place."""
    chunks = own.get("output")
    put = isinstance(chunks, list)
    for part in parts:
        found = decode_object(part.extras) if isinstance(part, Text) else {}
        stream = next((stream for stream in STREAMS if isinstance(found.get(stream), int)), "")
        at = found.get(stream)
        if isinstance(part, Text) and isinstance(chunks, list) and isinstance(at, int) and at < len(chunks):
            chunks[at][stream] = part.text
        else:
            put = False
    return put


# --------------------------------------------------------------------------- in a request


def call_item(call: Call, id: str) -> Fields | None:
    """The call as an item of its own kind; None where it cannot be sent as one."""
    kind = kind_of(call)
    asked = exact_object(call.arguments) if kind is not None else None
    if kind is None or asked is None or asked.keys().isdisjoint(kind.asks):
        return None
    return _sent({"type": kind.call} | asked | _own(call.extras) | {kind.id: id}, kind.call_has)


def output_item(answer: Answer, call: Call, id: str) -> Fields | None:
    """The output as an item of the call's own kind; None where it is another's, or was shortened."""
    kind = kind_of(call)
    if kind is None or kind_answered(answer) is not kind:
        return None
    written: Fields = _own(answer.extras) | {kind.answers: id}
    texts = [part.text for part in answer.content if isinstance(part, Text)]
    objects = [part for part in answer.content if not isinstance(part, Text) and part.wire == WIRE and _raw(part)]
    if answer.form == content.STRING:
        if len(texts) != len(answer.content):
            return None
        written[kind.shows] = "\n".join(texts)
    elif answer.form == OBJECT:
        # There is no place for words beside it.
        if len(objects) != 1 or any(text != NO_OUTPUT for text in texts):
            return None
        written[kind.shows] = _object(objects[0])
    elif kind.output == _SHELL_OUTPUT:
        if not _has_printed(written, answer.content, texts):
            return None
    elif kind.shows and kind.shows in written:
        return None
    return _sent(written, kind.output_has)


def _has_printed(written: Fields, parts: Sequence[Content], texts: Sequence[str]) -> bool:
    """Put what is shown of a shell's output into the item: where it is told in other words, these in one chunk."""
    chunks = written.get("output")
    if not isinstance(chunks, list) or not all("outcome" in chunk for chunk in chunks):
        return False
    if not chunks or _put_printed(written, parts):
        written["output"] = [dict.fromkeys(STREAMS, "") | chunk for chunk in chunks]
        return True
    if len(texts) < len(parts):
        return False
    shown = "\n".join(text for text in texts if text != NO_OUTPUT)
    written["output"] = [chunks[-1] | {"stdout": shown, "stderr": ""}]
    return True


def _raw(part: Media | Opaque) -> bytes:
    return part.extras if isinstance(part, Media) else part.raw


def _own(found: bytes) -> Fields:
    """What the sender gave beside what is neutral; the service refuses null in some places and demands it in none."""
    return {key: value for key, value in decode_object(found).items() if value is not None}


def _sent(item: Fields, demanded: frozenset[str]) -> Fields | None:
    if not demanded <= item.keys():
        return None
    try:
        cleaned = clean_value(item)
    except MergedKeys:
        return None
    return cleaned if exact_object(encode(cleaned, "")) is not None else None
