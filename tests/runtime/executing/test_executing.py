"""Running open calls: results whole, failures told, time limits, repetitions only where they do no harm."""

import asyncio
import threading
from collections.abc import Sequence

import msgspec
import pytest

import callsheet
from callsheet import ArtifactStatus, Conversation, ToolContract
from callsheet.errors import CallTaken, InvalidOption, NotFound, StoreBusy
from callsheet.graph.enums import AttemptPhase, Defect, Privacy
from callsheet.graph.nodes import ToolArtifact
from callsheet.graph.ports import Append
from callsheet.graph.record import Record
from callsheet.policy.document import parse
from callsheet.runtime.executing.tool import Tool
from callsheet.testing import FixedClock, memory_runtime
from tests.runtime.executing.acts import (
    Gate,
    HandPace,
    artifacts,
    ask,
    attempts,
    join_tools,
    request,
    shown,
    talking,
    texts,
)

OK, FAILED, TIMED_OUT = ArtifactStatus.OK, ArtifactStatus.FAILED, ArtifactStatus.TIMED_OUT


@pytest.fixture
def talk() -> Conversation:
    return memory_runtime().conversation("kiln")


@callsheet.tool
def weigh(crate: str, unit: str = "kg") -> str:
    """Weigh a crate."""
    return f"{crate}: 41 {unit}"


def reading(function: object, **terms: object) -> Tool[..., object]:
    """A tool that changes nothing."""
    assert callable(function)
    contract = ToolContract(name=str(getattr(function, "__name__", "")), side_effects=False)
    return callsheet.tool(contract=msgspec.structs.replace(contract, **terms))(function)


def test_open_calls_are_run_and_paired_with_their_results(talk: Conversation) -> None:
    talking(talk, a=("weigh", {"crate": "A"}), b=("weigh", {"crate": "B", "unit": "t"}))
    done = talk.execute([weigh])
    assert done.complete
    assert [(o.provider_id, o.tool, o.status, o.attempts) for o in done.outcomes] == [
        ("a", "weigh", OK, 1),
        ("b", "weigh", OK, 1),
    ]
    assert shown(talk) == {"a": "A: 41 kg", "b": "B: 41 t"}
    assert talk.pending() == ()
    assert talk.execute([weigh]).outcomes == ()


def test_a_start_is_recorded_before_the_function_runs_and_its_end_with_the_result(talk: Conversation) -> None:
    seen: list[AttemptPhase] = []

    def look() -> str:
        seen.extend(attempt.phase for attempt in attempts(talk))
        return "looked"

    talking(talk, a=("look", {}))
    talk.execute([look])
    assert seen == [AttemptPhase.CLAIMED, AttemptPhase.STARTED]
    last = attempts(talk)[-1]
    assert (last.phase, last.attempt, last.outcome) == (AttemptPhase.ENDED, 1, OK)
    (record,) = talk.executions()
    assert [a.phase for a in record.attempts] == [AttemptPhase.CLAIMED, AttemptPhase.STARTED, AttemptPhase.ENDED]
    assert record.state == "answered"
    assert record.attempts[-1].started is not None


def test_what_a_tool_raises_is_told_without_its_traceback(talk: Conversation) -> None:
    def melt() -> None:
        hidden = "furnace key 4711"
        raise RuntimeError(f"too cold by {len(hidden)}")

    talking(talk, a=("melt", {}))
    assert talk.execute([melt]).outcomes[0].status is FAILED
    assert texts(talk) == ["RuntimeError: too cold by 16"]
    assert attempts(talk)[-1].error == "RuntimeError"


def test_a_tool_that_ends_its_thread_or_cannot_word_its_error_fails_alone(talk: Conversation) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError("not even this")

    def leave() -> None:
        raise SystemExit(3)

    def mute() -> None:
        raise Mute

    talking(talk, a=("leave", {}), b=("mute", {}), c=("weigh", {"crate": "C"}))
    done = talk.execute([leave, mute, weigh], parallel=1)
    assert [o.status for o in done.outcomes] == [FAILED, FAILED, OK]
    assert texts(talk)[:2] == ["SystemExit: 3", "Mute: (no message)"]


def test_twenty_megabytes_are_kept_whole(talk: Conversation) -> None:
    size = 20_000_000

    def dump() -> bytes:
        return b"\xff" * size

    talking(talk, a=("dump", {}))
    (outcome,) = talk.execute([dump]).outcomes
    assert outcome.artifact is not None
    assert talk.raw(outcome.artifact) == b"\xff" * size
    assert len(shown(talk)["a"]) < 10_000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("ash", "ash"),
        (b"glaze", "glaze"),
        ({"t": (1, 2.5), 3: None}, '{"t":[1,2.5],"3":null}'),
        ("half \ud83e", "half \ud83e"),
    ],
)
def test_results_are_recorded_as_they_are(talk: Conversation, value: object, text: str) -> None:
    def give() -> object:
        return value

    talking(talk, a=("give", {}))
    (outcome,) = talk.execute([give]).outcomes
    assert outcome.status is OK
    assert talk.raw(str(outcome.artifact)) == text.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    ("value", "names", "text"),
    [
        (float("nan"), "NaN", '"<NaN>"'),
        ([1.5, float("inf"), {"a": float("-inf")}], "-Infinity, Infinity", '[1.5,"<Infinity>",{"a":"<-Infinity>"}]'),
    ],
)
def test_a_number_that_no_reader_of_json_takes_is_told_and_not_passed_on(
    talk: Conversation, value: object, names: str, text: str
) -> None:
    def measure() -> object:
        return value

    talking(talk, a=("measure", {}))
    (outcome,) = talk.execute([measure]).outcomes
    assert outcome.status is FAILED
    said = talk.raw(str(outcome.artifact)).decode()
    assert f"cannot be written as JSON: {names}." in said
    assert said.endswith(f"What could be written:\n{text}")


def test_what_cannot_be_written_fails_clearly_and_the_rest_is_kept(talk: Conversation) -> None:
    class Furnace:
        pass

    endless: list[object] = []
    endless.append(endless)

    def mixed() -> object:
        return {"degrees": 1180, "furnace": Furnace()}

    def odd() -> object:
        return {(1, 2): "tuple key"}

    def loop() -> object:
        return endless

    talking(talk, a=("mixed", {}), b=("odd", {}), c=("loop", {}))
    done = talk.execute([mixed, odd, loop], parallel=1)
    assert [o.status for o in done.outcomes] == [FAILED] * 3
    assert '{"degrees":1180,"furnace":"<Furnace>"}' in texts(talk)[0]
    assert all("cannot be written as JSON" in text for text in texts(talk))


def test_invalid_arguments_are_told_and_the_function_is_not_run(talk: Conversation) -> None:
    ran: list[str] = []

    def fire(degrees: int, zones: list[str]) -> None:
        ran.append("fire")

    talking(
        talk,
        a=("fire", {"degrees": "hot", "zones": []}),
        b=("fire", {"degrees": 3, "zones": ["a", 1]}),
        c=("fire", {"degrees": 3, "zones": [], "by": "x"}),
        d=("fire", "{not json"),
        e=("fire", '{"degrees":1,"degrees":2,"zones":[]}'),
        f=("fire", '{"degrees":1e999,"zones":[]}'),
        g=("fire", "[" * 50_000),
        h=("fire", "[1]"),
        i=("fire", '{"degrees":NaN,"zones":[]}'),
    )
    done = talk.execute([fire])
    assert [o.status for o in done.outcomes] == [FAILED] * 9
    told = texts(talk)
    assert "Expected `int`, got `str` - at `$.degrees`" in told[0]
    assert "$.zones[1]" in told[1]
    assert "unknown field `by`" in told[2]
    assert "stands in it twice" in told[4]
    assert "beyond the range" in told[5]
    assert all("it takes: degrees, zones" in text for text in told)
    assert ran == []
    assert {attempt.phase for attempt in attempts(talk)} == {AttemptPhase.ENDED}


def test_a_failed_read_is_tried_again_with_growing_pauses(talk: Conversation) -> None:
    failures = iter([OSError("one"), OSError("two")])

    def gauge() -> str:
        for error in failures:
            raise error
        return "0.4 bar"

    pace = HandPace()
    talking(talk, a=("gauge", {}))
    (outcome,) = talk.execute([reading(gauge, attempts=5, backoff=2.0)], pace=pace).outcomes
    assert (outcome.status, outcome.attempts) == (OK, 3)
    assert pace.pauses == [2.0, 4.0]
    ends = [(a.attempt, a.outcome, a.error) for a in attempts(talk) if a.phase is AttemptPhase.ENDED]
    assert ends == [(1, FAILED, "OSError"), (2, FAILED, "OSError"), (3, OK, "")]
    assert len(artifacts(talk)) == 1
    assert artifacts(talk)[0].retry is not None


@pytest.mark.parametrize(
    ("terms", "times"),
    [
        ({}, 1),
        ({"side_effects": True}, 1),
        ({"side_effects": True, "idempotent": False, "idempotency_key": "key"}, 1),
        ({"side_effects": True, "idempotent": True}, 3),
        ({"side_effects": True, "idempotency_key": "key"}, 3),
        ({"side_effects": False}, 3),
    ],
)
def test_only_what_does_no_harm_is_tried_again(talk: Conversation, terms: dict[str, object], times: int) -> None:
    keys: list[str] = []

    def pour(key: str = "") -> None:
        keys.append(key)
        raise OSError("spilt")

    contract = msgspec.convert({"name": "pour", "attempts": 3, "backoff": 0, **terms}, ToolContract)
    talking(talk, a=("pour", {}))
    (outcome,) = talk.execute([callsheet.tool(contract=contract)(pour)], pace=HandPace()).outcomes
    assert (outcome.status, outcome.attempts, len(keys)) == (FAILED, times, times)
    assert len(set(keys)) == 1
    if "idempotency_key" in terms:
        assert keys[0] == outcome.call


def test_a_policy_set_goes_over_what_the_code_declares(talk: Conversation) -> None:
    times: list[int] = []

    def pour() -> None:
        times.append(1)
        raise OSError("spilt")

    declared = ToolContract(name="pour", side_effects=False, attempts=3, backoff=0)
    strict = parse("name: strict\nversion: 1\ntools: {pour: {side_effects: true, needs_approval: true}}")
    pour_tool = callsheet.tool(contract=declared)(pour)
    talk.record({"role": "user", "content": "Pour."})
    sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=strict, tools=[pour_tool])
    call = {"id": "a", "type": "function", "function": {"name": "pour", "arguments": "{}"}}
    talk.record({"role": "assistant", "content": None, "tool_calls": [call]}, sheet=sheet)
    assert talk.execute([pour_tool]).outcomes[0].status is ArtifactStatus.AWAITING_APPROVAL
    talk.approve("a", by="kim")
    assert talk.execute([pour_tool], pace=HandPace()).outcomes[0].status is FAILED
    assert times == [1]


# --------------------------------------------------------------------------- time limits


def test_a_hung_tool_is_answered_at_once_and_its_late_result_is_late_evidence(talk: Conversation) -> None:
    gate, pace = Gate(), HandPace()

    def crawl() -> str:
        pace.advance(30.0)
        gate.wait()
        return "arrived"

    contract = ToolContract(name="crawl", time_limit=30.0)
    talking(talk, a=("crawl", {}))
    (outcome,) = talk.execute([callsheet.tool(contract=contract)(crawl)], pace=pace).outcomes
    assert outcome.status is TIMED_OUT
    assert "No result within 30 seconds. It may or may not have taken effect" in shown(talk)["a"]
    before = request(talk)
    gate.open()
    join_tools()
    first, late = artifacts(talk)
    assert first.status is TIMED_OUT
    assert late.call == outcome.call
    assert set(late.defects) == {Defect.LATE_RESULT, Defect.REPEATED_RESULT}
    assert texts(talk)[1] == "arrived"
    after = request(talk)
    assert after[: len(before)] == before
    assert "another tool result of crawl" in str(after[-1]["content"])
    assert [a.outcome for a in attempts(talk) if a.phase is AttemptPhase.ENDED] == [TIMED_OUT, OK]


def test_a_hung_read_is_tried_again_and_what_fails_late_settles_nothing(talk: Conversation) -> None:
    gate, pace = Gate(), HandPace()
    threads: list[threading.Thread] = []

    def gauge() -> str:
        threads.append(threading.current_thread())
        if len(threads) == 1:
            pace.advance(5.0)
            gate.wait()
            raise OSError("late and wrong")
        gate.open()
        threads[0].join(20)
        return "0.4 bar"

    talking(talk, a=("gauge", {}))
    (outcome,) = talk.execute([reading(gauge, time_limit=5.0, attempts=2, backoff=0)], pace=pace).outcomes
    assert (outcome.status, outcome.attempts) == (OK, 2)
    assert texts(talk) == ["0.4 bar"]


def test_a_late_result_after_the_store_was_closed_harms_nobody() -> None:
    gate, pace = Gate(), HandPace()
    runtime = memory_runtime()
    talk = talking(runtime.conversation("kiln"), a=("crawl", {}))

    def crawl() -> str:
        pace.advance(120.0)
        gate.wait()
        return "arrived"

    talk.execute([crawl], pace=pace)
    runtime.close()
    gate.open()
    join_tools()


# --------------------------------------------------------------------------- at once


def test_calls_run_at_once_up_to_the_limit(talk: Conversation) -> None:
    lock, most, now = threading.Lock(), [0], [0]
    barrier = threading.Barrier(3, timeout=20)

    def work(number: int) -> int:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        barrier.wait()
        with lock:
            now[0] -= 1
        return number

    talking(talk, **{f"c{n}": ("work", {"number": n}) for n in range(9)})
    assert talk.execute([work], parallel=3).complete
    assert most == [3]
    assert shown(talk) == {f"c{n}": str(n) for n in range(9)}


def test_two_executions_at_once_run_each_call_once(talk: Conversation) -> None:
    gate, runs = Gate(), list[str]()

    def valve(name: str) -> str:
        runs.append(name)
        gate.wait()
        return "open"

    talking(talk, a=("valve", {"name": "A"}), b=("valve", {"name": "B"}))
    first = threading.Thread(target=lambda: talk.execute([valve], parallel=1))
    first.start()
    gate.reached()
    with pytest.raises(CallTaken, match="another execution of this process is running 2 of these calls"):
        talk.execute([valve])
    with pytest.raises(CallTaken):
        talk.settle("b", "closed", by="kim")
    gate.open()
    first.join(20)
    assert runs == ["A", "B"]
    assert [o.status for o in artifacts(talk)] == [OK, OK]


def test_cancelling_answers_what_has_not_finished(talk: Conversation) -> None:
    gate, cancel = Gate(), threading.Event()

    def hold() -> str:
        cancel.set()
        gate.wait()
        return "held"

    def never() -> str:
        raise AssertionError

    talking(talk, a=("hold", {}), b=("never", {}))
    done = talk.execute([hold, never], parallel=1, cancel=cancel)
    assert [o.status for o in done.outcomes] == [ArtifactStatus.CANCELLED] * 2
    told = shown(talk)
    assert "Cancelled while it ran. It may or may not" in told["a"]
    assert "Cancelled before it began; it was not run." in told["b"]
    gate.open()
    join_tools()
    assert texts(talk)[-1] == "held"


def test_an_execution_that_breaks_off_lets_go_of_what_has_not_begun(talk: Conversation) -> None:
    class Broken(HandPace):
        def next(self, seconds: float) -> object | None:
            raise KeyboardInterrupt

    gate = Gate()

    def hold() -> str:
        gate.wait()
        return "held"

    talking(talk, a=("hold", {}), b=("weigh", {"crate": "B"}))
    with pytest.raises(KeyboardInterrupt):
        talk.execute([hold, weigh], parallel=1, pace=Broken())
    assert attempts(talk)[-1].phase is AttemptPhase.RELEASED
    gate.open()
    join_tools()
    assert texts(talk) == ["held"]
    assert [o.provider_id for o in talk.execute([hold, weigh]).outcomes] == ["b"]


def test_a_result_that_the_store_refuses_once_is_recorded_all_the_same(talk: Conversation) -> None:
    ledger = talk._session.ledger
    append, busy = ledger.append, [True]

    def refusing(appends: Sequence[Append]) -> list[Record]:
        results = [draft for one in appends for draft in one.drafts if isinstance(draft.body, ToolArtifact)]
        if results and busy:
            busy.clear()
            raise StoreBusy
        return append(appends)

    vars(ledger)["append"] = refusing
    talking(talk, a=("weigh", {"crate": "A"}), b=("weigh", {"crate": "B"}))
    with pytest.raises(StoreBusy):
        talk.execute([weigh], parallel=1)
    assert texts(talk) == ["A: 41 kg"]
    assert talk.execute([weigh]).complete
    assert shown(talk) == {"a": "A: 41 kg", "b": "B: 41 kg"}


# --------------------------------------------------------------------------- which calls


def test_what_the_conversation_went_on_without_is_run_only_when_named_or_repeatable(talk: Conversation) -> None:
    ran: list[str] = []

    def grow() -> str:
        ran.append("grow")
        return "grown"

    def gauge() -> str:
        ran.append("gauge")
        return "0.4"

    talking(talk, a=("grow", {}), b=("gauge", {}))
    talk.record({"role": "user", "content": "What happened so far?"})
    done = talk.execute([grow, reading(gauge)])
    assert [(o.provider_id, o.status) for o in done.outcomes] == [("a", ArtifactStatus.PENDING), ("b", OK)]
    assert ran == ["gauge"]
    talk.execute([grow], calls=["a"])
    assert ran == ["gauge", "grow"]


def test_only_the_named_calls_run(talk: Conversation) -> None:
    talking(talk, a=("weigh", {"crate": "A"}), b=("weigh", {"crate": "B"}))
    second = talk.pending()[1]
    assert [o.provider_id for o in talk.execute([weigh], calls=[second]).outcomes] == ["b"]
    with pytest.raises(NotFound, match="no open call 'zzz'"):
        talk.execute([weigh], calls=["zzz"])


def test_results_that_somebody_else_will_bring_are_left_alone(talk: Conversation) -> None:
    talking(talk, a=("weigh", {"crate": "A"}))
    talk.record({"role": "tool", "tool_call_id": "a", "content": "queued as job 7"}, status="pending")
    (outcome,) = talk.execute([weigh]).outcomes
    assert outcome.status is ArtifactStatus.PENDING
    assert len(artifacts(talk)) == 1


def test_calls_of_recall_are_answered(talk: Conversation) -> None:
    rows = "\n".join(f"K-{n},{900 + n}" for n in range(3000))
    talking(talk, a=("table", {}))
    kilns = talk.record({"role": "tool", "tool_call_id": "a", "content": f"kiln,degrees\n{rows}"}).ids[0]
    request(talk)
    ask(talk, r=("recall", {"reference": kilns, "search": "K-1207"}))
    (outcome,) = talk.execute([]).outcomes
    assert outcome.status is OK
    assert "K-1207,2107" in texts(talk)[-1].replace(" ", "")
    assert artifacts(talk)[-1].recalls == kilns


def test_results_have_the_class_that_the_contract_declares(talk: Conversation) -> None:
    def mail() -> str:
        return "a letter"

    tool = callsheet.tool(contract=ToolContract(name="mail", privacy=Privacy.CONNECTED_ACCOUNT))(mail)
    talking(talk, a=("mail", {}))
    (outcome,) = talk.execute([tool]).outcomes
    assert outcome.artifact is not None
    (record,) = talk._get((outcome.artifact,))
    assert record.header.privacy is Privacy.CONNECTED_ACCOUNT


def test_a_policy_set_that_moves_the_idempotency_key_is_refused(talk: Conversation) -> None:
    moved = parse("name: moved\nversion: 1\ntools: {weigh: {idempotency_key: other}}")
    talk.record({"role": "user", "content": "Weigh A."})
    sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=moved)
    call = {"id": "a", "type": "function", "function": {"name": "weigh", "arguments": '{"crate": "A"}'}}
    talk.record({"role": "assistant", "content": None, "tool_calls": [call]}, sheet=sheet)
    with pytest.raises(InvalidOption, match="another idempotency key of 'weigh'"):
        talk.execute([weigh])


def test_two_tools_of_one_name_are_refused(talk: Conversation) -> None:
    with pytest.raises(InvalidOption, match="two tools are called 'weigh'"):
        talk.execute([weigh, weigh])
    with pytest.raises(InvalidOption, match="parallel is 0"):
        talk.execute([weigh], parallel=0)


def test_a_participants_calls_are_run_on_its_own_view(talk: Conversation) -> None:
    critic = talk.participant("critic")
    talk.record({"role": "user", "content": "Weigh A."})
    ask(critic, a=("weigh", {"crate": "A"}))
    assert talk.execute([weigh]).outcomes == ()
    assert critic.execute([weigh]).complete
    assert talk.executions() == ()
    assert len(critic.executions()) == 1


def test_a_sub_agent_runs_its_own_calls_with_the_tools_of_its_brief(talk: Conversation) -> None:
    def fire() -> str:
        raise AssertionError

    talk.record({"role": "user", "content": "Have A weighed."})
    child = talk.spawn("Weigh A.", tools=["weigh"])
    ask(child, a=("weigh", {"crate": "A"}), b=("fire", {}))
    assert talk.execute([weigh, fire]).outcomes == ()
    assert [o.status for o in child.execute([weigh, fire]).outcomes] == [OK, FAILED]
    assert len(child.executions()) == 2
    assert talk.executions() == ()
    ask(child, c=("grow", {}))
    ask(child, d=("weigh", {"crate": "D"}))

    def grow() -> str:
        raise AssertionError

    done = child.execute([weigh, grow])
    assert [(o.provider_id, o.status) for o in done.outcomes] == [("c", ArtifactStatus.PENDING), ("d", OK)]


def test_a_branch_that_began_during_a_call_does_not_run_it_again() -> None:
    clock = FixedClock()
    talk = talking(memory_runtime(clock=clock).conversation("kiln"), a=("grow", {}))
    branches: list[Conversation] = []

    def grow() -> str:
        branches.append(talk.branch())
        return "grown"

    talk.execute([grow])
    (other,) = branches
    with pytest.raises(CallTaken):
        other.execute([grow])
    clock.advance(1_000)
    assert [o.status for o in other.execute([grow]).outcomes] == [ArtifactStatus.UNKNOWN]
    assert len(branches) == 1
    assert talk.executions()[0].state == "answered"


# --------------------------------------------------------------------------- async


def test_async_functions_run_and_are_really_stopped(talk: Conversation) -> None:
    pace, stopped = HandPace(), threading.Event()

    async def fetch(crate: str) -> str:
        await asyncio.sleep(0)
        return f"fetched {crate}"

    async def wait() -> str:
        pace.advance(120.0)
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return "never"

    talking(talk, a=("fetch", {"crate": "A"}))
    assert talk.execute([fetch]).complete
    ask(talk, b=("wait", {}))
    assert talk.execute([wait], pace=pace).outcomes[0].status is TIMED_OUT
    assert stopped.wait(20)
    join_tools()
    assert texts(talk)[0] == "fetched A"
    assert len(artifacts(talk)) == 2


def test_the_asynchronous_face_runs_async_functions_on_its_own_loop() -> None:
    async def main() -> None:
        here = asyncio.get_running_loop()
        seen: list[bool] = []

        async def fetch() -> str:
            seen.append(asyncio.get_running_loop() is here)
            return "fetched"

        def plain() -> str:
            return "plain"

        talk = callsheet.AsyncConversation(
            talking(memory_runtime().conversation("k"), a=("fetch", {}), b=("plain", {}))
        )
        done = await talk.execute([fetch, plain])
        assert done.complete
        assert seen == [True]
        assert len(await talk.executions()) == 2
        assert await talk.approvals() == ()

    asyncio.run(main())


def test_cancelling_the_await_cancels_the_execution() -> None:
    talk = talking(memory_runtime().conversation("k"), a=("wait", {}))

    async def main() -> None:
        begun = asyncio.Event()

        async def wait() -> None:
            begun.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(callsheet.AsyncConversation(talk).execute([wait]))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert [a.status for a in artifacts(talk)] == [ArtifactStatus.CANCELLED]


def test_a_call_that_was_cut_off_at_the_token_limit_is_told_so_and_not_run(talk: Conversation) -> None:
    cut = {"id": "a", "type": "function", "function": {"name": "weigh", "arguments": '{"crate": "A", "unit": "k'}}
    message = {"role": "assistant", "content": None, "tool_calls": [cut]}
    talk.record({"role": "user", "content": "Weigh A."})
    talk.record({"choices": [{"index": 0, "message": message, "finish_reason": "length"}]}, assembled=False)
    (pending,) = talk.pending()
    _, asking = talk.history()[0]
    assert pending.turn == asking.id
    talk.execute([weigh])
    (told,) = texts(talk)
    assert told.startswith("The call of weigh was cut off at the token limit of the answer, it was not run.")
