"""Exporting conversations: each as lines of the format that `lines` describes, the conversation first, then branches.

Messages come out as they were recorded. Who took part, runs with their usage, and sheets are not part of the format.
"""

import json
from collections.abc import Iterator, Sequence

from callsheet.audit.exchange.grouping import Group, grouped, stands_beside
from callsheet.audit.exchange.restoring import Fields, Restorer
from callsheet.graph.ids import RecordId, StreamId, TenantId, UserId
from callsheet.graph.nodes import Message, ToolArtifact
from callsheet.graph.ports import Owner
from callsheet.graph.record import StreamKey
from callsheet.graph.values import Payload
from callsheet.runtime.runtime import Runtime
from callsheet.runtime.tail import branches
from callsheet.wire.cleaning import escape_controls, escape_surrogates
from callsheet.wire.names import Wire


def export_conversation(runtime: Runtime, name: str, wire: Wire | None = None) -> Iterator[Fields]:
    """The lines of a conversation and its branches, in one format, or each message in the one that it came in.

    In another format than its own a message loses what is not neutral. Raises `NotFound`.
    """
    talk = runtime.existing(name)
    tenant = TenantId(runtime.tenant)
    owner = Owner(tenant=tenant, user=UserId(talk.user) if talk.user is not None else None)

    def read(payload: Payload) -> bytes:
        return payload.inline if payload.inline is not None else runtime.ledger.fetch(owner, payload)

    sizes: dict[RecordId, list[int]] = {}
    known = branches(runtime.ledger, StreamKey(tenant=tenant, stream=StreamId(talk.id)))
    for id, branch in known.items():
        records, calls = talk.on(id).history()
        groups = grouped(records, wire)
        sizes[id] = [len(group) for group in groups]
        beside = int(stands_beside(groups, wire))
        restorer = Restorer(calls=calls, read=read)
        if branch.parent is None:
            messages = _messages(groups, restorer, wire)
            instruction: Fields = {"system": messages[0].get("content")} if beside else {}
            yield {"id": name, "user": talk.user, **instruction, "messages": messages[beside:]}
        else:
            inherited = _inherited(groups, id, sizes[branch.parent])
            fork = {"name": branch.name, "parent": known[branch.parent].name, "at": max(inherited - beside, 0)}
            yield {"id": name, "branch": fork, "messages": _messages(groups[inherited:], restorer, wire)}


def dumped(line: Fields) -> bytes:
    """A line as bytes, with its end."""
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    return escape_controls(escape_surrogates(text)).encode() + b"\n"


def _inherited(groups: Sequence[Group], branch: RecordId, parent: Sequence[int]) -> int:
    """How many messages a branch inherits whole; one that it inherits a part of goes with its own."""
    inherited = sum(group[0].branch != branch for group in groups)
    partial = inherited > 0 and len(groups[inherited - 1]) < parent[inherited - 1]
    return inherited - 1 if partial else inherited


def _messages(groups: Sequence[Group], restorer: Restorer, wire: Wire | None) -> list[Fields]:
    return [restorer.message(group, wire or _wire(group)) for group in groups]


def _wire(group: Group) -> Wire:
    body = group[0].body
    assert isinstance(body, Message | ToolArtifact), "a group holds messages and results"
    # What the runtime said itself came in no provider's format.
    return Wire(body.wire) if body.wire else Wire.OPENAI
