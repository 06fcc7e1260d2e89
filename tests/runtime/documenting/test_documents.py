"""Documents: added, replaced by newer versions, read, listed; what no document can be is refused."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callsheet import Runtime
from callsheet.audit.verify import verify
from callsheet.errors import InvalidOption, NotFound, PositionConflict, StoreBusy
from callsheet.graph.canonical import content_digest
from callsheet.graph.enums import Privacy, StreamKind
from callsheet.graph.nodes import KnowledgeChunk
from callsheet.graph.ports import Append
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.ledger.memory import MemoryLedger
from tests.hashing import Hashing
from tests.runtime.documenting.shop import RETURNS_1, RETURNS_2, fill, opened
from tests.runtime.replies import user


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with opened() as made:
        fill(made)
        yield made


def records(runtime: Runtime, kind: str) -> list[Record]:
    (stream,) = runtime.ledger.streams(kind=StreamKind.WORKSPACE)
    return runtime.ledger.nodes(stream.key, NodeQuery(kinds=(kind,)))


def chunks(runtime: Runtime) -> list[KnowledgeChunk]:
    return [record.body for record in records(runtime, "chunk") if isinstance(record.body, KnowledgeChunk)]


def test_a_document_is_read_as_it_was_added(runtime: Runtime) -> None:
    found = runtime.knowledge.get("RET-01")
    assert (found.text, found.version, found.title, found.locale) == (RETURNS_1, "1", "Return policy", "en")
    assert found.attributes == {"about": "goods"}
    assert (found.privacy, found.replaced_by) == (Privacy.INTERNAL, None)
    assert (found.size, found.chunks) == (len(RETURNS_1.encode()), 1)
    assert runtime.knowledge.version(found.id) == found


def test_the_list_has_the_newest_of_each_in_the_order_of_their_first(runtime: Runtime) -> None:
    runtime.knowledge.replace("RET-01", RETURNS_2, version="2")
    listed = runtime.knowledge.list()
    assert [(one.document, one.version) for one in listed] == [("RET-01", "2"), ("WAR-03", "1"), ("SHP-02", "3")]
    assert [one.version for one in runtime.knowledge.list(document="RET-01")] == ["1", "2"]
    assert runtime.knowledge.list(document="nothing") == []


def test_an_older_version_stays_readable_and_names_what_replaced_it(runtime: Runtime) -> None:
    newer = runtime.knowledge.replace("RET-01", RETURNS_2, version="2")
    older = runtime.knowledge.get("RET-01", version="1")
    assert (older.text, older.replaced_by) == (RETURNS_1, newer)
    assert runtime.knowledge.version(older.id) == older
    assert runtime.knowledge.get("RET-01").id == newer
    third = runtime.knowledge.replace("RET-01", "All goods stay.", version="3")
    assert [one.replaced_by for one in runtime.knowledge.list(document="RET-01")] == [newer, third, None]


def test_a_version_is_made_from_the_text_where_none_is_given(runtime: Runtime) -> None:
    one = runtime.knowledge.version(runtime.knowledge.add("a", "text"))
    assert one.version == content_digest(b"text").removeprefix("sha256:")[:12]
    two = runtime.knowledge.version(runtime.knowledge.replace("a", "other"))
    assert two.version != one.version
    again = runtime.knowledge.replace("a", "text")
    assert again not in (one.id, two.id)
    assert runtime.knowledge.get("a").id == again


def test_the_same_again_changes_nothing(runtime: Runtime) -> None:
    before = runtime.ledger.streams(), len(records(runtime, "document"))
    same = runtime.knowledge.add(
        "RET-01", RETURNS_1, version="1", title="Return policy", locale="en", attributes={"about": "goods"}
    )
    assert same == runtime.knowledge.get("RET-01").id
    assert (runtime.ledger.streams(), len(records(runtime, "document"))) == before


REFUSED: dict[str, Callable[[Runtime], object]] = {
    "empty text": lambda runtime: runtime.knowledge.add("new", ""),
    "blank text": lambda runtime: runtime.knowledge.add("new", " \n\t "),
    "NUL": lambda runtime: runtime.knowledge.add("new", "a\0b"),
    "surrogate": lambda runtime: runtime.knowledge.add("new", "a\ud800b"),
    "bytes": lambda runtime: runtime.knowledge.add("new", b"text"),  # type: ignore[arg-type]
    "too long": lambda runtime: runtime.knowledge.add("new", "x" * (16 * 1024 * 1024 + 1)),
    "no name": lambda runtime: runtime.knowledge.add("", "text"),
    "name of two lines": lambda runtime: runtime.knowledge.add("a\nb", "text"),
    "name with brackets": lambda runtime: runtime.knowledge.add("[a]", "text"),
    "version with a surrogate": lambda runtime: runtime.knowledge.add("new", "text", version="\udfff"),
    "title of two lines": lambda runtime: runtime.knowledge.add("new", "text", title="a\nb"),
    "long title": lambda runtime: runtime.knowledge.add("new", "text", title="x" * 513),
    "locale": lambda runtime: runtime.knowledge.add("new", "text", locale=""),
    "locale of lines": lambda runtime: runtime.knowledge.add("new", "text", locale="en\u2028"),
    "title of lines": lambda runtime: runtime.knowledge.add("new", "text", title="a\u2029b"),
    "attribute of lines": lambda runtime: runtime.knowledge.add("new", "text", attributes={"about": "a\x85b"}),
    "attribute of a number": lambda runtime: runtime.knowledge.add("new", "text", attributes={"a": 1}),  # type: ignore[dict-item]
    "attribute named version": lambda runtime: runtime.knowledge.add("new", "text", attributes={"version": "1"}),
    "too many attributes": lambda runtime: runtime.knowledge.add(
        "new", "text", attributes={str(number): "x" for number in range(65)}
    ),
    "privacy": lambda runtime: runtime.knowledge.add("new", "text", privacy="cosmic"),
    "add to what is there": lambda runtime: runtime.knowledge.add("RET-01", "other"),
    "add with another title": lambda runtime: runtime.knowledge.add("RET-01", RETURNS_1, version="1", title="x"),
    "a version that says something else": lambda runtime: runtime.knowledge.replace("RET-01", "other", version="1"),
    "k": lambda runtime: runtime.knowledge.search("goods", k=0),
    "policy without provider": lambda runtime: runtime.knowledge.search("goods", policy="balanced"),
}


@pytest.mark.parametrize("attempt", REFUSED.values(), ids=REFUSED.keys())
def test_what_no_document_can_be_is_refused_and_changes_nothing(
    runtime: Runtime, attempt: Callable[[Runtime], object]
) -> None:
    (stream,) = runtime.ledger.streams()
    before = runtime.ledger.head(stream.key)
    with pytest.raises(InvalidOption):
        attempt(runtime)
    assert runtime.ledger.head(stream.key) == before


@pytest.mark.parametrize(
    "attempt",
    [
        lambda runtime: runtime.knowledge.get("nothing"),
        lambda runtime: runtime.knowledge.get("RET-01", version="9"),
        lambda runtime: runtime.knowledge.version("doc_nothing"),
        lambda runtime: runtime.knowledge.replace("nothing", "text"),
        lambda runtime: runtime.knowledge.remove("nothing"),
    ],
)
def test_what_is_not_there_is_not_found(runtime: Runtime, attempt: Callable[[Runtime], object]) -> None:
    with pytest.raises(NotFound):
        attempt(runtime)


def test_a_store_without_documents_finds_none() -> None:
    with opened() as runtime:
        assert runtime.knowledge.list() == []
        assert runtime.knowledge.search("goods") == []
        with pytest.raises(NotFound):
            runtime.knowledge.get("RET-01")
        assert runtime.ledger.streams() == []


TEXTS = st.lists(
    st.sampled_from(
        ["# Kiln", "## Glaze", "word " * 80, "Öfen. " * 90, "釉薬。" * 120, "```", "", "\r\n", "| a | b |"]
    ),
    min_size=1,
    max_size=12,
).map("\n".join)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(TEXTS.filter(str.strip))
def test_chunks_cover_a_text_and_their_digests_resolve(text: str) -> None:
    with opened() as runtime:
        added = runtime.knowledge.add("a", text)
        raw, found = text.encode(), chunks(runtime)
        assert b"".join(raw[slice(*chunk.byte_range)] for chunk in found) == raw
        assert [chunk.index for chunk in found] == list(range(len(found)))
        assert all(content_digest(raw[slice(*chunk.byte_range)]) == chunk.digest for chunk in found)
        assert all(chunk.document == added for chunk in found)
        assert runtime.knowledge.get("a").text == text


@pytest.mark.parametrize(
    "text",
    ["word and another. " * 300_000, "x" * 1_000_000, "# a\n" * 50_000, "\n" * 100_000 + "a", "é" * 300_000 + " KIL-7"],
    ids=["5 MB", "one line", "headings", "blank", "no ascii"],
)
def test_large_and_odd_texts_are_taken(text: str) -> None:
    with opened() as runtime:
        runtime.knowledge.add("large", text)
        assert runtime.knowledge.get("large").text == text
        assert runtime.knowledge.search("KIL-7") == [] or "KIL-7" in text


class Contested(MemoryLedger):
    """A store in which somebody else adds a document just before, for so many times."""

    rivals = 0

    def append(self, appends: "list[Append]") -> list[Record]:  # type: ignore[override]
        if self.rivals and appends[0].expect is not None:
            self.rivals -= 1
            raise PositionConflict(stream=appends[0].stream.id, expected=0, actual=1)
        return super().append(appends)


def test_a_writer_that_was_second_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened() as runtime:
        fill(runtime)
        monkeypatch.setattr(runtime.ledger, "__class__", Contested)
        monkeypatch.setattr(runtime.ledger, "rivals", 3, raising=False)
        runtime.knowledge.replace("RET-01", RETURNS_2, version="2")
        assert runtime.knowledge.get("RET-01").version == "2"
        monkeypatch.setattr(runtime.ledger, "rivals", 1_000, raising=False)
        with pytest.raises(StoreBusy):
            runtime.knowledge.remove("RET-01")


def test_many_writers_and_readers_at_once(tmp_path: Path) -> None:
    with opened(tmp_path / "store.db", embedder=Hashing()) as runtime:
        talk = runtime.conversation("talk")

        def one(number: int) -> None:
            name = f"doc-{number}"
            runtime.knowledge.add(name, f"Kiln {number} is hot.", version="1")
            talk.record(user(f"Is kiln {number} hot?"))
            runtime.knowledge.replace(name, f"Kiln {number} is cold.", version="2")
            runtime.work()
            assert runtime.knowledge.search("kiln", document=name)[0].version == "2"
            if number % 3 == 0:
                with suppress(StoreBusy):  # it is gone; others read what lies in the log
                    runtime.knowledge.remove(name)

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(one, range(18)))
        runtime.work()
        assert len(runtime.knowledge.list()) == 12
        assert {passage.document for passage in runtime.knowledge.search("kiln")} == {
            entry.document for entry in runtime.knowledge.list()
        }
        assert verify(runtime.ledger).ok
        assert {worked.work: worked.failed for worked in runtime.work()}["vectors"] == 0


def test_two_tenants_have_documents_of_the_same_name() -> None:
    with opened() as runtime:
        fill(runtime)
        other = Runtime(runtime.ledger, tenant="other", ids=runtime._ids, clock=runtime._clock)
        assert other.knowledge.list() == []
        mine = other.knowledge.add("RET-01", "Nothing goes back.", version="1")
        assert runtime.knowledge.get("RET-01").text == RETURNS_1
        assert other.knowledge.get("RET-01").text == "Nothing goes back."
        assert [passage.reference for passage in other.knowledge.search("goods RET-01")] != []
        assert {passage.document_id for passage in other.knowledge.search("goods RET-01 kilns")} == {mine}
        with pytest.raises(NotFound):
            other.knowledge.version(runtime.knowledge.get("RET-01").id)
        other.knowledge.remove("RET-01")
        assert runtime.knowledge.get("RET-01").text == RETURNS_1
