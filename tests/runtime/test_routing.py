"""Which provider may serve a request is told from classes alone, and recorded without content."""

import json

import pytest

import callsheet
from callsheet import Conversation
from callsheet.errors import InvalidOption
from callsheet.graph.changes import Reclassified
from callsheet.graph.enums import Level, Privacy
from callsheet.policy.contracts import ToolContract
from callsheet.policy.rules import About, Rule, Then
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.settings import ClassForms, ProviderForm
from callsheet.runtime.outgoing import keeps_nothing
from callsheet.runtime.routing import Serving
from tests.runtime.test_privacy import DUMP, SECRETS, asked, decisions, sheet

PROVIDERS = [("openai", "gpt-5.2"), ("anthropic", "claude-sonnet-4-5"), ("local", "clay-7b")]
HOUSE = PolicySetDocument(
    name="house",
    version="3",
    privacy=ClassForms(personal=Level.SAFE, connected_account=Level.NONE),
    providers=(
        ProviderForm(provider="local", privacy=Privacy.PERSONAL, form=Level.RAW),
        ProviderForm(provider="local", privacy=Privacy.CONNECTED_ACCOUNT, form=Level.RAW),
    ),
    tools=(ToolContract(name="ledger", privacy=Privacy.CONNECTED_ACCOUNT),),
)


@pytest.fixture
def talk() -> Conversation:
    return callsheet.open(":memory:").conversation("kiln")


def test_without_anything_to_withhold_every_provider_may_serve_in_the_order_of_preference(talk: Conversation) -> None:
    asked(talk, "cone 6")
    routes = talk.route(PROVIDERS)
    assert [(one.provider, one.model) for one in routes] == PROVIDERS
    assert all(one.serving is Serving.ALLOWED and one.allowed for one in routes)


def test_what_may_not_go_there_is_counted_by_class_with_its_tools(talk: Conversation) -> None:
    asked(talk, "ruth.oake@kiln.example booked", tool="bookings")
    asked(talk, "4 invoices open", tool="ledger")
    local, openai, anthropic = talk.route(PROVIDERS, policy=HOUSE)
    assert (local.provider, local.serving, local.withheld) == ("local", Serving.ALLOWED, ())
    assert openai.serving is anthropic.serving is Serving.WITH_OMISSIONS
    assert openai.withheld == ((Privacy.CONNECTED_ACCOUNT, 1), (Privacy.PERSONAL, 1))
    assert openai.tools == ("bookings", "ledger")
    assert "1 record of class personal may not go to openai under house@3" in openai.reasons


def test_what_is_told_is_what_assembly_does(talk: Conversation) -> None:
    asked(talk, "ruth.oake@kiln.example booked", tool="bookings")
    for route in talk.route(PROVIDERS, policy=HOUSE):
        shown = json.dumps(sheet(talk, HOUSE, route.provider).messages())
        assert ("ruth.oake" in shown) is (route.serving is Serving.ALLOWED)


def test_a_provider_that_may_not_see_the_question_is_refused(talk: Conversation) -> None:
    asked(talk, "cone 6")
    question = talk.record({"role": "user", "content": "And mine?"}).ids[0]
    change = Reclassified(records=(question,), privacy=Privacy.PERSONAL)
    talk._session.append(talk._view, lambda drafting: drafting.add(change, kind="reclassified"))
    routes = {one.provider: one for one in talk.route(PROVIDERS, policy=HOUSE)}
    assert routes["openai"].serving is Serving.REFUSED
    assert not routes["openai"].allowed
    assert "the newest question is of class personal, which may not go to openai" in routes["openai"].reasons
    assert routes["local"].serving is Serving.ALLOWED
    assert next(iter(talk.route(PROVIDERS, policy=HOUSE))).provider == "local"


def test_each_judgement_is_recorded_without_content(talk: Conversation) -> None:
    artifact = asked(talk, f"ruth.oake@kiln.example {SECRETS[0]}", tool="bookings")
    talk.route(PROVIDERS, policy=HOUSE)
    found = decisions(talk, "routing")
    assert [(one.rule, one.verdict) for one in found] == [
        ("routing.openai/gpt-5.2", "allowed_with_omissions"),
        ("routing.anthropic/claude-sonnet-4-5", "allowed_with_omissions"),
        ("routing.local/clay-7b", "allowed"),
    ]
    assert [one.governs for one in found] == [(artifact,), (artifact,), ()]
    assert all(one.policy_set == HOUSE.hash for one in found)
    assert "ruth" not in repr(found)
    assert SECRETS[0] not in repr(found)


def test_results_with_secrets_are_counted_as_marked_not_withheld(talk: Conversation) -> None:
    asked(talk, DUMP)
    (route,) = talk.route([("openai", "gpt-5.2")])
    assert (route.serving, route.marked) == (Serving.ALLOWED, 1)
    (route,) = talk.route([("openai", "gpt-5.2")], policy="replay")
    assert route.marked == 0


def test_what_another_participant_keeps_private_counts_for_nobody_else(talk: Conversation) -> None:
    critic = talk.participant("critic")
    asked(critic, "ruth.oake@kiln.example booked", tool="bookings")
    talk.record({"role": "user", "content": "Go on."})
    openai = next(one for one in talk.route(PROVIDERS, policy=HOUSE) if one.provider == "openai")
    assert openai.withheld == ()


@pytest.mark.parametrize("wrong", [[], ["openai"], [("openai",)], [("openai", "")], [(1, "x")]])
def test_anything_but_pairs_is_refused(talk: Conversation, wrong: list[tuple[str, str]]) -> None:
    with pytest.raises(InvalidOption):
        talk.route(wrong)


def ruled(when: str) -> PolicySetDocument:
    rule = Rule(name="apart", about=About.VISIBILITY, when=when, then=Then.LEAVE_OUT)
    return PolicySetDocument(name="ruled", version="1", rules=(rule,))


@pytest.mark.parametrize(
    ("when", "serving", "reasons"),
    [
        (
            "boundary.provider == 'openai'",
            Serving.REFUSED,
            {"rule 'apart' leaves out an instruction", "rule 'apart' leaves out the newest question"},
        ),
        (
            "record.tool == 'gauge' && boundary.provider == 'openai'",
            Serving.WITH_OMISSIONS,
            {"1 record is left out by rule 'apart' of ruled@1"},
        ),
        (
            "record.role == 'system' && boundary . model == 'gpt-5.2'",
            Serving.REFUSED,
            {"rule 'apart' leaves out an instruction"},
        ),
        (
            "record.role == 'user' && record.turns == 0",
            Serving.REFUSED,
            {"rule 'apart' leaves out the newest question"},
        ),
        # Whoever writes that instructions are left out everywhere means it.
        ("record.role == 'system'", Serving.WITH_OMISSIONS, {"1 record is left out by rule 'apart' of ruled@1"}),
        ("boundary.provider == 'local'", Serving.ALLOWED, {"ruled@1 withholds nothing from openai"}),
    ],
)
def test_what_a_rule_about_visibility_leaves_out_counts(
    talk: Conversation, when: str, serving: Serving, reasons: set[str]
) -> None:
    talk.instruct("Speak of cones.", scope="conversation")
    asked(talk, "cone 6", tool="gauge")
    talk.record({"role": "user", "content": "Which cone?"})
    (found,) = talk.route(PROVIDERS[:1], policy=ruled(when))
    assert found.serving is serving
    assert reasons <= set(found.reasons)
    assert bool(found.left_out) is (serving is not Serving.ALLOWED)
    assert keeps_nothing(talk, PROVIDERS[0], ruled(when)) is (serving is Serving.ALLOWED)


def test_the_runtime_asks_the_conversation() -> None:
    with callsheet.open(":memory:") as runtime:
        talk = runtime.conversation("kiln")
        asked(talk, "cone 6")
        assert runtime.route(talk, PROVIDERS) == talk.route(PROVIDERS)
