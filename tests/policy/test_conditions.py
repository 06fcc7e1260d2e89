"""Rules that users write: stricter unless they say otherwise, never over a refusal, and asked once for each class."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from callsheet.engines.cel import Cel
from callsheet.errors import PolicyError
from callsheet.graph.enums import ArtifactStatus, Level, Policy, Privacy, Reason, Role, RuntimeMode, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.values import Attribute, Scope
from callsheet.policy.candidate import Candidate
from callsheet.policy.conditions import Rules, fields
from callsheet.policy.deciding import decide
from callsheet.policy.facts import BOUNDARY, RECORD
from callsheet.policy.rules import About, Rule, Then
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.policy.settings import ClassForms
from callsheet.policy.verdict import DETAIL, Decision
from tests.policy.conditions import Language
from tests.policy.making import MESSAGE, PILOT, PURSER, RESULT, ago, boundary

CEL = Cel()
LEDGER = replace(RESULT, tool="cargo_list", privacy=Privacy.CONNECTED_ACCOUNT)


def rule(when: str, then: Then = Then.LEAVE_OUT, about: About = About.PRIVACY, *, loosens: bool = False) -> Rule:
    return Rule(name="own", about=about, when=when, then=then, loosens=loosens)


def ruled(*rules: Rule, over: PolicySetDocument = BALANCED) -> PolicySetDocument:
    named = tuple(replace(one, name=f"own{place}") for place, one in enumerate(rules))
    return replace(over, name="ferry", rules=named)


def decided(candidate: Candidate, *rules: Rule, over: PolicySetDocument = BALANCED) -> Decision:
    policy = ruled(*rules, over=over)
    return decide(candidate, boundary(), policy, Rules(policy, CEL).at(boundary()))


@pytest.mark.parametrize(
    ("about", "policy"),
    [
        (About.VISIBILITY, Policy.VISIBILITY),
        (About.PRIVACY, Policy.PRIVACY),
        (About.PROVIDER, Policy.PRIVACY),
    ],
)
def test_a_rule_refuses_for_good_and_is_named(about: About, policy: Policy) -> None:
    found = decided(RESULT, rule("record.kind == 'artifact' && boundary.provider == 'openai'", about=about))
    assert found.refused
    assert (found.reason, found.rule) == (Reason.RULE, f"{policy.value}.rule.own0")
    assert found.verdicts[-1].hard
    assert len(found.verdicts) == (2 if about is About.VISIBILITY else 3)


def test_a_rule_that_does_not_hold_changes_nothing() -> None:
    assert decided(RESULT, rule("record.kind == 'message'")) == decide(RESULT, boundary(), BALANCED)


def test_what_cannot_be_told_is_left_out_with_the_rule_that_asked() -> None:
    found = decided(RESULT, rule("record.tags.deck == 'two'", Then.SAFE))
    assert found.refused
    assert found.rule == "privacy.rule.own0.unanswered"
    tagged = replace(RESULT, attributes=(Attribute(name="deck", value="two"),))
    assert decided(tagged, rule("record.tags.deck == 'two'", Then.SAFE)).most is Level.SAFE


def test_a_result_of_an_unknown_tool_is_left_out_where_the_tool_is_asked_for_and_a_message_has_none() -> None:
    asks = rule("record.tool.startsWith('cargo')")
    assert decided(RESULT, asks).refused
    assert decided(LEDGER, asks).refused
    assert not decided(MESSAGE, asks).refused


def test_without_being_told_to_a_rule_only_makes_it_stricter() -> None:
    safe = rule("true", Then.SAFE)
    assert decided(RESULT, safe).most is Level.SAFE
    assert decided(LEDGER, safe).rule == "privacy.class_safe"
    with pytest.raises(PolicyError, match="loosens: true"):
        rule("true", Then.RAW)


def test_a_rule_that_loosens_gives_values_and_lifts_no_refusal() -> None:
    opens = rule("record.tool == 'cargo_list'", Then.RAW, loosens=True)
    assert decided(LEDGER, opens).most is Level.DENSE
    shut = replace(BALANCED, privacy=ClassForms(connected_account=Level.NONE))
    assert decided(LEDGER, opens, over=shut).rule == "privacy.class_none"
    private = replace(LEDGER, scope=Scope(owner=PILOT, visibility=Visibility.PARTICIPANT))
    assert decided(private, opens).rule == "visibility.participant_private"


def test_what_cannot_be_told_opens_nothing() -> None:
    opens = rule("record.tags.deck == 'two'", Then.RAW, loosens=True)
    assert decided(LEDGER, opens) == decide(LEDGER, boundary(), BALANCED)


def test_the_strictest_rule_counts_in_any_order_and_over_one_that_loosens() -> None:
    opens, safe, out = (
        rule("true", Then.RAW, loosens=True),
        rule("record.age >= 0", Then.SAFE),
        rule("record.size > 10"),
    )
    assert decided(LEDGER, opens, safe).most is Level.SAFE
    assert decided(LEDGER, opens, safe, out).refused
    assert decided(LEDGER, out, safe, opens).refused


def test_a_set_with_rules_that_nobody_made_ready_shows_nothing() -> None:
    found = decide(RESULT, boundary(), ruled(rule("false")))
    assert (found.refused, found.rule) == (True, "visibility.rules_not_ready")


FACTS: list[tuple[Candidate, str]] = [
    (RESULT, "record.kind == 'artifact' && record.role == '' && record.tainted && record.turns == 20"),
    (replace(MESSAGE, role=Role.USER), "record.role == 'user' && !record.tainted && record.tool == ''"),
    (replace(RESULT, observed=ago(2)), "record.age == 120"),
    (RESULT, "record.age == 20 * 60"),
    # A clock that was ahead.
    (replace(RESULT, observed=ago(-600)), "record.age == 20 * 60"),
    (replace(RESULT, outcome=ArtifactStatus.FAILED, marked_stale=True), "record.status == 'failed' && record.stale"),
    (replace(RESULT, scope=Scope(owner=PURSER)), "record.owner == 'mine'"),
    (replace(RESULT, scope=Scope(owner=PILOT, branch=RecordId("b"))), "record.owner == 'other'"),
    (replace(RESULT, scope=Scope(branch=RecordId("b"))), "record.branch == 'inherited' && record.owner == 'nobody'"),
    (RESULT, "record.branch == 'mine' && record.visibility == 'branch' && record.mode == 'chat'"),
    (replace(RESULT, scope=Scope(task="load", mode=RuntimeMode.SUB_AGENT)), "record.task == 'load'"),
    (replace(RESULT, pinned=True), "record.pinned && record.freshness == '' && record.privacy == 'internal'"),
    (RESULT, "boundary.model == 'm' && boundary.budget == 10000 && boundary.task == '' && boundary.mode == 'chat'"),
    (RESULT, "size(boundary.scopes) == 0 && boundary.skills == [] && !('horn' in boundary.tools)"),
    (RESULT, "boundary.participant == 'purser' && size(record.tags) == 0"),
]


@pytest.mark.parametrize(("candidate", "when"), FACTS, ids=[when[:50] for _, when in FACTS])
def test_conditions_see_facts(candidate: Candidate, when: str) -> None:
    assert decided(candidate, rule(when)).rule == "privacy.rule.own0"


def test_a_list_that_is_too_long_to_walk_is_missing() -> None:
    policy = ruled(rule("boundary.scopes.all(scope, scope == 'deck')"))
    for count, expected in ((100, "privacy.rule.own0"), (101, "privacy.rule.own0.unanswered")):
        crowded = replace(boundary(), scopes=("deck",) * count)
        assert decide(RESULT, crowded, policy, Rules(policy, CEL).at(crowded)).rule == expected


def test_every_fact_is_tried() -> None:
    asked = {(variable, name) for _, when in FACTS for variable, name, _ in fields(when)}
    asked |= {("record", "size"), ("boundary", "provider")}
    assert asked == {("record", name) for name in RECORD} | {("boundary", name) for name in BOUNDARY}


def test_records_that_are_equal_in_what_is_asked_are_one_class_and_asked_once() -> None:
    language = Language()
    told = language.named("record.kind == 'artifact'", lambda values: values["record"]["kind"] == "artifact")
    policy = ruled(rule("record.kind == 'artifact'"))
    ruling = Rules(policy, language).at(boundary())
    for number in range(50):
        decide(replace(RESULT, record=RecordId(f"r{number}"), bytes=number), boundary(), policy, ruling)
        decide(replace(MESSAGE, record=RecordId(f"m{number}")), boundary(), policy, ruling)
    assert ruling.classes == len(told.asked) == 2
    assert told.asked[0] == {"record": {"kind": "artifact"}, "boundary": {}}


def test_a_condition_is_given_no_more_than_it_names() -> None:
    language = Language()
    told = language.named("record.age > 5 && boundary.model == 'kind'", lambda values: False)
    policy = ruled(rule("record.age > 5 && boundary.model == 'kind'"))
    decide(RESULT, boundary(), policy, Rules(policy, language).at(boundary()))
    # "kind" stands in text only, which does no harm: it is one fact more, and part of the class.
    assert told.asked == [{"record": {"age": 1_200, "kind": "artifact"}, "boundary": {"model": "m"}}]


@pytest.mark.parametrize(
    ("when", "problem"),
    [
        ("record.knd == 'x'", "record has no 'knd'; it has: kind, role"),
        ("boundary.user == 'x'", "boundary has no 'user'"),
        ("record['ki' + 'nd'] == 'x'", "record needs a field behind it, such as record.kind"),
        ("record == record", "record needs a field"),
        ("record.content == 'x'", "record has no 'content'"),
    ],
)
def test_a_field_that_there_is_not_is_refused(when: str, problem: str) -> None:
    with pytest.raises(PolicyError, match=problem.replace("[", r"\[")):
        Rules(ruled(rule(when)), CEL)


def test_words_in_text_and_comments_are_no_fields() -> None:
    text = """'record' == "boundary.x" || r'record.\\' == '\\'record.y' // record.z\n || record.kind == 'a'"""
    assert [(variable, name) for variable, name, _ in fields(text)] == [("record", "kind")]


_rules = st.lists(
    st.builds(
        rule,
        when=st.sampled_from(
            ["true", "false", "record.tags.no == 'x'", "record.size > 500", "record.kind == 'message'"]
        ),
        then=st.sampled_from([Then.SAFE, Then.LEAVE_OUT]),
        about=st.sampled_from([About.PRIVACY, About.PROVIDER]),
    ),
    max_size=4,
)
_candidates = st.builds(
    lambda base, privacy, bytes, owner: replace(base, privacy=privacy, bytes=bytes, scope=Scope(owner=owner)),
    st.sampled_from([RESULT, MESSAGE]),
    st.sampled_from(Privacy),
    st.integers(0, 1_000),
    st.sampled_from([None, PILOT, PURSER]),
)


@given(candidate=_candidates, rules=_rules)
def test_rules_never_show_more_than_the_set_alone(candidate: Candidate, rules: list[Rule]) -> None:
    alone = decide(candidate, boundary(), BALANCED)
    with_rules = decided(candidate, *rules)
    assert DETAIL[with_rules.most] >= DETAIL[alone.most]
    assert DETAIL[with_rules.most_hard] >= DETAIL[alone.most_hard]


@given(candidates=st.lists(_candidates, max_size=6), rules=_rules)
def test_the_order_in_which_records_are_asked_about_changes_nothing(
    candidates: list[Candidate], rules: list[Rule]
) -> None:
    policy = ruled(*rules)
    ready = Rules(policy, CEL)
    one, other = ready.at(boundary()), ready.at(boundary())
    forwards = [decide(candidate, boundary(), policy, one) for candidate in candidates]
    backwards = [decide(candidate, boundary(), policy, other) for candidate in reversed(candidates)]
    assert forwards == backwards[::-1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "Own Rule"}, "the name of a rule"),
        ({"when": "  \n"}, "when of rule"),
        ({"when": "x" * 2_001}, "2,000"),
        ({"reason": "a\x07"}, "printable"),
        ({"about": About.VISIBILITY, "then": Then.SAFE}, "can only say leave_out"),
        ({"loosens": True}, "cannot loosen"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        replace(rule("true"), **change)


def test_rules_are_part_of_what_a_set_is() -> None:
    assert ruled(rule("true")).hash != ruled(rule("false")).hash != ruled().hash
    with pytest.raises(PolicyError, match="rules has 'own' twice"):
        replace(BALANCED, rules=(rule("true"), rule("false")))
    with pytest.raises(PolicyError, match="at most 64"):
        ruled(*[rule("true")] * 65)
