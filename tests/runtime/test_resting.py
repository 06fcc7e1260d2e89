"""Records behind the last turns keep their items between requests: whatever speaks of them is heard all the same."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from callsheet import Conversation, Sheet
from callsheet.graph.changes import MarkedStale, Pinned, Reclassified, Superseded
from callsheet.graph.enums import Freshness, Privacy
from callsheet.graph.ids import RecordId
from callsheet.graph.record import Body
from callsheet.policy.contracts import ToolContract
from callsheet.policy.sets import BALANCED
from callsheet.testing import FixedClock, memory_runtime
from tests.runtime.replies import asks, call, openai_reply, result, user

#: Results that go out of date during the test, in a conversation longer than the turns that are kept.
POLICIES = {
    freshness: replace(BALANCED, name="drying", turns=2, tools=(ToolContract(name="look", freshness=freshness),))
    for freshness in (Freshness.DURABLE, Freshness.VOLATILE, Freshness.SESSION)
}
KILNS = 14
LOOKED_AT = 3
"""The kiln that something is said of when it rests."""


def look(talk: Conversation, number: int, content: str) -> RecordId:
    talk.record([user(f"How is kiln K-{number:02d}?"), asks(call(f"c{number}", "look", f'{{"kiln": {number}}}'))])
    return talk.record(result(f"c{number}", content)).ids[0]


def sent(talk: Conversation, freshness: Freshness, *, exact: tuple[str, ...] = ()) -> Sheet:
    policy = POLICIES[freshness]
    return talk.assemble(provider="openai", model="gpt-5.2", policy=policy, budget=30_000, exact=exact)


def changed(talk: Conversation, body: Body, kind: str) -> None:
    talk._session.append(talk._view, lambda drafting: drafting.add(body, kind=kind))


Happens = Callable[[Conversation, RecordId, RecordId, FixedClock], object]

HAPPENINGS: dict[str, Happens] = {
    "nothing": lambda *_: None,
    "it is stale": lambda talk, old, *_: changed(talk, MarkedStale(records=(old,), reason="fired"), "marked_stale"),
    "it is secret": lambda talk, old, *_: changed(
        talk, Reclassified(records=(old,), privacy=Privacy.SECRET), "reclassified"
    ),
    "it is pinned": lambda talk, old, *_: changed(talk, Pinned(records=(old,), pinned=True), "pinned"),
    "it is replaced": lambda talk, old, new, _: changed(talk, Superseded(current=new, replaced=(old,)), "superseded"),
    "its session is over": lambda talk, *_: (talk.archive(), talk.reopen()),
    "time passes": lambda *given: given[3].advance(30 * 86_400),
    "its tool succeeds": lambda talk, *_: look(talk, 70, "Kiln K-70 holds 900 degrees."),
    "it is named": lambda talk, *_: talk.record(user(f"And K-{LOOKED_AT:02d}, to the letter?")),
    "it comes again": lambda talk, *_: look(talk, 71, report(LOOKED_AT)),
    "another waits": lambda talk, *_: talk.record([user("And K-72?"), asks(call("c72", "look", '{"kiln": 72}'))]),
}


def report(number: int) -> str:
    return f"Kiln K-{number:02d} holds {800 + number} degrees. " + "Its door is shut and its flue is clear. " * 12


@pytest.mark.parametrize("happens", HAPPENINGS.values(), ids=HAPPENINGS)
@pytest.mark.parametrize("failed", [False, True], ids=["found", "failed"])
@pytest.mark.parametrize("freshness", POLICIES)
def test_what_was_kept_makes_no_other_request(happens: Happens, failed: bool, freshness: Freshness) -> None:
    clock = FixedClock()
    with memory_runtime(clock=clock) as runtime:
        talk = runtime.conversation("kilns")
        found: list[RecordId] = []
        for number in range(KILNS):
            clock.advance(60)
            lost = failed and number == LOOKED_AT
            found.append(look(talk, number, "Error: the kiln does not answer" if lost else report(number)))
            talk.record(openai_reply(f"K-{number:02d} is well."), sheet=sent(talk, freshness))
        assert talk._session.desk(talk._view).remembered.rested
        happens(talk, found[LOOKED_AT], found[-1], clock)
        talk.record(user("What now?"))
        for exact in ((), (found[LOOKED_AT],)):
            warm = sent(talk, freshness, exact=exact)
            cold = sent(runtime.conversation("kilns"), freshness, exact=exact)
            assert cold.blocks == warm.blocks
            assert cold.selections == warm.selections
            assert (cold.record.omitted, cold.record.tokens) == (warm.record.omitted, warm.record.tokens)
