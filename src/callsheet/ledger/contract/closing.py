"""Laws of closing."""

from collections.abc import Callable

from callsheet.errors import StoreClosed
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import Relation, StateField
from callsheet.graph.ids import ROOT_BRANCH
from callsheet.graph.index import VectorQuery
from callsheet.graph.prefix import Prefix
from callsheet.graph.query import LinkQuery, NodeQuery, StateQuery
from callsheet.graph.values import Vector
from callsheet.ledger.contract.making import Making, put, said
from callsheet.ledger.contract.refusing import refused
from callsheet.ledger.contract.subject import Subject
from callsheet.ledger.prepare import owner_of


def a_closed_store_says_so(subject: Subject) -> None:
    """Every method of a closed store raises `StoreClosed`, and closing it again is fine."""
    making, ledger = Making(), subject.ledger
    stream = said(ledger, making)
    (record,) = ledger.records(stream.key)
    owner = owner_of(stream)
    payload = ledger.stash(owner, b"x")
    prefix = Prefix(mark=b"mark", stream=stream.id, branch=ROOT_BRANCH, record=record.id, position=1)
    ledger.close()
    ledger.close()
    lineage = Lineage(segments=(), upto=1)
    links = LinkQuery(relation=Relation.CITES, sources=(record.id,), lineage=lineage)
    attempts: list[Callable[[], object]] = [
        lambda: put(ledger, stream, making.said()),
        lambda: ledger.stream(stream.tenant, stream.kind, stream.name),
        ledger.streams,
        lambda: ledger.head(stream.key),
        lambda: ledger.records(stream.key),
        lambda: ledger.get(stream.key, [record.id]),
        lambda: ledger.find(stream.tenant, record.id),
        lambda: ledger.nodes(stream.key, NodeQuery(kinds=("message",))),
        lambda: ledger.states(stream.key, StateQuery(field=StateField.STATUS, lineage=lineage)),
        lambda: ledger.links(stream.key, links),
        lambda: ledger.stash(owner, b"y"),
        lambda: ledger.fetch(owner, payload),
        lambda: ledger.address(owner, b"y"),
        lambda: ledger.blocks(owner, []),
        lambda: list(ledger.stored(stream.key)),
        lambda: ledger.projection(stream.key),
        lambda: ledger.rebuild(stream.key),
        lambda: ledger.erase_bodies(stream.key, [1]),
        lambda: ledger.put_vectors(stream.key, "model", {1: Vector(scale=1.0, cells=b"x")}),
        lambda: ledger.vectors(stream.key, VectorQuery(index="model")),
        lambda: ledger.without_vectors(stream.key, "model", NodeQuery(kinds=("message",))),
        lambda: ledger.drop_vectors(stream.key, "model"),
        lambda: ledger.put_prefixes(stream.tenant, "one", [prefix]),
        lambda: ledger.prefixes(stream.tenant, "one", [prefix.mark]),
        lambda: ledger.take_prefixes(stream.tenant, "one", prefix.mark),
    ]
    for attempt in attempts:
        refused(StoreClosed, attempt)
