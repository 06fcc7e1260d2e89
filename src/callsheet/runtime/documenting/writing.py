"""Putting documents into the store and taking them out for good."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from callsheet.derive.chunking import CHUNKER, chunks
from callsheet.errors import InputError, InvalidOption, NotFound, PositionConflict, StoreBusy
from callsheet.graph.canonical import content_digest
from callsheet.graph.changes import Erased
from callsheet.graph.enums import Privacy, StreamKind
from callsheet.graph.ids import RecordId, StreamId, TenantId
from callsheet.graph.index import Index
from callsheet.graph.nodes import KnowledgeChunk, KnowledgeDocument
from callsheet.graph.ports import Append, Clock, Ids, Ledger, Owner
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Body, Draft, Stream
from callsheet.graph.times import Instant
from callsheet.graph.values import Attribute
from callsheet.runtime.documenting.indexing import BETWEEN, index_chunk
from callsheet.runtime.documenting.shelf import STREAM, Shelf, Version
from callsheet.runtime.documenting.texts import marked
from callsheet.runtime.options import LONGEST_LABEL, choice, label, line
from callsheet.runtime.options import shown as displayed
from callsheet.runtime.redacting import redaction_of

LONGEST = 16 * 1024 * 1024
"""Bytes of a text at most: a longer one is several documents."""

MOST_ATTRIBUTES = 64
"""Attributes of a document at most: rules of policy sets see no more than a hundred, version and locale among them."""

_ATTEMPTS = 200
"""Times that writing begins anew because another writer was first; each time at least one of them got through."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """A document as somebody gave it, checked."""

    document: str
    raw: bytes
    text: str
    version: str
    title: str
    locale: str | None
    attributes: tuple[Attribute, ...]
    privacy: Privacy

    def same(self, version: Version) -> bool:
        """Whether a version says the same."""
        body = version.body
        return (
            (body.document, body.version, body.title, body.locale, body.attributes, version.privacy)
            == (self.document, self.version, self.title, self.locale, self.attributes, self.privacy)
        ) and body.text.digest == content_digest(self.raw)


def given(
    document: str,
    text: str,
    *,
    version: str | None,
    title: str | None,
    locale: str | None,
    attributes: Mapping[str, str],
    privacy: Privacy | str,
) -> Given:
    """Check what was given. Raises `InvalidOption`."""
    name = line(document, "document")
    raw = _text(text)
    heading = name if title is None else title
    if not isinstance(heading, str) or len(heading) > LONGEST_LABEL or not _storable(heading) or _breaks(heading):
        raise InvalidOption(f"title is {displayed(title)}; it must be one line of at most {LONGEST_LABEL} characters")
    tags = tagged(attributes)
    taken = [key for key, _ in tags if key in ("version", "locale")]
    if taken:
        raise InvalidOption(f"attributes has {taken[0]!r}, which is given by the argument of that name")
    return Given(
        document=name,
        raw=raw,
        text=text,
        version=line(version, "version") if version is not None else content_digest(raw).rpartition(":")[2][:12],
        title=heading,
        locale=line(locale, "locale") if locale is not None else None,
        attributes=tuple(Attribute(name=key, value=value) for key, value in tags),
        privacy=choice(Privacy, privacy, "privacy"),
    )


def tagged(attributes: object) -> list[tuple[str, str]]:
    """Attributes by name, checked, in order of their names. Raises `InvalidOption`."""
    if not isinstance(attributes, Mapping):
        raise InvalidOption(f"attributes is {displayed(attributes)}; it must be a mapping of texts to texts")
    if len(attributes) > MOST_ATTRIBUTES:
        raise InvalidOption(f"attributes has {len(attributes):,} of them; at most {MOST_ATTRIBUTES} are allowed")
    tags = [(label(key, "an attribute's name"), label(value, "an attribute")) for key, value in attributes.items()]
    for text in (one for tag in tags for one in tag):
        if _breaks(text):
            raise InvalidOption(f"attributes has {displayed(text)}; names and values must be one line each")
    return sorted(tags)


def _breaks(text: str) -> bool:
    """Whether a text is more than one line, by any sign that ends one."""
    return len(f"{text}.".splitlines()) > 1


def _text(text: object) -> bytes:
    if not isinstance(text, str):
        raise InvalidOption(f"text is {displayed(text)}; it must be text")
    if not text.strip():
        raise InvalidOption("text is empty; a document needs text")
    if not _storable(text):
        raise InvalidOption("text holds NUL or lone surrogates, which no document may; remove them")
    raw = text.encode()
    if len(raw) > LONGEST:
        raise InvalidOption(f"text has {len(raw):,} bytes; at most {LONGEST:,} are one document, more are several")
    return raw


def _storable(text: str) -> bool:
    if "\0" in text:
        return False
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in set(text))


@dataclass(frozen=True, kw_only=True, slots=True)
class Writing:
    """Writes the documents of one tenant."""

    ledger: Ledger
    tenant: TenantId
    ids: Ids
    clock: Clock
    shelf: Shelf

    def put(self, new: Given, *, replacing: bool) -> RecordId:
        """Keep a document, or with `replacing` a newer version of one that is there; the id of the version.

        Raises `InvalidOption`, `NotFound`, `StoreBusy`.
        """
        made: dict[tuple[StreamId, tuple[RecordId, ...]], tuple[Draft, ...]] = {}
        for _ in range(_ATTEMPTS):
            contents = self.shelf.look()
            known = contents.of(new.document)
            self._refuse(new, known, replacing=replacing)
            if known and known[-1].replaced_by is None and new.same(known[-1]):
                return known[-1].id
            stream = contents.stream or Stream(
                tenant=self.tenant, id=self.ids.stream(), kind=StreamKind.WORKSPACE, name=STREAM
            )
            replaced = tuple(version.id for version in known[-1:])
            # Where another document was first, what was made of this one holds all the same.
            drafts = made.get((stream.id, replaced)) or self._drafts(new, stream, replaced)
            made[stream.id, replaced] = drafts
            try:
                self.ledger.append([Append(stream=stream, drafts=drafts, expect=contents.position)])
            except PositionConflict:
                continue
            except InputError:
                if contents.stream is not None or self.shelf.look().stream is None:
                    raise
                continue  # Somebody else began the stream a moment ago.
            return drafts[0].id
        raise StoreBusy(f"other writers of the knowledge were first {_ATTEMPTS} times; try again")

    def _refuse(self, new: Given, known: Sequence[Version], *, replacing: bool) -> None:
        if replacing and not known:
            raise NotFound(f"no document {new.document!r}; add() begins one")
        if not replacing and known and not new.same(known[-1]):
            newest = known[-1].body.version
            raise InvalidOption(
                f"document {new.document!r} is there, in version {newest!r}; replace() adds a newer one"
            )
        if any(version.body.version == new.version and not new.same(version) for version in known):
            raise InvalidOption(f"document {new.document!r} has a version {new.version!r} that says something else")

    def _drafts(self, new: Given, stream: Stream, replaced: tuple[RecordId, ...]) -> tuple[Draft, ...]:
        at = self.clock.now()
        text = marked(new.raw, redaction_of(stream))
        cut = chunks(new.text)
        document = KnowledgeDocument(
            document=new.document,
            version=new.version,
            title=new.title,
            text=self.ledger.stash(Owner(tenant=self.tenant), new.raw, digest=True),
            locale=new.locale,
            attributes=new.attributes,
            supersedes=replaced,
            chunks=len(cut),
            chunker=CHUNKER,
        )
        id = self.ids.record("document")
        drafts = [self._draft(document, id, at, new.privacy)]
        for place, (start, end, headings) in enumerate(cut):
            chunk = KnowledgeChunk(
                document=id,
                index=place,
                heading=BETWEEN.join(headings),
                byte_range=(start, end),
                digest=content_digest(new.raw[start:end]),
            )
            index = index_chunk(document, chunk, text)
            drafts.append(self._draft(chunk, self.ids.record("chunk"), at, new.privacy, index))
        return tuple(drafts)

    def _draft(self, body: Body, id: RecordId, at: Instant, privacy: Privacy, index: Index | None = None) -> Draft:
        return Draft(id=id, at=at, body=body, nonce=self.ids.nonce(), privacy=privacy, index=index)

    def remove(self, document: str, *, by: str, reason: str) -> RecordId:
        """Erase a document in all its versions: first that is recorded, then bodies, indexes and vectors go.

        Removing again what an interrupted removal left is fine. The id of the record that says so. Raises `NotFound`.
        """
        for _ in range(_ATTEMPTS):
            contents = self.shelf.look()
            stream, known = contents.stream, contents.of(document)
            if stream is None or not known:
                if stream is not None:
                    # Also where nothing is left: readers may have kept the last erasure from being final on the medium.
                    self.ledger.erase_bodies(stream.key, self._left(stream))
                raise NotFound(f"no document {document!r}")
            note = self._note(stream, known, by, reason)
            draft = self._draft(note, self.ids.record("erased"), self.clock.now(), Privacy.INTERNAL)
            try:
                self.ledger.append([Append(stream=stream, drafts=(draft,), expect=contents.position)])
            except PositionConflict:
                continue
            self.ledger.erase_bodies(stream.key, self._left(stream))
            return draft.id
        raise StoreBusy(f"other writers of the knowledge were first {_ATTEMPTS} times; try again")

    def _note(self, stream: Stream, versions: Sequence[Version], by: str, reason: str) -> Erased:
        records = [
            record
            for version in versions
            for record in self.ledger.records(stream.key, after=version.position - 1, upto=version.last)
        ]
        return Erased(
            bodies=tuple((stream.id, record.position) for record in records),
            records=tuple(record.id for record in records),
            by=by,
            reason=reason,
        )

    def _left(self, stream: Stream) -> list[int]:
        """Positions of bodies that are to be erased and are there: those of an erasure that was interrupted, too."""
        left: list[int] = []
        for note in self.ledger.nodes(stream.key, NodeQuery(kinds=("erased",))):
            if isinstance(note.body, Erased):
                gone = self.ledger.erased(stream.key, note.body.records)
                ids = [id for id in note.body.records if id not in gone]
                left += [record.position for record in self.ledger.get(stream.key, ids)]
        return left
