"""The shapes of rows, and what they are read into. An empty text in a column stands for None."""

from typing import TypeAlias

from callsheet.errors import Damaged
from callsheet.graph.enums import Relation, StateField, StreamKind
from callsheet.graph.ids import RecordId, StreamId, TenantId, UserId
from callsheet.graph.query import LinkRow, NodeRow, StateRow
from callsheet.graph.record import Head, Stream

StreamColumns: TypeAlias = tuple[TenantId, StreamId, str, str, UserId, int, str, bytes | None, str | None]
NodeColumns: TypeAlias = tuple[int, RecordId, str, RecordId]
StateColumns: TypeAlias = tuple[str, str, str | None, RecordId, int, int | None]
LinkColumns: TypeAlias = tuple[str, RecordId, RecordId, RecordId, int]


_STREAM_KINDS = frozenset(StreamKind)
_EVERY_TURN = frozenset({"message", "run", "call", "artifact"})


def series_of(kind: str) -> str:
    """The series in which records of a kind are found: one for what every turn brings, else the kind itself."""
    return "turn" if kind in _EVERY_TURN else kind


def read_stream(row: StreamColumns) -> tuple[Stream, Head]:
    """Raises `Damaged` for a kind that there is not."""
    tenant, id, kind, name, user, position, chain, signature, signer = row
    if kind not in _STREAM_KINDS:
        raise Damaged(f"stream {id} ({name}) is of the unknown kind {kind!r}. Run `callsheet verify`.")
    return (
        Stream(tenant=tenant, id=id, kind=StreamKind(kind), name=name, user=user or None),
        Head(tenant=tenant, stream=id, position=position, chain=chain, signature=signature, signer=signer),
    )


def read_node(row: NodeColumns) -> NodeRow:
    position, id, kind, branch = row
    return NodeRow(position=position, id=id, kind=kind, branch=branch or None)


def read_state(row: StateColumns) -> StateRow:
    target, field, value, branch, from_pos, to_pos = row
    return StateRow(
        target=target, field=StateField(field), value=value, branch=branch or None, from_pos=from_pos, to_pos=to_pos
    )


def read_link(row: LinkColumns) -> LinkRow:
    relation, source, target, branch, position = row
    return LinkRow(relation=Relation(relation), source=source, target=target, branch=branch or None, position=position)
