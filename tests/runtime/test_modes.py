"""On what occasion a request is made: chat, comparison, discussion, scheduled tasks. Each mode's contract."""

import json
from collections.abc import Iterator

import pytest

from callsheet import Conversation, Runtime, Sheet
from callsheet.errors import EmptyRequest, InvalidMessage, InvalidOption
from callsheet.graph.enums import RuntimeMode, Visibility
from callsheet.graph.record import Record
from callsheet.graph.times import instant
from callsheet.runtime.transcript import Spoken, ToolCard
from callsheet.testing import memory_runtime
from callsheet.wire.formats import wire_of
from callsheet.wire.validate import problems
from tests.runtime.replies import Json, asks, call, openai_reply, result, user

MODELS = {"openai": "gpt-5.2", "anthropic": "claude-sonnet-4-5"}
both = pytest.mark.parametrize("provider", sorted(MODELS))


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as opened:
        yield opened


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    return runtime.conversation("harbour")


def answer(text: str) -> Json:
    return {"role": "assistant", "content": text}


def sheet(view: Conversation, provider: str, mode: str) -> Sheet:
    made = view.assemble(provider=provider, model=MODELS[provider], mode=mode)
    assert problems(made.request(), wire_of(provider)) == []
    assert made.record.boundary.mode is RuntimeMode(mode)
    return made


def text(made: Sheet) -> str:
    return json.dumps(made.request())


def messages(made: Sheet) -> list[Json]:
    found = made.request()["messages"]
    assert isinstance(found, list)
    return found


def everything(talk: Conversation) -> list[Record]:
    session = talk._session
    return session.ledger.records(session.conversation.key)


# ------------------------------------------------------------------ comparison


@both
def test_answers_are_compared_and_the_work_behind_them_stays_apart(talk: Conversation, provider: str) -> None:
    talk.record(user("How deep is the basin?"))
    one, two = talk.participant("One"), talk.participant("Two")
    asked = {view: sheet(view, provider, "comparison") for view in (one, two)}
    assert messages(asked[one]) == messages(asked[two])
    one.record(asks(call("c1", "sound"), content="NOTE TO SELF"), sheet=asked[one])
    one.record(result("c1", "Error: TOOL BROKE"), status="failed")
    one.record(asks(call("c2", "sound")))
    one.record(result("c2", "RAW 4.81 m"))
    one.record(answer("Nearly five metres."))
    two.record(answer("Four metres eighty."), sheet=asked[two])
    talk.record(user("Who is right?"))
    seen = text(sheet(two, provider, "comparison"))
    assert "[One]: Nearly five metres." in seen
    assert "Four metres eighty." in seen
    for own in ("NOTE TO SELF", "TOOL BROKE", "RAW 4.81", "tool_use", "tool_calls", "[Two]"):
        assert own not in seen
    judge = text(sheet(talk, provider, "comparison"))
    assert "[One]: Nearly five metres." in judge
    assert "[Two]: Four metres eighty." in judge
    assert judge.index("[One]") < judge.index("[Two]") < judge.index("Who is right?")
    assert "RAW 4.81" in text(sheet(one, provider, "comparison"))


# ------------------------------------------------------------------ discussion


@both
def test_a_discussion_goes_on_without_a_user_in_between(talk: Conversation, provider: str) -> None:
    talk.record(user("Shall the old crane stay?"))
    talk.instruct("Moderator: one claim a turn.", scope="moderator")
    views = {name: talk.participant(name, persona=f"You are {name}.") for name in ("Ida", "Jon", "Kay")}
    spoken: list[tuple[str, str]] = []
    for turn, name in enumerate(["Ida", "Jon", "Kay", "Ida", "Ida", "Kay"]):
        made = sheet(views[name], provider, "discussion")
        shown = text(made)
        assert "Moderator: one claim a turn." in shown
        assert [other for other in views if f"You are {other}." in shown] == [name]
        places = [shown.index(f"[{who}]: {what}" if who != name else what) for who, what in spoken]
        assert places == sorted(places)
        assert f"[{name}]" not in shown
        if provider == "anthropic":
            assert [one["role"] for one in messages(made)][-1] == "user"
        claim = f"Claim number {turn}."
        views[name].record(answer(claim), sheet=made)
        spoken.append((name, claim))


@both
def test_a_moderator_may_change_the_rules_between_two_turns(talk: Conversation, provider: str) -> None:
    talk.record(user("Shall the old crane stay?"))
    talk.instruct("One claim a turn.", scope="moderator")
    ida, jon = talk.participant("Ida"), talk.participant("Jon")
    ida.record(answer("It shall."), sheet=sheet(ida, provider, "discussion"))
    talk.instruct("Two sentences at most.", scope="moderator")
    for view in (ida, jon):
        shown = text(sheet(view, provider, "discussion"))
        assert "Two sentences at most." in shown
        assert "One claim a turn." not in shown


def test_instructions_alone_are_nothing_to_discuss(talk: Conversation) -> None:
    talk.instruct("One claim a turn.", scope="moderator")
    with pytest.raises(EmptyRequest):
        talk.participant("Ida").assemble(provider="openai", model="gpt-5.2", mode="discussion")


@both
def test_who_begins_without_a_user_has_a_beginning(talk: Conversation, provider: str) -> None:
    ida, jon = talk.participant("Ida"), talk.participant("Jon")
    ida.record(answer("The crane must go."))
    for view in (ida, jon):
        first = messages(sheet(view, provider, "discussion"))[0]
        assert first["role"] == "user"


# ------------------------------------------------------------------ scheduled tasks


@both
def test_a_scheduled_task_says_a_turn_and_takes_the_normal_path(talk: Conversation, provider: str) -> None:
    talk.record([user("Read the gauge each morning."), answer("I will.")])
    due = talk.scheduled("gauge", "Morning of the third.", at="2026-06-03T06:00:00Z")
    assert len(due.ids) == 1
    made = sheet(talk, provider, "scheduled")
    assert made.record.boundary.task == "gauge"
    assert made.record.boundary.trigger == due.ids[0]
    assert "Morning of the third." in text(made)
    talk.record(asks(call("g", "read_gauge")), sheet=made)
    talk.record(result("g", "212 cm"))
    second = sheet(talk, provider, "scheduled")
    assert second.record.boundary.task == "gauge"
    talk.record(answer("It stands at 212 cm."), sheet=second)
    talk.record(user("Thank you."))
    after = talk.record(answer("You are welcome."), sheet=sheet(talk, provider, "chat")).ids[0]
    records = {record.id: record for record in everything(talk)}
    scopes = [
        (record.header.kind, record.header.scope.mode.value, record.header.scope.task) for record in records.values()
    ]
    assert ("message", "scheduled", "gauge") in scopes
    assert ("artifact", "scheduled", "gauge") in scopes
    assert records[due.ids[0]].header.at == instant("2026-06-03T06:00:00Z")
    assert records[after].header.scope.mode is RuntimeMode.CHAT
    assert records[after].header.scope.task is None


def test_a_task_that_comes_due_twice_counts_once(talk: Conversation) -> None:
    first = talk.scheduled("gauge", "Morning.", event="gauge 2026-06-03")
    again = talk.scheduled("gauge", "Morning.", event="gauge 2026-06-03")
    assert len(first.ids) == 1
    assert again.ids == ()
    assert len(talk.transcript()) == 1


def test_a_scheduled_task_says_what_a_user_would(talk: Conversation) -> None:
    picture = {"type": "text", "text": "Morning."}
    assert talk.scheduled("gauge", {"role": "user", "content": [picture]}).ids
    for wrong in (answer("No."), [user("a"), user("b")], [], result("x", "y"), openai_reply("No.")):
        with pytest.raises((InvalidOption, InvalidMessage)):
            talk.scheduled("gauge", wrong)
    with pytest.raises(InvalidOption):
        talk.scheduled("", "Morning.")
    assert len(talk.transcript()) == 1


# ------------------------------------------------------------------ what is recorded, and what people read


def test_records_say_on_what_occasion_they_were_made(talk: Conversation) -> None:
    talk.record(user("Shall the old crane stay?"))
    ida = talk.participant("Ida")
    made = sheet(ida, "openai", "discussion")
    ida.record(asks(call("c1", "weigh")), sheet=made)
    found = ida.record(result("c1", "12 t")).ids[0]
    scope = next(record.header.scope for record in everything(talk) if record.id == found)
    assert scope.mode is RuntimeMode.DISCUSSION
    assert scope.owner == ida.participant_id
    assert scope.visibility is Visibility.PARTICIPANT


def test_the_transcript_holds_what_was_said_and_done_and_no_bookkeeping(talk: Conversation) -> None:
    talk.record(user("Shall the old crane stay?"))
    ida, jon = talk.participant("Ida"), talk.participant("Jon")
    made = sheet(ida, "openai", "discussion")
    ida.record(openai_reply(asks(call("c1", "weigh")), prompt=40), sheet=made)
    found = ida.record(result("c1", "12 t")).ids[0]
    ida.record(answer("It weighs 12 t."))
    ida.share(found, to=["Jon"])
    ida.withdraw(found, to=["Jon"])
    ida.release(found, to=["main"])
    ida.promote(found, summary="The crane weighs 12 t.")
    jon.failed(sheet(jon, "openai", "discussion"), error="no route")
    talk.checkpoint("before lunch")
    talk.scheduled("gauge", "Morning.")
    assert len(everything(talk)) > 15
    items = talk.transcript()
    assert [item.text if isinstance(item, Spoken) else item.tool for item in items] == [
        "Shall the old crane stay?",
        "weigh",
        "It weighs 12 t.",
        "Morning.",
    ]
    assert sum(isinstance(item, ToolCard) for item in items) == 1
    shown = text(sheet(jon, "openai", "discussion"))
    for word in ("checkpoint", "lunch", "no route", "discussion", "gauge", "run_", "participant"):
        assert word not in shown
