"""Comparisons that can never hold are found where they stand; what is computed, or not known, is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callsheet.graph.enums import ArtifactStatus, CallStatus, Freshness, Privacy, Role, RuntimeMode, Visibility
from callsheet.graph.ids import ROOT_BRANCH, RecordId
from callsheet.graph.ports import Flaw
from callsheet.graph.values import Scope
from callsheet.policy.candidate import Candidate
from callsheet.policy.comparisons import mismatch
from callsheet.policy.conditions import compiled
from callsheet.policy.facts import BOUNDARY, RECORD
from tests.policy.conditions import Language
from tests.policy.making import boundary


@pytest.mark.parametrize(
    ("expression", "at", "problem"),
    [
        ("record.privacy == 'private'", "'private'", "record.privacy is never 'private'; it is one of: public,"),
        ("record.kind == 'artefact'", "'artefact'", "it is one of: message, call, artifact,"),
        ("record.kind != 'artefact'", "'artefact'", "record.kind is never 'artefact'"),
        ("'artefact' == record.kind", "'artefact'", "record.kind is never 'artefact'"),
        ("record.kind in ['message', 'artefact']", "'artefact'", "record.kind is never 'artefact'"),
        ("(record . kind) == // why\n ('artefact')", "'artefact'", "record.kind is never 'artefact'"),
        ('record.tool == "gauge" && !(record.role == "User")', '"User"', 'record.role is never "User"'),
        ("record.freshness == 'fresh'", "'fresh'", "record.freshness is never 'fresh'; it is one of: '' (empty), vol"),
        ("record.status == 'fine'", "'fine'", "record.status is never 'fine'"),
        ("record.owner == 'me'", "'me'", "it is one of: mine, other, nobody"),
        ("record.branch == 'main'", "'main'", "it is one of: mine, inherited"),
        ("record.visibility == r'all'", "r'all'", "it is one of: participant, branch, conversation, audit"),
        ("boundary.mode == 'batch' || true", "'batch'", "boundary.mode is never 'batch'"),
        ("record.mode == '''batch''' ? true : false", "'''batch'''", "record.mode is never"),
        ("record.tool == 7", "7", "record.tool is compared with 7; it is text"),
        ("record.tool == null", "null", "record.tool is compared with null; it is text"),
        ("record.size == '10'", "'10'", "record.size is compared with '10'; it is a number"),
        ("record.age < '3600'", "'3600'", "record.age is compared with '3600'; it is a number"),
        ("record.turns == -1 || record.kind == -1", "-1", "record.kind is compared with -1; it is text, one of"),
        ("record.stale == 'yes'", "'yes'", "it is true or false"),
        ("record.tags.deck == 4", "4", "record.tags.deck is compared with 4; it is text"),
        ("record.kind == ['artifact']", "'artifact'", "`in` asks for one of several"),
        ("record.kind == boundary.budget", "boundary.budget", "compared with boundary.budget, which is a number"),
        ("7 in boundary.scopes", "7", "boundary.scopes is a list of texts; 7 is never in it"),
        ("record.size in boundary.scopes", "record.size", "record.size is never in it"),
        ("boundary.scopes == 'crew'", "'crew'", "it is a list of texts"),
        ("'rope' in record.tool", "record.tool", "what stands behind `in` must be a list or a map"),
    ],
)
def test_what_a_field_can_never_be_is_named_where_it_stands(expression: str, at: str, problem: str) -> None:
    found = mismatch(expression)
    assert found is not None
    assert found.offset == expression.rindex(at)
    assert problem in found.problem


@pytest.mark.parametrize(
    "expression",
    [
        "record.privacy == 'secret' && record.role == ''",
        "record.kind + 's' == 'messages'",
        "'a' + record.kind == 'amessage'",
        "record.kind == 'arti' + 'fact'",
        "record.kind == 'message' == true",
        "record.kind.startsWith('arte')",
        "size(record.kind) == 7",
        "int(record.task) == 7",
        "string(record.size) == '7'",
        "record.size - 1 > 5 && record.size > -1 && record.size < 1.5",
        r"record.kind == 'mess\u0061ge'",
        "'deck' in record.tags && record.tags.deck == 'two' && record.tags['deck'] == 'two'",
        "'crew' in boundary.scopes || boundary.scopes == ['crew']",
        "record.tool in boundary.tools || record.kind in ['message', ('call')]",
        "boundary.tools.exists(tool, tool == record.tool)",
        "record.stale == true || record.pinned",
        "\"record.kind == 'artefact'\" == record.tool // record.kind == 'artefact'",
        "[1, 2, 3][0] == 1 && {'a': 1}.a == 1",
    ],
)
def test_what_can_hold_or_is_computed_is_left_alone(expression: str) -> None:
    assert mismatch(expression) is None


def test_every_member_of_a_closed_set_may_be_asked_for_and_no_other_text() -> None:
    closed = [(f"record.{name}", one.fact) for name, one in RECORD.items()]
    closed += [(f"boundary.{name}", one.fact) for name, one in BOUNDARY.items()]
    asked = [(name, fact) for name, fact in closed if fact.members]
    assert len(asked) == 10
    for name, fact in asked:
        assert all(mismatch(f"{name} == '{member}'") is None for member in fact.members)
        assert mismatch(f"{name} == 'of no set'") is not None


SCOPES = st.builds(
    Scope,
    owner=st.sampled_from([None, RecordId("purser"), RecordId("pilot")]),
    branch=st.sampled_from([None, ROOT_BRANCH, RecordId("branch_b")]),
    visibility=st.sampled_from(Visibility),
    mode=st.sampled_from(RuntimeMode),
)
CANDIDATES = st.builds(
    Candidate,
    record=st.just(RecordId("tide")),
    kind=st.sampled_from(["message", "artifact", "tool_memory"]),
    scope=SCOPES,
    privacy=st.sampled_from(Privacy),
    freshness=st.sampled_from([None, *Freshness]),
    role=st.sampled_from([None, *Role]),
    outcome=st.sampled_from([None, *ArtifactStatus]),
    call=st.sampled_from([None, *CallStatus]),
)


@given(CANDIDATES)
def test_a_fact_of_a_closed_set_is_always_a_member(candidate: Candidate) -> None:
    for _, (fact, of) in RECORD.items():
        assert not fact.members or of(candidate, boundary()) in fact.members


@given(st.text(alphabet="record.kind'\"=!()[]in,&|-7 \\/\n", max_size=200))
def test_whatever_is_written_is_read_to_its_end(expression: str) -> None:
    found = mismatch(expression)
    assert found is None or 0 <= found.offset < len(expression)


def test_a_condition_that_can_never_hold_does_not_compile() -> None:
    language = Language()
    language.named("record.kind == 'artefact'", lambda _: True)
    assert isinstance(compiled("record.kind == 'artefact'", language), Flaw)
