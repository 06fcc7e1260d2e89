"""Memories in requests: what replaces what, what is out of date, what contradicts what, and what each of them says."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from callsheet import Conversation, Runtime, Sheet
from callsheet.errors import InvalidOption, InvalidTime, NotFound
from callsheet.explain.absence import Outcome
from callsheet.graph.changes import Conflicted, LifecycleChanged, MarkedStale, Superseded
from callsheet.graph.enums import ArtifactStatus, Freshness, Level, Lifecycle, Privacy, Reason, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import PolicyDecision, ToolArtifact, ToolMemory
from callsheet.graph.times import instant
from callsheet.graph.values import RetryContract, Scope
from callsheet.policy.context import ContextClass
from callsheet.policy.contracts import ToolContract
from callsheet.policy.keeping import Keeping
from callsheet.policy.recovery import Retry
from callsheet.policy.sets import BALANCED, LEAN, PolicySetDocument, policy_set
from callsheet.policy.settings import Retention
from callsheet.testing import memory_runtime
from tests.runtime.replies import asks, call, result, user

SPRING, AUTUMN, NOW = "2026-03-02T09:00:00Z", "2026-09-14T09:00:00Z", "2026-09-20T09:00:00Z"
NARROW = replace(LEAN, name="narrow", version="1", turns=1)
OLD, NEW = "The kiln of hall 3 fires at 1180 degrees.", "The kiln of hall 3 now fires at 1240 degrees."


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as opened:
        yield opened


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    opened = runtime.conversation("pottery")
    opened.record(user("How hot does the kiln get?"), at=SPRING)
    return opened


def read(talk: Conversation, content: object, *, at: str = SPRING, tool: str = "read_kiln") -> str:
    talk.record(asks(call("c", tool)), at=at)
    return talk.record(result("c", content if isinstance(content, str) else json.dumps(content)), at=at).ids[-1]


#: Enough that a history that never was shown does not stand whole.
LONG = " ".join(f"Shelf {number} holds plates, cups and a jug of the winter set." for number in range(30))


def go_on(talk: Conversation, turns: int, at: str = AUTUMN) -> None:
    for number in range(turns):
        talk.record({"role": "assistant", "content": f"Noted, {number}. {LONG}"}, at=at)
        talk.record(user(f"Go on with the glaze, part {number}."), at=at)


def sheet(talk: Conversation, policy: PolicySetDocument = NARROW, now: str = NOW, provider: str = "openai") -> Sheet:
    model = {"openai": "gpt-5.2", "anthropic": "claude-sonnet-4-5"}[provider]
    return talk.assemble(provider=provider, model=model, policy=policy, now=now)


def shown(sheet: Sheet) -> str:
    return "\n".join(block.decode() for block in sheet.blocks)


def bodies(talk: Conversation, kind: type) -> list[object]:
    session = talk._session
    records = session.ledger.records(session.conversation.key)
    return [record.body for record in records if isinstance(record.body, kind)]


def memory(talk: Conversation, id: str) -> ToolMemory:
    (record,) = talk._get((RecordId(id),))
    assert isinstance(record.body, ToolMemory)
    return record.body


def head(talk: Conversation) -> int:
    found = talk._session.ledger.head(talk._session.conversation.key)
    return found.position if found is not None else 0


def put(talk: Conversation, body: ToolMemory | Superseded, kind: str, id: RecordId | None = None) -> None:
    """A record as another process would append it."""
    talk._session.append(talk._view, lambda drafting: drafting.add(body, kind=kind, id=id))


def remembering(talk: Conversation, source: str, text: str) -> ToolMemory:
    session = talk._session
    summary = session.ledger.stash(session.owner, text.encode())
    return ToolMemory(sources=(RecordId(source),), tools=("read_kiln",), summary=summary, observed=instant(AUTUMN))


def contracts(*tools: ToolContract) -> PolicySetDocument:
    return replace(NARROW, name="kilns", version="1", tools=tools)


def two(talk: Conversation) -> tuple[str, str, str, str]:
    """An old and a new result, far from the question, each with its memory."""
    first = read(talk, {"kiln": "hall 3", "degrees": 1180})
    old = talk.promote(first, summary=OLD)
    go_on(talk, 2)
    second = read(talk, {"kiln": "hall 3", "degrees": 1240}, at=AUTUMN)
    new = talk.promote(second, summary=NEW)
    go_on(talk, 2)
    talk.record({"role": "assistant", "content": "Yes."}, at=AUTUMN)
    talk.record(user("At how many degrees does the kiln of hall 3 fire?"), at=NOW)
    return first, old, second, new


# ---------------------------------------------------------------------------------------------- replacement


def test_a_replaced_memory_is_out_and_its_replacement_in_with_its_day(talk: Conversation) -> None:
    first, old, second, new = two(talk)
    talk.supersede(new, old, reason="newer reading")
    made = sheet(talk)
    assert f"(2026-09-14) [{second.partition('_')[2][:6]}] {NEW}" in shown(made)
    assert "1180" not in shown(made)
    assert talk.why_not(made, old).reason is Reason.SUPERSEDED
    assert talk.why_not(made, first).reason is Reason.SUPERSEDED
    explained = next(one for one in talk.explain(made).records if one.record == new)
    assert explained.sentence.startswith(f"memory {new} from artifact {second}, recorded on the active branch")
    assert "visible here, policy set narrow@1" in explained.sentence
    assert explained.sentence.endswith("raw not loaded because the memory was enough")


def test_a_memory_on_a_branch_says_that_the_branch_inherits_it(talk: Conversation) -> None:
    id = read(talk, {"degrees": 1180})
    old = talk.promote(id, summary=OLD)
    go_on(talk, 3)
    fork = talk.branch(name="try").participant("potter")
    fork.record(user("And the kiln of hall 3?"), at=NOW)
    made = sheet(fork)
    (told,) = [one.sentence for one in fork.explain(made).records if one.record == old]
    assert told.startswith(
        f"memory {old} from artifact {id}, inherited by the active branch from main, everybody's, "
        "visible to this participant, policy set narrow@1;"
    )


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_of_arrival_of_replacement_and_word_makes_no_difference(order: tuple[int, ...]) -> None:
    """The old memory, the new one and the word that one replaces the other, in every order that there can be."""
    with memory_runtime() as runtime:
        talk = runtime.conversation("pottery")
        talk.record(user("How hot?"), at=SPRING)
        results = [read(talk, {"degrees": 1180}), read(talk, {"degrees": 1240}, at=AUTUMN)]
        go_on(talk, 3)
        ids = RecordId("tool_memory_900"), RecordId("tool_memory_901")
        for what in order:
            if what < 2:
                put(talk, remembering(talk, results[what], (OLD, NEW)[what]), "tool_memory", ids[what])
            else:
                put(talk, Superseded(current=ids[1], replaced=(ids[0],)), "superseded")
        talk.record(user("At how many degrees does the kiln fire?"), at=NOW)
        made_sheet = sheet(talk)
        assert NEW in shown(made_sheet)
        assert "1180" not in shown(made_sheet)


def test_a_replacement_comes_in_though_its_own_result_was_never_called_for(talk: Conversation) -> None:
    first = read(talk, {"kiln": "hall 3", "degrees": 1180})
    old = talk.promote(first, summary=OLD)
    sheet(talk)
    talk.record({"role": "assistant", "content": "1180 degrees."}, at=SPRING)
    other = talk.branch(name="other")
    other.record(user("Measure again."), at=AUTUMN)
    second = read(other, "dial reads high", at=AUTUMN, tool="walk_round")
    new = other.promote(second, summary=NEW, supersedes=[old])
    other.record({"role": "assistant", "content": "Done."}, at=AUTUMN)
    other.record(user("And now?"), at=NOW)
    made = sheet(other, BALANCED)
    assert talk.why_not(made, new).outcome is Outcome.REDUNDANT
    assert "replaced since" in shown(made)
    # Where the word was never said, the old one stands.
    talk.record(user("And now?"), at=NOW)
    assert "replaced since" not in shown(sheet(talk, BALANCED))


def test_a_hidden_replacement_changes_nothing(talk: Conversation) -> None:
    first = read(talk, {"degrees": 1180})
    old = talk.promote(first, summary=OLD)
    go_on(talk, 3)
    before = sheet(talk)
    cook = talk.participant("cook")
    secret = cook.promote(read(cook, {"degrees": 1240}, at=AUTUMN), summary=NEW)
    cook.supersede(secret, old)
    after = sheet(talk)
    assert after.blocks == before.blocks
    assert talk.why_not(after, old).level is Level.GIST
    go_on(cook, 2)
    assert "1180" not in "".join(line for line in shown(sheet(cook)).splitlines() if "replaced" not in line)


def test_what_was_shown_before_is_said_to_be_replaced_in_the_next_request(talk: Conversation) -> None:
    first = read(talk, {"kiln": "hall 3", "degrees": 1180})
    old = talk.promote(first, summary=OLD)
    sheet(talk, BALANCED, SPRING)
    talk.record({"role": "assistant", "content": "1180 degrees."}, at=SPRING)
    talk.record(user("It was rebuilt."), at=AUTUMN)
    second = read(talk, {"kiln": "hall 3", "degrees": 1240}, at=AUTUMN)
    talk.promote(second, summary=NEW, supersedes=[old])
    made = sheet(talk, BALANCED, AUTUMN)
    assert not made.record.rewritten
    assert f"(2026-03-02) [{first.partition('_')[2][:6]}] read_kiln(): 2 keys, replaced since" in shown(made)
    # Said once, it is not said again.
    talk.record({"role": "assistant", "content": "1240 now."}, at=AUTUMN)
    talk.record(user("Good."), at=NOW)
    again = sheet(talk, BALANCED)
    assert shown(again).count("replaced since") == 1
    # Shown for the first time, it says so itself.
    (fresh,) = [sheet(talk, replace(BALANCED, name="anew", version="1"))]
    assert "(as of 2026-03-02; replaced since)" in shown(fresh)
    why = talk.why_not(fresh, first)
    assert (why.outcome, why.reason) == (Outcome.STANDS, Reason.SUPERSEDED)


# ---------------------------------------------------------------------------------------------- who may say what


def test_cycles_are_refused_over_any_number_of_steps(talk: Conversation) -> None:
    memories = [talk.promote(read(talk, f"reading {number}"), summary=f"Reading {number}.") for number in range(4)]
    for newer, older in zip(memories[1:], memories, strict=False):
        talk.supersede(newer, older)
    before = head(talk)
    for current, replaced in [(memories[0], memories[3]), (memories[1], memories[2]), (memories[2], memories[2])]:
        with pytest.raises(InvalidOption):
            talk.supersede(current, replaced)
    assert head(talk) == before


def test_wrong_words_are_refused_and_change_nothing(talk: Conversation) -> None:
    own = talk.promote(read(talk, "reading 1"), summary="Reading 1.")
    rests_on = memory(talk, own).sources[0]
    cook, smith = talk.participant("cook"), talk.participant("smith")
    theirs = cook.promote(rests_on, summary="Mine.")
    hidden = cook.promote(read(cook, "salt"), summary="Hidden.")
    message = talk.history()[0][0].id
    before = head(talk)
    promote: Callable[..., RecordId] = talk.promote
    acts: list[tuple[Callable[[], object], type[Exception]]] = [
        (lambda: talk.supersede(own, "tool_memory_404"), NotFound),
        (lambda: talk.supersede("tool_memory_404", own), NotFound),
        (lambda: talk.supersede(own, hidden), NotFound),
        (lambda: talk.supersede(own, message), NotFound),
        (lambda: talk.supersede(own), InvalidOption),
        (lambda: talk.supersede(own, theirs), InvalidOption),
        (lambda: talk.supersede(own, rests_on), InvalidOption),
        (lambda: talk.conflict(own, own), InvalidOption),
        (lambda: smith.conflict(own, theirs), InvalidOption),
        (talk.mark_stale, InvalidOption),
        (lambda: talk.mark_stale(hidden), NotFound),
        (lambda: smith.mark_stale(theirs), InvalidOption),
        (lambda: promote(rests_on, supersedes=["tool_memory_404"]), NotFound),
        (lambda: promote(rests_on, supersedes=[own], conflicts_with=[own]), InvalidOption),
        (lambda: promote(rests_on, supersedes=[rests_on]), InvalidOption),
        (lambda: promote(rests_on, observed=datetime(2026, 3, 2)), InvalidTime),
        (lambda: promote(rests_on, stale_after="2026-03-02T09:00:00"), InvalidTime),
        (lambda: promote(rests_on, observed="2999-01-01T00:00:00Z"), InvalidOption),
        (lambda: promote(rests_on, stale_after="1999-01-01T00:00:00Z"), InvalidOption),
        (lambda: promote(rests_on, freshness="eternal"), InvalidOption),
    ]
    for act, error in acts:
        with pytest.raises(error):
            act()
    assert head(talk) == before


def test_every_word_is_a_record_with_its_decision(talk: Conversation) -> None:
    one, other = (talk.promote(read(talk, f"reading {number}"), summary=f"Reading {number}.") for number in (1, 2))
    talk.conflict(one, other, reason="two dials")
    talk.mark_stale(other, reason="dial replaced")
    talk.supersede(other, one, reason="dial replaced")
    assert bodies(talk, Conflicted) == [Conflicted(one=RecordId(one), other=RecordId(other), reason="two dials")]
    assert bodies(talk, MarkedStale) == [MarkedStale(records=(RecordId(other),), reason="dial replaced")]
    verdicts = [body.verdict for body in bodies(talk, PolicyDecision) if isinstance(body, PolicyDecision)]
    assert verdicts == ["promoted", "promoted", "contradicted", "superseded"]


# ---------------------------------------------------------------------------------------------- contradiction


def test_both_sides_of_a_contradiction_stand_and_say_so(talk: Conversation) -> None:
    _, old, _, new = two(talk)
    talk.conflict(old, new)
    made = sheet(talk)
    assert f"{OLD} (contradicted by another record)" in shown(made)
    assert f"{NEW} (contradicted by another record)" in shown(made)
    assert "(2026-03-02)" in shown(made)
    assert "(2026-09-14)" in shown(made)
    assert {talk.why_not(made, id).reason for id in (old, new)} == {Reason.CONFLICT}
    assert "another record contradicts it" in talk.why_not(made, old).sentence


SUBJECT = {"entity": "kiln of hall 3", "attribute": "degrees"}


def decided(
    talk: Conversation, first: dict[str, object], second: dict[str, object], *, tools: tuple[str, str] = ("a", "b")
) -> tuple[str, str]:
    """What became of two memories of one subject that say otherwise."""
    promote: Callable[..., RecordId] = talk.promote
    made: list[str] = []
    for number, own_terms in enumerate((first, second)):
        degrees = (1180, 1240)[number]
        id = read(talk, {"degrees": degrees}, at=(SPRING, AUTUMN)[number], tool=tools[number])
        terms = {"payload": {"degrees": degrees}, **own_terms}
        own = terms.pop("attributes", {})
        attributes = {**SUBJECT, **(own if isinstance(own, dict) else {})}
        made.append(promote(id, summary=f"It fires at {degrees}.", attributes=attributes, **terms))
    replaced = {body.replaced[0]: body.reason for body in bodies(talk, Superseded) if isinstance(body, Superseded)}
    one, other = made
    if memory(talk, other).supersedes:
        assert memory(talk, other).supersedes == (one,)
        return "newer", next(
            body.rule for body in bodies(talk, PolicyDecision)
            if isinstance(body, PolicyDecision) and body.governs == (other, one)
        )  # fmt: skip
    if other in replaced:
        return "older", f"conflict.{replaced[RecordId(other)]}"
    return ("both" if memory(talk, other).conflicts_with == (one,) else "apart"), ""


@pytest.mark.parametrize(
    ("first", "second", "came"),
    [
        ({}, {}, ("both", "")),
        ({"attributes": {"document": "manual", "version": "1.9"}},
         {"attributes": {"document": "manual", "version": "1.10"}}, ("newer", "conflict.document_version")),
        ({"attributes": {"document": "manual", "version": "2"}},
         {"attributes": {"document": "manual", "version": "1"}}, ("older", "conflict.document_version")),
        ({"attributes": {"document": "manual", "version": "2"}},
         {"attributes": {"document": "leaflet", "version": "3"}}, ("both", "")),
        ({"extractor": "model:scribe"}, {}, ("newer", "conflict.confidence_source")),
        ({}, {"extractor": "model:scribe"}, ("older", "conflict.confidence_source")),
        ({"confidence": 0.4}, {"confidence": 0.9}, ("newer", "conflict.confidence")),
        ({"confidence": 0.8}, {"confidence": 0.9}, ("both", "")),
        ({}, {"payload": {"degrees": 1180}}, ("apart", "")),
        ({}, {"payload": {"bricks": 12}}, ("apart", "")),
        ({}, {"attributes": {"entity": "kiln of hall 4"}}, ("apart", "")),
    ],
)  # fmt: skip
def test_provenance_and_confidence_decide_a_contradiction_and_time_alone_never(
    talk: Conversation, first: dict[str, object], second: dict[str, object], came: tuple[str, str]
) -> None:
    assert decided(talk, first, second) == came


def test_the_later_reading_of_the_present_replaces_the_earlier_where_the_owner_of_the_tool_says_so(
    talk: Conversation,
) -> None:
    # So much counts that something is missing that no rewrite pays: what follows is appended.
    policy = replace(contracts(ToolContract(name="dial", reads_current_state=True)), miss=10**9)
    sheet(talk, policy)
    assert decided(talk, {}, {}, tools=("dial", "dial")) == ("newer", "conflict.provider")
    go_on(talk, 3)
    talk.record(user("At how many degrees does the kiln of hall 3 fire, 1180?"), at=NOW)
    appended = shown(sheet(talk, policy))
    assert "(as of 2026-03-02; replaced since)\\ndegrees:1180" in appended
    assert "degrees:1240" in appended
    anew = shown(sheet(talk, replace(policy, version="2")))
    assert "It fires at 1240." in anew
    assert "It fires at 1180." not in anew


def test_what_is_found_out_on_a_branch_replaces_what_it_inherits_there_alone(talk: Conversation) -> None:
    old = talk.promote(read(talk, {"degrees": 1180}), payload={"degrees": 1180}, attributes=SUBJECT)
    fork = talk.branch(name="try")
    new = fork.promote(read(fork, {"degrees": 1240}), payload={"degrees": 1240}, attributes=SUBJECT)
    assert memory(fork, new).supersedes == (old,)
    talk.record(user("And?"), at=NOW)
    assert talk.why_not(sheet(talk), old).reason is not Reason.SUPERSEDED


def test_a_public_memory_leaves_private_ones_alone(talk: Conversation) -> None:
    cook = talk.participant("cook")
    cook.promote(read(cook, {"degrees": 1180}), payload={"degrees": 1180}, attributes=SUBJECT)
    public = read(talk, {"degrees": 1240})
    body = memory(cook, cook.promote(public, payload={"degrees": 1240}, attributes=SUBJECT))
    assert (body.supersedes, body.conflicts_with) == ((), ())


# ---------------------------------------------------------------------------------------------- out of date


def test_a_stale_memory_is_a_mark_with_its_day_and_the_tools_to_check_with(talk: Conversation) -> None:
    policy = contracts(ToolContract(name="read_kiln", freshness=Freshness.VOLATILE, side_effects=False))
    sheet(talk, policy, SPRING)
    id = talk.promote(read(talk, {"degrees": 1180}), summary=OLD)
    assert memory(talk, id).recheck_tools == ("read_kiln",)
    go_on(talk, 3)
    made = sheet(talk, policy)
    assert "1180" not in shown(made)
    stale = sheet_line(made, "out of date")
    assert not stale or stale.startswith("(2026-03-02)")
    assert "it is out of date" in talk.why_not(made, id).sentence


def sheet_line(sheet: Sheet, words: str) -> str:
    lines = (line for line in shown(sheet).replace("\\n", "\n").splitlines() if words in line)
    return next(lines, "")


def test_what_was_shown_as_current_is_said_to_be_out_of_date_once_its_time_is_over(talk: Conversation) -> None:
    policy = replace(
        BALANCED,
        name="dials",
        version="1",
        turns=1,
        tools=(ToolContract(name="read_kiln", freshness=Freshness.VOLATILE, recheck=("look_again",)),),
    )
    sheet(talk, policy, SPRING)
    id = talk.promote(read(talk, {"degrees": 1180}), summary=OLD)
    go_on(talk, 3, "2026-03-02T09:01:00Z")
    early = sheet(talk, replace(policy, version="2"), "2026-03-02T09:02:00Z")
    assert OLD in shown(early)
    go_on(talk, 1, "2026-03-02T12:00:00Z")
    late = sheet(talk, replace(policy, version="2"), "2026-03-02T12:00:00Z")
    if not late.record.rewritten:
        assert sheet_line(late, "look_again").startswith("(2026-03-02)")
    assert talk.why_not(late, id).reason is Reason.STALE


def test_a_plain_result_that_went_out_of_date_says_when_it_was_observed_and_how_to_check(talk: Conversation) -> None:
    tool = ToolContract(name="read_kiln", freshness=Freshness.VOLATILE, recheck=("look_again",))
    policy = replace(BALANCED, name="dials", version="1", tools=(tool,))
    id = read(talk, {"degrees": 1180})
    talk.record({"role": "assistant", "content": "1180."}, at=SPRING)
    talk.record(user("And now?"), at=NOW)
    made = sheet(talk, policy)
    assert "out of date (observed 2026-03-02)" in shown(made)
    assert "check again with look_again" in shown(made)
    assert "1180," not in shown(made)
    assert talk.why_not(made, id).reason is Reason.STALE


def test_marked_stale_is_out_of_date_whatever_its_class(talk: Conversation) -> None:
    id = talk.promote(read(talk, {"degrees": 1180}), summary=OLD)
    go_on(talk, 3)
    assert OLD in shown(sheet(talk))
    talk.mark_stale(id, reason="the kiln was rebuilt")
    made = sheet(talk)
    assert talk.why_not(made, id).reason is Reason.STALE
    anew = sheet(talk, replace(NARROW, name="anew", version="1"))
    assert OLD not in shown(anew)


@pytest.mark.parametrize("given", [{"freshness": "session"}, {"attributes": {"lifetime": "session"}}])
def test_what_holds_for_a_session_is_no_fact_once_the_conversation_is_put_away(
    talk: Conversation, given: dict[str, object]
) -> None:
    promote: Callable[..., RecordId] = talk.promote
    id = promote(read(talk, {"degrees": 1180}), summary=OLD, **given)
    assert memory(talk, RecordId(id)).freshness is Freshness.SESSION
    go_on(talk, 3)
    assert OLD in shown(sheet(talk))
    archived = LifecycleChanged(status=Lifecycle.ARCHIVED)
    talk._session.append(talk._view, lambda drafting: drafting.add(archived, kind="lifecycle_changed", scope=Scope()))
    go_on(talk, 1)
    made = sheet(talk, replace(NARROW, name="anew", version="1"))
    assert OLD not in shown(made)
    assert talk.why_not(made, id).reason in (Reason.STALE, Reason.NOT_RELEVANT)


def test_what_holds_for_a_task_is_no_fact_once_another_task_has_begun(runtime: Runtime) -> None:
    talk = runtime.conversation("two tasks")
    talk.record(user("Fire the blue kiln at the temperature of the test cone."), at=SPRING)
    sheet(talk, BALANCED, SPRING)
    id = talk.promote(read(talk, {"cone": "cone-7", "degrees": 1180}), summary=OLD, attributes={"lifetime": "task"})
    lasting = talk.promote(read(talk, {"cone": "cone-8", "degrees": 1100}), summary="Cone 8 melts at 1100.")
    talk.record({"role": "assistant", "content": "Fired."}, at=SPRING)
    for number in range(9):
        talk.record(user(f"Order {number} sacks of porcelain clay from the eastern supplier."), at=AUTUMN)
        sheet(talk, NARROW, AUTUMN)
        talk.record({"role": "assistant", "content": f"Ordered {number}."}, at=AUTUMN)
    talk.record(user("Which courier brings the porcelain invoice AB-99812?"), at=NOW)
    made = sheet(talk, NARROW)
    assert made.record.episode > 1
    assert talk.why_not(made, id).rule in ("freshness.session_over", "")
    assert "freshness.session_over" in talk.why_not(made, id).sentence
    assert "freshness" not in talk.why_not(made, lasting).sentence


def test_neither_freshness_nor_staleness_goes_over_what_a_tool_declares(talk: Conversation) -> None:
    sheet(talk, contracts(ToolContract(name="read_kiln", freshness=Freshness.TIME_BOUNDED, stale_after=600)))
    id = read(talk, {"degrees": 1180})
    with pytest.raises(InvalidOption, match="declare 'time_bounded', at most"):
        talk.promote(id, freshness="durable")
    body = memory(talk, talk.promote(id, freshness="volatile", stale_after="2030-01-01T00:00:00Z"))
    assert body.freshness is Freshness.VOLATILE
    assert body.stale_after == body.observed + 600 * 1_000_000
    other = read(talk, {"degrees": 1180}, tool="letter")
    aged = memory(talk, talk.promote(other, observed="2020-01-01T00:00:00Z", stale_after="2026-04-01T00:00:00Z"))
    assert (aged.observed, aged.stale_after) == (1577836800 * 1_000_000, 1775001600 * 1_000_000)


# ---------------------------------------------------------------------------------------------- what may be promoted


def test_a_class_that_goes_out_as_metadata_becomes_metadata_and_no_model_sees_it(talk: Conversation) -> None:
    sheet(talk, contracts(ToolContract(name="mail", privacy=Privacy.CONNECTED_ACCOUNT)))
    source = read(talk, "from: Ilse; the kiln is sold", tool="mail")
    id = talk.promote(source, summary="Ilse sold the kiln.", payload={"by": "Ilse"}, attributes={"entity": "Ilse"})
    body = memory(talk, id)
    assert (body.payload, body.locators, body.attributes, body.limits) == (None, (), (), ("metadata_only",))
    assert b"Ilse" not in talk._session.read(body.summary)
    (decision,) = [one for one in bodies(talk, PolicyDecision) if isinstance(one, PolicyDecision)]
    assert (decision.verdict, decision.rule) == ("promoted_metadata", "promotion.class_safe")
    go_on(talk, 3)
    assert talk.why_not(sheet(talk), id).reason in (Reason.NOT_PROMOTED, Reason.PRIVACY_CLASS)


def test_a_secret_becomes_a_memory_for_auditors_alone(talk: Conversation) -> None:
    sheet(talk, contracts(ToolContract(name="vault", privacy=Privacy.SECRET)))
    id = talk.promote(read(talk, "the door opens at seven", tool="vault"), summary="It opens at seven.")
    (record,) = talk._get((id,))
    assert record.header.scope.visibility is Visibility.AUDIT
    with pytest.raises(NotFound):
        talk.check(id)
    go_on(talk, 3)
    assert "It opens at seven" not in shown(sheet(talk))


@pytest.mark.parametrize("status", ["failed", "timed_out", "pending"])
def test_what_is_no_success_becomes_no_memory(talk: Conversation, status: str) -> None:
    talk.record(asks(call("c", "read_kiln")))
    failed = talk.record(result("c", "no answer from the dial"), status=status).ids[-1]
    before = head(talk)
    with pytest.raises(InvalidOption, match="becomes no memory"):
        talk.promote(failed)
    assert head(talk) == before


# ---------------------------------------------------------------------------------------------- broken provenance


def test_a_memory_whose_value_is_nowhere_in_its_source_is_used_as_fact_no_more(talk: Conversation) -> None:
    id = talk.promote(read(talk, {"kiln": "K-4471", "degrees": 1180}), summary=OLD, payload={"kiln": "K-4471"})
    go_on(talk, 3)
    assert OLD in shown(sheet(talk))
    body = memory(talk, id)
    gone = replace(body.locators[0], pointer="/moved", digest="sha256:" + "0" * 64)
    broken = replace(body, locators=(gone,), supersedes=(RecordId(id),))
    put(talk, broken, "tool_memory", RecordId("tool_memory_900"))
    checked = talk.check("tool_memory_900")
    assert (checked.lost, checked.stale, checked.attempts) == (1, True, 3)
    made = sheet(talk, replace(NARROW, name="anew", version="1"))
    assert OLD not in shown(made)
    assert talk.why_not(made, "tool_memory_900").reason is Reason.STALE


# ---------------------------------------------------------------------------------------------- failures and retention


def fails(talk: Conversation, retry: RetryContract, status: ArtifactStatus = ArtifactStatus.FAILED) -> RecordId:
    """A result as an execution with these terms leaves it."""
    talk.record(asks(call("c", "fire_kiln")), at=SPRING)
    id = RecordId(talk.record(result("c", "the burner did not light"), status=status, at=SPRING).ids[-1])
    (record,) = talk._get((id,))
    assert isinstance(record.body, ToolArtifact)
    body = replace(record.body, retry=retry, finished=None)
    again = RecordId("artifact_900")
    talk._session.append(talk._view, lambda drafting: drafting.add(body, kind="artifact", id=again))
    return again


@pytest.mark.parametrize(
    ("retry", "status", "words", "may"),
    [
        (RetryContract(attempts=1, limit=3, safe=True), ArtifactStatus.FAILED, "attempt 1 of 3", Retry.NOW),
        (
            RetryContract(attempts=3, limit=3),
            ArtifactStatus.FAILED,
            "attempt 3 of 3; no attempts left",
            Retry.EXHAUSTED,
        ),
        (
            RetryContract(attempts=1, limit=3, safe=True, retry_after=instant("2999-01-01T08:30:00Z")),
            ArtifactStatus.FAILED,
            "attempt 1 of 3; retry after 2999-01-01 08:30 UTC",
            Retry.LATER,
        ),
        (
            RetryContract(attempts=1, safe=False),
            ArtifactStatus.TIMED_OUT,
            "attempt 1; check before repeating",
            Retry.RECONCILE,
        ),
    ],
)
def test_a_failure_stays_in_view_with_its_terms_and_a_checkpoint_says_what_may_be_done(
    talk: Conversation, retry: RetryContract, status: ArtifactStatus, words: str, may: Retry
) -> None:
    id = fails(talk, retry, status)
    made = sheet(talk, BALANCED, SPRING)
    assert f"({words})" in shown(made)
    go_on(talk, 3)
    later = sheet(talk)
    assert f"({words})" in shown(later)
    assert later.tokens <= 128_000
    found = {one.artifact: one for one in talk.resume(talk.checkpoint("a pause")).failed}
    assert (found[id].retry, found[id].may.retry) == (retry, may)


def test_plain_replay_shows_a_failure_as_it_was_recorded(talk: Conversation) -> None:
    fails(talk, RetryContract(attempts=1, limit=3))
    assert "attempt 1" not in shown(sheet(talk, policy_set("replay")))


def test_retention_tells_what_is_due_and_carries_nothing_out(talk: Conversation) -> None:
    tool = ToolContract(name="camera", retention=Retention.HASH_ONLY)
    aged = Keeping(of=ContextClass.OPERATIONAL, after=86_400, action=Retention.ARCHIVE)
    policy = replace(NARROW, name="keeping", version="1", tools=(tool,), retention=(aged,))
    plain, picture = read(talk, {"degrees": 1180}), read(talk, "a picture", tool="camera")
    open_ = fails(talk, RetryContract(attempts=1, limit=3))
    head_before = head(talk)
    soon = talk.retention(now="2026-03-02T10:00:00Z", policy=policy)
    assert [(one.record, one.action) for one in soon] == [(picture, Retention.HASH_ONLY)]
    later = talk.retention(now=NOW, policy=policy)
    found = {one.record: (one.held, one.action, one.rule) for one in later}
    assert found[RecordId(plain)] == (Retention.KEEP, Retention.ARCHIVE, "retention.operational_after_86400")
    assert found[RecordId(picture)] == (Retention.KEEP, Retention.HASH_ONLY, "retention.contract")
    assert open_ not in found
    assert head(talk) == head_before
    assert talk.retention() == ()


# ---------------------------------------------------------------------------------------------- an old observation


@pytest.mark.parametrize("away", [0, 9])
@pytest.mark.parametrize("by", ["word", "contract", "result"])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_dev_22_an_old_observation_is_never_given_as_the_present(
    talk: Conversation, by: str, away: int, provider: str
) -> None:
    """Two readings of one thing, half a year apart; the question has the words of the older one."""
    tools = (ToolContract(name="ask_desk", reads_current_state=by == "contract"),)
    policies = [replace(policy, name=f"desk-{policy.name}", version="1", tools=tools) for policy in (BALANCED, NARROW)]
    sheet(talk, policies[0], SPRING, provider)
    found: list[str] = []
    for hall, at, words in [
        ("hall 3", SPRING, "the night kiln stands in hall 3"),
        ("yard 8", AUTUMN, "moved: it stands in yard 8"),
    ]:
        talk.record(user("Ask the desk."), at=at)
        id = read(talk, {"desk": words, "place": hall}, at=at, tool="ask_desk")
        replaces = found[-1:] if by == "word" else ()
        about = {"entity": "night kiln", "attribute": "place"}
        if by == "result":
            found.append(id)
            talk.supersede(id, *found[:-1]) if found[:-1] else None
        else:
            given = {"payload": {"place": hall}, "attributes": about, "supersedes": replaces}
            promote: Callable[..., RecordId] = talk.promote
            found.append(promote(id, summary=f"{words}.", **given))
        go_on(talk, away, at)
        talk.record({"role": "assistant", "content": "Noted."}, at=at)
    talk.record(user("In which hall does the night kiln stand, that stands in a hall?"), at=NOW)
    for policy in policies:
        made = shown(sheet(talk, policy, NOW, provider))
        told = [line for line in made.replace("\\n", "\n").splitlines() if "yard 8" in line or "hall 3" in line]
        if by != "result" or away == 0:
            assert any("yard 8" in line for line in told)
        if any("hall 3" in line for line in told):
            assert "(as of 2026-03-02; replaced since)" in made


# ---------------------------------------------------------------------------------------------- laws


KINDS = st.sampled_from(["none", "promote", "promote", "stale", "supersede", "conflict"])


def played(runtime: Runtime, acts: list[tuple[str, int, int]], *, remembers: bool) -> tuple[Conversation, set[int]]:
    """A history, with memories of some of its results or without; and the places of the results they rest on."""
    talk = runtime.conversation("pottery")
    talk.record(user("Keep the book of the kilns."), at=SPRING)
    memories: list[str] = []
    rests: set[int] = set()
    for place, (act, number, other) in enumerate(acts):
        at = (SPRING, AUTUMN)[place % 2]
        rows = [{"kiln": f"K-{number + row}", "degrees": 1000 + row} for row in range(number % 4 + 1)]
        id = read(talk, rows, at=at, tool=f"read_{number % 3}")
        talk.record({"role": "assistant", "content": f"K-{number} is in the book."}, at=at)
        talk.record(user(f"Next, after K-{number}?"), at=at)
        if not remembers or act == "none":
            continue
        memories.append(talk.promote(id, summary=f"K-{number} was read."))
        rests.add(place)
        earlier = memories[other % len(memories)]
        if act == "stale":
            talk.mark_stale(earlier)
        elif act == "supersede" and earlier != memories[-1]:
            talk.supersede(memories[-1], earlier)
        elif act == "conflict" and earlier != memories[-1]:
            talk.conflict(memories[-1], earlier)
    talk.record(user("Which kiln was the hottest?"), at=NOW)
    return talk, rests


def places(talk: Conversation, made: Sheet) -> set[int]:
    """The places of the results that stand in a sheet."""
    stand = {one.record for one in made.selections}
    records, _ = talk.history()
    results = [record.id for record in records if record.header.kind == "artifact"]
    return {place for place, id in enumerate(results) if id in stand}


@given(st.lists(st.tuples(KINDS, st.integers(0, 900), st.integers(0, 9)), min_size=1, max_size=9), st.booleans())
@settings(max_examples=30, deadline=None)
def test_memories_take_no_result_out_of_a_request_but_those_that_they_stand_for(
    acts: list[tuple[str, int, int]], narrow: bool
) -> None:
    """Compared with the same history without them; and the same pins over the same records select the same."""
    policy = NARROW if narrow else BALANCED
    with memory_runtime() as plain, memory_runtime() as told:
        without, _ = played(plain, acts, remembers=False)
        talk, rests = played(told, acts, remembers=True)
        before = places(without, sheet(without, policy))
        made = sheet(talk, policy)
        after = places(talk, made)
        assert before - after <= rests
        again = talk.rebuild(made)
        assert again.same
        assert again.same_blocks == again.blocks


def test_what_a_later_observation_says_elsewhere_is_doubt_and_no_proof_of_the_earlier_one(talk: Conversation) -> None:
    payload: dict[str, object] = {"payload": {"degrees": 1240, "cone": "nowhere-77"}}
    assert decided(talk, {}, payload) == ("both", "")


def test_an_earlier_observation_in_doubt_gives_way_to_a_later_one(talk: Conversation) -> None:
    assert decided(talk, {"payload": {"degrees": 1180, "cone": "nowhere-77"}}, {}) == (
        "newer",
        "conflict.confidence_source",
    )
