"""Histories that are made by a rule, by the names that the table uses."""

import json
from collections.abc import Callable, Mapping
from typing import TypeAlias

Json: TypeAlias = dict[str, object]

RAW = (
    b"\x00\x00tag7\x00 pump 3 offline\n",
    "pump 4 offline\n".encode("utf-16"),
    b"caf\xe9 valve \xff\xfe open\n",
)

PARROTS = "".join(f"kiln {number} ok \U0001f99c\U0001f525✔ " for number in range(400))
HALF = PARROTS + "\ud83e"

JAPANESE = "倉庫の温度計は三番が故障しています。"


def _call(id: str, tool: str, arguments: str) -> Json:
    return {"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}}


def _asks(*calls: Json, content: str | None = None) -> Json:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def two_zones() -> list[object]:
    words = " ".join(f"sensor {number} nominal" for number in range(200))
    return [
        {"role": "system", "content": "You audit kilns."},
        {"role": "user", "content": "Check zones 3 and 4."},
        _asks(_call("k1", "read_zone", '{"zone":3}')),
        {"role": "tool", "tool_call_id": "k1", "content": f"zone 3: 1180 C, steady {words}"},
        _asks(_call("k2", "read_zone", '{"zone":4}')),
        {"role": "tool", "tool_call_id": "k2", "content": f"zone 4: 1042 C, falling {words}"},
    ]


def ten_cards() -> list[object]:
    cards = [
        {
            "role": "tool",
            "tool_call_id": f"rd_{n}",
            "content": f"card {n}: {'warden = Iske Moll' if n == 3 else 'blank'}",
        }
        for n in range(10)
    ]
    return [
        {"role": "user", "content": "Read index cards 0 to 9 and say which one names the warden."},
        _asks(*(_call(f"rd_{n}", "read_card", json.dumps({"card": n})) for n in range(10)), content="Reading all ten."),
        *cards,
    ]


def half_an_emoji() -> list[object]:
    return [
        {"role": "user", "content": "How are the kilns?"},
        _asks(_call("k", "kilns", "{}")),
        {"role": "tool", "tool_call_id": "k", "content": HALF},
    ]


def raw_bytes() -> list[object]:
    history: list[object] = [{"role": "user", "content": "Read the pumps."}]
    for number, content in enumerate(RAW):
        history.append(_asks(_call(f"p{number}", "read_pump", json.dumps({"pump": number}))))
        history.append({"role": "tool", "tool_call_id": f"p{number}", "content": content})
    return history


def japanese() -> list[object]:
    return [{"role": "user", "content": (JAPANESE * 2000)[:30_000]}]


def thirty_thousand() -> list[object]:
    return [{"role": "user", "content": "crate " * 30_000}]


def _cut(arguments: str, finish: str) -> list[object]:
    reply = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5.2",
        "choices": [{"index": 0, "finish_reason": finish, "message": _asks(_call("x1", "run_all", arguments))}],
    }
    return [{"role": "user", "content": "Stage and seal the bins."}, reply]


def cut_inside_a_text() -> list[object]:
    return _cut('{"steps": ["stage bins", "wipe bins', "length")


def cut_after_an_element() -> list[object]:
    return _cut('{"steps": ["stage bins", "seal bins"', "length")


def trailing_comma() -> list[object]:
    return _cut('{"steps": ["stage bins"],}', "stop")


def forty_one() -> list[Json]:
    fields = {f"f{number}": {"type": "string", "description": "field of a crate record"} for number in range(40)}
    return [_tool(f"op_{number}", "Does one thing to a crate. " * 60, fields) for number in range(41)]


def reserve_room() -> list[Json]:
    return [
        _tool("reserve_room", "Reserves a room.", {name: {"type": "string"} for name in ("room_id", "start", "end")})
    ]


def _tool(name: str, description: str, properties: Mapping[str, object]) -> Json:
    parameters = {"type": "object", "properties": dict(properties)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


HISTORIES: Mapping[str, Callable[[], list[object]]] = {
    made.__name__: made
    for made in (
        two_zones,
        ten_cards,
        half_an_emoji,
        raw_bytes,
        japanese,
        thirty_thousand,
        cut_inside_a_text,
        cut_after_an_element,
        trailing_comma,
    )
}

TOOLS: Mapping[str, Callable[[], list[Json]]] = {made.__name__: made for made in (forty_one, reserve_room)}

STORED: Mapping[str, tuple[bytes, ...]] = {
    "raw_bytes": RAW,
    "half_an_emoji": (HALF.encode("utf-8", "surrogatepass"),),
}
