"""Laws of rebuilding: projections can be lost, because records are not."""

from callsheet.graph.changes import Pinned
from callsheet.graph.cut import alone
from callsheet.graph.ids import ROOT_BRANCH
from callsheet.graph.index import PostingQuery
from callsheet.graph.nodes import Branch, ToolArtifact
from callsheet.graph.query import NodeQuery
from callsheet.ledger.contract.making import Making, put
from callsheet.ledger.contract.subject import Subject, handle


def spoiled_projections_are_rebuilt(subject: Subject) -> None:
    """After projections were spoiled, rebuilding brings back what they said, from the records alone."""
    making, ledger, vandalise = Making(), subject.ledger, handle(subject.vandalise)
    stream, other = making.stream(), making.stream()
    for one in (stream, other):
        put(
            ledger,
            one,
            making.draft(Branch(name="main"), id=ROOT_BRANCH),
            making.said(),
            making.draft(ToolArtifact(call=making.id())),
            *(making.found_by("x") for _ in range(300)),
            making.draft(Pinned(records=(making.id(),), pinned=True), branch=None),
        )
    ledger.erase_bodies(stream.key, [2])
    asked = PostingQuery(entities=("x",), lineage=alone(ROOT_BRANCH, 400), limit=400)
    found = ledger.postings(stream.key, asked)
    assert len(found) == 300
    sound, records = ledger.projection(stream.key), ledger.records(stream.key)
    untouched = ledger.projection(other.key)
    vandalise(stream.key)
    assert ledger.projection(stream.key) != sound
    ledger.rebuild(stream.key)
    assert ledger.projection(stream.key) == sound
    assert ledger.postings(stream.key, asked) == found
    assert ledger.nodes(stream.key, NodeQuery(kinds=("branch", "message", "artifact", "pinned"))) == records
    assert ledger.get(stream.key, [record.id for record in records]) == records
    assert ledger.projection(other.key) == untouched
