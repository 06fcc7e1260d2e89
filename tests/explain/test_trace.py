"""The trace tells every candidate with all verdicts, and is what the request itself was made by."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from callsheet import Conversation
from callsheet.cli.values import told
from callsheet.errors import NotFound, PolicyError
from callsheet.explain.trace import Arrival, Trace, text
from callsheet.graph.enums import Level, Policy, Privacy, Reason
from callsheet.policy import sets
from callsheet.policy.contracts import ToolContract
from callsheet.policy.sets import BALANCED
from callsheet.policy.settings import ClassForms
from callsheet.runtime.revisiting import revisit
from callsheet.runtime.runtime import Runtime
from callsheet.runtime.sheet import Sheet
from callsheet.testing import memory_runtime
from tests.explain.making import TIGHT, busy, readings, tended
from tests.runtime.replies import asks, call, result, user


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as runtime:
        yield runtime


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    return runtime.conversation("greenhouse")


class Lived(NamedTuple):
    """A conversation that is only read from here on, and its sheets with their traces."""

    talk: Conversation
    traced: list[tuple[Sheet, Trace]]


@pytest.fixture(scope="module")
def lived() -> Iterator[Lived]:
    """Sheets of every step: first, appended, written anew, for others, on another branch."""
    with memory_runtime() as runtime:
        talk = runtime.conversation("greenhouse")
        yield Lived(talk, [(sheet, talk.trace(sheet)) for sheet in _sheets(talk)])


def _sheets(talk: Conversation) -> list[Sheet]:
    sheets = tended(talk, range(1, 9))
    busy(talk)
    views = [talk, talk.participant("weeder"), talk.on("autumn"), talk.spawn("Pick berries.", name="picker")]
    for view in views:
        for policy in (TIGHT, BALANCED, "replay"):
            view.record(user("And now?"))
            sheets.append(view.assemble(provider="anthropic", model="claude-sonnet-4-5", policy=policy))
            view.record({"role": "assistant", "content": "Good."}, sheet=sheets[-1])
    return sheets


def test_a_trace_comes_out_as_the_request_was_sent(lived: Lived) -> None:
    for sheet, trace in lived.traced:
        assert trace.same
        assert {one.known.record for one in trace.candidates if one.stands} == {one.record for one in sheet.selections}


def test_every_candidate_is_there_once_and_has_one_reason(lived: Lived) -> None:
    for _, trace in lived.traced:
        ids = [one.known.record for one in trace.candidates]
        assert len(ids) == len(set(ids))
        assert all(one.stands or one.reason is not Reason.INCLUDED for one in trace.candidates)
        assert sum(trace.left_out.values()) == sum(not one.stands for one in trace.candidates)


def test_all_nine_policies_speak_unless_one_refused_for_good(lived: Lived) -> None:
    for _, trace in lived.traced:
        for one in trace.candidates:
            spoke = [verdict.policy for verdict in one.verdicts]
            assert [*spoke, *one.unasked] == list(Policy)
            assert not one.unasked or (one.verdicts[-1].refuses and one.level is Level.NONE)


def test_the_verdicts_are_those_that_planning_went_by(lived: Lived) -> None:
    for sheet, _ in lived.traced:
        seen = revisit(lived.talk._session.place, sheet.id)
        for id, item in seen.made.gathered.items.items():
            decision = seen.judged[id]
            assert (item.most, item.most_hard) == (decision.most, decision.most_hard)
            assert item.reason in (decision.reason, Reason.SUPERSEDED)


def test_what_a_trace_says_of_a_request_written_anew_why_not_says_too(lived: Lived) -> None:
    for sheet, trace in lived.traced[-12::2]:
        if sheet.record.rewritten:
            for one in trace.candidates:
                if not one.stands:
                    assert lived.talk.why_not(sheet, one.known.record).reason is one.reason


def test_it_tells_how_each_candidate_came_and_what_was_weighed(lived: Lived) -> None:
    traces = [trace for _, trace in lived.traced]
    came = {one.arrival for trace in traces for one in trace.candidates}
    assert came == {Arrival.STOOD, Arrival.NEW, Arrival.MEMORY}
    trace = traces[10]
    result_ = next(one for one in trace.candidates if one.weights is not None and one.weights.worth is not None)
    assert result_.weights is not None
    assert result_.weights.noted
    assert trace.planned.turn > 0
    assert [phase for phase, _ in trace.timings] == ["query", "policy", "serialise"]


def test_it_reads_well_and_holds_no_content(lived: Lived) -> None:
    _, trace = lived.traced[-12]
    said = text(trace)
    assert "graph query" in said
    assert "policies and planning" in said
    assert "serialisation" in said
    assert "attribution.common · visibility.visible · privacy.class · recovery." in said
    assert "not asked: privacy, recovery" in said
    assert readings(1).splitlines()[0] not in said
    for word in ("dandelions", "twelve", "pressure", "Rake", "pull weeds", "moist."):
        assert word not in said
        assert word not in str(told(trace))


def test_what_is_refused_is_a_candidate_with_the_rule_that_refuses_it(talk: Conversation) -> None:
    busy(talk)
    keys = ToolContract(name="pump", privacy=Privacy.SECRET)
    strict = replace(BALANCED, name="strict", version="1", privacy=ClassForms(secret=Level.NONE), tools=(keys,))
    trace: Trace = talk.trace(talk.assemble(provider="openai", model="gpt-5.2", policy=strict))
    rules = {one.rule for one in trace.candidates if not one.stands}
    assert {"privacy.class_none", "visibility.participant_private"} <= rules
    assert trace.left_out[Reason.PRIVACY_CLASS] > 0


def test_nothing_is_stored_by_tracing(runtime: Runtime, talk: Conversation) -> None:
    sheet = tended(talk, range(1, 4))[-1]
    heads = [runtime.ledger.head(stream.key) for stream in runtime.ledger.streams()]
    talk.trace(sheet)
    assert [runtime.ledger.head(stream.key) for stream in runtime.ledger.streams()] == heads


def test_later_records_change_nothing_of_it(talk: Conversation) -> None:
    sheets = tended(talk, range(1, 4))
    before = [talk.trace(sheet) for sheet in sheets]
    talk.record([asks(call("z", tool="pump")), result("z", "fine"), user("And?")])
    assert [talk.trace(sheet) for sheet in sheets] == before


def test_no_sheet_and_no_policy_set_are_errors_that_say_so(talk: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = tended(talk, range(1, 3))[-1]
    with pytest.raises(NotFound):
        talk.trace("sheet_nowhere")
    monkeypatch.setattr(sets, "RULE_VERSIONS", {**sets.RULE_VERSIONS, "deciding": 999})
    with pytest.raises(PolicyError):
        talk.trace(sheet)


def test_a_request_that_goes_on_from_a_checkpoint_comes_out_as_it_was_sent(talk: Conversation) -> None:
    tended(talk, range(1, 5))
    checkpoint = talk.checkpoint("evening")
    tended(talk, range(5, 8))
    for policy in (TIGHT, BALANCED, "replay"):
        talk.record(user("Where were we?"))
        sheet = talk.assemble(
            provider="openai", model="gpt-5.2", policy=policy, mode="continuation", checkpoint=checkpoint
        )
        trace = talk.trace(sheet)
        assert trace.same
        assert talk.rebuild(sheet).same
        out = [one for one in trace.candidates if not one.stands]
        assert [talk.why_not(sheet, one.known.record).reason for one in out] == [one.reason for one in out]
        assert f"from checkpoint {checkpoint}" in text(talk.trace(sheet))
        talk.record({"role": "assistant", "content": "At bed 5."}, sheet=sheet)
