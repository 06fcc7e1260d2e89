"""How often the terms of a record occur, read out of its packed index as far as a search needs.

A search ranks hundreds of records and asks for a few terms. Whether one of them may stand in a packed list is told by
its bytes alone; the list itself is read where that is so.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import msgspec

from callsheet.errors import Damaged


class Asked:
    """Terms that are asked for, made ready once to be looked for in many records."""

    __slots__ = ("packed", "terms")

    def __init__(self, terms: Iterable[str]) -> None:
        self.terms = frozenset(terms)
        #: As they stand in a packed list; those alone that can stand in one, which lone surrogates cannot.
        self.packed = [msgspec.msgpack.encode(term) for term in self.terms if _encodable(term)]


class TermCounts(msgspec.Struct, gc=False):
    """How often each term occurs. Holds no more than bytes and numbers: no collector of cycles need look at it."""

    #: All terms, as often as they occur.
    length: int
    #: None: the terms were not read yet.
    known: dict[str, int] | None = None
    packed: bytes = b""
    #: Of each of the packed terms.
    counts: tuple[int, ...] = ()

    def all(self) -> Mapping[str, int]:
        """Every term with how often it occurs. Raises `Damaged`."""
        if self.known is None:
            try:
                terms = _terms.decode(self.packed)
                known = dict(zip(terms, self.counts, strict=True))
                # A term that is given twice counts as often as both say.
                self.known = known if len(known) == len(terms) else _summed(zip(terms, self.counts, strict=True))
            except (msgspec.DecodeError, ValueError) as problem:
                raise unreadable(problem) from problem
        return self.known

    def among(self, asked: Asked) -> Mapping[str, int]:
        """The same of the terms that are asked for alone. Raises `Damaged`."""
        if self.known is None and not self._may_hold(asked):
            return _NONE
        known = self.all()
        return {term: known[term] for term in asked.terms & known.keys()}

    def _may_hold(self, asked: Asked) -> bool:
        return any(term in self.packed for term in asked.packed)


_NONE: Mapping[str, int] = {}
_terms = msgspec.msgpack.Decoder(tuple[str, ...])


def count_terms(terms: Iterable[tuple[str, int]]) -> TermCounts:
    """Those of these terms; one that is given more than once counts as often as all of them say."""
    known = _summed(terms)
    return TermCounts(length=sum(known.values()), known=known)


def unread(packed: bytes, counts: tuple[int, ...]) -> TermCounts:
    """Those of a packed list of terms with the counts of its terms. Raises `ValueError` where they are not as many."""
    if _length(packed) != len(counts):
        raise ValueError(f"{_length(packed)} terms occur {len(counts)} times")
    return TermCounts(length=sum(counts), packed=packed, counts=counts)


def joined(several: Sequence[TermCounts]) -> TermCounts:
    """Those of several records together."""
    return several[0] if len(several) == 1 else count_terms(chain.from_iterable(one.all().items() for one in several))


def unreadable(problem: Exception) -> Damaged:
    """What says that a stored index cannot be read."""
    return Damaged(f"a stored index cannot be read: {problem}. Run `callsheet rebuild`.")


def _encodable(term: str) -> bool:
    return term.isascii() or not any("\ud800" <= character <= "\udfff" for character in term)


def _length(packed: bytes) -> int:
    """Of how many items a packed list is; -1 for what is none."""
    first = packed[0]
    if first & 0xF0 == 0x90:
        return first & 0x0F
    size = {0xDC: 2, 0xDD: 4}.get(first)
    return int.from_bytes(packed[1 : 1 + size], "big") if size is not None else -1


def _summed(terms: Iterable[tuple[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for term, count in terms:
        found[term] = found.get(term, 0) + count
    return found
