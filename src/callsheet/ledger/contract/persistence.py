"""Laws of persistence: closing and opening again changes nothing."""

from callsheet.graph.cut import alone
from callsheet.graph.ids import ROOT_BRANCH
from callsheet.graph.index import PostingQuery, VectorQuery
from callsheet.graph.nodes import ToolArtifact
from callsheet.graph.ports import Append
from callsheet.graph.prefix import Prefix
from callsheet.graph.values import Vector
from callsheet.ledger.contract.chain import verified
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.contract.subject import Subject, handle
from callsheet.ledger.prepare import owner_of


def everything_is_still_there(subject: Subject) -> None:
    """Records, heads, projections, blobs, blocks and addresses are the same after the store was opened again."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    owner = owner_of(stream)
    content = b"large " * 5000
    payload = ledger.stash(owner, content)
    block = ledger.address(owner, b"block")
    drafts = (making.said_payload(payload), making.draft(ToolArtifact(call=making.id())), making.found_by("x"))
    records = ledger.append([Append(stream=stream, drafts=drafts, blocks={block: b"block"})])
    head, projection = ledger.head(stream.key), ledger.projection(stream.key)

    asked = PostingQuery(entities=("x",), lineage=alone(ROOT_BRANCH, 3), limit=1)
    found = ledger.postings(stream.key, asked)
    assert [posting.position for posting in found] == [3]

    ledger.put_vectors(stream.key, "model", {3: Vector(scale=0.5, cells=b"\x80\x7f")})
    vectors = ledger.vectors(stream.key, VectorQuery(index="model"))
    assert len(vectors) == 1

    prefix = Prefix(mark=b"mark", stream=stream.id, branch=ROOT_BRANCH, record=records[2].id, position=3, state=b"x")
    ledger.put_prefixes(stream.tenant, "one", [prefix])

    ledger = handle(subject.reopen)()

    assert ledger.streams() == [stream]
    assert ledger.records(stream.key) == records
    assert ledger.head(stream.key) == head
    assert ledger.projection(stream.key) == projection
    assert ledger.postings(stream.key, asked) == found
    assert ledger.vectors(stream.key, VectorQuery(index="model")) == vectors
    assert ledger.prefixes(stream.tenant, "one", [b"mark"]) == [prefix]
    assert ledger.fetch(owner, payload) == content
    assert ledger.blocks(owner, [block]) == [b"block"]
    assert ledger.address(owner, b"block") == block
    assert [record.position for record in put(ledger, stream, making.said())] == [4]
    assert verified(ledger, stream) == []
