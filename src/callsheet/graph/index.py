"""What a record can be found by: computed from its content before it is appended, written in the same transaction.

A projection like the others: dropped and rebuilt from the records at any time, and erased with the body it came from.
"""

import struct
from typing import NamedTuple

import msgspec

from callsheet.graph.canonical import content_digest
from callsheet.graph.counting import TermCounts, count_terms, unread, unreadable
from callsheet.graph.cut import Lineage
from callsheet.graph.ids import RecordId
from callsheet.graph.values import Count, Digest, Value, Vector


class Index(Value):
    """What one record is found by, and what was derived from it."""

    #: Entities in normal form, distinct, in order of first appearance.
    entities: tuple[str, ...] = ()
    #: Terms of the analyser with how often each occurs, in order of first appearance.
    terms: tuple[tuple[str, Count], ...] = ()
    #: Opaque to a store: what derivation keeps of the record so that assembly need not read it again.
    derived: bytes = b""


class PostingQuery(Value):
    """Where entities or terms occur, visible along a lineage.

    The answer gives the names in the order asked, entities before terms, each name once; of each the newest first.
    """

    entities: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    lineage: Lineage
    #: Only positions below this one.
    before: int | None = None
    #: At most so many for each entity and each term.
    limit: Count


class Posting(Value, gc=False):
    """One occurrence. Exactly one of the two names is set."""

    entity: str | None = None
    term: str | None = None
    position: int
    record: RecordId


class MatchQuery(Value):
    """Where at least two words occur together, visible along a lineage.

    The answer gives the positions with the most words first, of equal ones the newest.
    """

    #: Each by any of its terms.
    words: tuple[tuple[str, ...], ...]
    lineage: Lineage
    #: Only what comes behind this one, given by how many words and which position.
    behind: tuple[int, int] | None = None
    limit: Count


class Match(NamedTuple):
    """A position at which words occur together."""

    words: int
    position: int
    record: RecordId


class IndexRow(Value):
    """That a record is indexed, and as what."""

    position: int
    #: Of the packed index.
    digest: Digest


class VectorQuery(Value):
    """Which vectors of one index are asked for; each bound that is given narrows the answer."""

    #: As the embedder names itself: only vectors of one index compare with each other.
    index: str
    #: None: every branch.
    lineage: Lineage | None = None
    #: None: of every position.
    positions: tuple[int, ...] | None = None
    #: Only positions above this one.
    after: int = 0
    #: Only positions up to this one.
    upto: int | None = None


class VectorRow(Value, gc=False):
    """The vector of one record. Empty cells say that the record holds nothing that could be embedded."""

    position: int
    record: RecordId
    branch: RecordId | None = None
    vector: Vector


class Names(NamedTuple):
    """What a record is found by, without how often."""

    entities: tuple[str, ...]
    terms: tuple[str, ...]


class Weighed(NamedTuple):
    """What a record is found by, and how often each term occurs: as much of its index as a search needs."""

    entities: tuple[str, ...]
    terms: TermCounts

    @classmethod
    def of(cls, index: Index) -> "Weighed":
        """That of an index."""
        return cls(index.entities, count_terms(index.terms))


_whole = msgspec.msgpack.Decoder(tuple[tuple[str, ...], tuple[str, ...], tuple[Count, ...], bytes])
_weighed = msgspec.msgpack.Decoder(tuple[tuple[str, ...], msgspec.Raw, tuple[Count, ...], msgspec.Raw])
_names = msgspec.msgpack.Decoder(tuple[tuple[str, ...], tuple[str, ...], msgspec.Raw, msgspec.Raw])


def packed(index: Index) -> bytes:
    """The stored form of an index. Raises `UnicodeEncodeError`, `OverflowError` for what has none."""
    terms = [term for term, _ in index.terms]
    counts = [count for _, count in index.terms]
    return msgspec.msgpack.encode((index.entities, terms, counts, index.derived))


def unpacked(content: bytes) -> Index:
    """The index that was packed. Raises `msgspec.DecodeError` and `ValueError`."""
    entities, terms, counts, derived = _whole.decode(content)
    return Index(entities=entities, terms=tuple(zip(terms, counts, strict=True)), derived=derived)


def weighed(content: bytes) -> Weighed:
    """What a search needs of a packed index. Raises `Damaged`."""
    try:
        entities, terms, counts, _ = _weighed.decode(content)
        return Weighed(entities, unread(bytes(terms), counts))
    except (msgspec.DecodeError, ValueError) as problem:
        raise unreadable(problem) from problem


def names(content: bytes) -> Names:
    """The names in a packed index. Raises `msgspec.DecodeError`."""
    entities, terms, _, _ = _names.decode(content)
    return Names(entities, terms)


def index_row(position: int, content: bytes) -> IndexRow:
    """The row of a packed index."""
    return IndexRow(position=position, digest=content_digest(content))


_scale = struct.Struct(">d")


def packed_vector(vector: Vector) -> bytes:
    """The stored form of a vector."""
    return _scale.pack(vector.scale) + vector.cells


def unpacked_vector(content: bytes) -> Vector:
    """The vector that was packed. Raises `ValueError`."""
    if len(content) < _scale.size:
        raise ValueError(f"a vector has at least {_scale.size} bytes, not {len(content)}")
    return Vector(scale=_scale.unpack_from(content)[0], cells=content[_scale.size :])
