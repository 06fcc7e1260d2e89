"""How indexes are stored: packed and sealed with each record, and merged for many records at once to be searched.

A merged row names what was found by a keyed hash over the name and the branch, so it tells nobody what was said, and
what is visible on a branch stands together. Records behind the last full batch are searched one by one.
"""

import struct
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import blake2s
from typing import NamedTuple, TypeAlias

import msgspec

from callsheet.graph.counting import unreadable
from callsheet.graph.cut import Lineage
from callsheet.graph.index import (
    Index,
    Names,
    names,
    packed,
    packed_vector,
    unpacked,
    unpacked_vector,
)
from callsheet.graph.ports import Owner
from callsheet.graph.values import Vector
from callsheet.ledger.vault import Vault

BATCH = 256
"""Records that are merged at once, at positions 1 to `BATCH` and so on. At most 256, so that a byte holds an offset."""

_KEY_BYTES = 8
_PREFIX_BYTES = 16


class Indexed(NamedTuple):
    """A record with what it is found by."""

    position: int
    #: Empty: none.
    branch: str
    found_by: Names


MergedRow: TypeAlias = tuple[int, int, bytes]
"""Where one name occurs on one branch within one batch: its key, the first position, and what is to be added to that,
a byte for each further position."""


def positions(row: MergedRow) -> list[int]:
    """The positions that a row stands for, ascending."""
    _, first, rest = row
    return [first, *[first + offset for offset in rest]]


def merged_upto(position: int) -> int:
    """The last position that is merged in a stream that ends at `position`."""
    return position - position % BATCH


def branches_of(lineage: Lineage, before: int | None) -> dict[str, int]:
    """Each branch of a lineage, as columns name it, with the last position that counts there."""
    last = lineage.upto if before is None else min(lineage.upto, before - 1)
    found = {"": last}
    for segment in lineage.segments:
        upto = segment.upto if before is None else min(segment.upto, before - 1)
        found[segment.branch] = max(upto, found.get(segment.branch, 0))
    return found


class Indexing:
    """Packs, opens and merges the indexes of one owner."""

    def __init__(self, vault: Vault, owner: Owner) -> None:
        self._vault = vault
        self._owner = owner

    def sealed(self, index: Index) -> bytes:
        """The stored form. Raises `UnicodeEncodeError`, `OverflowError` for what cannot be stored."""
        self.prepare()
        return self._vault.sealed(self._owner, packed(index))

    def prepare(self) -> None:
        """Make the owner's keys when there are none yet; to be called before a lock is held under which they serve."""
        _ = self._hash_key

    def packed(self, stored: bytes) -> bytes:
        """What was sealed, packed as it was. Raises `Damaged`."""
        return self._vault.unsealed(self._owner, stored)

    def opened(self, stored: bytes) -> Index:
        """The index that was sealed. Raises `Damaged`."""
        try:
            return unpacked(self.packed(stored))
        except (msgspec.DecodeError, ValueError) as problem:
            raise unreadable(problem) from problem

    def names(self, stored: bytes) -> Names:
        """The names in a sealed index. Raises `Damaged`."""
        try:
            return names(self.packed(stored))
        except msgspec.DecodeError as problem:
            raise unreadable(problem) from problem

    def sealed_vector(self, vector: Vector) -> bytes:
        """The stored form of a vector."""
        self.prepare()
        return self._vault.sealed(self._owner, packed_vector(vector))

    def opened_vector(self, stored: bytes) -> Vector:
        """The vector that was sealed. Raises `Damaged`."""
        try:
            return unpacked_vector(self._vault.unsealed(self._owner, stored))
        except ValueError as problem:
            raise unreadable(problem) from problem

    @cached_property
    def _hash_key(self) -> bytes:
        return self._vault.index_key(self._owner)

    def keys(self, names: Sequence[str], branch: str, *, entity: bool) -> tuple[int, ...]:
        """What stands for each name on a branch."""
        return _keys(self._prefix(branch, entity=entity), names)

    def _prefix(self, branch: str, *, entity: bool) -> bytes:
        # Of one length, so that no prefix and name are together another prefix and name.
        kind = b"entity" if entity else b"term"
        return blake2s(
            branch.encode("utf-8", "replace"), key=self._hash_key, person=kind, digest_size=_PREFIX_BYTES
        ).digest()

    def merged(self, records: Iterable[Indexed]) -> list[MergedRow]:
        """The rows of one batch, in order of their keys; `records` ascend."""
        places: dict[tuple[str, bool], defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for position, branch, found_by in records:
            for entity, texts in ((True, found_by.entities), (False, found_by.terms)):
                within = places[branch, entity]
                for text in dict.fromkeys(texts):
                    within[text].append(position)
        rows: list[MergedRow] = []
        for (branch, entity), within in places.items():
            keys = _keys(self._prefix(branch, entity=entity), list(within))
            rows += zip(keys, [found[0] for found in within.values()], map(_rest, within.values()), strict=True)
        return sorted(rows)


def _keys(prefix: bytes, names: Sequence[str]) -> tuple[int, ...]:
    # Keyed by its secret prefix, which BLAKE2 is made for. A lone surrogate is no name: none can be stored.
    digests = [blake2s(prefix + name.encode("utf-8", "replace"), digest_size=_KEY_BYTES).digest() for name in names]
    return struct.unpack(f">{len(digests)}q", b"".join(digests))


def _rest(found: Sequence[int]) -> bytes:
    first = found[0]
    return bytes([position - first for position in found[1:]]) if len(found) > 1 else b""
