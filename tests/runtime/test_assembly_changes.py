"""What changed the standing of a record holds for every later request, not only for the next one."""

import pytest
from msgspec.structs import replace

from callsheet import Conversation, Sheet
from callsheet.assemble import standins
from callsheet.graph.changes import MarkedStale, Reclassified, Superseded
from callsheet.graph.enums import Level, Privacy, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.record import Body
from callsheet.policy.contracts import ToolContract
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.policy.settings import Manner
from callsheet.testing import memory_runtime
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.runtime.replies import asks, call, openai_reply, result, user

BERTH = "Berth 14 is held by the barge MORWENNA-88."
BUDGET = 4_000


def change(talk: Conversation, body: Body, kind: str) -> None:
    talk._session.append(talk._view, lambda drafting: drafting.add(body, kind=kind))


def harbour(talk: Conversation) -> RecordId:
    """One look at a berth, and the answer that followed it."""
    talk.record([user("Who is at berth 14?"), asks(call("b", "look_up", '{"berth": 14}'))])
    id = talk.record(result("b", BERTH)).ids[0]
    talk.record(openai_reply("A barge."), sheet=assembled(talk))
    return id


def assembled(talk: Conversation) -> Sheet:
    return talk.assemble(provider="openai", model="gpt-5.2", policy="balanced", budget=BUDGET)


def goes_on(talk: Conversation, number: int, text: str = "And the next one?") -> list[Sheet]:
    """Another turn with a result of some size; the sheets of its question and of its result."""
    talk.record(user(text))
    sheet = assembled(talk)
    id = f"n{number}"
    talk.record(openai_reply(asks(call(id, "tide", f'{{"day": {number}}}'))), sheet=sheet)
    talk.record(result(id, "\n".join(f"pier {number}-{pier}: wind {pier * number % 17} knots" for pier in range(16))))
    after = assembled(talk)
    talk.record(openai_reply("Noted."), sheet=after)
    return [sheet, after]


def season(talk: Conversation) -> list[Sheet]:
    """So many turns that everything is chosen anew at least once."""
    sheets = [sheet for number in range(1, 24) for sheet in goes_on(talk, number)]
    assert {"high_water", "pays"} & {sheet.record.rewritten for sheet in sheets}
    return sheets


def text(sheet: Sheet) -> str:
    return b"\n".join(sheet.blocks).decode()


def level(sheet: Sheet, id: RecordId) -> Level:
    return next((selection.level for selection in sheet.selections if selection.record == id), Level.NONE)


def test_what_was_withheld_once_stays_withheld_through_every_rewrite() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("harbour")
        id = harbour(talk)
        change(talk, Reclassified(records=(id,), privacy=Privacy.SECRET), "reclassified")
        first = goes_on(talk, 0)[0]
        assert "hard" == first.record.rewritten
        assert Level.SAFE is level(first, id)
        sheets = season(talk)
        (named, _) = goes_on(talk, 24, "What about MORWENNA-88?")
        for sheet in (first, *sheets):
            assert "MORWENNA" not in text(sheet)
        assert "held by the barge" not in text(named)


OPENED = replace(BALANCED, name="opened", privacy=replace(BALANCED.privacy, personal=Level.NONE))


@pytest.mark.parametrize(("provider", "model"), [("openai", "gpt-5.2"), ("anthropic", "claude-sonnet-4-5")])
@pytest.mark.parametrize("policy", [BALANCED, OPENED], ids=str)
@pytest.mark.parametrize("privacy", [Privacy.SECRET, Privacy.PERSONAL])
@pytest.mark.parametrize("named", ["result", "call", "message"])
def test_the_arguments_of_a_call_follow_what_was_reclassified(
    provider: str, model: str, policy: PolicySetDocument, privacy: Privacy, named: str
) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("harbour")
        talk.record(user("Who has the keys?"))
        asked = asks(call("k", "find_keeper", '{"badge": "TAMSIN-31"}'), call("t", "tide", '{"pier": "P-6"}'))
        (message,) = talk.record(openai_reply(asked)).ids
        ids = {"message": message, "call": talk.pending()[0].id}
        (ids["result"],) = talk.record(result("k", "Keeper of the east gate.")).ids
        talk.record(result("t", "High at noon."))

        def sent(conversation: Conversation) -> Sheet:
            return conversation.assemble(provider=provider, model=model, policy=policy, budget=BUDGET)

        before = sent(talk)
        assert "TAMSIN-31" in text(before)
        talk.record(openai_reply("Somebody."), sheet=before)
        change(talk, Reclassified(records=(ids[named],), privacy=privacy), "reclassified")
        talk.record(user("And now?"))
        after = sent(talk)
        refused = privacy is Privacy.SECRET or policy is OPENED
        assert ("TAMSIN-31" in text(after)) is not refused
        assert ("P-6" in text(after)) is not (refused and named == "message")
        assert "find_keeper" in text(after)
        gone = named == "message" and policy is OPENED and privacy is Privacy.PERSONAL  # then its calls are gone too
        assert (standins.ARGUMENTS_WITHHELD in text(after)) is (refused and not gone)
        assert not problems(after.request(), Wire(provider))
        assert (after.record.rewritten == "hard") is refused
        cold = sent(runtime.conversation("harbour"))
        assert cold.blocks == after.blocks
        assert (cold.tokens, cold.record.exact) == (after.tokens, after.record.exact)
        talk.record(openai_reply("Well."), sheet=after)
        for answer in (talk.answer_recall({"reference": message}), talk.answer_recall({"query": "TAMSIN-31"})):
            assert ("badge" in answer) is (not refused)
        assert "TAMSIN-31" in talk.recall(message).text


def test_arguments_stay_withheld_when_their_result_has_left_the_view() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("harbour")
        talk.record([user("Who has the keys?"), asks(call("k", "find_keeper", '{"badge": "TAMSIN-31"}'))])
        (id,) = talk.record(result("k", "Keeper of the east gate.")).ids
        talk.record(openai_reply("Somebody."), sheet=assembled(talk))
        change(talk, Reclassified(records=(id,), privacy=Privacy.SECRET), "reclassified")
        for sheet in (*goes_on(talk, 0), *season(talk)):
            assert "TAMSIN-31" not in text(sheet)


@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_what_was_said_is_withheld_as_what_was_found_is(role: str) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("harbour")
        talk.record(user("Who is at the gate?"))
        id = talk.record({"role": role, "content": "The gate opens with PLUM-7."}).ids[0]
        talk.record(openai_reply("Somebody."), sheet=assembled(talk))
        change(talk, Reclassified(records=(id,), privacy=Privacy.SECRET), "reclassified")
        first = goes_on(talk, 0)[0]
        assert Level.SAFE is level(first, id)
        for sheet in (first, *season(talk)):
            assert "PLUM-7" not in text(sheet)


@pytest.mark.parametrize("kind", ["superseded", "marked_stale"])
def test_what_no_longer_speaks_for_the_present_gets_one_notice_and_never_comes_back_as_fact(kind: str) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("harbour")
        id = harbour(talk)
        newer = talk.record(
            [user("Look again."), asks(call("b2", "look_up", '{"berth": 15}')), result("b2", "Berth 15 is free.")]
        ).ids[-1]
        talk.record(openai_reply("It is."), sheet=assembled(talk))
        if kind == "superseded":
            change(talk, Superseded(current=newer, replaced=(id,)), kind)
        else:
            change(talk, MarkedStale(records=(id,)), kind)
        first = goes_on(talk, 0)[0]
        assert not first.record.rewritten
        notices = [selection for selection in first.selections if selection.note and selection.record == id]
        assert [Reason.SUPERSEDED if kind == "superseded" else Reason.STALE] == [one.reason for one in notices]
        sheets = season(talk)
        rewritten = next(place for place, sheet in enumerate(sheets) if sheet.record.rewritten)
        for sheet in sheets[:rewritten]:
            assert 1 == sum(bool(selection.note) and selection.record == id for selection in sheet.selections)
        for sheet in sheets[rewritten:]:
            assert "held by the barge" not in text(sheet)
        assert "held by the barge" not in text(goes_on(talk, 24, "What about MORWENNA-88?")[0])


def test_the_last_turns_stay_until_policy_says_otherwise() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("harbour")
        id = harbour(talk)
        for number in range(BALANCED.turns // 2):
            assert Level.DENSE is level(goes_on(talk, number)[0], id)


def test_replay_shows_everything_also_where_another_set_left_most_of_it_out() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("harbour")
        harbour(talk)
        season(talk)
        talk.record(user("And all in all?"))
        assert len(assembled(talk).selections) < len(talk.history()[0])
        sheet = talk.assemble(provider="openai", model="gpt-5.2", policy="replay")
        assert [record.id for record in talk.history()[0]] == [selection.record for selection in sheet.selections]


@pytest.mark.parametrize("hidden", [True, False])
def test_a_replacement_that_is_hidden_replaces_nothing(hidden: bool) -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("harbour")
        berth = harbour(talk)
        other = talk.participant("pilot") if hidden else talk
        other.record(asks(call("p", "look_up", '{"berth": 14}')))
        newer = other.record(result("p", "Berth 14 is held by the tug BRENIN-3.")).ids[0]
        change(talk, Superseded(current=newer, replaced=(berth,)), "superseded")

        season(talk)
        reasons = talk.why_not(assembled(talk).id, berth)

    assert hidden is (reasons.reason is not Reason.SUPERSEDED)


def test_a_tools_contract_says_from_where_its_long_results_are_shown() -> None:
    story = "\n".join(f"Chapter {number}: the crew of lighthouse {number} waits." for number in range(3_000))
    shown: dict[Manner, str] = {}
    for manner in Manner:
        contract = ToolContract(name="read_log", narrowing=manner)
        policy = replace(BALANCED, name=f"told-{manner.value}", tools=(contract,))
        with memory_runtime() as runtime:
            talk = runtime.conversation("lighthouse")
            talk.record([user("Read it."), asks(call("r", "read_log", "{}")), result("r", story)])
            shown[manner] = text(talk.assemble(provider="openai", model="gpt-5.2", policy=policy))

    assert "lighthouse 0 " in shown[Manner.START]
    assert "lighthouse 2999 " not in shown[Manner.START]
    assert "lighthouse 2999 " in shown[Manner.START_END]
