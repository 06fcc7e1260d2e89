"""The life of a conversation: each step is a record, and no request depends on one that its reader does not see."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import callsheet
from callsheet import Conversation, Runtime
from callsheet.errors import InvalidOption
from callsheet.graph.changes import LifecycleChanged
from callsheet.graph.enums import Lifecycle
from callsheet.graph.ids import ROOT_BRANCH
from callsheet.graph.nodes import ToolMemory
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.policy.sets import LEAN
from callsheet.runtime import living, stages
from callsheet.testing import FixedClock, SequenceIds, memory_runtime
from tests.runtime.replies import asks, call, result, user

ANSWER = {"role": "assistant", "content": "In bay 4."}
#: Little enough stays that a request is written anew and says what holds.
NARROW = replace(LEAN, name="narrow", version="1", turns=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def runtime(clock: FixedClock) -> Iterator[Runtime]:
    with memory_runtime(clock=clock) as opened:
        yield opened


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    return runtime.conversation("barge")


def steps(talk: Conversation) -> list[LifecycleChanged]:
    """The stages of its life, as they are recorded."""
    found = talk._session.ledger.nodes(talk._session.conversation.key, NodeQuery(kinds=("lifecycle_changed",)))
    return [record.body for record in found if isinstance(record.body, LifecycleChanged)]


def length(talk: Conversation) -> int:
    head = talk._session.ledger.head(talk._session.conversation.key)
    assert head is not None
    return head.position


def compact(talk: Conversation) -> None:
    talk._session.tail(talk._view, fresh=True)
    talk._session.append(talk._view, stages.compacted)


def say(talk: Conversation) -> None:
    talk.record(user("Where is the barge?"))


# ------------------------------------------------------------------------------------------ stages

ACTS: dict[str, Callable[[Conversation], object]] = {
    "say": say,
    "answer": lambda talk: talk.record(ANSWER),
    "archive": lambda talk: talk.archive(),
    "reopen": lambda talk: talk.reopen(),
    "compact": compact,
    "instruct": lambda talk: talk.instruct("Be brief."),
    "branch": lambda talk: talk.branch(),
    "participant": lambda talk: talk.participant("critic"),
    "checkpoint": lambda talk: talk.checkpoint(),
}
"""What can be done. Whoever says something speaks; the others do not."""


def after(status: Lifecycle, act: str) -> Lifecycle:
    """Where a conversation stands after an act: the rule, said once more."""
    match act:
        case "say" | "answer":
            return Lifecycle.ACTIVE
        case "archive":
            return Lifecycle.ARCHIVED
        case "reopen":
            return Lifecycle.ACTIVE if status is Lifecycle.ARCHIVED else status
        case "compact":
            return status if status is Lifecycle.ARCHIVED else Lifecycle.COMPACTED
        case _:
            return status


@pytest.mark.parametrize(
    ("acts", "stages_"),
    [
        ((), ()),
        (("instruct",), ()),
        (("say",), ("active",)),
        (("say", "answer", "say"), ("active",)),
        (("say", "compact"), ("active", "compacted")),
        (("say", "compact", "compact"), ("active", "compacted")),
        (("say", "compact", "answer"), ("active", "compacted", "active")),
        (("say", "compact", "archive"), ("active", "compacted", "archived")),
        (("say", "archive", "compact"), ("active", "archived")),
        (("say", "archive", "archive"), ("active", "archived")),
        (("say", "archive", "answer"), ("active", "archived", "active")),
        (("say", "archive", "reopen", "reopen"), ("active", "archived", "active")),
        (("say", "reopen"), ("active",)),
        (("archive", "reopen"), ("archived", "active")),
        (("archive", "say"), ("archived", "active")),
    ],
    ids=" ".join,
)
def test_each_stage_is_a_record_and_none_is_recorded_twice(
    talk: Conversation, acts: tuple[str, ...], stages_: tuple[str, ...]
) -> None:
    for act in acts:
        ACTS[act](talk)
    assert [step.status.value for step in steps(talk)] == list(stages_)
    assert talk.status.value == (stages_[-1] if stages_ else "opened") == talk.counters().status.value


@settings(max_examples=60, deadline=None)
@given(acts=st.lists(st.sampled_from(sorted(ACTS)), max_size=12))
def test_the_status_says_what_happened_last_however_it_came_there(acts: list[str]) -> None:
    with memory_runtime() as runtime:
        talk, other = runtime.conversation("barge"), runtime.conversation("barge")
        status = Lifecycle.OPENED
        for place, act in enumerate(acts):
            # Two openings of one conversation, each of which has to notice what the other did.
            ACTS[act]((talk, other)[place % 2])
            status = after(status, act)
            assert talk.status is other.status is status
        assert runtime.conversations(status=status) == ["barge"]
        rows = runtime.ledger.projection(talk._session.conversation.key)
        runtime.ledger.rebuild(talk._session.conversation.key)
        assert runtime.ledger.projection(talk._session.conversation.key) == rows


def test_archiving_says_whether_it_did_and_why(talk: Conversation) -> None:
    say(talk)
    assert (talk.archive(reason="moved_on"), talk.archive(reason="again")) == (True, False)
    assert (talk.reopen(reason="asked_for"), talk.reopen()) == (True, False)
    assert [step.reason for step in steps(talk)] == ["", "moved_on", "asked_for"]


@pytest.mark.parametrize("reason", ["\0", "\ud800", "x" * 513, None, 7])
def test_a_reason_that_no_store_holds_is_refused_and_nothing_changes(talk: Conversation, reason: str) -> None:
    say(talk)
    with pytest.raises(InvalidOption, match="reason"):
        talk.archive(reason=reason)
    with pytest.raises(InvalidOption, match="reason"):
        talk.reopen(reason=reason)
    assert talk.status is Lifecycle.ACTIVE


# ------------------------------------------------------------------------------------------ coming back


def _executes(talk: Conversation) -> None:
    @callsheet.tool
    def moor(bay: int) -> str:
        """Moor the barge."""
        return f"moored in {bay}"

    talk.execute([moor])


WAYS: dict[str, Callable[[Conversation], object]] = {
    "a message": say,
    "a list": lambda talk: talk.record([user("Where?"), ANSWER]),
    "a scheduled turn": lambda talk: talk.scheduled("tide", "Read the tide."),
    "an edit": lambda talk: talk.edit(talk.history()[0][0].id, "Where is the tug?"),
    "a message with parents": lambda talk: talk.send("And now?", parents=[talk.history()[0][0].id]),
    "a result": lambda talk: talk.record(result("c", "moored")),
    "a tool that is run": _executes,
    "a call that is given up": lambda talk: talk.give_up(talk.pending()[0].id, by="mia"),
    "what another participant says": lambda talk: talk.participant("pilot").record(ANSWER),
    "a sub-agent": lambda talk: talk.spawn("Look for the barge."),
    "what a sub-agent does": lambda talk: talk.child("scout").record(ANSWER),
    "the report of a sub-agent": lambda talk: talk.child("scout").complete("In bay 4."),
}
"""Every way in which something is said or done."""


@pytest.mark.parametrize("way", WAYS)
def test_whatever_is_said_or_done_takes_it_up_again_in_one_transaction(talk: Conversation, way: str) -> None:
    say(talk)
    scout = talk.spawn("Sound the channel.", name="scout")
    scout.record(ANSWER)
    talk.record(asks(call("c", "moor", '{"bay": 4}')))
    talk.archive()
    before = length(talk)
    WAYS[way](talk)
    assert talk.status is Lifecycle.ACTIVE
    assert [step.status for step in steps(talk)][-2:] == [Lifecycle.ARCHIVED, Lifecycle.ACTIVE]
    stages_ = talk._session.ledger.nodes(
        talk._session.conversation.key, NodeQuery(kinds=("lifecycle_changed",), after=before)
    )
    assert len(stages_) == 1


def test_reading_and_assembling_leave_it_where_it_is(talk: Conversation) -> None:
    say(talk)
    talk.archive()
    before = length(talk)
    sheet = talk.assemble(provider="openai", model="gpt-5.2")
    talk.explain(sheet), talk.transcript(), talk.counters(), talk.gauge(), talk.search("barge"), talk.pending()
    assert (talk.status, length(talk)) == (Lifecycle.ARCHIVED, before)


def test_nothing_is_lost_by_putting_it_away(talk: Conversation) -> None:
    talk.record([user("Where is barge B-17?"), asks(call("c", "moor")), result("c", "bay 4"), ANSWER])
    request = talk.assemble(provider="openai", model="gpt-5.2").request()
    talk.archive()
    assert talk.assemble(provider="openai", model="gpt-5.2").request() == request


def test_an_event_that_is_known_takes_nothing_up(talk: Conversation) -> None:
    talk.record(user("Where?"), event="e1")
    talk.archive()
    talk.record(user("Where?"), event="e1")
    assert talk.status is Lifecycle.ARCHIVED


def test_a_sub_agent_neither_puts_its_conversation_away_nor_takes_it_up(talk: Conversation) -> None:
    say(talk)
    scout = talk.spawn("Sound the channel.", name="scout")
    with pytest.raises(InvalidOption, match="not by a sub-agent"):
        scout.archive()
    talk.archive()
    with pytest.raises(InvalidOption, match="not by a sub-agent"):
        scout.reopen()
    assert talk.status is scout.status is Lifecycle.ARCHIVED


def test_it_stands_the_same_on_every_branch_and_after_opening_again(tmp_path: Path) -> None:
    path = tmp_path / "harbour.db"
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("barge")
        say(talk)
        fork = talk.branch(name="fork")
        fork.archive(reason="done")
    with callsheet.open(path) as runtime:
        talk = runtime.existing("barge")
        views = (talk, talk.on("fork"), talk.participant("pilot"))
        assert [view.status for view in views] == [Lifecycle.ARCHIVED] * 3
        talk.on("fork").record(ANSWER)
        assert [view.status for view in views] == [Lifecycle.ACTIVE] * 3


def test_conversations_are_listed_by_where_they_stand(runtime: Runtime) -> None:
    for name in ("new", "used", "done", "back"):
        runtime.conversation(name)
    for name in ("used", "done", "back"):
        say(runtime.conversation(name))
    for name in ("done", "back"):
        runtime.conversation(name).archive()
    runtime.conversation("back").reopen()
    assert runtime.conversations() == ["new", "used", "done", "back"]
    assert runtime.conversations(status="opened") == ["new"]
    assert runtime.conversations(status="active") == ["used", "back"]
    assert runtime.conversations(status=Lifecycle.ARCHIVED) == ["done"]
    assert runtime.conversations(status="compacted") == []
    with pytest.raises(InvalidOption, match="status is 'gone'"):
        runtime.conversations(status="gone")


def test_another_tenants_conversations_are_listed_for_that_one_alone(tmp_path: Path) -> None:
    path = tmp_path / "two.db"
    with callsheet.open(path, tenant="north") as north, callsheet.open(path, tenant="south") as south:
        for runtime in (north, south):
            say(runtime.conversation("barge"))
        north.conversation("barge").archive()
        assert (north.conversations(status="archived"), south.conversations(status="archived")) == (["barge"], [])


# ------------------------------------------------------------------------------------------ when something happened


def test_idleness_counts_from_turns_and_from_stages_by_the_clock(talk: Conversation, clock: FixedClock) -> None:
    ledger, key = talk._session.ledger, talk._session.conversation.key

    def idle() -> float:
        found = living.activity(ledger, key)
        assert found is not None
        return (clock.now() - found.at) / 1_000_000

    clock.advance(10)
    assert idle() == 10
    say(talk)
    clock.advance(5)
    assert idle() == 5
    # An old date makes nothing idle that was taken up a moment ago.
    talk.archive()
    talk.record(ANSWER, at="2020-01-01T00:00:00Z")
    clock.advance(3)
    assert idle() == 3
    talk.record(ANSWER, at="2020-01-01T00:00:00Z")
    assert idle() == 3


def test_what_happened_meanwhile_keeps_an_idle_conversation_from_being_put_away(talk: Conversation) -> None:
    say(talk)
    last = living.activity(talk._session.ledger, talk._session.conversation.key)
    assert last is not None
    talk.record(ANSWER)
    assert not living.archive_idle(talk._session, last.record)
    assert talk.status is Lifecycle.ACTIVE
    now = living.activity(talk._session.ledger, talk._session.conversation.key)
    assert now is not None
    assert living.archive_idle(talk._session, now.record)
    assert not living.archive_idle(talk._session, now.record)
    assert [(step.status, step.reason) for step in steps(talk)][-1] == (Lifecycle.ARCHIVED, "idle")


# ------------------------------------------------------------------------------------------ what held for a session

HOT = "The kiln of hall 3 fires at 1180 degrees."
ANEW = "The kiln of hall 3 fires at 1240 degrees."


def read(talk: Conversation, degrees: int) -> str:
    talk.record(asks(call("c", "read_kiln")))
    return talk.record(result("c", json.dumps({"degrees": degrees}))).ids[-1]


def go_on(talk: Conversation, number: int) -> None:
    words = " ".join(f"Shelf {number}-{shelf} holds plates and a jug of the winter set." for shelf in range(30))
    for turn in range(3):
        talk.record([{"role": "assistant", "content": f"Noted, {turn}. {words}"}, user(f"And shelf {number}{turn}?")])


def shown(talk: Conversation, version: str) -> str:
    policy = replace(NARROW, version=version)
    return json.dumps(talk.assemble(provider="openai", model="gpt-5.2", policy=policy).request())


def test_what_held_for_a_session_is_over_for_good_and_a_new_session_has_its_own(talk: Conversation) -> None:
    say(talk)
    talk.promote(read(talk, 1180), summary=HOT, freshness="session")
    go_on(talk, 1)
    assert HOT in shown(talk, "1")
    talk.archive()
    assert HOT not in shown(talk, "2")
    go_on(talk, 2)
    assert HOT not in shown(talk, "3")
    talk.promote(read(talk, 1240), summary=ANEW, freshness="session")
    go_on(talk, 3)
    last = shown(talk, "4")
    assert (HOT in last, ANEW in last) == (False, True)


def test_who_is_not_seen_takes_nothing_up_for_those_who_do_not_see_it(tmp_path: Path) -> None:
    """C2: what a sibling branch, a participant or a sub-agent does makes the conversation active, and that is all."""

    def lived(hidden: Callable[[Conversation], object] | None) -> str:
        with callsheet.open(":memory:", ids=SequenceIds(), clock=FixedClock()) as runtime:
            talk = runtime.conversation("barge")
            say(talk)
            sibling = talk.branch(name="sibling")
            talk.participant("pilot")
            talk.promote(read(talk, 1180), summary=HOT, freshness="session")
            go_on(talk, 1)
            scout = talk.spawn("Sound the channel.", name="scout")
            scout.record(ANSWER)
            shown(talk, "1")
            talk.archive()
            if hidden is not None:
                hidden({"sibling": sibling, "scout": scout}.get(hidden.__name__, talk))
                assert talk.status is Lifecycle.ACTIVE
            return shown(talk, "2")

    def sibling(view: Conversation) -> None:
        view.record(ANSWER)

    def scout(view: Conversation) -> None:
        view.record(ANSWER)

    def pilot(view: Conversation) -> None:
        view.participant("pilot").record(asks(call("own", "read_kiln")))

    alone = lived(None)
    assert HOT not in alone
    assert [lived(hidden) for hidden in (sibling, scout, pilot)] == [alone] * 3


def test_an_earlier_request_is_explained_as_it_was_before_the_conversation_was_put_away(talk: Conversation) -> None:
    say(talk)
    id = talk.promote(read(talk, 1180), summary=HOT, freshness="session")
    go_on(talk, 1)
    policy = replace(NARROW, version="1")
    before = talk.assemble(provider="openai", model="gpt-5.2", policy=policy)
    talk.archive()
    after_ = talk.assemble(provider="openai", model="gpt-5.2", policy=replace(NARROW, version="2"))
    assert talk.why_not(after_, id).rule in ("freshness.session_over", "")
    assert id in {selection.record for selection in before.selections}
    assert talk.rebuild(before).same, "made again from the same records"
    record: Record = talk._get((id,))[0]
    assert isinstance(record.body, ToolMemory)
    assert record.branch == ROOT_BRANCH
