"""Laws of streams: named once, created by their first append, kept as they were."""

from msgspec.structs import replace

from callsheet.errors import InputError
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import Relation, StateField, StreamKind
from callsheet.graph.ids import StreamId, TenantId
from callsheet.graph.ports import Append
from callsheet.graph.query import LinkQuery, NodeQuery, Projection, StateQuery
from callsheet.graph.record import StreamKey
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.contract.refusing import refused
from callsheet.ledger.contract.subject import Subject


def a_stream_is_there_after_its_first_append(subject: Subject) -> None:
    """A stream that is appended to for the first time is created, and found by tenant, kind and name."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    put(ledger, stream, making.said())
    assert ledger.stream(stream.tenant, stream.kind, stream.name) == stream
    assert ledger.stream(stream.tenant, StreamKind.WORKSPACE, stream.name) is None


def an_append_without_drafts_creates_the_stream(subject: Subject) -> None:
    """Appending nothing creates a stream at position 0, and moves no stream that is there."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    assert put(ledger, stream) == []
    head = ledger.head(stream.key)
    assert head is not None
    assert head.position == 0
    put(ledger, stream, making.said())
    before = ledger.head(stream.key)
    put(ledger, stream)
    assert ledger.head(stream.key) == before


def streams_are_listed_in_order_of_creation(subject: Subject) -> None:
    """All streams are listed as they were created; a tenant or a kind narrows the list."""
    first, second, ledger = Making("first"), Making("second"), subject.ledger
    made = [
        first.stream(user="zoe"),
        second.stream(user=None),
        first.stream(user=None, kind=StreamKind.WORKSPACE),
        first.stream(),
    ]
    for stream in made:
        put(ledger, stream)
    assert ledger.streams() == made
    assert ledger.streams(first.tenant) == [made[0], made[2], made[3]]
    assert ledger.streams(kind=StreamKind.CONVERSATION) == [made[0], made[1], made[3]]
    assert ledger.streams(second.tenant, StreamKind.WORKSPACE) == []


def a_name_is_given_once(subject: Subject) -> None:
    """A second stream of the same tenant, kind and name is refused; another kind or tenant may use the name."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    put(ledger, stream, making.said())
    refused(InputError, put, ledger, replace(stream, id=StreamId("other")))
    put(ledger, replace(stream, id=StreamId("of another kind"), kind=StreamKind.WORKSPACE))
    put(ledger, replace(stream, id=StreamId("of another tenant"), tenant=TenantId("other")))
    assert ledger.stream(stream.tenant, stream.kind, stream.name) == stream


def a_stream_stays_what_it_is(subject: Subject) -> None:
    """An append that says something else of a stream than was said at its creation is refused."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    put(ledger, stream, making.said())
    for other in (replace(stream, user=None), replace(stream, kind=StreamKind.USER), replace(stream, name="renamed")):
        refused(InputError, put, ledger, other)
    assert ledger.streams() == [stream]


def one_call_may_create_a_stream_and_go_on_with_it(subject: Subject) -> None:
    """Several appends to one stream in one call follow each other."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    first, second = making.said("first"), making.said("second")
    appends = [Append(stream=stream, drafts=(first,), expect=0), Append(stream=stream, drafts=(second,), expect=1)]
    assert [record.position for record in ledger.append(appends)] == [1, 2]
    assert [record.id for record in ledger.records(stream.key)] == [first.id, second.id]


def a_stream_that_is_not_there_is_empty(subject: Subject) -> None:
    """Whatever is asked of a stream that does not exist is answered with nothing."""
    ledger = subject.ledger
    key = StreamKey(tenant=TenantId("acme"), stream=StreamId("nowhere"))
    everything = Lineage(segments=(), upto=100)
    assert ledger.stream(key.tenant, StreamKind.CONVERSATION, "nowhere") is None
    assert ledger.streams() == []
    assert ledger.head(key) is None
    assert ledger.records(key) == []
    assert ledger.get(key, [Making().id()]) == []
    assert ledger.nodes(key, NodeQuery(kinds=("message",))) == []
    assert ledger.states(key, StateQuery(field=StateField.STATUS, lineage=everything)) == []
    assert ledger.links(key, LinkQuery(relation=Relation.CITES, sources=(Making().id(),), lineage=everything)) == []
    assert list(ledger.stored(key)) == []
    assert ledger.projection(key) == Projection(nodes=(), states=(), links=())
    ledger.rebuild(key)
    ledger.erase_bodies(key, [1])
    assert ledger.head(key) is None
