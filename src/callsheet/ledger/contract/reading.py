"""Laws of reading: what was written comes back, in order, by range, by id, whatever its text."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from callsheet.graph.codec import KINDS, kind_of
from callsheet.graph.cut import Lineage, Segment
from callsheet.graph.enums import ArtifactStatus, Isolation, Privacy, Relation, RuntimeMode, StateField, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolArtifact
from callsheet.graph.query import LinkQuery, StateQuery
from callsheet.graph.record import Body, Draft, Header
from callsheet.graph.times import Instant
from callsheet.graph.values import Scope
from callsheet.ledger.contract.bodies import bodies, examples
from callsheet.ledger.contract.making import Making, put, said
from callsheet.ledger.contract.subject import Subject


def every_kind_comes_back_as_it_was(subject: Subject) -> None:
    """A body of each kind, with any fields, is read back equal, under the name of its kind."""
    numbers = itertools.count()

    @examples(8)
    @given(st.tuples(*(bodies(kind) for kind in sorted(KINDS))))
    def check(made: tuple[Body, ...]) -> None:
        making = Making(f"tenant {next(numbers)}")
        stream = making.stream()
        written = put(subject.ledger, stream, *(making.draft(body) for body in made))
        read = subject.ledger.records(stream.key)
        assert read == written
        assert [record.body for record in read] == list(made)
        assert [record.header.kind for record in read] == [kind_of(body) for body in made] == sorted(KINDS)

    check()


def a_header_comes_back_whole(subject: Subject) -> None:
    """Every field that a draft gives to the header is read back."""
    making, ledger = Making(), subject.ledger
    scope = Scope(
        branch=RecordId("side"),
        visibility=Visibility.AUDIT,
        owner=making.id(),
        run=making.id(),
        isolation=Isolation.SHARE_LIST,
        shared_with=(making.id(), making.id()),
        mode=RuntimeMode.SUB_AGENT,
        task="count",
        batch=making.id(),
        sub_agent=making.id(),
        parent_message=making.id(),
        parent_task="sum",
        parent_call=making.id(),
        releases=(making.id(),),
    )
    draft = making.said()
    given_scope = Draft(
        id=draft.id, at=Instant(-1), body=draft.body, nonce=draft.nonce, scope=scope, privacy=Privacy.SECRET
    )
    stream = making.stream()
    put(ledger, stream, given_scope)
    (record,) = ledger.records(stream.key)
    assert record.header == Header(
        tenant=stream.tenant,
        stream=stream.id,
        position=1,
        id=draft.id,
        kind="message",
        version=1,
        at=Instant(-1),
        scope=scope,
        privacy=Privacy.SECRET,
        commitment=record.header.commitment,
    )


def records_are_read_by_range(subject: Subject) -> None:
    """`after` is excluded, `upto` is included, `limit` keeps the first; out of range there is nothing."""
    making, ledger = Making(), subject.ledger
    key = said(ledger, making, ["1", "2", "3", "4", "5"]).key

    def positions(**asked: int) -> list[int]:
        return [record.position for record in ledger.records(key, **asked)]

    assert positions() == [1, 2, 3, 4, 5]
    assert positions(after=2) == [3, 4, 5]
    assert positions(upto=2) == [1, 2]
    assert positions(after=1, upto=4) == [2, 3, 4]
    assert positions(after=1, limit=2) == [2, 3]
    assert positions(after=1, upto=2, limit=9) == [2]
    assert positions(limit=0) == positions(after=5) == positions(upto=0) == positions(after=3, upto=2) == []


def records_are_read_by_id(subject: Subject) -> None:
    """Ids are answered in the order asked, repeated ones repeatedly; ids of other streams and unknown ones are not."""
    making, ledger = Making(), subject.ledger
    stream, other = making.stream(), making.stream()
    put(ledger, stream, making.said(id="a"), making.said(id="b"), making.said(id="c"))
    put(ledger, other, making.said(id="d"))
    asked = [RecordId(id) for id in ("c", "unknown", "a", "d", "c")]
    assert [record.id for record in ledger.get(stream.key, asked)] == ["c", "a", "c"]
    assert ledger.get(stream.key, []) == []
    many = [RecordId(f"none {number}") for number in range(1500)]
    assert [record.id for record in ledger.get(stream.key, [*many, RecordId("b")])] == ["b"]


def a_record_is_found_in_whichever_stream(subject: Subject) -> None:
    """`find` gives a record with its stream."""
    making, ledger = Making(), subject.ledger
    said(ledger, making)
    stream = making.stream()
    (record,) = put(ledger, stream, making.said(id="wanted"))
    assert ledger.find(making.tenant, record.id) == (stream, record)
    assert ledger.find(making.tenant, RecordId("unknown")) is None


def any_text_names_things(subject: Subject) -> None:
    """Ids, names, branches and targets may hold quotes, wildcards, NUL, and any script."""
    making, ledger = Making(), subject.ledger
    for text in ("a'b\"c", "%_*?", "nul\0nul", "nul\0", "Ж漢字🙂", "line\nbreak", " ", "-- x --", "?1:each"):
        branch, call = RecordId(text), RecordId(f"call {text}")
        stream = making.stream()
        answer = ToolArtifact(call=call, status=ArtifactStatus.OK)
        put(ledger, stream, making.draft(answer, id=text, branch=branch))
        lineage = Lineage(segments=(Segment(branch=branch, upto=1),), upto=1)
        assert [record.id for record in ledger.get(stream.key, [branch])] == [text]
        found = ledger.find(making.tenant, branch)
        assert found is not None
        assert found[0] == stream
        (state,) = ledger.states(stream.key, StateQuery(field=StateField.STATUS, targets=(call,), lineage=lineage))
        assert (state.target, state.value, state.branch) == (call, "answered", branch)
        by_target = LinkQuery(relation=Relation.ANSWERS, targets=(call,), lineage=lineage)
        by_source = LinkQuery(relation=Relation.ANSWERS, sources=(branch,), lineage=lineage)
        assert ledger.links(stream.key, by_target) == ledger.links(stream.key, by_source) != []


def content_of_any_size_comes_back(subject: Subject) -> None:
    """Inline content is kept to the byte, also where it is longer than a page of any store."""
    making, ledger = Making(), subject.ledger
    texts = ["", "\0", "x" * 8192, "\U0001f642" * 2000]
    stream = said(ledger, making, texts)
    bodies_read = [record.body for record in ledger.records(stream.key)]
    assert bodies_read == [making.said(text).body for text in texts]
