"""Streams and drafts for the laws, with ids in sequence."""

import itertools
from collections.abc import Sequence

from callsheet.graph.enums import Role, StreamKind
from callsheet.graph.ids import ROOT_BRANCH, RecordId, StreamId, TenantId, UserId
from callsheet.graph.index import Index
from callsheet.graph.nodes import Message
from callsheet.graph.ports import Append, Ledger
from callsheet.graph.record import NONCE_BYTES, Body, Draft, Record, Stream
from callsheet.graph.times import Instant
from callsheet.graph.values import Payload, Scope, Text


class Making:
    """Makes what is appended. Two of the same tenant make the same ids."""

    def __init__(self, tenant: str = "acme") -> None:
        self.tenant = TenantId(tenant)
        self._numbers = itertools.count(1)

    def stream(self, *, user: str | None = "mia", kind: StreamKind = StreamKind.CONVERSATION) -> Stream:
        number = next(self._numbers)
        return Stream(
            tenant=self.tenant,
            id=StreamId(f"stream-{number}"),
            kind=kind,
            name=f"talk-{number}",
            user=UserId(user) if user is not None else None,
        )

    def id(self) -> RecordId:
        return RecordId(f"record-{next(self._numbers)}")

    def draft(
        self,
        body: Body,
        *,
        id: str | None = None,
        branch: RecordId | None = ROOT_BRANCH,
        index: Index | None = None,
    ) -> Draft:
        return Draft(
            id=RecordId(id) if id is not None else self.id(),
            at=Instant(1_700_000_000_000_000),
            body=body,
            nonce=next(self._numbers).to_bytes(NONCE_BYTES, "big"),
            scope=Scope(branch=branch),
            index=index,
        )

    def said(self, text: str = "hello", *, id: str | None = None) -> Draft:
        """A user message."""
        return self.said_payload(inline(text.encode()), id=id)

    def found_by(
        self, *entities: str, terms: Sequence[str] = (), id: str | None = None, branch: RecordId | None = ROOT_BRANCH
    ) -> Draft:
        """A user message that is found by some entities and terms."""
        index = Index(entities=entities, terms=tuple((term, 1) for term in terms))
        return self.draft(Message(role=Role.USER), id=id, branch=branch, index=index)

    def said_payload(self, payload: Payload, *, id: str | None = None) -> Draft:
        """A user message with this content."""
        return self.draft(Message(role=Role.USER, parts=(Text(text=payload),)), id=id)


def inline(content: bytes) -> Payload:
    """Content that stays within its record."""
    return Payload(size=len(content), inline=content)


def put(ledger: Ledger, stream: Stream, *drafts: Draft, expect: int | None = None) -> list[Record]:
    """Append to one stream."""
    return ledger.append([Append(stream=stream, drafts=drafts, expect=expect)])


def said(ledger: Ledger, making: Making, texts: Sequence[str] = ("hello",)) -> Stream:
    """A new stream in which this was said."""
    stream = making.stream()
    put(ledger, stream, *(making.said(text) for text in texts))
    return stream
