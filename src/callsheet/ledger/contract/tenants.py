"""Laws of tenants: what belongs to another is answered exactly as what does not exist."""

from callsheet.errors import BodyErased, Damaged, InputError
from callsheet.graph.cut import Lineage, Segment
from callsheet.graph.enums import Relation, StateField
from callsheet.graph.ids import ROOT_BRANCH, RecordId, TenantId
from callsheet.graph.nodes import ToolArtifact
from callsheet.graph.ports import Append, Owner
from callsheet.graph.query import LinkQuery, NodeQuery, Projection, StateQuery
from callsheet.graph.record import StreamKey
from callsheet.ledger.contract.chain import verified
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.contract.refusing import refused
from callsheet.ledger.contract.subject import Subject
from callsheet.ledger.prepare import owner_of

_LARGE = b"large " * 5000


def two_tenants_share_nothing(subject: Subject) -> None:
    """Tenants with the same stream ids, names and record ids each see their own alone, by every method."""
    ledger = subject.ledger
    makings = [Making("one"), Making("two")]
    streams = [making.stream() for making in makings]
    for making, stream in zip(makings, streams, strict=True):
        answer = ToolArtifact(call=RecordId("call"), tool=making.tenant)
        put(ledger, stream, making.said(making.tenant), making.draft(answer, id="answer"))
    lineage = Lineage(segments=(Segment(branch=ROOT_BRANCH, upto=2),), upto=2)
    by_target = LinkQuery(relation=Relation.ANSWERS, targets=(RecordId("call"),), lineage=lineage)
    status = StateQuery(field=StateField.STATUS, value="answered", lineage=lineage)
    for stream in streams:
        found = ledger.find(stream.tenant, RecordId("answer"))
        assert found is not None
        records = ledger.records(stream.key)
        assert [record.header.tenant for record in records] == [stream.tenant] * 2
        assert found == (stream, records[1])
        assert ledger.get(stream.key, [RecordId("answer")]) == [records[1]]
        assert ledger.nodes(stream.key, NodeQuery(kinds=("artifact",), lineage=lineage)) == [records[1]]
        assert len(ledger.states(stream.key, status)) == len(ledger.links(stream.key, by_target)) == 1
        assert len(ledger.projection(stream.key).nodes) == 2
        assert ledger.streams(stream.tenant) == [stream]
        assert verified(ledger, stream) == []


def another_tenant_s_stream_is_not_there(subject: Subject) -> None:
    """By the key of a stream of another tenant there is nothing to read, to rebuild, or to erase."""
    ledger, making = subject.ledger, Making("owner")
    stream = making.stream()
    put(ledger, stream, making.said(id="theirs"), making.draft(ToolArtifact(call=RecordId("call"))))
    before = ledger.projection(stream.key), list(ledger.stored(stream.key))
    stranger = TenantId("stranger")
    key = StreamKey(tenant=stranger, stream=stream.id)
    lineage = Lineage(segments=(Segment(branch=ROOT_BRANCH, upto=9),), upto=9)
    assert ledger.stream(stranger, stream.kind, stream.name) is None
    assert ledger.streams(stranger) == []
    assert ledger.head(key) is None
    assert ledger.records(key) == []
    assert ledger.get(key, [RecordId("theirs")]) == []
    assert ledger.find(stranger, RecordId("theirs")) is None
    assert ledger.nodes(key, NodeQuery(kinds=("message",))) == []
    assert ledger.states(key, StateQuery(field=StateField.STATUS, lineage=lineage)) == []
    asked = LinkQuery(relation=Relation.ANSWERS, targets=(RecordId("call"),), lineage=lineage)
    assert ledger.links(key, asked) == []
    assert ledger.projection(key) == Projection(nodes=(), states=(), links=())
    assert list(ledger.stored(key)) == []
    ledger.rebuild(key)
    ledger.erase_bodies(key, [1, 2])
    assert (ledger.projection(stream.key), list(ledger.stored(stream.key))) == before


def another_owner_s_content_is_not_there(subject: Subject) -> None:
    """Content of another tenant or user has another address, and cannot be fetched, named or shown by its address."""
    ledger, making = subject.ledger, Making("one")
    stream = making.stream(user="mia")
    owner = owner_of(stream)
    payload = ledger.stash(owner, _LARGE)
    assert payload.blob is not None
    block = ledger.address(owner, b"block")
    drafts = (making.said_payload(payload),)
    ledger.append([Append(stream=stream, drafts=drafts, blocks={block: b"block"})])
    strangers = [making.stream(user="zoe"), making.stream(user=None), Making("two").stream(user="mia")]
    for number, other in enumerate(strangers):
        stranger = Owner(tenant=other.tenant, user=other.user)
        assert ledger.address(stranger, _LARGE) != payload.blob.address
        refused(BodyErased, ledger.fetch, stranger, payload)
        refused(Damaged, ledger.blocks, stranger, [block])
        named = making.said_payload(payload, id=f"names what is not its own {number}")
        refused(InputError, put, ledger, other, named)
    assert ledger.fetch(owner, payload) == _LARGE
    assert ledger.blocks(owner, [block]) == [b"block"]
