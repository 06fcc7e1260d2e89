"""What documents there are: the fold of the workspace stream that holds them, kept at hand and read on from there."""

import threading
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import msgspec

from callsheet.graph.changes import Erased
from callsheet.graph.enums import Privacy, StreamKind
from callsheet.graph.ids import RecordId, TenantId
from callsheet.graph.nodes import KnowledgeDocument
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record, Stream
from callsheet.graph.times import Instant
from callsheet.graph.values import Payload, Scope

STREAM = "knowledge"
"""The name of the workspace stream that holds them."""

KINDS = ("document", "chunk")
"""The kinds of record that hold knowledge."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """One version of a document. Its text is in the store alone."""

    id: RecordId
    position: int
    at: Instant
    scope: Scope
    privacy: Privacy
    #: Without its text.
    body: KnowledgeDocument
    #: The version that stands in its place; None: it is the newest.
    replaced_by: RecordId | None = None

    @property
    def name(self) -> str:
        """What the document is called, in every version."""
        return self.body.document

    @property
    def last(self) -> int:
        """The position of its last chunk; the chunks stand behind the document."""
        return self.position + self.body.chunks

    @property
    def attributes(self) -> Mapping[str, str]:
        """Its filterable properties, locale and version included."""
        said = {attribute.name: attribute.value for attribute in self.body.attributes}
        return said | {"version": self.body.version} | ({"locale": self.body.locale} if self.body.locale else {})


@dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """The versions that are there as of one position of the stream, those that were removed left out."""

    stream: Stream | None = None
    position: int = 0
    #: By position.
    versions: tuple[Version, ...] = ()
    _by_id: Mapping[RecordId, Version] = field(default_factory=dict)

    @property
    def newest(self) -> dict[str, Version]:
        """The newest version of each document, in the order in which the documents first came."""
        names = dict.fromkeys(version.name for version in self.versions)
        newest = {version.name: version for version in self.versions if version.replaced_by is None}
        return {name: newest[name] for name in names}

    def of(self, document: str) -> list[Version]:
        """The versions of one document, oldest first."""
        return [version for version in self.versions if version.name == document]

    def by_id(self, id: RecordId) -> Version | None:
        """The version with this id."""
        return self._by_id.get(id)

    def holding(self, position: int) -> Version | None:
        """The version whose document or chunk stands at a position."""
        at = bisect_right(self.versions, position, key=lambda version: version.position) - 1
        return self.versions[at] if at >= 0 and position <= self.versions[at].last else None


NOTHING = Contents()


class Shelf:
    """Keeps at hand what documents one tenant has. Thread-safe."""

    def __init__(self, ledger: Ledger, tenant: TenantId) -> None:
        self._ledger = ledger
        self._tenant = tenant
        self._known = NOTHING
        self._lock = threading.Lock()

    def look(self) -> Contents:
        """What is there now."""
        with self._lock:
            stream = self._known.stream or self._ledger.stream(self._tenant, StreamKind.WORKSPACE, STREAM)
            head = self._ledger.head(stream.key) if stream is not None else None
            if stream is None or head is None:
                return NOTHING
            if head.position != self._known.position:
                query = NodeQuery(kinds=("document", "erased"), after=self._known.position, before=head.position + 1)
                later = self._ledger.nodes(stream.key, query)
                self._known = _gone_on(self._known, stream, head.position, later)
            return self._known


def _gone_on(known: Contents, stream: Stream, position: int, later: list[Record]) -> Contents:
    versions = [*known.versions, *filter(None, map(_version, later))]
    erased = {id for record in later if isinstance(record.body, Erased) for id in record.body.records}
    kept = list(_succeeding([version for version in versions if version.id not in erased]))
    return Contents(
        stream=stream,
        position=position,
        versions=tuple(kept),
        _by_id={version.id: version for version in kept},
    )


def _version(record: Record) -> Version | None:
    if not isinstance(record.body, KnowledgeDocument):
        return None
    text = record.body.text
    return Version(
        id=record.id,
        position=record.position,
        at=record.header.at,
        scope=record.header.scope,
        privacy=record.header.privacy,
        body=msgspec.structs.replace(record.body, text=Payload(size=text.size, digest=text.digest)),
    )


def _succeeding(versions: list[Version]) -> Iterator[Version]:
    """The same, each with the one that stands in its place."""
    after: dict[str, RecordId] = {}
    told: list[Version] = []
    for version in reversed(versions):
        by = after.get(version.name)
        told.append(version if version.replaced_by == by else replace(version, replaced_by=by))
        after[version.name] = version.id
    yield from reversed(told)
