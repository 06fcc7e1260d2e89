"""The format of a line: one conversation, or one branch of a conversation.

    {"id": "support-17", "user": "mia", "messages": [...]}
    {"id": "support-17", "branch": {"name": "retry", "parent": "main", "at": 12}, "messages": [...]}

`messages` are in the shape of a provider's format; Anthropic's ``system`` may stand beside them, and what OpenAI
Responses has as items stands in messages ``{"items": [...]}``, a turn in one. A branch holds what was
said after the first `at` messages of its parent. Of our own, a message may carry ``x_at``, when it was said (ISO 8601
with offset), and ``x_status``, how a tool execution ended. A line may also be a list of messages alone. What else
stands in a line, such as ``tools`` and ``source``, is not for the store.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from callsheet.assemble.blocks import Answer
from callsheet.errors import InvalidMessage, InvalidTime
from callsheet.graph.enums import ArtifactStatus
from callsheet.graph.times import Instant, instant
from callsheet.runtime.importing import Dated
from callsheet.runtime.options import choice
from callsheet.wire import formats
from callsheet.wire.detect import mark
from callsheet.wire.reading import fields, items, refuse

AT = "x_at"
ITEMS = "items"
STATUS = "x_status"
MAIN = "main"

NO_MESSAGES = 'a line must be an object with "messages", or a list of messages'
"""What is said of a line that is neither."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fork:
    """Where a branch begins."""

    name: str
    parent: str
    #: Messages of the parent that it inherits.
    at: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ConversationLine:
    """A line, read."""

    id: str | None
    user: str | None
    #: None: the conversation itself.
    fork: Fork | None
    messages: Sequence[Dated]


def parse_line(content: bytes) -> ConversationLine:
    """Read a line. Raises `InvalidMessage` with the place and the value for what is wrong, wherever it stands."""
    value = _json(content)
    if isinstance(value, list):
        return ConversationLine(id=None, user=None, fork=None, messages=_messages(value, formats.detect(value)))
    if not isinstance(value, dict) or "messages" not in value:
        raise InvalidMessage(NO_MESSAGES)
    id, fork = _text(value, "id"), _fork(value.get("branch"))
    if fork is not None and id is None:
        raise InvalidMessage('a branch must name its conversation by "id"')
    messages = items(value["messages"], "messages")
    system = value.get("system")
    wire = formats.detect(messages) if system is None else formats.Wire.ANTHROPIC
    instructions = [] if system is None else [_system(system)]
    return ConversationLine(
        id=id, user=_text(value, "user"), fork=fork, messages=[*instructions, *_messages(messages, wire)]
    )


def _json(content: bytes) -> object:
    try:
        return json.loads(content.decode("utf-8"), object_pairs_hook=_unique)
    except UnicodeDecodeError as problem:
        raise InvalidMessage(f"not UTF-8 (byte {problem.start})") from None
    except RecursionError:
        raise InvalidMessage("nested too deep") from None
    except ValueError as problem:
        raise InvalidMessage(f"not JSON ({problem})") from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return found


def _text(value: Mapping[str, object], key: str) -> str | None:
    found = value.get(key)
    if found is not None and (not isinstance(found, str) or not found):
        refuse("must be text and not empty", found, key)
    return found


def _fork(value: object) -> Fork | None:
    if value is None:
        return None
    found = fields(value, "branch")
    name, parent, at = _text(found, "name"), _text(found, "parent"), found.get("at")
    if name is None:
        raise InvalidMessage("a branch must have a name", where="branch.name")
    if isinstance(at, bool) or not isinstance(at, int) or at < 0:
        refuse("must be a number of messages", at, "branch.at")
    return Fork(name=name, parent=parent or MAIN, at=at)


def _system(content: object) -> Dated:
    message = {"role": "system", "content": content, AT: None}
    return Dated(items=formats.parse_messages(message, formats.Wire.ANTHROPIC, "system"))


def _messages(values: Sequence[object], wire: formats.Wire) -> list[Dated]:
    return [
        read_message(value, mark(value) or _plain(value, wire), f"messages[{at}]") for at, value in enumerate(values)
    ]


def _plain(value: object, wire: formats.Wire) -> formats.Wire:
    # Anthropic has no system messages among the others; exported, this one must stand among them again.
    system = isinstance(value, Mapping) and value.get("role") == "system"
    return formats.Wire.OPENAI if system else wire


def read_message(value: object, wire: formats.Wire, where: str) -> Dated:
    """One message with its `x_at` and `x_status`. Raises `InvalidMessage` with the place for what is wrong."""
    found = fields(value, where)
    # Both keys stay with the message, so that it is exported as it came. A time that is not known is noted as such.
    if ITEMS in found and "role" not in found:
        read = formats.parse_messages(found[ITEMS], formats.Wire.OPENAI_RESPONSES, f"{where}.{ITEMS}")
    else:
        read = formats.parse_messages({**found, AT: found.get(AT)}, wire, where)
    status = _status(found.get(STATUS), f"{where}.{STATUS}")
    if status is not None and not any(isinstance(block, Answer) for block in read):
        raise InvalidMessage("goes with a tool result; this message holds none", where=f"{where}.{STATUS}")
    return Dated(items=read, at=_time(found.get(AT), f"{where}.{AT}"), status=status)


def _status(value: object, where: str) -> ArtifactStatus | None:
    if value is None:
        return None
    if not isinstance(value, str):
        refuse("must be text", value, where)
    return choice(ArtifactStatus, value, where)


def _time(value: object, where: str) -> Instant | None:
    if value is None:
        return None
    if not isinstance(value, str | int | float):
        refuse("must be a time", value, where)
    try:
        return instant(value)
    except InvalidTime as problem:
        raise InvalidMessage(str(problem), where=where) from None
