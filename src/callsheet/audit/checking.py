"""Checking one stream: everything that can be derived again from what lies in the store is derived again.

One finding for one damage: behind a record that does not fit, the chain is taken up again from what is stored, and
projections are compared only where every record is sound, because only then is it certain what they must say.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import msgspec

from callsheet.audit.expect import missed
from callsheet.audit.folding import Rows
from callsheet.audit.projections import Kept, wrong_projection
from callsheet.audit.report import Counts, Finding, FindingKind, finding
from callsheet.audit.streams import Identity, wrong_kind
from callsheet.errors import Damaged, StoreBusy, StoreClosed, StoreError, StoreTooNew
from callsheet.graph.canonical import content_digest
from callsheet.graph.changes import Erased
from callsheet.graph.codec import decode_body, payloads
from callsheet.graph.ids import StreamId
from callsheet.graph.nodes import ContextAssembly, Conversation
from callsheet.graph.ports import IndexOf, Ledger, Owner, Signer, StoredRecord
from callsheet.graph.record import (
    Body,
    Head,
    Header,
    Record,
    Stream,
    chained,
    commitment,
    genesis,
    header_bytes,
    signing_input,
)
from callsheet.graph.values import Digest, Payload

_headers = msgspec.json.Decoder(Header)

_BEGINNING = str(Conversation.__struct_config__.tag)
_SHEET = str(ContextAssembly.__struct_config__.tag)


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """One stream, checked. Whether its missing bodies were erased on purpose, other streams may tell."""

    stream: Stream
    head: Head
    findings: Sequence[Finding]
    counts: Counts
    #: Positions without a body.
    missing: Sequence[int]
    #: The bodies that erasure records of this stream name.
    erased: Set[tuple[StreamId, int]]
    #: Blocks that are missing or altered: where they are named first, and what is wrong.
    lacking: Mapping[str, tuple[int, str]]
    #: The blocks that erasure records of this stream name.
    erased_blocks: Set[str]
    #: What the stream is by its records.
    identity: Identity
    #: Not among the findings, because a missing body would explain it.
    projection: Finding | None


def check_stream(
    ledger: Ledger,
    stream: Stream,
    *,
    signer: Signer | None,
    expected: Sequence[Head],
    index: IndexOf | None = None,
    step: Callable[[], None],
) -> Checked:
    """Check every record of a stream, calling `step` after each, then what rests on all of them."""
    return _Check(ledger, stream, signer=signer, expected=expected, index=index).run(step)


class _Check:
    def __init__(
        self,
        ledger: Ledger,
        stream: Stream,
        *,
        signer: Signer | None,
        expected: Sequence[Head],
        index: IndexOf | None,
    ) -> None:
        self._stream = stream
        self._head = Head(tenant=stream.tenant, stream=stream.id, position=0, chain=genesis(stream.key))
        self._findings: list[Finding] = []
        self._counts = Counts(streams=1)
        self._missing: list[int] = []
        self._erased: set[tuple[StreamId, int]] = set()
        self._lacking: dict[str, tuple[int, str]] = {}
        self._erased_blocks: set[str] = set()
        self._ledger = ledger
        self._signer = signer
        self._expected = expected
        self._index = index
        self._owner = Owner(tenant=stream.tenant, user=stream.user)
        self._position = 0
        #: None: behind a damage, where the next record cannot be held against anything.
        self._chain: Digest | None = genesis(stream.key)
        self._noted = {head.position for head in expected}
        self._chains: dict[int, Digest] = {}
        self._rows: Rows | None = Rows()
        self._identity = Identity(stream=stream, name=stream.name, user=stream.user)
        #: Blobs that were looked at, and those of them that are as they were recorded.
        self._seen: set[str] = set()
        self._sound: set[str] = set()
        #: Sizes of blobs by address and the position of the record that names them.
        self._names: dict[tuple[str, int], int] = {}

    def run(self, step: Callable[[], None]) -> Checked:
        for row in self._stored():
            if isinstance(row, StoredRecord):
                self._record(row)
            else:
                self._unopened(row)
            step()
        self._check_head()
        self._check_signature()
        self._identity.sound = self._rows is not None
        self._findings.extend(wrong for wrong in (wrong_kind(self._identity),) if wrong is not None)
        found = (missed(head, self._stream, self._chains, self._position) for head in self._expected)
        self._findings.extend(miss for miss in found if miss is not None)
        return Checked(
            stream=self._stream,
            head=self._head,
            findings=self._findings,
            counts=self._counts,
            missing=self._missing,
            erased=self._erased,
            lacking=self._lacking,
            erased_blocks=self._erased_blocks,
            identity=self._identity,
            projection=self._projection(),
        )

    def _report(self, kind: FindingKind, text: str, position: int | None = None) -> None:
        self._findings.append(finding(self._stream, kind, text, position))

    # ------------------------------------------------------------------ records

    def _stored(self) -> Iterator[StoredRecord | Damaged | StoreTooNew]:
        """Every record up to the head, also one that is appended meanwhile; in place of a closed one, why."""
        while True:
            before = self._position
            try:
                yield from self._ledger.stored(self._stream.key, after=self._position)
            except (Damaged, StoreTooNew) as problem:
                yield problem
            self._head = self._ledger.head(self._stream.key) or self._head
            if self._head.position <= self._position or self._position == before:
                return

    def _unopened(self, problem: Damaged | StoreTooNew) -> None:
        self._position += 1
        self._damaged()
        self._report(FindingKind.UNREADABLE, f"the body cannot be opened: {problem}", self._position)

    def _damaged(self) -> None:
        self._chain = None
        self._rows = None

    def _record(self, row: StoredRecord) -> None:
        self._counts += Counts(records=1)
        if row.position != self._position + 1:
            self._damaged()
            self._report(FindingKind.POSITION, self._gap(row.position), row.position)
        self._position = row.position
        header = self._header(row)
        body = self._body(row, header) if header is not None else None
        if row.position in self._noted:
            self._chains[row.position] = row.chain
        if header is not None and self._rows is not None:
            record = Record(header=header, body=body)
            found = self._index(record) if self._index is not None and body is not None else None
            self._rows.apply(record, found)

    def _gap(self, position: int) -> str:
        if position <= self._position:
            return f"the record stands behind position {self._position}"
        first, last = self._position + 1, position - 1
        return f"record {first} is missing" if first == last else f"records {first} to {last} are missing"

    def _header(self, row: StoredRecord) -> Header | None:
        """The header, if it can be read; what is wrong with it is reported."""
        try:
            header = _headers.decode(row.header)
        except (msgspec.DecodeError, msgspec.ValidationError) as problem:
            self._damaged()
            self._report(FindingKind.HEADER, f"the header cannot be read: {problem}", row.position)
            return None
        wrong = self._wrong_header(row, header)
        if wrong is not None:
            self._damaged()
            self._report(*wrong, row.position)
        else:
            self._chain = row.chain
            self._identify(header)
        return header

    def _identify(self, header: Header) -> None:
        if header.kind == _BEGINNING and self._identity.begun is None:
            self._identity.begun = header.position
        elif header.kind == _SHEET and self._identity.sheets is None:
            self._identity.sheets = header.position

    def _wrong_header(self, row: StoredRecord, header: Header) -> tuple[FindingKind, str] | None:
        if header_bytes(header) != row.header:
            return FindingKind.HEADER, "the header is not in canonical form"
        if (header.tenant, header.stream, header.position) != (self._stream.tenant, self._stream.id, row.position):
            place = f"record {header.position} of {header.tenant}/{header.stream}"
            return FindingKind.HEADER, f"the header is that of {place}"
        if self._chain is not None and chained(self._chain, row.header) != row.chain:
            return FindingKind.CHAIN, "the record does not continue the chain of those before it"
        return None

    # ------------------------------------------------------------------ bodies

    def _body(self, row: StoredRecord, header: Header) -> Body | None:
        """The body, if it is the one that the header is bound to; what is wrong with it is reported."""
        if row.body is None or row.nonce is None:
            self._missing.append(row.position)
            return None
        self._counts += Counts(bodies=1)
        if commitment(row.nonce, row.body) != header.commitment:
            self._rows = None
            self._report(FindingKind.BODY, "the body is not the one that was recorded", row.position)
            return None
        try:
            body = decode_body(header, row.body)
        except (Damaged, StoreTooNew) as problem:
            self._rows = None
            self._report(FindingKind.UNREADABLE, str(problem), row.position)
            return None
        self._content(body, row.position)
        return body

    def _content(self, body: Body, position: int) -> None:
        for payload in payloads(body):
            if payload.blob is not None:
                self._names[payload.blob.address, position] = payload.size
                if payload.blob.address not in self._seen:
                    self._blob(payload, payload.blob.address, position)
        if isinstance(body, ContextAssembly):
            self._identity.conversations.setdefault(body.boundary.conversation, position)
            if body.blocks:
                self._blocks(body.blocks, position)
        elif isinstance(body, Erased) and self._chain is not None:
            self._erased.update(body.bodies)
            self._erased_blocks.update(body.blocks)
        elif isinstance(body, Conversation):
            self._conversation(body, position)

    def _conversation(self, body: Conversation, position: int) -> None:
        self._identity.name, self._identity.user = body.name, body.user
        self._owner = Owner(tenant=self._stream.tenant, user=body.user)
        if (body.name, body.user) != (self._stream.name, self._stream.user):
            said = f"{body.name!r} of user {body.user!r}"
            self._report(FindingKind.STREAM, f"by its records the conversation is {said}", position)

    def _blob(self, payload: Payload, address: str, position: int) -> None:
        self._seen.add(address)
        try:
            content = self._ledger.fetch(self._owner, payload)
        except (StoreBusy, StoreClosed):
            raise
        except StoreError as problem:
            self._report(FindingKind.BLOB, str(problem), position)
            return
        if len(content) != payload.size or content_digest(content) != payload.digest:
            self._report(FindingKind.BLOB, f"{address} does not hold the content that was recorded", position)
            return
        self._counts += Counts(blobs=1)
        self._sound.add(address)

    def _blocks(self, addresses: Sequence[str], position: int) -> None:
        try:
            self._ledger.blocks(self._owner, addresses)
        except (Damaged, StoreTooNew):
            sound = sum(self._block(address, position) for address in addresses)
        else:
            sound = len(addresses)
        self._counts += Counts(blocks=sound)

    def _block(self, address: str, position: int) -> bool:
        """Whether a block is as it was; one that is not may have been erased, which other streams may tell."""
        try:
            self._ledger.blocks(self._owner, (address,))
        except (Damaged, StoreTooNew) as problem:
            self._lacking.setdefault(address, (position, str(problem)))
            return False
        return True

    # ------------------------------------------------------------------ what rests on all records

    def _check_head(self) -> None:
        head = self._head
        if head.position != self._position:
            text = f"the head is at {head.position}, but the records end at {self._position}"
            self._report(FindingKind.HEAD, text, head.position)
        elif self._chain is not None and head.chain != self._chain:
            self._report(FindingKind.HEAD, "the head has another chain than the last record", head.position)

    def _check_signature(self) -> None:
        head, signer = self._head, self._signer
        if head.signature is None:
            self._counts += Counts(unsigned=1)
            if signer is not None and head.position > 0:
                self._report(FindingKind.SIGNATURE, f"the head is not signed by {signer.name}", head.position)
        elif signer is None:
            self._counts += Counts(unchecked=1)
        elif signer.name != head.signer:
            text = f"the head is signed by {head.signer}, not by {signer.name}"
            self._report(FindingKind.SIGNATURE, text, head.position)
        elif not signer.verify(signing_input(self._stream.key, head.position, head.chain), head.signature):
            self._report(FindingKind.SIGNATURE, f"the signature by {signer.name} is wrong", head.position)
        else:
            self._counts += Counts(signed=1)

    def _projection(self) -> Finding | None:
        if self._rows is None:
            return None
        indexed = self._index is not None
        kept = Kept(names=self._names, user=self._owner.user, sound=self._sound, indexed=indexed)
        return wrong_projection(self._ledger, self._stream, self._rows, kept)
