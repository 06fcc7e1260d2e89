"""Both stores keep the whole contract, sealed or not, and the contract notices a store that does not."""

import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

import pytest
from msgspec.structs import replace

from callsheet.errors import Damaged, StoreError
from callsheet.graph.ids import RecordId, TenantId
from callsheet.graph.index import Posting, PostingQuery, VectorQuery, VectorRow
from callsheet.graph.ports import Append, Owner, StoredRecord
from callsheet.graph.prefix import Prefix
from callsheet.graph.query import LinkQuery, LinkRow, NodeQuery, StateQuery, StateRow
from callsheet.graph.record import Head, Record, Stream, StreamKey
from callsheet.graph.values import Payload
from callsheet.ledger.contract import BASE, EXTENDED, Capability, LedgerContract, Subject, laws
from callsheet.ledger.crypto.sealers import AesGcmSealer
from callsheet.ledger.memory import MemoryLedger
from tests.ledger.stores import memory_subject, sqlite_subject

SEALER = AesGcmSealer("test", bytes(range(32)))


class TestMemoryLedger(LedgerContract):
    capabilities = frozenset(Capability) - {Capability.PERSISTENCE}

    def subject(self) -> AbstractContextManager[Subject]:
        return memory_subject()


class TestSqliteLedger(LedgerContract):
    def subject(self) -> AbstractContextManager[Subject]:
        return sqlite_subject()


class TestSealedSqliteLedger(LedgerContract):
    # Sealed bytes never lie open on the medium, so there is nothing to see before erasure either.
    capabilities = frozenset(Capability) - {Capability.SHREDDING}

    def subject(self) -> AbstractContextManager[Subject]:
        return sqlite_subject(SEALER)


class Torn(MemoryLedger):
    """Appends one stream at a time."""

    def append(self, appends: Sequence[Append]) -> list[Record]:
        return [record for append in appends for record in super(Torn, self).append([append])]


class Unordered(MemoryLedger):
    """Gives records by id in its own order."""

    def get(self, key: StreamKey, ids: Sequence[RecordId]) -> list[Record]:
        return sorted(super().get(key, ids), key=lambda record: record.position)


class Leaking(MemoryLedger):
    """Finds records of any tenant."""

    def find(self, tenant: TenantId, id: RecordId) -> tuple[Stream, Record] | None:
        found = (super(Leaking, self).find(stream.tenant, id) for stream in self.streams())
        return next(filter(None, found), None)


class Blind(MemoryLedger):
    """Forgets that a sibling's records do not count."""

    def nodes(self, key: StreamKey, query: NodeQuery) -> list[Record]:
        everywhere = NodeQuery(kinds=query.kinds, limit=query.limit, newest=query.newest)
        return super().nodes(key, everywhere)


class Forgetful(MemoryLedger):
    """Answers for the newest position whatever cut is asked for."""

    def states(self, key: StreamKey, query: StateQuery) -> list[StateRow]:
        return [row for row in super().states(key, query) if row.to_pos is None]


class OneWay(MemoryLedger):
    """Knows links by their source alone."""

    def links(self, key: StreamKey, query: LinkQuery) -> list[LinkRow]:
        return super().links(key, query) if query.sources is not None else []


class Stale(MemoryLedger):
    """Shows the head as it was before the last append."""

    def head(self, key: StreamKey) -> Head | None:
        head = super().head(key)
        return head if head is None or head.position < 2 else replace(head, position=head.position - 1)


class Shuffling(MemoryLedger):
    """Stores one record's body beside another's header."""

    def stored(self, key: StreamKey, *, after: int = 0) -> Iterator[StoredRecord]:
        rows = list(super().stored(key, after=after))
        bodies = [row.body for row in rows]
        for row, body in zip(rows, bodies[1:] + bodies[:1], strict=True):
            yield replace(row, body=body)


class Trusting(MemoryLedger):
    """Hands out blobs without checking them."""

    def fetch(self, owner: Owner, payload: Payload, start: int = 0, stop: int | None = None) -> bytes:
        try:
            return super().fetch(owner, payload, start, stop)
        except Damaged:
            return b"something"


class Hoarding(MemoryLedger):
    """Keeps the bodies that it should erase."""

    def erase_bodies(self, key: StreamKey, positions: Sequence[int]) -> None:
        self.head(key)


class Remembering(MemoryLedger):
    """Finds what stands behind the cut that is asked."""

    def postings(self, key: StreamKey, query: PostingQuery) -> list[Posting]:
        return super().postings(key, replace(query, before=None))


class Posthumous(MemoryLedger):
    """Puts the vectors of an erased record back."""

    def erase_bodies(self, key: StreamKey, positions: Sequence[int]) -> None:
        kept = {index: dict(vectors) for index, vectors in self._tables.streams[key].vectors.items()}
        super().erase_bodies(key, positions)
        self._tables.streams[key].vectors = kept


class Nearsighted(MemoryLedger):
    """Gives the vectors of every branch."""

    def vectors(self, key: StreamKey, query: VectorQuery) -> list[VectorRow]:
        return super().vectors(key, replace(query, lineage=None))


class Haunted(MemoryLedger):
    """Goes on knowing histories of which a part was erased."""

    def erase_bodies(self, key: StreamKey, positions: Sequence[int]) -> None:
        kept = dict(self._tables.prefixes)
        super().erase_bodies(key, positions)
        self._tables.prefixes = kept


class Indiscreet(MemoryLedger):
    """Knows histories of any scope."""

    def prefixes(self, tenant: TenantId, scope: str, marks: Sequence[bytes]) -> list[Prefix]:
        scopes = {known for of, known, _ in self._tables.prefixes if of == tenant}
        return [one for known in sorted(scopes) for one in super(Indiscreet, self).prefixes(tenant, known, marks)]


class Immortal(MemoryLedger):
    """Answers after it was closed."""

    def close(self) -> None:
        pass


FAULTY = {
    Torn: "appending/all_streams_or_none",
    Unordered: "reading/records_are_read_by_id",
    Leaking: "tenants/another_tenant_s_stream_is_not_there",
    Blind: "graph/a_branch_sees_its_ancestors_up_to_the_fork",
    Forgetful: "graph/the_newest_value_of_many_is_found",
    OneWay: "reading/any_text_names_things",
    Stale: "chain/every_record_continues_the_chain",
    Shuffling: "chain/every_record_continues_the_chain",
    Trusting: "damage/a_blob_that_was_altered_is_damage",
    Hoarding: "erasure/an_erased_body_is_gone_and_the_chain_holds",
    Remembering: "indexing/the_newest_of_many_are_found",
    Posthumous: "vectors/a_vector_goes_with_its_body",
    Nearsighted: "vectors/a_lineage_is_asked_by_branch",
    Haunted: "prefixes/an_erased_record_takes_what_covers_it",
    Indiscreet: "prefixes/scopes_and_tenants_share_nothing",
    Immortal: "closing/a_closed_store_says_so",
}


@pytest.mark.parametrize(("faulty", "law"), FAULTY.items(), ids=[cls.__name__ for cls in FAULTY])
def test_a_store_that_breaks_a_law_is_noticed(faulty: Callable[..., MemoryLedger], law: str) -> None:
    with memory_subject(make=faulty) as subject, pytest.raises((AssertionError, StoreError)):
        dict(laws())[law](subject)


def test_every_law_says_itself_in_one_line() -> None:
    for name, law in laws():
        said = inspect.getdoc(law) or ""
        assert said.endswith("."), name
        assert "\n" not in said, name


def test_every_capability_has_laws_and_stands_on_one_side() -> None:
    assert BASE | EXTENDED == set(Capability)
    assert BASE & EXTENDED == frozenset()
    assert {name.partition("/")[0] for name, _ in laws()} == set(Capability)
    assert {name.partition("/")[0] for name, _ in laws(BASE)} == BASE


def test_importing_the_contract_needs_no_test_tools() -> None:
    code = "import sys, callsheet.ledger.contract; print({'pytest', 'hypothesis'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
