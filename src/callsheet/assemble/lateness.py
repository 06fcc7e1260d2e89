"""Results that came when a model had gone on without them: they stand at their call, and a line tells that they came.

A provider takes a result at its call alone, so what stood there in place of it changes. Where nothing else told of it,
the request would end as it did before, and there would be nothing to answer.
"""

import dataclasses
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping

from callsheet.assemble.items import Item
from callsheet.graph.enums import Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ToolArtifact
from callsheet.graph.record import Record

LINE = 56
"""Tokens that the line takes at most, with its framing and a name of usual length."""


def late(placed: Iterable[Record], answers: Collection[RecordId], others: Collection[RecordId]) -> frozenset[RecordId]:
    """The answers among the records in their place that came behind a model's message after the one that asked.

    `others` are words of other speakers, which no slot waits for.
    """
    asked: dict[RecordId, int] = {}
    said = 0
    found: set[RecordId] = set()
    for record in placed:
        body = record.body
        if isinstance(body, Message):
            if body.role is Role.ASSISTANT and record.id not in others:
                said += 1
                asked[record.id] = said
        elif (
            isinstance(body, ToolArtifact)
            and record.id in answers
            and said > asked.get(body.message or record.id, said)
        ):
            found.add(record.id)
    return frozenset(found)


def widened(items: Mapping[RecordId, Item]) -> dict[RecordId, Item]:
    """The items, with room for the line of each result that came late."""
    said = sorted([item.position for item in items.values() if item.role is Role.ASSISTANT and not item.given])
    wide = dict(items)
    for item in items.values():
        if item.role is not None:  # no result
            continue
        asking = items.get(item.group)
        if asking is None or asking.id == item.id:
            continue
        if bisect_left(said, item.position) - bisect_left(said, asking.position) > 1:
            wide[item.id] = dataclasses.replace(item, framing=item.framing + LINE)
    return wide
