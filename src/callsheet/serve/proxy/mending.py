"""Whether a client's own request has something broken that the assembled one mends.

Agents keep what went wrong in their histories: a call without a result, results that came too late, an empty text.
Their provider then refuses every request from there on; the same agent goes on where the history is assembled.
"""

import re
from collections.abc import Mapping

from callsheet.assemble.blocks import Said
from callsheet.graph.enums import Role
from callsheet.wire.asked import Asked
from callsheet.wire.names import Wire
from callsheet.wire.problem import Problem, Rule
from callsheet.wire.validate import problems

_MENDED = frozenset(
    {
        Rule.PAIRING,
        Rule.GROUPING,
        Rule.ROLE,
        Rule.ORDER,
        Rule.EMPTY,
        Rule.ID,
        Rule.ARGUMENTS,
        Rule.ENCODING,
        Rule.SIGNATURE,
    }
)
"""What rendering puts right. Keys that are not known here are the client's affair, and its provider's."""


def is_broken(asked: Asked, body: Mapping[str, object]) -> bool:
    """Whether a provider would refuse the body for something that rendering puts right."""
    if asked.wire is Wire.ANTHROPIC and asked.previous is not None:
        return False  # what its first message answers lies with the provider
    last = asked.blocks[-1] if asked.blocks else None
    # A turn that the client began for the model stays where it is.
    begun = isinstance(last, Said) and last.role is Role.ASSISTANT
    rules = _MENDED - {Rule.ORDER} if begun else _MENDED
    found = problems({**body, "model": asked.model or "m"}, asked.wire)
    return any(one.rule in rules or _is_moved(one, asked.wire, body) for one in found)


def _is_moved(found: Problem, wire: Wire, body: Mapping[str, object]) -> bool:
    """Whether rendering puts something elsewhere that may not stand where it is, or that is missing where it must."""
    if found.rule is Rule.TOOLS:
        # The service wants the tools of all calls that it is shown, also where none are on offer any more.
        return found.where == "tools"
    place = _CONTENT.fullmatch(found.where) if wire is Wire.OPENAI and found.rule is Rule.SHAPE else None
    messages = body.get("messages")
    if place is None or not isinstance(messages, list):
        return False
    message = messages[int(place[1])]
    if not isinstance(message, Mapping):
        return False
    if place[2] is None:
        # What says nothing is left out, or stands in as an empty result.
        return message.get("content") is None and not any(message[key] for key in message.keys() - _SILENT)
    return message.get("role") == "tool"  # its pictures follow it


_CONTENT = re.compile(r"messages\[(\d+)\]\.content(\[\d+\])?")

_SILENT = frozenset({"role", "content", "name", "tool_call_id"})
"""Keys of a message that say nothing themselves. What others say, such as a refusal or sound, may stand alone."""
