"""A past request is explained from what is stored: the same pins over the same cut select the same."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

import callsheet
from callsheet import Conversation
from callsheet.cli.values import told
from callsheet.errors import NotFound, PolicyError
from callsheet.explain.absence import Outcome
from callsheet.explain.sheet import text
from callsheet.graph.enums import StreamKind
from callsheet.policy import sets
from callsheet.policy.sets import BALANCED
from callsheet.runtime.policies import STREAM, policy_by_hash
from callsheet.runtime.runtime import Runtime
from callsheet.testing import FixedClock, memory_runtime
from tests.explain.making import TIGHT, readings, tended
from tests.runtime.replies import result, tool, user

BEDS = range(1, 13)


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as runtime:
        yield runtime


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    return runtime.conversation("greenhouse")


def artifact_of(talk: Conversation, bed: int) -> str:
    records, _ = talk.history()
    return [record.id for record in records if record.header.kind == "artifact"][bed - 1]


def test_every_request_comes_out_byte_for_byte_when_it_is_made_again(talk: Conversation) -> None:
    sheets = tended(talk, BEDS)
    talk.record(user("And bed 1, once more?"))
    sheets.append(talk.assemble(provider="openai", model="gpt-5.2", policy=TIGHT, tools=[tool("moisture")]))
    assert sum(bool(sheet.record.rewritten) for sheet in sheets) >= 3
    for sheet in sheets:
        rebuilt = talk.rebuild(sheet)
        assert rebuilt.same
        assert not rebuilt.formatting
        assert rebuilt.blocks == len(sheet.blocks)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_it_comes_out_the_same_with_tools_and_on_branches_and_for_participants(
    talk: Conversation, provider: str
) -> None:
    def ask(view: Conversation, policy: str) -> callsheet.Sheet:
        offered = [tool("moisture"), tool("shade")]
        return view.assemble(provider=provider, model="claude-sonnet-4-5", policy=policy, tools=offered)

    tended(talk, BEDS[:4])
    weeder = talk.participant("weeder")
    weeder.record({"role": "assistant", "content": "The weeds are out."})
    branch = talk.branch(name="autumn")
    branch.record(user("What of the leaves?"))
    for view in (talk, weeder, branch):
        for policy in ("balanced", "replay", "lean"):
            assert view.rebuild(ask(view, policy)).same
            view.record({"role": "assistant", "content": "Good."})


def test_replay_after_another_set_comes_out_the_same(talk: Conversation) -> None:
    tight = tended(talk, BEDS)
    talk.record(user("And all in all?"))
    sheet = talk.assemble(provider="openai", model="gpt-5.2", policy="replay")
    assert len(tight[-1].selections) < len(sheet.selections)
    rebuilt = talk.rebuild(sheet)
    assert rebuilt.same
    assert not rebuilt.formatting
    talk.record({"role": "assistant", "content": "Fine."})
    talk.record(user("Good."))
    assert talk.rebuild(talk.assemble(provider="openai", model="gpt-5.2", policy="replay")).same


def test_what_happens_later_changes_nothing_of_it(talk: Conversation) -> None:
    sheets = tended(talk, BEDS[:6])
    before = [talk.explain(sheet) for sheet in sheets]
    answers = [talk.why_not(sheet, artifact_of(talk, 1)) for sheet in sheets]
    tended(talk, BEDS[6:])
    assert [talk.explain(sheet) for sheet in sheets] == before
    assert [talk.why_not(sheet, artifact_of(talk, 1)) for sheet in sheets] == answers


def test_nothing_is_stored_by_asking(runtime: Runtime, talk: Conversation) -> None:
    sheets = tended(talk, BEDS[:6])
    heads = [runtime.ledger.head(stream.key) for stream in runtime.ledger.streams()]
    talk.explain(sheets[-1])
    talk.rebuild(sheets[-1])
    talk.why_not(sheets[-1], artifact_of(talk, 1))
    talk.difference(sheets[0], sheets[-1])
    assert [runtime.ledger.head(stream.key) for stream in runtime.ledger.streams()] == heads


def test_an_answer_stands_for_the_sheet_that_it_answers(talk: Conversation) -> None:
    sheets = tended(talk, BEDS[:2])
    records, _ = talk.history()
    assert talk.explain(records[-1].id).sheet == sheets[-1].id


def test_every_record_of_a_request_has_its_sentence(talk: Conversation) -> None:
    sheet = tended(talk, BEDS)[-1]
    explained = talk.explain(sheet)
    assert [standing.record for standing in explained.records] == [one.record for one in sheet.selections]
    assert explained.policy_set == "tight@1"
    assert f"{len(sheet.blocks) - 1} messages" in text(explained)


def test_what_was_let_go_says_when_and_what_it_was_worth(talk: Conversation) -> None:
    sheets = tended(talk, BEDS)
    shown = {one.record for one in sheets[-1].selections}
    gone = [artifact_of(talk, bed) for bed in BEDS if artifact_of(talk, bed) not in shown]
    answers = [talk.why_not(sheets[-1], id) for id in gone]
    assert gone
    assert {why.outcome for why in answers} == {Outcome.NOT_WORTH}
    anew = {sheet.id for sheet in sheets if sheet.record.rewritten}
    for why in answers:
        assert (why.since or why.sheet) in anew
        assert why.worth is not None
        assert not why.worth.pays or why.worth.needed > 0


def test_what_came_after_or_stands_or_is_nowhere_is_told_apart(talk: Conversation) -> None:
    first, *_, last = tended(talk, BEDS[:3])
    newest = artifact_of(talk, 3)
    assert talk.why_not(first, newest).outcome is Outcome.LATER
    assert talk.why_not(last, newest).outcome is Outcome.STANDS
    assert talk.why_not(last, "art_nowhere").outcome is Outcome.UNKNOWN
    run = next(record.id for record in talk._session.ledger.records(talk._session.conversation.key)
               if record.header.kind == "run")  # fmt: skip
    assert talk.why_not(last, run).outcome is Outcome.BOOKKEEPING


def test_what_is_on_another_branch_is_no_matter_of_budget(talk: Conversation) -> None:
    tended(talk, BEDS[:2])
    branch = talk.branch(name="autumn")
    branch.record([user("Rake?"), {"role": "assistant", "content": "Raked."}])
    only_there = branch.history()[0][-1].id
    talk.record(user("And here?"))
    sheet = talk.assemble(provider="openai", model="gpt-5.2", policy="balanced")
    assert talk.why_not(sheet, only_there).outcome is Outcome.BRANCH
    assert talk.explain(sheet).other_branches == 2


def test_a_participants_own_words_are_refused_to_others_by_name_of_the_rule(talk: Conversation) -> None:
    talk.record(user("Who waters?"))
    weeder = talk.participant("weeder")
    weeder.record({"role": "assistant", "content": None, "tool_calls": [
        {"id": "w", "type": "function", "function": {"name": "look", "arguments": "{}"}}]})  # fmt: skip
    done = weeder.record(result("w", "dry"))
    talk.record(user("So?"))
    sheet = talk.assemble(provider="openai", model="gpt-5.2", policy="balanced")
    why = talk.why_not(sheet, done.ids[0])
    assert why.outcome is Outcome.REFUSED
    assert why.rule == "visibility.participant_private"


def test_a_reference_of_a_few_characters_is_enough(talk: Conversation) -> None:
    sheet = tended(talk, BEDS[:2])[-1]
    id = artifact_of(talk, 2)
    assert talk.why_not(sheet, id.partition("_")[2]).record == id
    with pytest.raises(NotFound, match="records begin with"):
        talk.why_not(sheet, "message_")


def test_explanations_hold_no_content(talk: Conversation) -> None:
    sheets = tended(talk, BEDS)
    said = " ".join(
        str(value)
        for value in (
            told(talk.explain(sheets[-1])),
            told(talk.difference(sheets[0], sheets[-1])),
            *(told(talk.why_not(sheets[-1], artifact_of(talk, bed))) for bed in BEDS),
        )
    )
    assert "sensor" in readings(1)
    assert not any(word in said for word in ("sensor", "percent", "How moist", "is fine"))


def test_a_difference_says_where_the_common_beginning_ends(talk: Conversation) -> None:
    sheets = tended(talk, BEDS)
    appended = next(at for at in range(1, len(sheets)) if not sheets[at].record.rewritten)
    found = talk.difference(sheets[appended - 1], sheets[appended])
    assert found.common_messages == len(sheets[appended - 1].blocks) - 1
    assert not found.went
    anew = next(at for at in range(1, len(sheets)) if sheets[at].record.rewritten)
    assert talk.difference(sheets[anew - 1], sheets[anew]).went


def test_a_policy_set_of_ones_own_is_found_again_in_a_store_that_was_closed(tmp_path: Path) -> None:
    path = tmp_path / "greenhouse.db"
    with callsheet.open(path) as runtime:
        sheet = tended(runtime.conversation("greenhouse"), BEDS[:3])[-1]
    with callsheet.open(path) as runtime:
        talk = runtime.conversation("greenhouse")
        assert talk.rebuild(sheet.id).same
        assert talk.explain(sheet.id).policy_set == "tight@1"
        kept = [stream for stream in runtime.ledger.streams() if stream.kind is StreamKind.WORKSPACE]
        assert [stream.name for stream in kept] == [STREAM]
        assert policy_by_hash(runtime.ledger, kept[0].tenant, TIGHT.hash) == TIGHT


def test_a_policy_set_that_many_use_at_once_is_stored_once(tmp_path: Path) -> None:
    path = tmp_path / "greenhouse.db"
    with callsheet.open(path) as runtime, callsheet.open(path) as other:
        views = [(runtime if bed % 2 else other).conversation(f"bed {bed}") for bed in BEDS[:8]]
        with ThreadPoolExecutor(max_workers=8) as pool:
            list(pool.map(lambda view: tended(view, BEDS[:1]), views))
        (stream,) = (stream for stream in runtime.ledger.streams() if stream.kind is StreamKind.WORKSPACE)
        assert len(runtime.ledger.records(stream.key)) == 1


def test_a_name_and_version_stand_for_one_policy_set_in_a_store(talk: Conversation) -> None:
    tended(talk, BEDS[:1])
    talk.record(user("More?"))
    other = msgspec.structs.replace(TIGHT, horizon=3)
    with pytest.raises(PolicyError, match="give it a new version"):
        talk.assemble(provider="openai", model="gpt-5.2", policy=other)


def test_a_policy_set_that_nobody_stored_is_an_error_that_says_so(runtime: Runtime, talk: Conversation) -> None:
    unknown = msgspec.structs.replace(BALANCED, name="lost", version="9")
    with pytest.raises(PolicyError, match="no policy set with the hash"):
        policy_by_hash(runtime.ledger, talk._session.owner.tenant, unknown.hash)


def test_without_its_policy_set_a_request_still_tells_what_is_stored(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = tended(talk, BEDS[:2])[-1]
    # As when a later version decides otherwise: the hash of what is stored is another one.
    monkeypatch.setattr(sets, "RULE_VERSIONS", {**sets.RULE_VERSIONS, "deciding": 999})
    explained = talk.explain(sheet)
    assert explained.policy_set == sheet.record.pins.policy_set
    assert len(explained.records) == len(sheet.selections)
    with pytest.raises(PolicyError):
        talk.why_not(sheet, artifact_of(talk, 1))


def test_what_expired_is_told_as_the_cause() -> None:
    clock = FixedClock()
    with memory_runtime(clock=clock) as runtime:
        talk = runtime.conversation("greenhouse")
        tended(talk, BEDS[:3])
        clock.advance(86_400)
        talk.record(user("Good morning"))
        sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=TIGHT)
        explained = talk.explain(sheet)
        assert explained.rewritten == "expired"
        assert "the provider has forgotten" in text(explained)
        assert talk.rebuild(sheet).same
