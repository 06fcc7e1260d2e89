"""What documents are found by is derived from them alone: a rebuild makes the same, and a verification compares it."""

from pathlib import Path

from callsheet.audit.indexing import index_of
from callsheet.audit.rebuild import rebuild
from callsheet.audit.verify import verify
from callsheet.graph.enums import StreamKind
from callsheet.graph.index import Index, VectorQuery
from callsheet.runtime.meaning import index_of as vectors_of
from tests.hashing import Hashing
from tests.runtime.documenting.shop import RETURNS_2, fill, opened

SECRET = "# Keys\n\nThe token is ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5 for kilns.\n"


def test_a_rebuild_makes_the_same_indexes_and_keeps_the_vectors(tmp_path: Path) -> None:
    with opened(tmp_path / "store.db", embedder=Hashing()) as runtime:
        fill(runtime)
        runtime.knowledge.replace("RET-01", RETURNS_2, version="2")
        runtime.knowledge.add("KEY-1", SECRET, title="About ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5")
        runtime.work()
        ledger = runtime.ledger
        key = ledger.streams(kind=StreamKind.WORKSPACE)[0].key
        vectors = VectorQuery(index=vectors_of(Hashing()))
        before = ledger.projection(key), ledger.vectors(key, vectors), runtime.knowledge.search("kilns goods")
        assert verify(ledger, index=index_of(ledger)).ok
        rebuild(ledger, index=index_of(ledger))
        assert (ledger.projection(key), ledger.vectors(key, vectors), runtime.knowledge.search("kilns goods")) == before
        ledger.rebuild(key, lambda _: Index(entities=("nonsense",)))
        assert not verify(ledger, index=index_of(ledger)).ok
        rebuild(ledger, index=index_of(ledger))
        assert ledger.projection(key) == before[0]


def test_nothing_that_is_found_holds_a_secret() -> None:
    with opened() as runtime:
        runtime.knowledge.add("KEY-1", SECRET, title="About ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5")
        key = runtime.ledger.streams()[0].key
        found = runtime.ledger.indexed(key, [1, 2])
        assert found
        assert not any("ab3de5gh7jk9" in repr(index).casefold() for index in found.values())
