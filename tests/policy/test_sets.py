"""Policy sets are named by what they say."""

import hashlib
from itertools import product

import msgspec
import pytest
from msgspec.structs import replace

from callsheet.errors import PolicyError
from callsheet.graph.enums import (
    ArtifactStatus,
    CallStatus,
    Freshness,
    Level,
    Policy,
    Privacy,
    Role,
    Visibility,
)
from callsheet.graph.ids import RecordId
from callsheet.graph.values import RetryContract, Scope
from callsheet.policy import sets
from callsheet.policy.candidate import Candidate
from callsheet.policy.contracts import ToolContract
from callsheet.policy.deciding import decide
from callsheet.policy.facts import BOUNDARY, RECORD
from callsheet.policy.sets import BALANCED, BUILT_IN, LEAN, REPLAY, RULE_VERSIONS, check_known, policy_set
from callsheet.policy.settings import ClassForms, ProviderForm, Retention, StaleAfter, Water
from tests.policy.making import PILOT, RUN, ago, boundary

#: Hashes of the built-in sets. A changed rule or setting needs a new version, and then a new line here.
GOLDEN = {
    "balanced@1": "sha256:64e76379f5f49b6054b9e9a2a46cae6ff91496d9721da635a8a88e83ebd96a7d",
    "lean@1": "sha256:679d8a1ae1c72d19aef9c3d18c68c649434d745b11114cd2b615d69c3e691d31",
    "faithful@1": "sha256:7eb2369c42bd953acfcf8ab1e1d7625d8fd839b354ea20a410743387d37d3b1e",
    "replay@1": "sha256:44b4be1633e105678dc2016f6de2cb09bccce2a0458671c28ffc3a42287f85b4",
}

#: What each rule decides over `_grid`. A line that changes needs a new version in `RULE_VERSIONS`.
GOLDEN_RULES = {
    "attribution": (1, "3fc249c46f18d4b4"),
    "visibility": (1, "2310fac9e1c63084"),
    "privacy": (1, "3f2f055610c2dafa"),
    "recovery": (2, "c1d2f79b324a5893"),
    "freshness": (3, "7f8a3e0a8e6bddb6"),
    "conflict": (1, "0c28cf90b76daea2"),
    "promotion": (1, "dc9dc660489c5bde"),
    "rehydration": (1, "5ef71caf353f5ab0"),
    "retention": (1, "db0388d7360d97a9"),
    "conditions": (3, "8f30f0f01e0f1ff8"),
    "deciding": (1, "53ef7e1aa9cd489a"),
}


#: Sets of this test alone, so that tuning a built-in set is not taken for a changed rule.
POLICIES = (
    replace(
        BALANCED,
        turns=6,
        history=Level.DENSE,
        rehydrate=65_536,
        privacy=ClassForms(
            personal=Level.SAFE, secret=Level.NONE, google_derived=Level.RAW, connected_account=Level.RAW
        ),
        providers=(
            ProviderForm(provider="openai", privacy=Privacy.DOCUMENT, form=Level.SAFE),
            ProviderForm(provider="openai", privacy=Privacy.INTERNAL, form=Level.RAW),
            ProviderForm(provider="north", privacy=Privacy.SECRET, form=Level.RAW),
        ),
        freshness=StaleAfter(volatile=900, session=None, time_bounded=86_400, durable=60, permanent=None),
    ),
    replace(BALANCED, turns=4, history=Level.FOCUS, rehydrate=0, freshness=StaleAfter(volatile=None, session=60)),
    replace(BALANCED, turns=0, history=Level.RAW, verbatim=True),
)


def _grid() -> list[Candidate]:
    scopes = [
        Scope(),
        Scope(run=RUN),
        Scope(owner=PILOT),
        Scope(owner=PILOT, visibility=Visibility.PARTICIPANT),
        Scope(visibility=Visibility.AUDIT),
        Scope(sub_agent=RecordId("child")),
    ]
    base = Candidate(record=RecordId("r"), kind="artifact", turn_age=9)
    grid = [replace(base, scope=scope, released=released) for scope in scopes for released in (None, True, False)]
    grid += [replace(base, kind=kind) for kind in ("message", "run", "tool_memory", "episode")]
    grid += [replace(base, privacy=privacy) for privacy in Privacy]
    grid += [replace(base, kind="message", role=role, turn_age=age) for role, age in product(Role, (0, 3, 4, 6, 8))]
    grid += [replace(base, call=call, outcome=status) for call, status in product(CallStatus, ArtifactStatus)]
    grid += [
        replace(base, freshness=freshness, observed=observed, marked_stale=marked, exact_wanted=exact)
        for freshness, observed, marked, exact in product(
            Freshness, (None, ago(5), ago(30), ago(3_000)), (False, True), (False, True)
        )
    ]
    grid += [
        replace(base, kind=kind, promoted=promoted, pinned=pinned, superseded_by=replaced)
        for kind, promoted, pinned, replaced in product(
            ("artifact", "fact"), (None, True, False), (False, True), ((), (RecordId("s"),))
        )
    ]
    grid += [replace(base, retention=state, erased=erased) for state, erased in product(Retention, (False, True))]
    grid += [replace(base, exact_wanted=True, bytes=size) for size in (1, 50_000, 100_000, 10**6)]
    failed = replace(base, outcome=ArtifactStatus.FAILED)
    grid += [replace(failed, retry=RetryContract(attempts=tried, limit=3)) for tried in (0, 3)]
    grid += [replace(base, freshness=lasting, observed=ago(5), stale_after=ago(1)) for lasting in Freshness]
    return [*grid, replace(base, conflicts_with=(RecordId("s"),)), replace(base, session_over=True)]


def _fingerprints() -> dict[str, tuple[int, str]]:
    said: dict[str, list[bytes]] = {name: [] for name in RULE_VERSIONS}
    for candidate, policy in product(_grid(), POLICIES):
        decision = decide(candidate, boundary(), policy)
        for verdict in decision.verdicts:
            said[verdict.policy.value].append(msgspec.json.encode(verdict))
        said["deciding"].append(msgspec.json.encode(replace(decision, verdicts=())))
    for candidate in _grid():
        seen = [fact(candidate, boundary()) for _, fact in RECORD.values()]
        said["conditions"].append(msgspec.json.encode([*seen, *(fact(boundary()) for _, fact in BOUNDARY.values())]))
    return {
        name: (RULE_VERSIONS[name], hashlib.sha256(b"\n".join(lines)).hexdigest()[:16]) for name, lines in said.items()
    }


def test_an_unknown_set_is_refused_with_those_there_are() -> None:
    with pytest.raises(PolicyError, match=r"no policy set 'thrifty'; there are: balanced, faithful, lean, replay$"):
        policy_set("thrifty")


@pytest.mark.parametrize("name", ["ours.yaml", "policies/ours"])
def test_the_name_of_a_file_is_refused_with_what_reads_it(name: str) -> None:
    with pytest.raises(PolicyError, match=r"no policy set '.*'; there are: .*; .* read by callsheet\.load_policy$"):
        policy_set(name)


def test_the_hash_changes_with_the_content() -> None:
    replay = policy_set("replay")
    assert replay.hash != replace(replay, version="2").hash
    assert replay.hash == policy_set("replay").hash
    assert BALANCED.hash != replace(BALANCED, freshness=StaleAfter(volatile=901)).hash


def test_each_of_many_sets_has_its_own_hash_also_where_those_before_are_gone() -> None:
    assert len({replace(BALANCED, miss=miss).hash for miss in range(1, 200)}) == 199


def test_the_hash_changes_with_the_version_of_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    before = BALANCED.hash
    monkeypatch.setattr(sets, "RULE_VERSIONS", {**RULE_VERSIONS, "privacy": 2})
    assert BALANCED.hash != before


def test_the_content_names_every_setting_so_that_a_changed_default_is_seen() -> None:
    said = msgspec.json.decode(BALANCED.content)
    assert set(said) == set(BALANCED.__struct_fields__)
    assert said["freshness"] == {
        "volatile": 900,
        "session": None,
        "time_bounded": 86_400,
        "durable": None,
        "permanent": None,
    }


@pytest.mark.parametrize("document", BUILT_IN.values(), ids=str)
def test_the_content_reads_back(document: sets.PolicySetDocument) -> None:
    assert document == msgspec.json.decode(document.content, type=sets.PolicySetDocument)


def test_built_in_sets_say_what_they_said_when_their_version_was_given() -> None:
    assert {str(document): document.hash for document in BUILT_IN.values()} == GOLDEN


def test_rules_decide_what_they_decided_when_their_version_was_given() -> None:
    assert _fingerprints() == GOLDEN_RULES
    assert [*(policy.value for policy in Policy), "deciding", "conditions"] == list(RULE_VERSIONS)


def test_a_version_that_was_used_cannot_come_to_say_something_else() -> None:
    harbour = replace(BALANCED, name="harbour")
    known = {"harbour@1": harbour.hash}
    check_known(harbour, known)
    check_known(replace(harbour, version="2", turns=5), known)
    with pytest.raises(PolicyError, match=r"policy set harbour@1 is known as sha256:.*give it a new version"):
        check_known(replace(harbour, turns=5), known)


def test_nobody_can_take_the_name_of_a_built_in_set() -> None:
    check_known(BALANCED, {})
    with pytest.raises(PolicyError, match="balanced@1 is known as"):
        check_known(replace(BALANCED, turns=5), {})
    with pytest.raises(PolicyError, match="balanced@1 is known as"):
        check_known(replace(BALANCED, turns=5), {"balanced@1": replace(BALANCED, turns=5).hash})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": ""}, "the name of a policy set is ''"),
        ({"name": "har@bour"}, "hold no '@'"),
        ({"version": "1\n2"}, "printable"),
        ({"history": Level.REF}, "history is 'ref'; it must be one of: raw, dense, focus, gist"),
        ({"turns": 65}, "turns is 65; it must be from 0 to 64"),
        ({"horizon": 0}, "horizon is 0; it must be from 1 to 1,000"),
        ({"miss": -1}, "miss is -1"),
        ({"rehydrate": -1}, "rehydrate is -1"),
        ({"low_water": Water(tokens=60_001)}, "low_water is above high_water"),
        ({"low_water": Water(share=0.9)}, "low_water is above high_water"),
        ({"tools": (ToolContract(name="gauge"), ToolContract(name="gauge"))}, "tools has 'gauge' twice"),
    ],
)
def test_a_set_that_makes_no_sense_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(PolicyError, match=message.replace("(", r"\(")):
        replace(BALANCED, **change)


def test_a_water_mark_is_the_smallest_that_it_names() -> None:
    assert Water(tokens=500, share=0.5).of(2_000) == 500
    assert Water(tokens=500, share=0.5).of(600) == 300
    assert Water(tokens=500).of(100) == 100
    with pytest.raises(PolicyError, match="needs tokens, a share"):
        Water()
    with pytest.raises(PolicyError, match="as a share is nan"):
        Water(share=float("nan"))


def test_replay_stands_in_no_water() -> None:
    assert REPLAY.high_water.of(7_000) == REPLAY.low_water.of(7_000) == 7_000
    assert LEAN.high_water.of(10**6) == LEAN.high_water.tokens
