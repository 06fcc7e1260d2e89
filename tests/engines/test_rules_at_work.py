"""Rules of users where requests are made: what they refuse is in no request and no recall, and nothing half happens."""

import json
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

import callsheet
from callsheet import Conversation
from callsheet.errors import EmptyRequest, InvalidOption, MissingExtra, PolicyError
from callsheet.graph.changes import Reclassified
from callsheet.graph.enums import Level, Privacy, Reason
from callsheet.graph.ids import RecordId
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.settings import ClassForms
from callsheet.runtime import ruling
from callsheet.runtime.loading import parse_policy

HEADER = "name: quay\nversion: 1\nextends: faithful\nrules:\n"
ROSTER = "Ada, Grace and Katherine are on duty at the west quay tonight"
TIDES = "high water at the west quay at nineteen minutes past four"


def rules(when: str, then: str = "leave_out", about: str = "visibility") -> PolicySetDocument:
    return parse_policy(f"{HEADER}  - name: own\n    about: {about}\n    when: {when}\n    then: {then}\n")


def asked(talk: Conversation, number: int, tool: str, content: str) -> None:
    function = {"name": tool, "arguments": "{}"}
    call = {"id": f"c{number}", "type": "function", "function": function}
    talk.record({"role": "user", "content": f"What does {tool} say?"})
    talk.record({"role": "assistant", "tool_calls": [call]})
    talk.record({"role": "tool", "tool_call_id": f"c{number}", "content": content})


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    runtime = callsheet.open(tmp_path / "agent.db")
    talk = runtime.conversation("harbour-office")
    asked(talk, 1, "roster", ROSTER)
    asked(talk, 2, "tides", TIDES)
    return talk


def request(talk: Conversation, policy: PolicySetDocument | str, provider: str = "openai") -> str:
    return str(talk.assemble(provider=provider, model="gpt-5.2", policy=policy).request())


def results(talk: Conversation) -> list[str]:
    return [str(record.id) for record in talk.history()[0] if record.header.kind == "artifact"]


@pytest.mark.parametrize("about", ["visibility", "privacy", "provider"])
def test_what_a_rule_refuses_is_in_no_request(talk: Conversation, about: str) -> None:
    assert "Grace" in request(talk, "faithful")
    said = request(talk, rules("record.tool == 'roster'", about=about))
    assert "Grace" not in said
    assert "nineteen minutes" in said


def test_a_rule_about_providers_holds_for_those_that_it_names(talk: Conversation) -> None:
    policy = rules("record.tool == 'roster' && boundary.provider == 'openai'", "safe", "provider")
    assert "Grace" not in request(talk, policy)
    assert "Grace" in request(talk, policy, provider="anthropic")
    assert "Grace" not in request(talk, policy)


def test_what_cannot_be_told_is_in_no_request(talk: Conversation) -> None:
    said = request(talk, rules("record.kind == 'artifact' && record.tags.quay == 'east'"))
    assert "Grace" not in said
    assert "nineteen minutes" not in said


def test_what_a_rule_refuses_no_recall_gives(talk: Conversation) -> None:
    talk.assemble(provider="openai", model="gpt-5.2", policy=rules("record.tool == 'roster'", about="privacy"))
    assert "Grace" not in talk.answer_recall({"reference": results(talk)[0]})
    assert "nineteen minutes" in talk.answer_recall({"reference": results(talk)[1]})


def test_a_rule_follows_what_a_recall_gave_again(talk: Conversation) -> None:
    talk.assemble(provider="openai", model="gpt-5.2", policy="faithful")
    arguments = json.dumps({"reference": results(talk)[0]})
    call = {"id": "c3", "type": "function", "function": {"name": "recall", "arguments": arguments}}
    talk.record({"role": "assistant", "tool_calls": [call]})
    given = talk.answer_recall(call)
    assert "Grace" in given
    talk.record({"role": "tool", "tool_call_id": "c3", "content": given})
    assert "Grace" in request(talk, "replay")
    assert "Grace" not in request(talk, rules("record.tool == 'roster'"))


def test_the_reason_names_the_rule(talk: Conversation) -> None:
    sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=rules("record.tool == 'roster'"))
    why = talk.why_not(sheet, results(talk)[0])
    assert (why.reason, why.rule) == (Reason.RULE, "visibility.rule.own")
    assert "(rule own of the policy set)" in why.sentence
    assert talk.rebuild(sheet).same


def test_a_wrong_condition_or_a_missing_library_changes_nothing(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = rules("record.tool == 'roster'")
    wrong = replace(policy, rules=(replace(policy.rules[0], when="record.tool =="),))
    before = len(talk.history()[0])
    with pytest.raises(PolicyError, match="it ends too early"):
        request(talk, wrong)
    ruling._compiled.cache_clear()
    monkeypatch.setitem(sys.modules, "cel", None)
    with pytest.raises(MissingExtra, match=r"callsheet\[policies\]"):
        request(talk, policy)
    assert len(talk.history()[0]) == before
    assert "Grace" in request(talk, "faithful")


CREW = "record.tool == 'roster' && !('crew' in boundary.scopes)"


def test_what_the_asker_is_entitled_to_opens_what_a_rule_keeps_from_others(talk: Conversation) -> None:
    policy = rules(f'"{CREW}"')
    for scopes, seen in (((), False), (("deck", "crew"), True), ("crew", True), (("deck",), False)):
        sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=policy, scopes=scopes)
        assert ("Grace" in str(sheet.request())) is seen
        assert talk.rebuild(sheet).same
    assert sheet.record.boundary.scopes == ("deck",)


def test_what_was_kept_from_one_asker_comes_back_for_another_who_may_see_it(talk: Conversation) -> None:
    policy = rules(f'"{CREW}"')
    assert "Grace" not in request(talk, policy)
    talk.record({"role": "assistant", "content": "I cannot tell."})
    talk.record({"role": "user", "content": "And now?"})
    crew = talk.assemble(provider="openai", model="gpt-5.2", policy=policy, scopes=["crew"])
    assert "Grace" in str(crew.request())
    talk.record({"role": "assistant", "content": "Ada."})
    talk.record({"role": "user", "content": "Who else?"})
    assert "Grace" not in request(talk, policy)


def test_a_recall_goes_by_what_the_request_was_entitled_to(talk: Conversation) -> None:
    policy = rules(f'"{CREW}"')
    wanted = {"reference": results(talk)[0]}
    talk.assemble(provider="openai", model="gpt-5.2", policy=policy, scopes=["crew"])
    assert "Grace" in talk.answer_recall(wanted)
    talk.assemble(provider="openai", model="gpt-5.2", policy=policy)
    refused = talk.answer_recall(wanted)
    # Who may not see a record may see no form of it.
    assert "may not be read" in refused
    assert "bytes" not in refused
    assert "roster" not in refused


def test_a_recall_that_a_rule_refuses_names_the_rule(talk: Conversation) -> None:
    talk.assemble(provider="openai", model="gpt-5.2", policy=rules("record.tool == 'roster'", about="provider"))
    refused = talk.answer_recall({"reference": results(talk)[0]})
    assert "the rule 'own' of the policy set of this request keeps this from 'openai'" in refused


def test_a_route_is_judged_for_the_asker(talk: Conversation) -> None:
    policy = rules(f'"{CREW}"', then="safe", about="privacy")
    (outsider,) = talk.route([("openai", "gpt-5.2")], policy=policy)
    (crew,) = talk.route([("openai", "gpt-5.2")], policy=policy, scopes=["crew"])
    assert (outsider.serving.value, crew.serving.value) == ("allowed_with_omissions", "allowed")


def test_scopes_are_labels(talk: Conversation) -> None:
    for wrong in ("", "a\0b", "a" * 600):
        with pytest.raises(InvalidOption, match="scopes"):
            talk.assemble(provider="openai", model="gpt-5.2", scopes=[wrong])


@pytest.mark.parametrize("about", ["visibility", "privacy", "provider"])
def test_what_rules_leave_out_is_counted_apart_and_told_with_its_reason(talk: Conversation, about: str) -> None:
    text = f"{HEADER}  - name: own\n    about: {about}\n    when: record.tool == 'roster'\n    then: leave_out\n"
    policy = parse_policy(text + "    reason: Who works when is for the crew.\n")
    sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=policy)
    assert sheet.record.omitted == ((Reason.RULE, 1),)
    assert "Left out: 1 (rule)" in sheet.explain()
    why = talk.why_not(sheet, results(talk)[0])
    assert why.reason is Reason.RULE
    assert "Who works when is for the crew" in why.sentence
    assert "(rule own of the policy set)" in why.sentence
    assert "another participant" not in why.sentence


def test_a_rule_that_can_never_hold_is_refused_before_anything_is_recorded(talk: Conversation) -> None:
    policy = rules("record.tool == 'roster'")
    never = replace(policy, rules=(replace(policy.rules[0], when="record.kind == 'artefact'"),))
    before = len(talk.history()[0])
    with pytest.raises(PolicyError, match=r"rule 'own', when.15.: record.kind is never 'artefact'; it is one of: mess"):
        request(talk, never)
    assert len(talk.history()[0]) == before


@pytest.mark.parametrize("relation", ["supersedes", "conflicts"])
def test_what_a_rule_hides_since_its_class_was_changed_bears_on_nothing_any_more(
    talk: Conversation, relation: str
) -> None:
    old, new = results(talk)
    if relation == "supersedes":
        talk.supersede(new, old)
    else:
        talk.conflict(new, old)
    policy = rules("record.privacy == 'personal'")

    def standing() -> tuple[str, Reason | None]:
        made = talk.assemble(provider="openai", model="gpt-5.2", policy=policy)
        assert talk.rebuild(made.id).same
        return str(made.request()), talk.why_not(made, old).reason

    request_before, reason_before = standing()
    change = Reclassified(records=(RecordId(new),), privacy=Privacy.PERSONAL, reason="names")
    talk._session.append(talk._view, lambda drafting: drafting.add(change, kind="reclassified"))
    request_after, reason_after = standing()
    assert "nineteen minutes" in request_before
    assert "nineteen minutes" not in request_after
    assert "Grace" in request_after
    assert (reason_before is Reason.SUPERSEDED) is (relation == "supersedes")
    assert reason_after not in (Reason.SUPERSEDED, Reason.CONFLICT)


@pytest.mark.parametrize("about", ["visibility", "privacy", "provider"])
def test_a_request_that_a_rule_leaves_empty_names_the_rule(talk: Conversation, about: str) -> None:
    with pytest.raises(EmptyRequest) as raised:
        request(talk, rules("true", about=about))
    policy = "visibility" if about == "visibility" else "privacy"
    assert raised.value.left_out == {f"{policy}.rule.own": 6}
    assert str(raised.value) == (
        "There is nothing to answer: policy set 'quay@1' leaves out all messages and results "
        f"(6 by {policy}.rule.own). Change the rule, or choose another policy set."
    )


def test_a_request_that_a_table_leaves_empty_names_the_policy_and_one_without_messages_none() -> None:
    talk = callsheet.open(":memory:").conversation("harbour-office")
    with pytest.raises(EmptyRequest, match="shows no message but instructions") as nothing:
        talk.assemble(provider="openai", model="gpt-5.2")
    assert (nothing.value.policy, nothing.value.left_out) == ("", {})
    talk.record({"role": "user", "content": "Who is on duty?"})
    shut = PolicySetDocument(name="shut", version="1", privacy=ClassForms(internal=Level.NONE))
    with pytest.raises(EmptyRequest, match=r"policy set 'shut@1' leaves out .* \(1 by privacy\.class_none\)"):
        talk.assemble(provider="openai", model="gpt-5.2", policy=shut)
