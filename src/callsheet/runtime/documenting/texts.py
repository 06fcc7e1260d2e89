"""The texts of documents as they may be shown: with markers in the place of secrets.

What is a secret is told from the whole text, since a chunk may hold a part of one, or hold it away from its name.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from callsheet.assemble.contents import text_of
from callsheet.derive.redaction import TELLING, Place, Redaction
from callsheet.errors import BodyErased, Damaged
from callsheet.graph.canonical import content_digest
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import KnowledgeChunk, KnowledgeDocument
from callsheet.graph.ports import Ledger, Owner
from callsheet.graph.record import StreamKey
from callsheet.runtime.redacting import redaction_of

_KEPT = 1_024
"""Documents of which is kept where their secrets are."""


def places_of(text: str, redaction: Redaction) -> tuple[Place, ...]:
    """Where the secrets of a text are, in bytes of its UTF-8."""
    found = redaction.places(text)
    if not found or text.isascii():
        return tuple(found)
    told: list[Place] = []
    at = size = 0
    for place in found:
        start = size + len(text[at : place.start].encode("utf-8", "surrogatepass"))
        size = start + len(text[place.start : place.end].encode("utf-8", "surrogatepass"))
        at = place.end
        told.append(Place(start, size, place.marker))
    return tuple(told)


@dataclass(frozen=True, kw_only=True, slots=True)
class Marked:
    """The text of one document, and where its secrets are."""

    raw: bytes
    redaction: Redaction
    #: In bytes of the text.
    places: tuple[Place, ...]

    def piece(self, start: int = 0, end: int | None = None) -> str:
        """A range of the bytes with the markers that begin in it; what it holds of an earlier secret is left out."""
        end = len(self.raw) if end is None else end
        pieces: list[bytes] = []
        at = start
        for place in self.places:
            if place.end <= start or place.start >= end:
                continue
            pieces.append(self.raw[at : max(at, place.start)])
            if place.start >= start:
                pieces.append(place.marker.encode())
            at = min(place.end, end)
        return text_of(b"".join([*pieces, self.raw[at:end]]))

    def beside(self, text: str) -> str:
        """What stands beside the text, such as a title, with markers also for what is a secret in the text."""
        told = self.redaction.text(text)
        for value, marker in self._values:
            told = told.replace(value, marker)
        return told

    @property
    def _values(self) -> list[tuple[str, str]]:
        values = {text_of(self.raw[place.start : place.end]): place.marker for place in self.places}
        return sorted(((value, mark) for value, mark in values.items() if len(value) >= TELLING), key=_longest_first)


def _longest_first(one: tuple[str, str]) -> tuple[int, str]:
    return -len(one[0]), one[0]


def marked(raw: bytes, redaction: Redaction) -> Marked:
    """A text with its secrets found."""
    return Marked(raw=raw, redaction=redaction, places=places_of(text_of(raw), redaction))


@dataclass(kw_only=True)
class Texts:
    """Reads the texts of one tenant's documents. Thread-safe."""

    ledger: Ledger
    owner: Owner
    #: The text that was read last: the chunks of a document are mostly read together.
    _last: tuple[RecordId, bytes] | None = field(default=None, repr=False)
    _places: OrderedDict[RecordId, tuple[Place, ...]] = field(default_factory=OrderedDict, repr=False)
    _titles: OrderedDict[RecordId, str] = field(default_factory=OrderedDict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def whole(self, key: StreamKey, id: RecordId, *, secrets: bool = False) -> str:
        """The text of a document. Raises `BodyErased`, `Damaged`."""
        return text_of(self._raw(key, id)) if secrets else self.marked(key, id).piece()

    def piece(self, key: StreamKey, chunk: KnowledgeChunk, *, secrets: bool = False) -> str:
        """The text of a chunk. Raises `BodyErased`, `Damaged`."""
        start, end = chunk.byte_range
        text = self.marked(key, chunk.document)
        found = text.raw[start:end]
        if content_digest(found) != chunk.digest:
            raise Damaged(f"chunk {chunk.index} of {chunk.document} is not what was cut. Run `callsheet verify`.")
        return text_of(found) if secrets else text.piece(start, end)

    def marked(self, key: StreamKey, id: RecordId) -> Marked:
        """The text of a document with its secrets found. Raises `BodyErased`, `Damaged`."""
        raw, redaction = self._raw(key, id), redaction_of(key)
        with self._lock:
            known = self._places.get(id)
        if known is not None:
            return Marked(raw=raw, redaction=redaction, places=known)
        found = marked(raw, redaction)
        with self._lock:
            self._places[id] = found.places
            while len(self._places) > _KEPT:
                self._places.popitem(last=False)
        return found

    def title(self, key: StreamKey, id: RecordId) -> str:
        """The title of a document, with markers in the place of secrets. Raises `BodyErased`, `Damaged`."""
        with self._lock:
            known = self._titles.get(id)
        if known is not None:
            return known
        told = self.marked(key, id).beside(self.document(key, id).title)
        with self._lock:
            self._titles[id] = told
            while len(self._titles) > _KEPT:
                self._titles.popitem(last=False)
        return told

    def forget(self) -> None:
        """Keep nothing at hand: something was erased."""
        with self._lock:
            self._last = None
            self._titles.clear()
            self._places.clear()

    def document(self, key: StreamKey, id: RecordId) -> KnowledgeDocument:
        """The version of a document with this id. Raises `BodyErased`."""
        found = self.ledger.get(key, (id,))
        body = found[0].body if found else None
        if not isinstance(body, KnowledgeDocument):
            raise BodyErased(f"the content of {id} was erased")
        return body

    def _raw(self, key: StreamKey, id: RecordId) -> bytes:
        body = self.document(key, id)
        last = self._last
        if last is not None and last[0] == id:
            return last[1]
        raw = self.ledger.fetch(self.owner, body.text)
        self._last = (id, raw)
        return raw
