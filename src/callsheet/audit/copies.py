"""What gives the words of other records again: merged and reported results, recalls, and what was derived."""

import json
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Episode, Fact, Milestone, ToolArtifact, ToolMemory
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record, StreamKey

_KINDS = ("artifact", "tool_memory", "episode", "milestone", "fact")

_Derived: TypeAlias = ToolMemory | Episode | Milestone | Fact


def copies_of(ledger: Ledger, key: StreamKey, ids: Iterable[RecordId]) -> list[Record]:
    """The records of a conversation that hold what these say, over any steps, in order. Reads all its results.

    What was derived of several records counts for each: which of its words come from which is not told apart. Answers
    to searches, which hold a line of each of many records, do not count.
    """
    made: dict[RecordId, list[Record]] = {}
    for record in ledger.nodes(key, NodeQuery(kinds=_KINDS)):
        for source in _sources(record):
            made.setdefault(source, []).append(record)
    open_, found = list(ids), dict[RecordId, Record]()
    known = set(open_)
    while open_:
        new = {record.id: record for record in made.get(open_.pop(), ()) if record.id not in known}
        found |= new
        known.update(new)
        open_ += new
    return sorted(found.values(), key=lambda record: record.position)


def _sources(record: Record) -> Iterator[RecordId]:
    """The records whose words, or whose values, a record holds."""
    body = record.body
    if isinstance(body, _Derived):
        yield from body.sources
    if not isinstance(body, ToolArtifact):
        return
    yield from body.copies
    if body.recalls is not None:
        yield body.recalls
    told = json.loads(body.metadata) if body.metadata and not body.copies else None
    merged = told.get("record") if isinstance(told, dict) else None
    if isinstance(merged, str):
        yield RecordId(merged)  # as it was told before `copies` was
