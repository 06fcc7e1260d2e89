"""Each kind of record is explained in words that a person can act on: whose, by what way, in what detail, and why."""

from collections.abc import Iterator, Sequence

import pytest
from msgspec.structs import replace

from callsheet import Conversation
from callsheet.explain.absence import Outcome
from callsheet.explain.difference import text as difference_text
from callsheet.explain.sheet import text
from callsheet.graph.changes import Reclassified
from callsheet.graph.enums import InstructionScope, Level, Privacy, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.query import NodeQuery
from callsheet.policy.contracts import ToolContract
from callsheet.policy.rules import About, Rule, Then
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.runtime.runtime import Runtime
from callsheet.runtime.sheet import Sheet
from callsheet.testing import memory_runtime
from tests.explain.making import TIGHT, busy, readings, tended
from tests.runtime.replies import asks, call, openai_reply, result, user


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as runtime:
        yield runtime


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    return runtime.conversation("greenhouse")


WIDE = replace(BALANCED, name="wide", version="1", turns=2)
"""Lets nothing go that was shown."""


def asked(view: Conversation, policy: PolicySetDocument = BALANCED, exact: Sequence[str] = ()) -> Sheet:
    return view.assemble(provider="openai", model="gpt-5.2", policy=policy, exact=exact)


def sentence(view: Conversation, sheet: Sheet, id: str) -> str:
    """The sentence of a record that stands, where it says most."""
    return next(one.sentence for one in reversed(view.explain(sheet).records) if one.record == id)


def of_kind(talk: Conversation, kind: str) -> list[RecordId]:
    records = talk._session.ledger.nodes(talk._session.conversation.key, NodeQuery(kinds=(kind,)))
    return [record.id for record in records]


# ---------------------------------------------------------------------------------------------- memories


def test_a_memory_says_what_it_stands_for_and_its_result_names_it(talk: Conversation) -> None:
    tended(talk, range(1, 5))
    results = of_kind(talk, "artifact")
    memory = talk.promote(results[0], results[1], summary="Beds 1 and 2 are moist.")
    branch = talk.branch(name="autumn").participant("weeder")
    branch.record(user("And bed 1 now?"))
    sheet = asked(branch, TIGHT)
    said = sentence(branch, sheet, memory)
    assert f"memory {memory} from artifact {results[0]} and 1 more, inherited by the active branch from main" in said
    assert "visible to this participant, policy set tight@1" in said
    assert "it stands for its 2 results; raw not loaded because the memory was enough" in said
    why = branch.why_not(sheet, results[0])
    assert (why.outcome, why.reason) == (Outcome.REMEMBERED, Reason.REMEMBERED)
    assert f"raw not loaded because the memory was enough ({memory})" in why.sentence


def test_a_memory_that_was_replaced_names_what_replaced_it(talk: Conversation) -> None:
    tended(talk, range(1, 4))
    results = of_kind(talk, "artifact")
    old = talk.promote(results[0], summary="Bed 1 is moist.")
    new = talk.promote(results[1], summary="Bed 1 is dry.", supersedes=[old])
    talk.record(user("Well?"))
    why = talk.why_not(asked(talk), old)
    assert (why.outcome, why.reason, why.rule) == (Outcome.REFUSED, Reason.SUPERSEDED, "conflict.superseded")
    assert f"a newer record replaces it: {new} (conflict.superseded)" in why.sentence


# ---------------------------------------------------------------------------------------------- given by others


def test_what_was_shared_says_by_which_record_and_what_was_taken_back_too(talk: Conversation) -> None:
    talk.record(user("Who waters?"))
    weeder, reader = talk.participant("weeder"), talk.participant("reader")
    weeder.record(asks(call("w", tool="look")))
    own = weeder.record(result("w", "dry")).ids[0]
    share = weeder.share(own, to=["reader"])
    given = asked(reader)
    said = sentence(reader, given, own)
    assert f"{weeder.participant_id}'s" in said
    assert "to this reader by shared_" in said or f"shared to this reader by {share}" in said
    back = weeder.withdraw(own, to=["reader"])
    later = asked(reader)
    why = reader.why_not(later, own)
    assert (why.outcome, why.reason) == (Outcome.REFUSED, Reason.PARTICIPANT_PRIVATE)
    assert f"it had been given to this reader, and {back} took it back" in why.sentence
    went = reader.difference(given, later).went
    assert [(one.record, one.reason) for one in went] == [(own, Reason.PARTICIPANT_PRIVATE)]


def test_a_report_names_its_run_and_what_a_child_kept_is_not_released(talk: Conversation) -> None:
    talk.record(user("How many beds?"))
    counter = talk.spawn("Count the beds.", name="counter")
    counter.record(asks(call("n", tool="count")))
    kept = counter.record(result("n", "twelve")).ids[0]
    report = counter.complete("There are twelve.")
    sheet = asked(talk)
    assert f"report {report} of sub-agent counter from run {counter.run_id}" in sentence(talk, sheet, report)
    why = talk.why_not(sheet, kept)
    assert (why.outcome, why.reason) == (Outcome.NOT_RELEASED, Reason.NOT_RELEASED)
    assert talk.explain(sheet).of_sub_agents > 0
    assert "sub-agents' own work" in text(talk.explain(sheet))


def test_what_a_child_released_is_the_childs_and_names_the_release(talk: Conversation) -> None:
    talk.record(user("How many beds?"))
    counter = talk.spawn("Count the beds.", name="counter")
    counter.record(asks(call("n", tool="count")))
    plan = counter.record(result("n", "plan-77 of the beds")).ids[0]
    counter.complete("There are twelve.", release=[plan])
    talk.record(user("What does plan-77 say?"))
    sheet = asked(talk)
    assert plan in {one.record for one in sheet.selections}
    said = sentence(talk, sheet, plan)
    assert f"recorded on {counter.branch_id}, sub-agent {counter.run_id}'s, released to this reader by" in said


def test_a_child_reads_as_itself(talk: Conversation) -> None:
    talk.record(user("How many beds?"))
    counter = talk.spawn("Count the beds.", name="counter", task="inventory", constraints=["Be quick."])
    explained = counter.explain(asked(counter))
    assert f"in mode sub_agent, in the run of sub-agent {counter.run_id}" in text(explained)
    assert "the sub-agent's goal and constraints" in text(explained)
    assert "this sub-agent's own" in text(explained)


def test_what_was_merged_says_where_it_comes_from(talk: Conversation) -> None:
    talk.record([user("Spring?"), {"role": "assistant", "content": "Sow."}])
    autumn = talk.branch(name="autumn")
    answer = autumn.record([user("Rake?"), {"role": "assistant", "content": "Raked."}]).ids[-1]
    (merged,) = talk.merge("autumn")
    talk.record(user("And?"))
    sheet = asked(talk)
    assert f"merged from {autumn.branch_id}, where it is {answer}" in sentence(talk, sheet, merged)
    assert talk.why_not(sheet, answer).outcome is Outcome.BRANCH


# ---------------------------------------------------------------------------------------------- instructions, skills


def test_an_instruction_says_whom_it_governs_and_the_older_one_what_replaced_it(talk: Conversation) -> None:
    old = talk.instruct("Be brief.")
    new = talk.instruct("Be kind.")
    mine = talk.instruct("No jokes.", scope=InstructionScope.MODERATOR)
    talk.record(user("Hello"))
    sheet = asked(talk)
    assert f"system message {new}, the instruction for the conversation" in sentence(talk, sheet, new)
    assert "the moderator's instruction" in sentence(talk, sheet, mine)
    why = talk.why_not(sheet, old)
    assert why.reason is Reason.SUPERSEDED
    assert f"a newer record replaces it: {new}" in why.sentence


def test_skills_are_told_by_their_version(runtime: Runtime, talk: Conversation) -> None:
    skill = runtime.skills.add("prune", summary="how to prune", instructions="Cut above the knot.")
    talk.offer_skills()
    talk.activate("prune")
    talk.record(user("Now?"))
    said = text(talk.explain(asked(talk)))
    assert f"the catalogue of skills {skill}" in said
    assert f"the instructions of skill {skill}" in said
    assert "knot" not in said


# ---------------------------------------------------------------------------------------------- exact bytes


def test_exact_bytes_say_who_asked_for_them_and_when(talk: Conversation) -> None:
    tended(talk, range(1, 7))
    first, *_, newest = of_kind(talk, "artifact")
    talk.record(user("Compare."))
    sheet = asked(talk, WIDE, exact=[first])
    assert "exact bytes loaded because the caller asked for them" in sentence(talk, sheet, first)
    talk.record(openai_reply("Done."), sheet=sheet)
    talk.record(user("Show me the exact raw output, verbatim."))
    later = asked(talk, WIDE)
    assert "exact bytes loaded because the user's words ask for them" in sentence(talk, later, newest)
    assert f"because the caller asked for them (in sheet {sheet.id})" in sentence(talk, later, first)


def test_exact_bytes_that_are_too_many_say_so(talk: Conversation) -> None:
    tended(talk, range(1, 7))
    first = of_kind(talk, "artifact")[0]
    talk.record(user("Compare."))
    small = replace(TIGHT, name="small", rehydrate=10)
    sheet = asked(talk, small, exact=[first])
    traced = next(one for one in talk.trace(sheet).candidates if one.known.record == first)
    assert "rehydration.byte_budget" in [verdict.rule for verdict in traced.verdicts]
    why = talk.why_not(sheet, first)
    assert why.level is not Level.RAW
    assert "its exact bytes pass what one request may load (rehydration.byte_budget)" in why.sentence


# ---------------------------------------------------------------------------------------------- held back


def test_withheld_arguments_and_marks_are_told_without_what_they_hide(talk: Conversation) -> None:
    talk.record(user("Turn on the pump."))
    told = talk.record(asks(call("p", tool="pump", arguments='{"pin": "4711"}'))).ids[0]
    talk.record(result("p", "token ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"))
    done = of_kind(talk, "artifact")[0]
    sheet = asked(talk)
    assert "secrets in it stand as marks" in sentence(talk, sheet, done)
    session = talk._session
    session.append(
        talk._view,
        lambda drafting: drafting.add(Reclassified(records=(done,), privacy=Privacy.SECRET), kind="reclassified"),
    )
    later = asked(talk)
    assert "the arguments of 1 of its calls are withheld" in sentence(talk, later, told)
    said = text(talk.explain(later))
    assert "(privacy.class_safe)" in said
    assert "4711" not in said
    assert "ghp_" not in said


def test_a_rule_that_a_user_wrote_speaks_with_its_name_and_its_reason(talk: Conversation) -> None:
    rule = Rule(
        name="no-pumps",
        about=About.VISIBILITY,
        when="record.tool == 'pump'",
        then=Then.LEAVE_OUT,
        reason="pumps are the technician's business",
    )
    bare = Rule(name="no-doors", about=About.PRIVACY, when="record.tool == 'door'", then=Then.SAFE)
    ruled = replace(BALANCED, name="ruled", version="1", rules=(rule, bare))
    talk.record(user("Pump and door?"))
    talk.record(asks(call("p", tool="pump"), call("d", tool="door")))
    talk.record([result("p", "on"), result("d", "shut")])
    pump, door = of_kind(talk, "artifact")
    sheet = asked(talk, ruled)
    why = talk.why_not(sheet, pump)
    assert why.rule == "visibility.rule.no-pumps"
    assert "refused because pumps are the technician's business (rule no-pumps of the policy set)" in why.sentence
    assert "no more because the policy set says so (rule no-doors of the policy set)" in sentence(talk, sheet, door)


def test_what_has_to_stay_in_view_says_by_which_rule(talk: Conversation) -> None:
    talk.record(asks(call("p", tool="pump")))
    error = {"type": "tool_result", "tool_use_id": "p", "content": "no pressure", "is_error": True}
    talk.record({"role": "user", "content": [error]})
    failed = of_kind(talk, "artifact")[0]
    tended(talk, range(1, 9))
    talk.record(user("Well?"))
    sheet = asked(talk, TIGHT)
    said = sentence(talk, sheet, failed)
    assert f"failed result {failed} of pump" in said
    assert "it failed or is still open, and nothing later settled it (recovery.unresolved)" in said


# ---------------------------------------------------------------------------------------------- laws


def test_every_record_of_a_busy_conversation_has_exactly_one_answer(talk: Conversation) -> None:
    busy(talk)
    talk.checkpoint("evening")
    everything = talk._session.ledger.records(talk._session.conversation.key)
    views = [talk, talk.participant("weeder"), talk.on("autumn"), talk.spawn("Pick berries.", name="picker")]
    for view in views:
        view.record(user("Well?"))
        sheet = asked(view, TIGHT)
        shown = {one.record for one in sheet.selections}
        for record in everything:
            why = view.why_not(sheet, record.id)
            stands = why.outcome in (Outcome.STANDS, Outcome.SHORTENED)
            if record.header.kind != "call":
                assert stands == (record.id in shown)
            assert stands or why.reason is not None
            assert why.sentence.endswith(".")
            assert "\n" not in why.sentence


def test_every_change_between_two_sheets_says_why(talk: Conversation) -> None:
    sheets = tended(talk, range(1, 9))
    anew = next(at for at in range(1, len(sheets)) if sheets[at].record.rewritten)
    found = talk.difference(sheets[anew - 1], sheets[anew])
    assert found.went
    for change in (*found.came, *found.went, *found.changed):
        assert change.because
        assert change.reason is not None
    assert "was not worth its tokens when sheet" in difference_text(found)
    assert not any(line in difference_text(found) for line in readings(1).splitlines())


def test_contracts_that_age_say_which_rule_of_age(talk: Conversation) -> None:
    talk.record(user("Rain?"))
    talk.record(asks(call("r", tool="rain")))
    talk.record(result("r", "none"))
    (rain,) = of_kind(talk, "artifact")
    marked = talk.mark_stale(rain)
    assert marked
    dry = replace(BALANCED, name="dry", version="1", tools=(ToolContract(name="rain"),))
    talk.record(user("And now?"))
    sheet = asked(talk, dry)
    assert "it is out of date (freshness.marked)" in sentence(talk, sheet, rain)
