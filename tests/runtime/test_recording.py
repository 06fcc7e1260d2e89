"""What is recorded is paired by position, joined to its sheet, and refused whole or not at all."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import callsheet
from callsheet import Conversation, Runtime, ToolCard
from callsheet.errors import AmbiguousSheet, InvalidMessage, InvalidOption, InvalidTime, NotFound
from callsheet.graph.changes import ToolsOffered
from callsheet.graph.enums import ArtifactStatus, Defect, Lifecycle, RunStatus
from callsheet.graph.nodes import Message, ModelRun, ToolArtifact
from callsheet.graph.record import Record
from callsheet.testing import FixedClock, memory_runtime
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.runtime.replies import anthropic_reply, asks, call, openai_reply, result, tool, user


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as opened:
        yield opened


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    return runtime.conversation("orders", user="mia")


def everything(runtime: Runtime, talk: Conversation) -> list[Record]:
    key = next(stream.key for stream in runtime.ledger.streams() if stream.id == talk.id)
    return runtime.ledger.records(key)


def runs(runtime: Runtime, talk: Conversation) -> list[ModelRun]:
    return [record.body for record in everything(runtime, talk) if isinstance(record.body, ModelRun)]


def sheet(talk: Conversation, **options: object) -> object:
    return talk.assemble(provider="openai", model="gpt-5.2")


def test_a_reply_is_joined_to_its_sheet_with_the_usage_it_reports(runtime: Runtime, talk: Conversation) -> None:
    talk.record(user("Where is W1?"))
    sent = talk.assemble(provider="openai", model="gpt-5.2")
    talk.record(openai_reply("On its way.", prompt=40), sheet=sent)

    (run,) = runs(runtime, talk)
    assert (sent.id, "openai", "gpt-5.2", "gpt-5.2-2026") == (
        run.sheet,
        run.requested_provider,
        run.requested_model,
        run.answered_model,
    )
    assert run.usage is not None
    assert (40, 7) == (run.usage.input, run.usage.output)
    assert RunStatus.COMPLETED is run.status


def test_a_reply_without_sheet_takes_the_one_that_waits(runtime: Runtime, talk: Conversation) -> None:
    talk.record(user("Where is W1?"))
    sent = talk.assemble(provider="openai", model="gpt-5.2")
    talk.record(openai_reply("On its way."))
    assert [sent.id] == [run.sheet for run in runs(runtime, talk)]


def test_an_old_sheet_does_not_wait_any_more(runtime: Runtime, talk: Conversation) -> None:
    talk.record(user("Where is W1?"))
    talk.assemble(provider="openai", model="gpt-5.2")
    talk.record(user("And W2?"))
    talk.record(openai_reply("On their way."))
    assert [None] == [run.sheet for run in runs(runtime, talk)]


def test_two_different_sheets_that_wait_are_ambiguous_and_nothing_is_recorded(
    runtime: Runtime, talk: Conversation
) -> None:
    talk.record(user("Where is W1?"))
    talk.assemble(provider="openai", model="gpt-5.2")
    talk.assemble(provider="openai", model="gpt-4o")
    before = everything(runtime, talk)
    with pytest.raises(AmbiguousSheet, match="2 sheets are unanswered"):
        talk.record(openai_reply("On its way."))
    assert before == everything(runtime, talk)


def test_a_reply_to_a_request_of_somebody_else_is_joined_to_no_sheet(runtime: Runtime, talk: Conversation) -> None:
    talk.record(user("Where is W1?"))
    waiting = talk.assemble(provider="openai", model="gpt-5.2")
    talk.assemble(provider="openai", model="gpt-4o")
    talk.record(openai_reply("On its way."), assembled=False)
    assert [run.sheet for run in runs(runtime, talk)] == [None]
    with pytest.raises(InvalidOption, match="assembled=False"):
        talk.record(openai_reply("On its way."), sheet=waiting, assembled=False)


def test_the_same_request_assembled_twice_is_not_ambiguous(runtime: Runtime, talk: Conversation) -> None:
    talk.record(user("Where is W1?"))
    talk.assemble(provider="openai", model="gpt-5.2")
    again = talk.assemble(provider="openai", model="gpt-5.2")
    talk.record(openai_reply("On its way."))
    assert [again.id] == [run.sheet for run in runs(runtime, talk)]


def test_a_sheet_goes_with_a_reply_of_its_own_conversation(runtime: Runtime, talk: Conversation) -> None:
    talk.record(user("Where is W1?"))
    sent = talk.assemble(provider="openai", model="gpt-5.2")
    with pytest.raises(InvalidOption, match="goes with a provider's response"):
        talk.record(user("Hello?"), sheet=sent)
    with pytest.raises(InvalidOption, match="another conversation"):
        runtime.conversation("other").record(openai_reply("Hi"), sheet=sent)


def test_one_broken_message_in_a_list_refuses_the_whole_list(runtime: Runtime, talk: Conversation) -> None:
    before = everything(runtime, talk)
    with pytest.raises(InvalidMessage, match=r"messages\[1\]"):
        talk.record([user("Fine."), {"role": "wizard", "content": "Not fine."}])
    assert before == everything(runtime, talk)


def test_the_same_event_twice_is_recorded_once(runtime: Runtime, talk: Conversation) -> None:
    talk.record(user("hello from dock 9"), event="e-1")
    before = everything(runtime, talk)
    assert () == talk.record(user("hello from dock 9"), event="e-1").ids
    assert before == everything(runtime, talk)


def test_results_answer_the_newest_open_call_with_their_id(talk: Conversation) -> None:
    talk.record([user("Both."), asks(call("c0", arguments='{"n":1}')), result("c0", "one")])
    talk.record([asks(call("c0", arguments='{"n":2}')), result("c0", "two")])
    cards = [item for item in talk.transcript() if isinstance(item, ToolCard)]
    assert [('{"n":1}', b"one"), ('{"n":2}', b"two")] == [
        (card.arguments, talk.raw(card.artifact)) for card in cards if card.artifact
    ]


@pytest.mark.parametrize(
    ("history", "defects"),
    [
        ([asks(call("c1")), result("c1", "ok")], []),
        ([asks(call("c1")), result(None, "ok")], [Defect.MISSING_ID]),
        ([asks(call("c1")), result("zz", "ok")], [Defect.ORPHAN_RESULT]),
        ([user("?"), result("c1", "ok")], [Defect.ORPHAN_RESULT]),
        ([user("?"), result(None, "ok")], [Defect.MISSING_ID, Defect.ORPHAN_RESULT]),
        ([asks(call("c1")), result("c1", "ok"), result("c1", "again")], [Defect.REPEATED_RESULT]),
        ([asks(call("c1")), user("?"), result("c1", "ok")], [Defect.LATE_RESULT]),
    ],
)
def test_what_is_odd_about_a_result_is_marked(talk: Conversation, history: list[object], defects: list[Defect]) -> None:
    for value in history:
        talk.record(value)
    records, _ = talk.history()
    last = records[-1].body
    assert isinstance(last, ToolArtifact)
    assert defects == list(last.defects)


def answered(talk: Conversation) -> list[tuple[str, bytes | None]]:
    cards = [item for item in talk.transcript() if isinstance(item, ToolCard)]
    return [(card.tool, talk.raw(card.artifact) if card.artifact else None) for card in cards]


def named_result(id: str | None, tool: str, content: str) -> dict[str, object]:
    return {**result(id, content), "name": tool}


@pytest.mark.parametrize(
    ("calls", "results", "expected"),
    [
        (
            [call("a", "f"), call("a", "g")],
            [named_result("a", "f", "rf"), named_result("a", "g", "rg")],
            [("f", b"rf"), ("g", b"rg")],
        ),
        (
            [call("a", "f"), call("a", "g")],
            [named_result("a", "g", "rg"), named_result("a", "f", "rf")],
            [("f", b"rf"), ("g", b"rg")],
        ),
        ([call("a", "f"), call("a", "f")], [result("a", "1"), result("a", "2")], [("f", b"1"), ("f", b"2")]),
        ([call("a", "f"), call("", "g")], [result(None, "rg"), result("a", "rf")], [("f", b"rf"), ("g", b"rg")]),
        ([call("", "f")], [result("a", "rf")], [("f", b"rf")]),
        (
            [call("", "f"), call("", "g")],
            [named_result("x", "g", "rg"), result("y", "rf")],
            [("f", b"rf"), ("g", b"rg")],
        ),
        ([call("b", "f")], [result("a", "rf")], [("f", None), ("", b"rf")]),
    ],
)
def test_ids_that_repeat_or_are_missing_still_pair_by_tool_and_position(
    talk: Conversation, calls: list[dict[str, object]], results: list[object], expected: list[tuple[str, bytes | None]]
) -> None:
    talk.record([user("?"), asks(*calls), *results])
    assert expected == answered(talk)


def test_one_list_and_many_calls_record_the_same(runtime: Runtime) -> None:
    history = [user("Both."), asks(call("a"), call("b")), result("b", "2"), result("a", "1"), user("Thanks.")]
    one, many = runtime.conversation("one"), runtime.conversation("many")
    one.record(history)
    for value in history:
        many.record(value)
    requests = [each.assemble(provider="openai", model="gpt-5.2").blocks for each in (one, many)]
    assert requests[0] == requests[1]


def test_a_failed_execution_is_recorded_as_failed(talk: Conversation) -> None:
    talk.record([user("?"), asks(call("c1"))])
    talk.record(result("c1", "carrier timed out"), status="failed")
    (card,) = [item for item in talk.transcript() if isinstance(item, ToolCard)]
    assert ArtifactStatus.FAILED is card.status
    with pytest.raises(InvalidOption, match="status is 'bad'; it must be one of: ok, failed"):
        talk.record(result("c1", "x"), status="bad")


def test_what_asks_for_nothing_known_is_not_found(talk: Conversation) -> None:
    for look in (talk.raw, talk.sheet, talk.on):
        with pytest.raises(NotFound, match="nothing-like-it"):
            look("nothing-like-it")
    with pytest.raises(NotFound):
        talk.branch(at="nothing-like-it")


def test_a_conversation_belongs_to_one_user(runtime: Runtime, talk: Conversation) -> None:
    assert "mia" == runtime.conversation("orders").user
    with pytest.raises(InvalidOption, match="belongs to another user"):
        runtime.conversation("orders", user="noa")
    with pytest.raises(InvalidOption, match="not empty"):
        runtime.conversation("")


def test_counters_tell_what_was_measured() -> None:
    clock = FixedClock()
    with memory_runtime(clock=clock) as runtime:
        talk = runtime.conversation("orders")
        assert Lifecycle.OPENED is talk.counters().status
        talk.record(user("Where is W1?"))
        clock.advance(60)
        talk.record(openai_reply(asks(call("c1")), prompt=40))
        talk.record(result("c1", "shipped"))
        counted = talk.counters()
    assert Lifecycle.ACTIVE is counted.status
    assert (2, 2, 1, 1, 1) == (counted.turns, counted.messages, counted.calls, counted.artifacts, counted.runs)
    assert (40, 7) == (counted.tokens_in, counted.tokens_out)
    assert counted.last_turn_at is not None
    assert 60 == (counted.last_turn_at - counted.created_at).total_seconds()


def test_a_run_without_reported_usage_counts_what_was_said(talk: Conversation) -> None:
    talk.record([user("Where?"), {"role": "assistant", "content": "On its way."}])
    assert (4, 0) == (talk.counters().tokens_out, talk.counters().tokens_in)


def test_estimates_learn_from_the_usage_of_their_own_conversation(runtime: Runtime, talk: Conversation) -> None:
    other = runtime.conversation("other")
    for each in (talk, other):
        each.record(user("A sentence of some length, so that there is something to count. " * 20))
    first = talk.assemble(provider="anthropic", model="claude-sonnet-4-5")
    reported = first.tokens * 2
    talk.record(anthropic_reply("Yes.", prompt=reported), sheet=first)
    talk.record(user("?"))
    assert talk.assemble(provider="anthropic", model="claude-sonnet-4-5").tokens > first.tokens * 1.3
    assert other.assemble(provider="anthropic", model="claude-sonnet-4-5").tokens == first.tokens
    assert talk.assemble(provider="openai", model="gpt-5.2").exact


def test_messages_keep_what_has_no_neutral_meaning(talk: Conversation) -> None:
    talk.record({"role": "user", "content": "Hi", "x_trace": {"id": 7}})
    records, _ = talk.history()
    body = records[0].body
    assert isinstance(body, Message)
    assert b'"x_trace"' in body.extras


def test_a_changed_tool_set_is_recorded_once_with_the_reply(runtime: Runtime, talk: Conversation) -> None:
    for tools in ([tool("a")], [tool("a")], [tool("b")]):
        talk.record(user("?"))
        sent = talk.assemble(provider="openai", model="gpt-5.2", tools=tools)
        talk.record(openai_reply("!"), sheet=sent)
    kinds = [record.header.kind for record in everything(runtime, talk)]
    assert 2 == kinds.count("tools_offered")


@pytest.mark.parametrize("policy", ["balanced", "replay"])
def test_taking_all_tools_away_is_a_change_too(runtime: Runtime, talk: Conversation, policy: str) -> None:
    for tools in ([], [tool("a")], [], [tool("a")]):
        talk.record(user("?"))
        sent = talk.assemble(provider="openai", model="gpt-5.2", tools=tools, policy=policy, recall=False)
        talk.record(openai_reply("!"), sheet=sent)
    changes = [record.body for record in everything(runtime, talk) if isinstance(record.body, ToolsOffered)]
    assert [("a",), (), ("a",)] == [change.names for change in changes]


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+14:00", 1e18, "2026-13-01T00:00:00Z"])
def test_times_that_cannot_be_told_again_are_refused(talk: Conversation, at: str | float) -> None:
    with pytest.raises(InvalidTime):
        talk.record(user("?"), at=at)
    assert [] == talk.transcript()


def test_letters_of_times_may_be_small(talk: Conversation) -> None:
    talk.record(user("?"), at="2026-05-01t02:00:00z")
    assert "2026-05-01T02:00:00+00:00" == talk.transcript()[0].at.isoformat()


def test_ids_and_names_with_half_characters_are_recorded_and_still_pair(talk: Conversation) -> None:
    half = "c\ud83e"
    talk.record([user("?"), asks(call(half, tool="get\ud83e")), result(half, "ok")])
    (card,) = [item for item in talk.transcript() if isinstance(item, ToolCard)]
    assert ("get\\ud83e", ArtifactStatus.OK) == (card.tool, card.status)
    sheet = talk.assemble(provider="openai", model="gpt-5.2")
    assert not problems(sheet.request(), Wire.OPENAI)


@pytest.mark.parametrize("name", ["", "a\0b", "half \ud83e", "x" * 513, 7])
def test_names_that_no_store_can_hold_are_refused(runtime: Runtime, talk: Conversation, name: str) -> None:
    with pytest.raises(InvalidOption, match="name"):
        runtime.conversation(name)
    with pytest.raises(InvalidOption, match="event"):
        talk.record(user("Hi"), event=name)
    with pytest.raises(InvalidOption, match="participant"):
        talk.participant(name)
    with pytest.raises(InvalidOption, match="name"):
        talk.branch(name=name)
    with pytest.raises(InvalidOption, match="model"):
        talk.assemble(provider="openai", model=name)


class Telling:
    """A clock that tells what it is given."""

    def __init__(self, moment: object) -> None:
        self.moment = moment

    def now(self) -> Any:
        return self.moment


@pytest.mark.parametrize("moment", [10**18, 9 * 10**17, -(10**17), 253_370_764_800_000_000, 1.5, True, "now", None])
def test_a_clock_that_tells_no_date_is_refused_before_anything_is_recorded(moment: object) -> None:
    clock = Telling(1_767_225_600_000_000)
    runtime = callsheet.open(":memory:", clock=clock)
    talk = runtime.conversation("mill")
    talk.record(user("Which stone is worn?"))
    before = talk.transcript()
    clock.moment = moment
    acts: list[Callable[[], object]] = [
        lambda: talk.record(user("And now?")),
        lambda: talk.assemble(provider="openai", model="gpt-5.2"),
        lambda: runtime.conversation("another"),
        lambda: talk.spawn("Look."),
        lambda: runtime.skills.add("mill", summary="Mill.", instructions="Mill it."),
    ]
    for act in acts:
        with pytest.raises(InvalidTime, match="the clock tells"):
            act()
    assert talk.transcript() == before
    assert runtime.conversations() == ["mill"]
    clock.moment = 253_370_764_799_999_999  # the last microsecond of the year 9998
    talk.record(user("And now?"))
    assert talk.transcript()[-1].at.year == 9998
    assert talk.assemble(provider="openai", model="gpt-5.2").explain()
