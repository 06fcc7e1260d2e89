"""Laws of appending: contiguous positions, all or nothing, clear conflicts, unique ids."""

from collections.abc import Callable

from callsheet.errors import CallsheetError, InputError, PositionConflict
from callsheet.graph.changes import Feedback
from callsheet.graph.enums import StreamKind
from callsheet.graph.ids import ROOT_BRANCH, RecordId, UserId
from callsheet.graph.nodes import Branch
from callsheet.graph.ports import Append
from callsheet.graph.record import Draft, Stream
from callsheet.graph.values import BlobRef, Payload, Scope
from callsheet.ledger.contract.making import Making, put, said
from callsheet.ledger.contract.refusing import refused
from callsheet.ledger.contract.subject import Subject


def positions_count_from_one_without_gaps(subject: Subject) -> None:
    """The records of a stream stand at 1, 2, 3 …, however they were grouped into calls."""
    making, ledger = Making(), subject.ledger
    stream, other = making.stream(), making.stream()
    returned: list[int] = []
    for size in (1, 3, 0, 2):
        appends = [Append(stream=one, drafts=tuple(making.said() for _ in range(size))) for one in (stream, other)]
        returned += [record.position for record in ledger.append(appends) if record.header.stream == stream.id]
    assert returned == [1, 2, 3, 4, 5, 6]
    assert [record.position for record in ledger.records(stream.key)] == returned


def what_is_returned_is_what_is_read(subject: Subject) -> None:
    """The records that an append returns, in order, equal those that are read afterwards."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    drafts = [making.said("one"), making.draft(Feedback(record=making.id(), score=0.5), branch=None)]
    returned = put(ledger, stream, *drafts)
    assert [(record.id, record.body) for record in returned] == [(draft.id, draft.body) for draft in drafts]
    assert ledger.records(stream.key) == returned


def a_conflict_names_both_positions(subject: Subject) -> None:
    """Expecting another position than the stream is at is refused; the error says what was expected and what is."""
    making, ledger = Making(), subject.ledger
    stream = said(ledger, making, ["one", "two"])
    problem = refused(PositionConflict, put, ledger, stream, making.said(), expect=1)
    assert (problem.stream, problem.expected, problem.actual) == (stream.id, 1, 2)
    refused(PositionConflict, put, ledger, making.stream(), making.said(), expect=1)
    assert [record.position for record in put(ledger, stream, making.said(), expect=2)] == [3]


def all_streams_or_none(subject: Subject) -> None:
    """When one draft of a call is refused, nothing of the call is there: no record, no stream, no block, no head."""
    making, ledger = Making(), subject.ledger
    kept = said(ledger, making)
    (record,) = ledger.records(kept.key)
    before = ledger.head(kept.key), ledger.projection(kept.key)
    for bad in _bad_appends(making, kept, record.id):
        fresh = making.stream()
        good = Append(stream=fresh, drafts=(making.said("never"),))
        first = Append(stream=kept, drafts=(making.said("never"),))
        refused(CallsheetError, ledger.append, [first, good, bad])
        assert (ledger.head(kept.key), ledger.projection(kept.key)) == before
        assert ledger.stream(fresh.tenant, fresh.kind, fresh.name) is None
        assert ledger.head(fresh.key) is None
        assert ledger.find(making.tenant, good.drafts[0].id) is None
    put(ledger, kept, making.said("still works"), expect=1)


def _bad_appends(making: Making, kept: Stream, taken: RecordId) -> list[Append]:
    """One append for every reason to refuse one."""
    other = making.stream()
    unknown = Payload(size=9000, blob=BlobRef(address="hmac-sha256:" + "0" * 64, stored=9000))
    nameless = Stream(tenant=other.tenant, id=other.id, kind=StreamKind.USER, name="x", user=UserId(""))
    drafts: list[Draft] = [
        making.said(id=taken),
        making.said_payload(unknown),
        making.said(id="lone \ud800 surrogate"),
        making.draft(Branch(name="lone \ud800 surrogate")),
        making.draft(Feedback(record=taken, score=1.0), branch=RecordId("")),
        Draft(id=making.id(), at=making.said().at, body=making.said().body, nonce=b"short", scope=Scope()),
    ]
    return [
        *(Append(stream=other, drafts=(making.said(), bad)) for bad in drafts),
        Append(stream=other, drafts=(making.said(), making.said()), expect=7),
        Append(stream=nameless, drafts=(making.said(),)),
        Append(stream=kept, drafts=(making.said(),), blocks={"hmac-sha256:" + "0" * 64: b"other content"}),
    ]


def ids_are_unique_in_their_tenant(subject: Subject) -> None:
    """A record id that the tenant has already is refused, in the same stream, another, and within one call."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    put(ledger, stream, making.said(id="taken"))
    twice = (making.said(id="twice"), making.said(id="twice"))
    attempts: list[Callable[[], object]] = [
        lambda: put(ledger, stream, making.said(id="taken")),
        lambda: put(ledger, making.stream(), making.said(id="taken")),
        lambda: put(ledger, stream, *twice),
        lambda: ledger.append([Append(stream=making.stream(), drafts=(draft,)) for draft in twice]),
    ]
    for attempt in attempts:
        problem = refused(InputError, attempt)
        assert "taken" in str(problem) or "twice" in str(problem)
    assert len(ledger.records(stream.key)) == 1
    put(ledger, Making("other tenant").stream(), making.said(id="taken"))


def every_stream_may_have_a_root_branch(subject: Subject) -> None:
    """The id of the root branch may stand in every stream, once in each."""
    making, ledger = Making(), subject.ledger
    root = Branch(name="main")
    streams = [making.stream(), making.stream()]
    for stream in streams:
        put(ledger, stream, making.draft(root, id=ROOT_BRANCH))
        refused(InputError, put, ledger, stream, making.draft(root, id=ROOT_BRANCH))
        (found,) = ledger.get(stream.key, [ROOT_BRANCH])
        assert found.header.stream == stream.id
    both = tuple(making.draft(root, id=ROOT_BRANCH) for _ in range(2))
    refused(InputError, put, ledger, making.stream(), *both)
    assert ledger.find(making.tenant, ROOT_BRANCH) is None
