"""Which records are one message: in some formats several results, and what the user says with them, stand in one.

Where a message began when it was recorded is kept by its extra keys, which its first record holds.
"""

from collections.abc import Iterable, Sequence

from callsheet.graph.enums import INSTRUCTING, Role
from callsheet.graph.nodes import Message, ToolArtifact
from callsheet.graph.record import Record
from callsheet.wire.content import MESSAGE, is_parts
from callsheet.wire.jsontext import decode_object
from callsheet.wire.names import Wire

Group = Sequence[Record]
"""The records of one message, in order; never none."""

_IN_TURNS = frozenset({Wire.ANTHROPIC, Wire.GEMINI})
"""Formats in which results are parts of the user's turn."""


def grouped(records: Iterable[Record], wire: Wire | None = None) -> list[Group]:
    """The messages that records of a branch make up, as one format puts them together; None: as each was recorded.

    What was erased is left out.
    """
    groups: list[list[Record]] = []
    for record in records:
        if record.body is None:
            continue
        if groups and groups[-1][-1].branch == record.branch and _joined(groups[-1], record, wire):
            groups[-1].append(record)
        else:
            groups.append([record])
    return [*groups]


def stands_beside(groups: Sequence[Group], wire: Wire | None = None) -> bool:
    """Whether the first message is an instruction in Anthropic's format, which is no member of its messages."""
    body = groups[0][0].body if groups else None
    if not isinstance(body, Message) or body.role not in INSTRUCTING:
        return False
    return (wire or body.wire) == Wire.ANTHROPIC


def message_extras(record: Record) -> dict[str, object]:
    """The keys without neutral meaning of a message, as far as this record of it holds them."""
    body = record.body
    if not isinstance(body, Message | ToolArtifact):
        return {}
    found: object = decode_object(body.extras)
    if isinstance(body, ToolArtifact) and body.wire in _IN_TURNS and isinstance(found, dict):
        found = found.get(MESSAGE)
    return found if isinstance(found, dict) else {}


def _joined(group: Group, record: Record, wire: Wire | None) -> bool:
    """Whether a record goes into the same message as the records before it."""
    body = record.body
    if not isinstance(group[-1].body, ToolArtifact) or (isinstance(body, Message) and not _goes_with_results(body)):
        return False
    if wire is not None:
        return wire in _IN_TURNS
    if _wire(group[-1]) != _wire(record) or _wire(record) not in _IN_TURNS:
        return False
    # A message of results alone holds its extra keys in its first result, any other in what the user says.
    return not message_extras(record if isinstance(body, ToolArtifact) else group[0])


def _goes_with_results(body: Message) -> bool:
    return body.role is Role.USER and is_parts(body.form)


def _wire(record: Record) -> str:
    return record.body.wire if isinstance(record.body, Message | ToolArtifact) else ""
