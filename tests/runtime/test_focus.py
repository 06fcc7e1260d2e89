"""What is pinned stays in view, what is judged counts, what leaves says why; for those alone who may see it."""

from collections.abc import Callable, Mapping, Sequence

import pytest
from msgspec.structs import replace

from callsheet import Conversation, Sheet
from callsheet.errors import BudgetTooSmall, InvalidOption, NotFound
from callsheet.explain.difference import text
from callsheet.graph.changes import Reclassified
from callsheet.graph.enums import Level, Privacy
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection
from callsheet.graph.query import NodeQuery
from callsheet.policy.sets import LEAN, PolicySetDocument
from callsheet.policy.settings import Fill, Water
from callsheet.testing import FixedClock, memory_runtime
from tests.runtime.replies import asks, call, openai_reply, result, user

BRIEF = replace(LEAN, name="brief", turns=2)
SORTED = replace(BRIEF, name="sorted", fill=Fill.SORTED)
TIGHT = replace(BRIEF, name="tight", compaction=replace(BRIEF.compaction, shown=0.0))
JUDGED = replace(
    SORTED,
    name="judged",
    weights=replace(SORTED.weights, recency=0.0, semantic=0.0, role=0.0, signal=1.0),
    high_water=Water(tokens=2_400),
    low_water=Water(tokens=1_700),
)
KILNS = 16
SCARCE = 450
"""Tokens that a request takes, but not with a line for each kiln."""


def look(talk: Conversation, number: int) -> RecordId:
    talk.record([user(f"How is kiln K-{number:02d}?"), asks(call(f"c{number}", "look", f'{{"kiln": {number}}}'))])
    words = "Its door is shut and its flue is clear. " * 40
    return talk.record(result(f"c{number}", f"Kiln K-{number:02d} holds {800 + number} degrees. {words}")).ids[0]


def sent(talk: Conversation, policy: PolicySetDocument = BRIEF, budget: int = 30_000) -> Sheet:
    return talk.assemble(provider="openai", model="gpt-5.2", policy=policy, budget=budget)


def fired(talk: Conversation, *, policy: PolicySetDocument = BRIEF, upto: int = KILNS) -> list[RecordId]:
    """A long day at the kilns. Returns its results."""
    found = []
    for number in range(upto):
        found.append(look(talk, number))
        talk.record(openai_reply(f"K-{number:02d} is well."), sheet=sent(talk, policy))
    talk.record(user("What now?"))
    return found


def stands(sheet: Sheet, id: RecordId) -> list[Selection]:
    return [one for one in sheet.selections if one.record == id and one.level is not Level.NONE]


def out_of_view(talk: Conversation, results: Sequence[RecordId]) -> RecordId:
    return next(id for id in results if not stands(sent(talk), id))


@pytest.fixture
def talk() -> Conversation:
    return memory_runtime().conversation("kilns")


# ---------------------------------------------------------------------------------------------- pins


def test_what_is_pinned_comes_into_the_next_request_and_stays_over_rewrites(talk: Conversation) -> None:
    old = out_of_view(talk, fired(talk))
    talk.pin(old)
    sheet = sent(talk)
    assert stands(sheet, old)
    assert "it is pinned (recovery.pinned)" in next(
        one.sentence for one in talk.explain(sheet.id).records if one.record == old
    )
    talk.record(openai_reply("Rest."), sheet=sheet)
    rewritten = 0
    for number in range(20, 34):
        look(talk, number)
        sheet = sent(talk)
        rewritten += bool(sheet.record.rewritten)
        assert stands(sheet, old)
        assert talk.rebuild(sheet.id).same_selections
        talk.record(openai_reply("Well."), sheet=sheet)
    assert rewritten


def test_what_is_let_go_again_leaves_with_a_rewrite(talk: Conversation) -> None:
    old = out_of_view(talk, fired(talk))
    talk.pin(old)
    talk.unpin(old)
    assert not stands(sent(talk), old)
    talk.pin(old)
    talk.record(openai_reply("Rest."), sheet=sent(talk))
    talk.unpin(old)
    for number in range(20, 40):
        look(talk, number)
        talk.record(openai_reply("Well."), sheet=sent(talk))
    talk.record(user("And now?"))
    assert not stands(sent(talk), old)


def message(talk: Conversation, results: Sequence[RecordId]) -> RecordId:
    shown = {one.record for one in sent(talk).selections}
    said = (one.id for one in talk.transcript() if one.id.startswith("message") and one.id not in shown)
    return RecordId(next(said))


def memory(talk: Conversation, results: Sequence[RecordId]) -> RecordId:
    return talk.promote(out_of_view(talk, results), summary="Kiln holds 800 degrees.")


def idle_memory(talk: Conversation, results: Sequence[RecordId]) -> RecordId:
    return talk.promote(look(talk, 90), summary="The last kiln is well.")


PINNED: Mapping[str, Callable[[Conversation, Sequence[RecordId]], RecordId]] = {
    "a message": message,
    "a result": out_of_view,
    "a memory": memory,
    "a memory whose result stands itself": idle_memory,
}


@pytest.mark.parametrize("choose", PINNED.values(), ids=PINNED)
@pytest.mark.parametrize("policy", [BRIEF, SORTED], ids=lambda policy: policy.name)
def test_everything_that_a_request_shows_can_be_pinned(
    talk: Conversation, choose: Callable[[Conversation, Sequence[RecordId]], RecordId], policy: PolicySetDocument
) -> None:
    wanted = choose(talk, fired(talk))
    talk.pin(wanted)
    assert stands(sent(talk), wanted)
    # Another set looks at everything anew, as does a view that has nothing at hand.
    assert stands(sent(talk, policy), wanted)
    assert stands(sent(talk.branch(name="aside"), policy), wanted)


def test_episodes_and_what_they_hold_can_be_pinned(talk: Conversation) -> None:
    fired(talk)
    talk.record(user("Never fire K-03 over 900 degrees."))
    talk.record(openai_reply("Agreed."), sheet=sent(talk))
    for number in range(20, 30):
        look(talk, number)
        talk.record(openai_reply("Well."), sheet=sent(talk, TIGHT))
    talk.compact()
    talk.record(user("What now?"))
    talk.record(openai_reply("Wait."), sheet=sent(talk, TIGHT))
    talk.record(user("How long?"))
    ledger, key = talk._session.ledger, talk._session.conversation.key
    wanted = [ledger.nodes(key, NodeQuery(kinds=(kind,)))[0].id for kind in ("episode", "milestone")]
    assert not any(stands(sent(talk, TIGHT), id) for id in wanted)
    talk.pin(*wanted)
    assert all(stands(sent(talk, TIGHT), id) for id in wanted)
    elsewhere = sent(talk.branch(name="aside"), TIGHT)
    assert all(stands(elsewhere, id) for id in wanted)


def test_no_budget_leaves_out_what_is_pinned(talk: Conversation) -> None:
    results = fired(talk)
    talk.pin(*results)
    for budget in (4_000, SCARCE):
        shown = {one.record for one in sent(talk, budget=budget).selections if one.level is not Level.NONE}
        assert shown.issuperset(results)
    with pytest.raises(BudgetTooSmall) as refused:
        sent(talk, budget=SCARCE // 3)
    # Those of the last turns stand without a pin.
    assert set(results[: -BRIEF.turns]) <= set(refused.value.pins) <= set(results)
    assert all(0 < size < SCARCE for size in refused.value.pins.values())
    first, size = next(iter(refused.value.pins.items()))
    assert f"are pinned ({first} {size:,}, " in str(refused.value)
    talk.unpin(*results)
    assert sent(talk, budget=SCARCE // 3)
    with pytest.raises(BudgetTooSmall) as refused:
        sent(talk, budget=20)
    assert refused.value.pins == {}
    assert "pinned" not in str(refused.value)


def test_policy_goes_over_a_pin(talk: Conversation) -> None:
    old = out_of_view(talk, fired(talk))
    talk.pin(old)
    body = Reclassified(records=(old,), privacy=Privacy.SECRET)
    talk._session.append(talk._view, lambda drafting: drafting.add(body, kind="reclassified"))
    sheet = sent(talk)
    assert {one.level for one in stands(sheet, old)} <= {Level.SAFE, Level.REF}
    assert "K-00 holds 800 degrees" not in str(sheet.request())


def test_a_pin_of_a_participant_is_its_own(talk: Conversation) -> None:
    results = fired(talk)
    ann, bob = (talk.participant(name) for name in ("ann", "bob"))
    old = out_of_view(ann, results)
    before = (sent(bob).blocks, sent(talk).blocks)
    ann.pin(old)
    assert stands(sent(ann), old)
    assert (sent(bob).blocks, sent(talk).blocks) == before
    talk.pin(old)
    assert stands(sent(bob), old)


# ---------------------------------------------------------------------------------------------- feedback


def test_what_was_judged_is_told_and_weighed(talk: Conversation) -> None:
    results = fired(talk)
    talk.feedback(results[-1], 1.0, by="mia")
    talk.feedback(results[-1], -1.0, by="mia")
    talk.feedback(results[-1], 0.5, by="tim")
    sheet = sent(talk)
    told = {one.record: one.sentence for one in talk.explain(sheet.id).records}
    # The newest of each counts.
    assert "judged -0.25 by feedback" in told[results[-1]]
    assert sum("judged" in sentence for sentence in told.values()) == 1
    weights = {one.known.record: one.weights for one in talk.trace(sheet.id).candidates if one.weights}
    assert weights[results[-1]].favour == 0.875
    assert talk.rebuild(sheet.id).same_selections


def test_praise_makes_more_likely_and_blame_less() -> None:
    needed = {}
    for score in (-1.0, 0.0, 1.0):
        with memory_runtime() as runtime:
            talk = runtime.conversation("kilns")
            last = fired(talk, upto=4)[-1]
            if score:
                talk.feedback(last, score)
            weights = {one.known.record: one.weights for one in talk.trace(sent(talk).id).candidates}[last]
            assert weights is not None
            assert weights.worth is not None
            needed[score] = weights.worth.needed
    assert 0 < needed[-1.0] < needed[0.0] < needed[1.0]


def test_feedback_of_a_participant_changes_nothing_for_others(talk: Conversation) -> None:
    results = fired(talk)
    ann, bob = talk.participant("ann"), talk.participant("bob")
    before = sent(bob)
    ann.feedback(results[-1], -1.0)
    after = sent(bob)
    assert (after.blocks, after.selections) == (before.blocks, before.selections)
    assert "judged" not in bob.explain(after.id).records[-1].sentence
    assert "judged" not in "\n".join(one.sentence for one in bob.explain(after.id).records)
    assert "judged -1.00" in "\n".join(one.sentence for one in ann.explain(sent(ann).id).records)


def test_praise_keeps_in_view_where_the_set_goes_by_it_alone_whatever_is_at_hand() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("kilns")
        results = []
        for number in range(KILNS):
            results.append(look(talk, number))
            talk.feedback(results[-1], 1.0 if number in (2, 3) else -1.0)
            warm, cold = sent(talk, JUDGED), sent(runtime.conversation("kilns"), JUDGED)
            assert (warm.blocks, warm.selections) == (cold.blocks, cold.selections)
            talk.record(openai_reply("Well."), sheet=warm)
        shown = [id for id in results[:-4] if stands(sent(talk, JUDGED), id)]
        assert shown == results[2:4]


@pytest.mark.parametrize("who", ["model", "user"])
@pytest.mark.parametrize("cites", [True, False])
def test_what_is_cited_by_its_reference_counts_as_used(talk: Conversation, who: str, cites: bool) -> None:
    found = look(talk, 1)
    talk.record(openai_reply("It is well."), sheet=sent(talk))
    words = f"As it says there [{found}]." if cites else "As it says there [1], [message_99]."
    talk.record(user("Where is that from?") if who == "model" else user(words))
    talk.record(openai_reply(words if who == "model" else "Yes."), sheet=sent(talk))
    talk.record(user("Thanks."))
    sheet = sent(talk)
    weights = {one.known.record: one.weights for one in talk.trace(sheet.id).candidates}[found]
    assert weights is not None
    assert weights.signal == float(cites)
    # A user's word refreshes the last use; the habit counts what the model goes back to.
    assert sum(sheet.record.uses) == (cites and who == "model")


# ---------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize("score", [1.01, -1.5, float("nan"), float("inf"), True, "1", None])
def test_a_score_out_of_its_range_is_refused(talk: Conversation, score: float) -> None:
    id = look(talk, 1)
    head = talk._session.ledger.head(talk._session.conversation.key)
    with pytest.raises(InvalidOption):
        talk.feedback(id, score)
    assert talk._session.ledger.head(talk._session.conversation.key) == head


def test_what_there_is_not_and_what_is_hidden_is_not_found(talk: Conversation) -> None:
    fired(talk, upto=2)
    ann, bob = talk.participant("ann"), talk.participant("bob")
    ann.record([user("Mine?"), asks(call("a1", "look"))])
    hers = ann.record(result("a1", "Ann's kiln")).ids[0]
    for id in (hers, "artifact_none", "branch_main"):
        for speak in (bob.pin, bob.unpin, lambda id: bob.feedback(id, 1)):
            with pytest.raises(NotFound):
                speak(id)
    with pytest.raises(InvalidOption):
        talk.pin()


# ---------------------------------------------------------------------------------------------- page-out


def test_a_rewrite_says_what_left_and_why(talk: Conversation) -> None:
    fired(talk)
    sheets = [talk.sheet(one.id) for one in talk.sheets()]
    rewritten = [one for one in sheets if one.record.paged_out]
    assert rewritten
    assert all(one.record.rewritten for one in rewritten)
    last = rewritten[-1]
    before = sheets[[one.id for one in sheets].index(last.id) - 1]
    left = {one.record for one in before.selections} - {one.record for one in last.selections}
    assert {id for _, ids in last.record.paged_out for id in ids} == left
    difference = talk.difference(before.id, last.id)
    assert {one.record: (one.paged_out, one.since) for one in difference.went} == {
        id: (code, last.id) for code, ids in last.record.paged_out for id in ids
    }
    assert f"it left sheet {last.id} (not relevant)" in text(difference)
    assert "Stood before and left: " in last.explain()
    # Over several requests it is told in which it left.
    far = talk.difference(sheets[0].id, sheets[-1].id)
    assert all(one.since is not None for one in far.went)


def test_the_sorted_fill_goes_by_words_and_by_time() -> None:
    clock = FixedClock()
    with memory_runtime(clock=clock) as runtime:
        talk = runtime.conversation("kilns")
        codes = set()
        for number in range(KILNS):
            clock.advance(1_800)
            look(talk, number)
            sheet = sent(talk, SORTED)
            codes |= {code for code, _ in sheet.record.paged_out}
            assert talk.rebuild(sheet.id).same_selections
            talk.record(openai_reply(f"K-{number:02d} is well."), sheet=sheet)
        assert {"idle", "dissimilar"} <= codes
        assert "not_relevant" not in codes
