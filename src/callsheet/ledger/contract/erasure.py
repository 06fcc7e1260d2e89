"""Laws of erasure: a body goes with its nonce, its effects and its blobs; the chain holds without it."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from callsheet.errors import BodyErased, Damaged
from callsheet.graph.changes import Conflicted, MarkedStale, Pinned
from callsheet.graph.cut import Lineage, Segment
from callsheet.graph.enums import StateField
from callsheet.graph.ids import ROOT_BRANCH
from callsheet.graph.nodes import Fact, ToolArtifact
from callsheet.graph.ports import Append
from callsheet.graph.query import StateQuery
from callsheet.graph.record import Draft
from callsheet.graph.times import Instant
from callsheet.ledger.contract.bodies import examples
from callsheet.ledger.contract.chain import verified
from callsheet.ledger.contract.graph import folded, histories
from callsheet.ledger.contract.making import Making, inline, put, said
from callsheet.ledger.contract.refusing import refused
from callsheet.ledger.contract.subject import Subject
from callsheet.ledger.prepare import owner_of

_LARGE = b"large " * 5000
_AT = Instant(1_700_000_000_000_000)


def an_erased_body_is_gone_and_the_chain_holds(subject: Subject) -> None:
    """Of an erased record the header stays, nonce and body are gone, and everything still verifies."""
    making, ledger = Making(), subject.ledger
    stream = said(ledger, making, ["one", "two", "three"])
    before, head = ledger.records(stream.key), ledger.head(stream.key)
    ledger.erase_bodies(stream.key, [2])
    after = ledger.records(stream.key)
    assert [record.header for record in after] == [record.header for record in before]
    assert [record.body is None for record in after] == [False, True, False]
    assert verified(ledger, stream) == [2]
    assert ledger.head(stream.key) == head
    assert ledger.find(making.tenant, before[1].id) == (stream, after[1])


def what_is_erased_is_told_by_id(subject: Subject) -> None:
    """Of some records those are told whose bodies are gone, and of nothing else: not of others, nor of unknown ids."""
    making, ledger = Making(), subject.ledger
    stream, other = said(ledger, making, ["one", "two", "three"]), said(ledger, making, ["four"])
    ids = [record.id for record in ledger.records(stream.key)]
    assert ledger.erased(stream.key, ids) == frozenset()
    ledger.erase_bodies(stream.key, [2, 3])
    assert ledger.erased(stream.key, [*ids, making.id()]) == {ids[1], ids[2]}
    assert ledger.erased(stream.key, ids[:2]) == {ids[1]}
    assert ledger.erased(other.key, ids) == ledger.erased(stream.key, []) == frozenset()


def an_erased_block_is_gone_and_others_stay(subject: Subject) -> None:
    """An erased block is missing, of its owner alone; it may be given again. Erasing what is not there is fine."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    owner = owner_of(stream)
    blocks = {ledger.address(owner, content): content for content in (b"gone", b"stays")}
    gone, stays = blocks
    ledger.append([Append(stream=stream, drafts=(making.said(),), blocks=blocks)])
    ledger.erase_blocks(owner, [gone, gone, "nothing"])
    ledger.erase_blocks(owner, [])
    assert gone in str(refused(Damaged, ledger.blocks, owner, [stays, gone]))
    assert ledger.blocks(owner, [stays]) == [b"stays"]
    ledger.append([Append(stream=stream, drafts=(making.said(),), blocks=blocks)])
    assert ledger.blocks(owner, [gone]) == [b"gone"]


def erasing_twice_or_nothing_is_fine(subject: Subject) -> None:
    """Erasing what is erased, what is not there, or nothing, changes nothing."""
    making, ledger = Making(), subject.ledger
    stream = said(ledger, making, ["one", "two"])
    ledger.erase_bodies(stream.key, [1])
    before = list(ledger.stored(stream.key))
    for positions in ([1], [], [7]):
        ledger.erase_bodies(stream.key, positions)
    assert list(ledger.stored(stream.key)) == before
    assert [record.position for record in put(ledger, stream, making.said())] == [3]


def effects_go_with_the_body(subject: Subject) -> None:
    """What an erased record had done to states and links is undone; the value before it holds again."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    target = making.id()
    put(
        ledger,
        stream,
        making.draft(MarkedStale(records=(target,)), id="first"),
        making.draft(MarkedStale(records=(target,)), id="second"),
        making.draft(Pinned(records=(target,), pinned=True)),
        making.draft(ToolArtifact(call=target)),
    )
    ledger.erase_bodies(stream.key, [2, 4])
    projection = ledger.projection(stream.key)
    assert projection == folded(ledger.records(stream.key)).projection()
    assert projection.links == ()
    lineage = Lineage(segments=(Segment(branch=ROOT_BRANCH, upto=4),), upto=4)
    stale = ledger.states(stream.key, StateQuery(field=StateField.STALE, lineage=lineage))
    assert [row.value for row in stale] == ["first"]
    ledger.rebuild(stream.key)
    assert ledger.projection(stream.key) == projection


def links_go_with_the_body(subject: Subject) -> None:
    """What an erased record had linked is not linked any more, by any end; the links that others made stay."""
    making, ledger = Making(), subject.ledger
    stream = making.stream()
    target, other = making.id(), making.id()
    drafts = [
        making.draft(Fact(subject="a", predicate="b", value=inline(b"c"), sources=(target,), observed=_AT), id=id)
        for id in ("first", "second")
    ]
    both = Conflicted(one=target, other=other)
    put(ledger, stream, *drafts, making.draft(both, id="third"), *(making.found_by("x", "y") for _ in range(300)))
    ledger.erase_bodies(stream.key, [1, 3, 7])
    assert ledger.projection(stream.key).links == folded(ledger.records(stream.key)).projection().links
    assert [link.source for link in ledger.projection(stream.key).links] == ["second"]
    before = ledger.projection(stream.key)
    ledger.rebuild(stream.key)
    assert ledger.projection(stream.key) == before


def what_is_left_is_what_the_rest_comes_to(subject: Subject) -> None:
    """After any bodies of any history were erased, the projections equal the fold of the others, as rebuilding says."""
    numbers = itertools.count()

    @examples(40)
    @given(histories(), st.data())
    def check(history: list[list[Draft]], data: st.DataObject) -> None:
        stream = Making(f"tenant {next(numbers)}").stream()
        records = [record for drafts in history for record in put(subject.ledger, stream, *drafts)]
        positions = [record.position for record in records]
        for gone in data.draw(st.lists(st.lists(st.sampled_from(positions), max_size=4), min_size=1, max_size=2)):
            subject.ledger.erase_bodies(stream.key, gone)
            left = subject.ledger.projection(stream.key)
            assert left == folded(subject.ledger.records(stream.key)).projection()
            subject.ledger.rebuild(stream.key)
            assert subject.ledger.projection(stream.key) == left

    check()


def a_blob_goes_with_the_last_record_that_names_it(subject: Subject) -> None:
    """A blob stays while any record names it, and is gone when the last of them was erased."""
    making, ledger = Making(), subject.ledger
    stream, other = making.stream(), making.stream()
    owner = owner_of(stream)
    payload = ledger.stash(owner, _LARGE)
    put(ledger, stream, making.said_payload(payload))
    put(ledger, other, making.said_payload(payload))
    ledger.erase_bodies(stream.key, [1])
    assert ledger.fetch(owner, payload) == _LARGE
    ledger.erase_bodies(other.key, [1])
    refused(BodyErased, ledger.fetch, owner, payload)
    again = ledger.stash(owner, _LARGE)
    put(ledger, stream, making.said_payload(again))
    assert ledger.fetch(owner, again) == _LARGE
