"""What began and has no end: nobody knows whether it took effect, so it is asked about before anything is repeated."""

import msgspec
import pytest

import callsheet
from callsheet import ArtifactStatus, Conversation, ToolContract
from callsheet.errors import CallDecided, CallTaken, InvalidOption, NotApplied
from callsheet.graph.changes import CallAttempt
from callsheet.graph.enums import AttemptPhase
from callsheet.graph.ids import RecordId
from callsheet.graph.times import Instant
from callsheet.graph.values import Scope
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.executing import holding
from callsheet.runtime.executing.auditing import How
from callsheet.runtime.executing.tool import Tool
from callsheet.testing import FixedClock, memory_runtime
from tests.runtime.executing.acts import Gate, HandPace, artifacts, attempts, join_tools, shown, talking, texts

UNKNOWN, OK, FAILED = ArtifactStatus.UNKNOWN, ArtifactStatus.OK, ArtifactStatus.FAILED
LEASE = 600


class Valve:
    """Counts how often it was opened."""

    def __init__(self) -> None:
        self.opened: list[str] = []

    def open_valve(self, name: str, key: str = "") -> str:
        self.opened.append(name)
        return f"{name} is open"

    def tool(self, **terms: object) -> Tool[..., object]:
        contract = msgspec.convert({"name": "open_valve", **terms}, ToolContract)
        return callsheet.tool(contract=contract)(self.open_valve)


class Elsewhere:
    """Another machine that has to do with the call of a conversation."""

    def __init__(self, talk: Conversation) -> None:
        self.talk = talk
        self.call = talk.pending()[0].id

    def begun(self, phase: AttemptPhase, attempt: int = 1, holder: str = "elsewhere:7:1") -> None:
        def draft(drafting: Drafting) -> None:
            begun = CallAttempt(
                call=self.call,
                phase=phase,
                attempt=attempt,
                lease=RecordId("another lease"),
                holder=holder,
                until=Instant(drafting.at + LEASE * 1_000_000),
            )
            drafting.add(begun, kind="call_attempt", scope=Scope(branch=drafting.tail.branch))

        self.talk._session.append(self.talk._view, draft)


class Interrupted(Elsewhere):
    """A call that another machine began and never ended."""

    def __init__(self, phase: AttemptPhase = AttemptPhase.STARTED, attempt: int = 1) -> None:
        self.clock = FixedClock()
        runtime = memory_runtime(clock=self.clock)
        super().__init__(talking(runtime.conversation("tank"), a=("open_valve", {"name": "V2"})))
        self.begun(phase, attempt)
        self.clock.advance(LEASE + 1)


@pytest.fixture
def valve() -> Valve:
    return Valve()


def test_it_is_left_to_its_holder_until_its_lease_is_over(valve: Valve) -> None:
    made = Interrupted()
    made.begun(AttemptPhase.STARTED)
    with pytest.raises(CallTaken, match="process 7 on elsewhere is running 1 of these calls"):
        made.talk.execute([valve.tool()])
    made.clock.advance(LEASE)
    with pytest.raises(CallTaken):
        made.talk.execute([valve.tool()])
    made.clock.advance(1)
    assert made.talk.execute([valve.tool()]).outcomes[0].status is UNKNOWN


def test_it_is_not_run_and_says_that_it_may_have_taken_effect(valve: Valve) -> None:
    made = Interrupted()
    for _ in range(2):
        (outcome,) = made.talk.execute([valve.tool(recheck=("read_gauge",))]).outcomes
        assert (outcome.status, outcome.attempts) == (UNKNOWN, 1)
    assert valve.opened == []
    assert len(artifacts(made.talk)) == 1
    assert "it may or may not have taken effect" in shown(made.talk)["a"]
    assert "read_gauge" in shown(made.talk)["a"]
    assert made.talk.executions()[0].state == "unknown"
    assert len(made.talk.pending()) == 1


@pytest.mark.parametrize("terms", [{"side_effects": False}, {"idempotent": True}, {"idempotency_key": "key"}])
def test_what_does_no_harm_is_run_again(valve: Valve, terms: dict[str, object]) -> None:
    made = Interrupted()
    (outcome,) = made.talk.execute([valve.tool(**terms)]).outcomes
    assert (outcome.status, outcome.attempts) == (OK, 2)
    assert valve.opened == ["V2"]


def test_what_takes_its_process_down_again_and_again_is_given_up_on(valve: Valve) -> None:
    made = Interrupted(attempt=3)
    (outcome,) = made.talk.execute([valve.tool(side_effects=False)]).outcomes
    assert outcome.status is FAILED
    assert valve.opened == []
    assert "Given up after 3 attempts" in texts(made.talk)[0]


def test_what_was_only_claimed_is_run(valve: Valve) -> None:
    made = Interrupted(AttemptPhase.CLAIMED, attempt=0)
    assert made.talk.execute([valve.tool()]).outcomes[0].status is OK
    assert valve.opened == ["V2"]


def test_a_person_can_say_what_became_of_it(valve: Valve) -> None:
    made = Interrupted()
    made.talk.execute([valve.tool()])
    with pytest.raises(InvalidOption, match="final"):
        made.talk.settle("a", "?", by="kim", status="unknown")
    with pytest.raises(InvalidOption, match="cannot be written as JSON"):
        made.talk.settle("a", object(), by="kim")
    made.talk.settle("a", {"valve": "V2", "open": True}, by="kim", reason="looked at it")
    assert shown(made.talk) == {"a": "valve: V2\nopen: true"}
    assert valve.opened == []
    assert b"kim" in artifacts(made.talk)[-1].metadata
    assert made.talk.executions()[0].state == "answered"


def test_a_person_can_let_it_run_once_more(valve: Valve) -> None:
    made = Interrupted()
    made.talk.execute([valve.tool()])
    made.talk.repeat("a", by="kim")
    assert [(one.how, one.by) for one in made.talk.executions()[0].decisions] == [(How.REPEATED, "kim")]
    with pytest.raises(CallDecided):
        made.talk.repeat("a", by="kim")
    for _ in range(2):
        made.talk.execute([valve.tool()])
    assert valve.opened == ["V2"]
    assert [(d.approved, d.by) for d in made.talk.executions()[0].decisions] == [(True, "kim")]


def test_leave_to_repeat_is_for_one_attempt(valve: Valve) -> None:
    made = Interrupted()
    made.talk.repeat("a", by="kim")
    made.begun(AttemptPhase.STARTED, 2)
    made.clock.advance(LEASE + 1)
    assert made.talk.execute([valve.tool()]).outcomes[0].status is UNKNOWN
    assert valve.opened == []


def test_a_person_can_give_it_up(valve: Valve) -> None:
    made = Interrupted()
    made.talk.execute([valve.tool()])
    made.talk.give_up("a", by="kim", reason="the tank was sold")
    assert made.talk.execute([valve.tool()]).outcomes == ()
    assert made.talk.pending() == ()
    assert made.talk.executions()[0].state == "abandoned"
    assert "may or may not have taken effect" in shown(made.talk)["a"]


class Looking:
    """A tool whose owner can find out what became of a call."""

    def __init__(self, valve: Valve, *found: object) -> None:
        self.found = list(found)
        self.asked: list[str] = []
        self.tool = callsheet.tool(contract=ToolContract(name="open_valve"), reconcile=self.look)(valve.open_valve)

    def look(self, name: str, key: str = "") -> object:
        self.asked.append(name)
        found = self.found.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


@pytest.mark.parametrize("nothing", [object(), float("nan"), [1, float("inf")]])
def test_what_is_found_and_is_no_json_says_nothing_of_what_became_of_it(valve: Valve, nothing: object) -> None:
    made, looking = Interrupted(), Looking(valve, nothing, nothing, "V2 was opened at 10:02")
    for _ in range(2):
        (outcome,) = made.talk.execute([looking.tool]).outcomes
        assert outcome.status is UNKNOWN
        kind = type(nothing).__name__
        assert outcome.reason == f"its reconcile function returned a {kind} that is no JSON"
        assert made.talk.executions()[0].state == "unknown"
        assert made.talk.executions()[0].attempts[-1].error == "NotJSON"
    assert made.talk.execute([looking.tool]).outcomes[0].status is OK
    assert valve.opened == []


def test_what_is_found_is_its_result(valve: Valve) -> None:
    made, looking = Interrupted(), Looking(valve, "V2 was opened at 10:02")
    assert made.talk.execute([looking.tool]).outcomes[0].status is OK
    assert (valve.opened, looking.asked) == ([], ["V2"])
    assert shown(made.talk) == {"a": "V2 was opened at 10:02"}
    assert artifacts(made.talk)[-1].metadata == b'{"reconciled":"looked up"}'
    (record,) = made.talk.executions()
    assert [(one.phase, one.lookup) for one in record.attempts] == [
        (AttemptPhase.STARTED, True),  # as the record of the other machine is made here, without the time of its start
        (AttemptPhase.STARTED, True),
        (AttemptPhase.STARTED, True),
        (AttemptPhase.ENDED, False),
    ]


def test_what_did_not_happen_is_run(valve: Valve) -> None:
    made, looking = Interrupted(), Looking(valve, NotApplied())
    (outcome,) = made.talk.execute([looking.tool]).outcomes
    assert (outcome.status, outcome.attempts) == (OK, 2)
    assert valve.opened == ["V2"]


def test_what_cannot_be_found_out_stays_unknown_and_is_asked_again(valve: Valve) -> None:
    made = Interrupted()
    looking = Looking(valve, KeyError("V2"), OSError("no line"), NotApplied())
    for _ in range(2):
        assert made.talk.execute([looking.tool]).outcomes[0].status is UNKNOWN
    assert valve.opened == []
    assert len(artifacts(made.talk)) == 1
    assert made.talk.execute([looking.tool]).outcomes[0].status is OK
    assert valve.opened == ["V2"]


def test_a_look_that_hangs_leaves_it_unknown(valve: Valve) -> None:
    pace, gate = HandPace(), Gate()

    def look(name: str, key: str = "") -> str:
        pace.advance(120.0)
        gate.wait()
        return "found too late"

    made = Interrupted()
    tool = callsheet.tool(contract=ToolContract(name="open_valve"), reconcile=look)(valve.open_valve)
    (outcome,) = made.talk.execute([tool], pace=pace).outcomes
    gate.open()
    join_tools()
    assert outcome.status is UNKNOWN
    assert (valve.opened, len(artifacts(made.talk))) == ([], 1)


def test_a_tool_that_is_gone_leaves_it_unknown() -> None:
    made = Interrupted()
    assert made.talk.execute([]).outcomes[0].status is UNKNOWN


def test_an_own_living_process_is_not_gone_and_a_wrong_name_is_nobody() -> None:
    assert not holding.gone(holding.holder())
    for name in ("", "x", "a:b:c", "elsewhere:1:1", f"{holding.holder().partition(':')[0]}:x:1"):
        assert not holding.gone(name)
    node, _, _ = holding.holder().split(":")
    assert holding.gone(f"{node}:{2**22 + 1}:5")


def test_a_result_after_somebody_settled_it_is_late_evidence(valve: Valve) -> None:
    made = Interrupted(AttemptPhase.CLAIMED, attempt=0)
    talk: Conversation = made.talk

    def open_valve(name: str) -> str:
        talk.record({"role": "tool", "tool_call_id": "a", "content": "told from outside"})
        return "opened"

    talk.execute([open_valve])
    assert texts(talk) == ["told from outside", "opened"]
    assert shown(talk) == {"a": "told from outside"}
    assert attempts(talk)[-1].outcome is OK


# --------------------------------------------------------------------------- run on another branch


@pytest.mark.parametrize("approved", [False, True], ids=["free", "approved"])
def test_what_has_effects_is_run_once_for_all_branches_that_ask_for_it(approved: bool) -> None:
    valve, talk = Valve(), talking(memory_runtime().conversation("tank"), a=("open_valve", {"name": "V2"}))
    tool = valve.tool(needs_approval=approved)
    if approved:
        talk.execute([tool])
        talk.approve("a", by="kim")
    others = [talk.branch(), talk.branch()]
    assert [o.status for o in talk.execute([tool]).outcomes] == [OK]
    for other in others:
        for _ in range(2):
            assert [o.status for o in other.execute([tool]).outcomes] == [UNKNOWN]
        assert "it was run on another branch; it may or may not have taken effect" in shown(other)["a"]
        assert other.executions()[0].state == "unknown"
    assert valve.opened == ["V2"]
    first, second = others
    first.repeat("a", by="kim")
    assert [o.status for o in first.execute([tool]).outcomes] == [OK]
    assert valve.opened == ["V2", "V2"]
    second.settle("a", "V2 was open already", by="kim")
    assert second.pending() == ()


def test_a_request_to_approve_is_over_where_another_branch_ran_the_call() -> None:
    valve, talk = Valve(), talking(memory_runtime().conversation("tank"), a=("open_valve", {"name": "V2"}))
    tool = valve.tool(needs_approval=True)
    talk.execute([tool])
    other = talk.branch()
    # Who goes through all that waits approves it twice, and means one run.
    for request in talk.approvals(everywhere=True):
        talk.approve(request, by="kim")
    third = talk.branch(name="third")
    talk.execute([tool])
    assert [o.status for o in other.execute([tool]).outcomes] == [UNKNOWN]
    assert third.approvals() == other.approvals() == ()
    with pytest.raises(CallDecided, match="was approved by kim"):
        other.refuse("a", by="kim")
    assert valve.opened == ["V2"]


def test_a_reconcile_function_finds_out_what_another_branch_did() -> None:
    valve, talk = Valve(), talking(memory_runtime().conversation("tank"), a=("open_valve", {"name": "V2"}))
    tool = callsheet.tool(
        contract=ToolContract(name="open_valve"), reconcile=lambda name: f"{name} is open, it was found"
    )(valve.open_valve)
    other = talk.branch()
    talk.execute([tool])
    assert [o.status for o in other.execute([tool]).outcomes] == [OK]
    assert texts(other)[-1] == "V2 is open, it was found"
    assert valve.opened == ["V2"]


def test_what_does_no_harm_or_never_began_is_run_on_each_branch() -> None:
    valve, talk = Valve(), talking(memory_runtime().conversation("tank"), a=("open_valve", {"name": "V2"}))
    harmless = valve.tool(side_effects=False)
    other = talk.branch()
    assert [o.status for one in (talk, other) for o in one.execute([harmless]).outcomes] == [OK, OK]
    assert valve.opened == ["V2", "V2"]


@pytest.mark.parametrize("phase", [AttemptPhase.CLAIMED, AttemptPhase.RELEASED])
def test_what_another_branch_took_on_and_did_not_begin_is_run(phase: AttemptPhase) -> None:
    valve, taken = Valve(), Interrupted(AttemptPhase.RELEASED)
    other = taken.talk.branch()
    taken.begun(phase)
    taken.clock.advance(LEASE + 1)
    asking = valve.tool(needs_approval=True)
    assert [o.status for o in other.execute([asking]).outcomes] == [ArtifactStatus.AWAITING_APPROVAL]
    other.approve(other.approvals()[0], by="kim")
    assert [o.status for o in other.execute([asking]).outcomes] == [OK]
    assert valve.opened == ["V2"]


def test_what_a_living_process_has_on_another_branch_is_taken() -> None:
    valve, clock = Valve(), FixedClock()
    talk = talking(memory_runtime(clock=clock).conversation("tank"), a=("open_valve", {"name": "V2"}))
    other, inner = talk.branch(), []

    def open_valve(name: str) -> str:
        with pytest.raises(CallTaken):
            other.execute([valve.tool()])
        inner.append(name)
        return "open"

    talk.execute([open_valve])
    assert (inner, valve.opened) == (["V2"], [])


def test_that_it_waits_for_approval_is_not_said_any_more_once_it_was_begun() -> None:
    valve, clock = Valve(), FixedClock()
    talk = talking(memory_runtime(clock=clock).conversation("tank"), a=("open_valve", {"name": "V2"}))
    tool = valve.tool(needs_approval=True)
    talk.execute([tool])
    assert "waits for a person's approval" in shown(talk)["a"]
    talk.approve("a", by="kim")
    Elsewhere(talk).begun(AttemptPhase.STARTED)
    clock.advance(LEASE + 1)
    assert [o.status for o in talk.execute([tool]).outcomes] == [UNKNOWN]
    assert shown(talk)["a"] == "(no result yet: it was begun and interrupted; it may or may not have taken effect.)"
