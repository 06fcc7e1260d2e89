"""Stores with memories of users, and everything that anybody can read of them."""

import json
from collections.abc import Sequence
from pathlib import Path

import callsheet
from callsheet import Conversation, Runtime, Sheet
from callsheet.graph.enums import StreamKind
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Stream
from callsheet.runtime.personalising.listing import KeptMemory
from callsheet.testing import FixedClock
from tests.runtime.acts import MODELS
from tests.runtime.replies import openai_reply, user

NOW = "2026-10-01T09:00:00Z"


def opened(location: str, *, tenant: str = "local", at: str = NOW) -> Runtime:
    return callsheet.open(location, tenant=tenant, clock=FixedClock(at))


def place(kind: str, folder: Path) -> str:
    return ":memory:" if kind == "memory" else str(folder / "agent.db")


def asked(
    talk: Conversation,
    question: str,
    *,
    provider: str = "openai",
    reply: str | None = "Fine.",
    policy: str = "balanced",
) -> Sheet:
    """A turn: the question, the request, and the answer that shows it was sent."""
    talk.record(user(question))
    sheet = talk.assemble(provider=provider, model=MODELS[provider], policy=policy)
    if reply is not None:
        talk.record(openai_reply(reply), sheet=sheet)
    return sheet


def text(sheet: Sheet) -> str:
    return json.dumps(sheet.request(), ensure_ascii=False)


def shown(sheet: Sheet) -> list[str]:
    """The memories that a request lists, in its order."""
    return [one.record for one in sheet.selections if one.stream is not None]


def values(memories: Sequence[KeptMemory]) -> list[str]:
    return [one.value for one in memories]


def own_stream(runtime: Runtime, name: str) -> Stream:
    found = runtime.ledger.stream(callsheet.graph.ids.TenantId(runtime.tenant), StreamKind.USER, name)
    assert found is not None
    return found


def everything(runtime: Runtime) -> str:
    """All that lies in the streams and blocks of a store, as a reader with every right would see it."""
    ledger = runtime.ledger
    told: list[str] = []
    for stream in ledger.streams():
        told += [repr(record) for record in ledger.records(stream.key)]
        told += [repr(ledger.projection(stream.key))]
        found = ledger.nodes(stream.key, NodeQuery(kinds=("user_memory",)))
        told += [repr(ledger.indexed(stream.key, [record.position for record in found]))]
        for record in found:
            body = record.body
            told += [str(getattr(getattr(body, "value", None), "inline", b""))]
    for name in runtime.conversations():
        for sheet in runtime.existing(name).sheets():
            told += [block.decode("utf-8", "replace") for block in sheet.blocks]
    return "\n".join(told)
