"""A person's word: bound to the exact arguments, said once, kept over restarts, never lost behind later turns."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

import callsheet
from callsheet import ArtifactStatus, Conversation, ToolContract
from callsheet.errors import CallDecided, InvalidOption, NotFound
from callsheet.graph.changes import Approval
from callsheet.graph.ids import RecordId
from callsheet.graph.values import Scope
from callsheet.testing import FixedClock, memory_runtime
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.runtime.executing.acts import artifacts, ask, shown, talking, texts

WAITS = "(no result yet: it waits for a person's approval and has not been run)"
ASKED, OK, CANCELLED = ArtifactStatus.AWAITING_APPROVAL, ArtifactStatus.OK, ArtifactStatus.CANCELLED


class Bank:
    """Counts what was paid."""

    def __init__(self) -> None:
        self.paid: list[tuple[int, str]] = []
        contract = ToolContract(name="transfer", side_effects=True, needs_approval=True)
        self.tool = callsheet.tool(contract=contract)(self.transfer)

    def transfer(self, amount: int, to: str) -> str:
        """Pay somebody."""
        self.paid.append((amount, to))
        return f"paid {amount} to {to}"


@pytest.fixture
def bank() -> Bank:
    return Bank()


@pytest.fixture
def talk() -> Conversation:
    return memory_runtime().conversation("bank")


ARGUMENTS = '{"amount": 250, "to":"K-88"}'


def test_a_call_that_needs_approval_waits_and_says_so(talk: Conversation, bank: Bank) -> None:
    talking(talk, a=("transfer", ARGUMENTS))
    for _ in range(2):
        done = talk.execute([bank.tool])
        assert [o.status for o in done.outcomes] == [ASKED]
        assert not done.complete
    assert len(artifacts(talk)) == 1
    (request,) = talk.approvals()
    assert (request.tool, request.arguments, request.provider_id) == ("transfer", ARGUMENTS, "a")
    assert request.asked == datetime(2026, 1, 1, tzinfo=UTC)
    assert request.message == talk.history()[0][1].id
    assert shown(talk) == {"a": WAITS}
    assert bank.paid == []


def test_approved_it_runs_once_with_its_result_at_the_call(talk: Conversation, bank: Bank) -> None:
    talking(talk, a=("transfer", ARGUMENTS))
    talk.execute([bank.tool])
    shown(talk)
    talk.approve("a", by="kim", arguments=ARGUMENTS)
    assert talk.approvals() == ()
    for _ in range(2):
        talk.execute([bank.tool])
    assert bank.paid == [(250, "K-88")]
    assert shown(talk) == {"a": "paid 250 to K-88"}
    (record,) = talk.executions()
    assert [(d.approved, d.by) for d in record.decisions] == [(True, "kim")]


def test_refused_it_never_runs_and_the_model_reads_why(talk: Conversation, bank: Bank) -> None:
    talking(talk, a=("transfer", ARGUMENTS))
    talk.execute([bank.tool])
    talk.refuse("a", by="kim", reason="wrong account")
    assert talk.execute([bank.tool]).outcomes == ()
    assert bank.paid == []
    assert shown(talk) == {"a": "Refused by a person; it was not run. Reason: wrong account"}
    assert artifacts(talk)[-1].status is CANCELLED
    assert b"kim" in artifacts(talk)[-1].metadata


@pytest.mark.parametrize("first", ["approve", "refuse"])
@pytest.mark.parametrize("second", ["approve", "refuse"])
def test_a_second_word_is_rejected(talk: Conversation, bank: Bank, first: str, second: str) -> None:
    talking(talk, a=("transfer", ARGUMENTS))
    talk.execute([bank.tool])
    call = talk.approvals()[0].call
    getattr(talk, first)(call, by="kim")
    before = talk.executions()
    with pytest.raises(CallDecided):
        getattr(talk, second)(call, by="lee")
    assert talk.executions() == before


def test_a_word_about_other_arguments_is_refused(talk: Conversation, bank: Bank) -> None:
    talking(talk, a=("transfer", ARGUMENTS))
    talk.execute([bank.tool])
    for other in (ARGUMENTS.replace("250", "2500"), '{"amount":250,"to":"K-88"}'):
        with pytest.raises(InvalidOption, match="has other arguments than these; nothing was decided"):
            talk.approve("a", by="kim", arguments=other)
    assert len(talk.approvals()) == 1


def test_an_approval_that_was_recorded_for_other_arguments_does_not_count(talk: Conversation, bank: Bank) -> None:
    talking(talk, a=("transfer", ARGUMENTS))
    call = talk.pending()[0].id
    forged = Approval(call=RecordId(call), approved=True, arguments="sha256:00", by="eve")
    talk._session.append(
        talk._view, lambda drafting: drafting.add(forged, kind="approval", scope=Scope(branch=drafting.tail.branch))
    )
    talk.execute([bank.tool])
    assert bank.paid == []


def test_a_word_before_it_is_asked_for_counts(talk: Conversation, bank: Bank) -> None:
    talking(talk, a=("transfer", ARGUMENTS))
    talk.approve(talk.pending()[0], by="kim")
    assert talk.execute([bank.tool]).complete


def test_after_it_ran_it_is_too_late(talk: Conversation, bank: Bank) -> None:
    talking(talk, a=("transfer", ARGUMENTS))
    call = talk.pending()[0].id
    talk.approve("a", by="kim")
    talk.execute([bank.tool])
    for word in (talk.approve, talk.refuse, talk.repeat, talk.give_up):
        with pytest.raises(CallDecided, match="was answered or given up on before"):
            word(call, by="kim")
        with pytest.raises(CallDecided, match="was answered or given up on before"):
            word("a", by="kim")
    with pytest.raises(NotFound):
        talk.approve("b", by="kim")


def test_a_branch_decides_for_itself(talk: Conversation, bank: Bank) -> None:
    talking(talk, a=("transfer", ARGUMENTS))
    talk.execute([bank.tool])
    other = talk.branch(name="other")
    talk.approve("a", by="kim")
    assert len(other.approvals()) == 1
    other.refuse("a", by="kim")
    talk.execute([bank.tool])
    other.execute([bank.tool])
    assert bank.paid == [(250, "K-88")]


def test_a_function_can_say_which_calls_need_approval(talk: Conversation) -> None:
    def large(arguments: Mapping[str, object]) -> bool:
        return int(str(arguments["amount"])) > 100

    def broken(arguments: Mapping[str, object]) -> bool:
        raise KeyError("nobody")

    def pay(amount: int) -> str:
        return f"paid {amount}"

    talking(talk, a=("pay", {"amount": 5}), b=("pay", {"amount": 500}))
    tool = callsheet.tool(needs_approval=large)(pay)
    assert [o.status for o in talk.execute([tool]).outcomes] == [OK, ASKED]
    talk.refuse("b", by="kim")
    ask(talk, c=("pay", {"amount": 5}))
    assert [o.status for o in talk.execute([callsheet.tool(needs_approval=broken)(pay)]).outcomes] == [ASKED]


def test_invalid_arguments_bother_nobody(talk: Conversation, bank: Bank) -> None:
    talking(talk, a=("transfer", {"amount": "much", "to": "K-88"}))
    assert talk.execute([bank.tool]).outcomes[0].status is ArtifactStatus.FAILED
    assert talk.approvals() == ()


def test_two_open_calls_with_one_id_are_named_by_their_own(talk: Conversation, bank: Bank) -> None:
    talking(talk, a=("transfer", ARGUMENTS))
    ask(talk, a=("transfer", ARGUMENTS))
    talk.execute([bank.tool], calls=[call.id for call in talk.pending()])
    with pytest.raises(InvalidOption, match="2 open calls have the id 'a'"):
        talk.approve("a", by="kim")
    talk.approve(talk.approvals()[1].call, by="kim")
    assert len(talk.approvals()) == 1


@pytest.mark.parametrize("approved", [True, False])
def test_dev_32_an_approval_survives_forty_turns_and_a_restart(tmp_path: Path, bank: Bank, approved: bool) -> None:
    path, clock = tmp_path / "bank.db", FixedClock()
    with callsheet.open(path, clock=clock) as runtime:
        talk = talking(runtime.conversation("bank"), a1=("transfer", ARGUMENTS))
        talk.execute([bank.tool])
        for turn in range(40):
            clock.advance(60)
            talk.record({"role": "user", "content": f"Remark {turn}."})
            talk.record({"role": "assistant", "content": f"Noted {turn}."})
            if turn % 8 == 0:
                for provider, model in (("openai", "gpt-5.2"), ("anthropic", "claude-sonnet-4-5")):
                    sheet = talk.assemble(provider=provider, model=model)
                    assert not problems(sheet.request(), Wire(provider))
                    assert WAITS in str(sheet.request())
    with callsheet.open(path, clock=clock) as runtime:
        talk = runtime.conversation("bank")
        (request,) = talk.approvals()
        assert (request.tool, request.arguments) == ("transfer", ARGUMENTS)
        assert request.asked == datetime(2026, 1, 1, tzinfo=UTC)
        assert request.message == talk.history()[0][1].id
        if approved:
            talk.approve("a1", by="kim")
        else:
            talk.refuse("a1", by="kim")
        with pytest.raises((CallDecided, NotFound)):
            talk.approve("a1", by="kim")
        talk.execute([bank.tool])
        assert bank.paid == ([(250, "K-88")] if approved else [])
        assert texts(talk)[-1].startswith("paid 250" if approved else "Refused by a person")
        call = talk.executions()[0].call
        assert artifacts(talk)[-1].call == call
        assert not problems(talk.assemble(provider="anthropic", model="claude-sonnet-4-5").request(), Wire.ANTHROPIC)
