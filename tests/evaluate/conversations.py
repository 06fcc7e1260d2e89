"""Small conversations written by hand, and a tokeniser whose counts can be checked by eye."""

import json
import zlib
from collections.abc import Sequence

from callsheet.evaluate.normalise import normalise
from callsheet.evaluate.trajectory import Trajectory

Raw = dict[str, object]


class Words:
    """One token per word."""

    def count(self, text: str) -> int:
        return len(text.split())

    def encode(self, text: str) -> Sequence[int]:
        return [zlib.crc32(word.encode()) for word in text.split()]


def system(text: str) -> Raw:
    return {"role": "system", "content": text}


def user(text: str) -> Raw:
    return {"role": "user", "content": text}


def says(text: str) -> Raw:
    return {"role": "assistant", "content": text}


def calls(*asked: Raw, text: str | None = None) -> Raw:
    return {"role": "assistant", "content": text, "tool_calls": list(asked)}


def call(call_id: str | None, tool: str, **arguments: object) -> Raw:
    return {"id": call_id, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}


def result(call_id: str | None, content: str) -> Raw:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def trajectory(*messages: Raw, tools: list[Raw] | None = None) -> Trajectory:
    return normalise({"id": "talk", "messages": list(messages), "tools": tools or []})


def order_desk() -> Trajectory:
    """An order is looked up, two other things are talked about, and then its id is used again.

    Positions: 0 user, 1-2 lookup, 3 answer, 4 user, 5 answer, 6 user, 7 answer, 8 user, 9-10 refund, 11 answer.
    The steps are 1, 3, 5, 7, 9 and 11.
    """
    return trajectory(
        system("Help with orders."),
        user("My mail is mia@example.org, what did I order?"),
        calls(call("c1", "find", mail="mia@example.org")),
        result("c1", '{"orders": [{"order_id": "W-48213", "total": 1250}]}'),
        says("You have one order."),
        user("Do you ship to Norway?"),
        says("Yes."),
        user("And by train?"),
        says("No."),
        user("Then refund it."),
        calls(call("c2", "refund", order="W-48213", amount=1250.0)),
        result("c2", "refund RF-771 is on its way"),
        says("Refund RF-771 will reach you."),
    )
