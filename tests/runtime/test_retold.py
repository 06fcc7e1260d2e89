"""What a request tells of what was compacted: each thing once, a bounded number of episodes, never more than fits."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from callsheet import Conversation, Runtime, Sheet
from callsheet.errors import BudgetTooSmall, NotFound
from callsheet.graph.enums import Level, Privacy
from callsheet.graph.nodes import Episode, Fact, Milestone
from callsheet.graph.record import Record
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.policy.settings import Compaction
from callsheet.testing import memory_runtime
from tests.cases.checks import MODELS
from tests.cases.test_shortening import PROVIDERS
from tests.runtime.replies import asks, call, result, user
from tests.runtime.test_compacting import QUIET, RULES, _reclassify, ask, chat, of, said, summary, text

OFTEN = replace(BALANCED, name="often", version="1", compaction=Compaction(turns=12, share=None, least=200))
THINGS = "kiln glaze shelf cone crate brush plate cup jug zone slip clay wheel north south heat slow fast blue"
WORDS = THINGS.split()


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as opened:
        yield opened


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    return runtime.conversation("kiln")


def shown(talk: Conversation, sheet: Sheet) -> list[tuple[Record, Level]]:
    ids = tuple(one.record for one in sheet.selections)
    records = {record.id: record for record in talk._session.ledger.get(talk._session.conversation.key, ids)}
    return [(records[one.record], one.level) for one in sheet.selections if one.level is not Level.NONE]


def sentence(number: int, words: int = 12) -> str:
    chosen = random.Random(number)
    return " ".join(chosen.choice(WORDS) for _ in range(words)).capitalize() + f" on ORD-{number:05}."


# ------------------------------------------------------------------------------------------ how many


def test_a_long_conversation_tells_of_ten_episodes_at_most_and_costs_as_much_as_a_shorter_one(
    talk: Conversation,
) -> None:
    sizes: dict[int, int] = {}
    for number in range(1, 301):
        talk.record([user(sentence(number)), {"role": "assistant", "content": sentence(9_000 + number, 20)}])
        if number % 10:
            continue
        sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=OFTEN, budget=16_000)
        episodes = [record for record, _ in shown(talk, sheet) if isinstance(record.body, Episode)]
        if sheet.record.rewritten:
            assert len(episodes) <= 10
            sizes[number] = sum(getattr(record.body, "o200k", 0) for record in episodes)
    assert len(of(talk, Episode)) > 12
    late = [size for number, size in sizes.items() if number > 200]
    assert late
    assert max(late) <= 10 * 300
    # What no request shows any more can be read by the turns that it tells of.
    first = of(talk, Episode)[0]
    assert isinstance(first.body, Episode)
    last = ask(talk, OFTEN)
    assert first.id not in {record.id for record, _ in shown(talk, last)}
    assert "ORD-00001" in talk.answer_recall({"reference": f"turns {first.body.turns[0]} to {first.body.turns[1]}"})
    assert "ORD-00001" in talk.answer_recall({"reference": "turn 1"})
    assert "ORD-00001" in talk.answer_recall({"reference": first.id.partition("_")[2]})


# ------------------------------------------------------------------------------------------ the span


def test_a_span_is_read_in_parts_by_its_turns(talk: Conversation) -> None:
    talk.record(user(RULES))
    chat(talk, 10)
    made = talk.compact(keep=2)
    chat(talk, 10, "tile")
    other = talk.compact(keep=2)
    reference = f"turns {made.turns[0]} to {made.turns[1]}"
    whole = talk.recall(made.episodes[0])
    said = re.sub(r"(?m)^turn \d+ ", "", talk.recall(reference).bytes.decode())
    assert said == whole.bytes.decode()
    assert talk.recall(reference.upper()).reference == reference
    assert talk.recall(reference, lines=(0, 1)).bytes.decode().partition(" ")[2].partition(" ")[2].strip() in whole.text
    assert "Thursday group" in talk.answer_recall({"reference": f"[{reference}]", "part": "Thursday"})
    last = f"turns {other.turns[0]} to {other.turns[1]}"
    assert talk.recall(last).reference == last
    everything = talk.recall("turns 1 to 99")
    newest = int(everything.reference.rpartition(" ")[2])
    assert made.turns[1] < other.turns[1] < newest
    for nothing in ("turn 99", "turns 98 to 99", "turn 0"):
        with pytest.raises(NotFound, match="there is no turn"):
            talk.recall(nothing)
    assert talk.answer_recall({"reference": "turn 99"}).startswith("(recall: ")
    assert talk.answer_recall({"reference": reference, "part": "rows 0:3"}).startswith("(")


def test_a_span_shows_what_may_be_shown(runtime: Runtime) -> None:
    talk = runtime.conversation("two")
    (secret,) = talk.record(user("The gate code is GATE-7741.")).ids
    chat(talk, 8)
    made = talk.compact(keep=2)
    assert made.episodes
    ask(talk)
    assert "GATE-7741" in talk.answer_recall({"reference": "turn 1"})
    _reclassify(talk, secret, Privacy.CONNECTED_ACCOUNT)
    ask(talk)
    assert "GATE-7741" not in talk.answer_recall({"reference": "turn 1"})


# ------------------------------------------------------------------------------------------ once


@PROVIDERS
@pytest.mark.parametrize("seed", range(6))
def test_nothing_is_told_twice_where_everything_is_chosen_anew(provider: str, seed: int) -> None:
    chance = random.Random(seed)
    with memory_runtime() as runtime:
        talk = runtime.conversation("once")
        lines: dict[str, str] = {}
        for number in range(30):
            kind = chance.random()
            said_now = sentence(number) if kind < 0.6 else f"Never use ORD-{number:05} with {sentence(number, 3)}"
            if kind > 0.8:
                said_now = f"And what about ORD-{chance.randrange(number + 1):05}, question {number}?"
            (id,) = talk.record(user(said_now)).ids
            lines[id] = said_now
            if chance.random() < 0.4:
                sheet = talk.assemble(provider=provider, model=MODELS[provider], policy=QUIET, budget=6_000)
                if sheet.record.rewritten:
                    _told_once(talk, sheet, lines)
            (id, *_) = talk.record({"role": "assistant", "content": sentence(1_000 + number)}).ids
            lines[id] = sentence(1_000 + number)
            if chance.random() < 0.2:
                talk.compact(keep=chance.choice([1, 2, 4]))


def _told_once(talk: Conversation, sheet: Sheet, lines: dict[str, str]) -> None:
    there = shown(talk, sheet)
    extracts = [
        summary(talk, record) for record, level in there if isinstance(record.body, Episode) and level is Level.DENSE
    ]
    for record, _ in there:
        if record.id in lines:
            assert not any(f" {lines[record.id]}\n" in f"{text}\n" for text in extracts)
    stated = Counter(said(talk, record) for record, _ in there if isinstance(record.body, Milestone | Fact))
    assert set(stated.values()) <= {1}
    ids = {record.id for record, level in there if level in (Level.RAW, Level.DENSE, Level.GIST)}
    for record, _ in there:
        if isinstance(record.body, Milestone | Fact):
            assert not ids.issuperset(record.body.sources)


def test_a_fact_does_not_stand_beside_the_milestone_that_it_was_made_of(talk: Conversation) -> None:
    few = replace(OFTEN, name="few", compaction=replace(OFTEN.compaction, turns=None, episodes=1))
    talk.record(user(RULES))
    chat(talk, 8)
    talk.compact(keep=2, policy=few)
    assert "Never e-mail the Thursday group." in text(ask(talk, few))
    chat(talk, 8, "tile")
    assert talk.compact(keep=2, policy=few).facts
    sheet = ask(talk, few)
    assert sheet.record.rewritten
    assert [record.header.kind for record, _ in shown(talk, sheet)].count("episode") == 1
    assert text(sheet).count("Never e-mail the Thursday group.") == 1


def test_what_may_be_told_no_more_takes_nothing_along_that_says_the_same_of_something_else(talk: Conversation) -> None:
    (first,) = talk.record(user("Never e-mail the Thursday group.")).ids
    chat(talk, 4)
    talk.record(user("Never e-mail the Thursday group."))
    chat(talk, 8, "tile")
    talk.compact(keep=2)
    assert "user laid down: Never e-mail the Thursday group." in text(ask(talk))
    _reclassify(talk, first, Privacy.CONNECTED_ACCOUNT)
    assert "user laid down: Never e-mail the Thursday group." in text(ask(talk))


# ------------------------------------------------------------------------------------------ never more than fits

MARKS = Compaction(share=0.3, turns=3, least=20, episodes=4)
TIGHT = replace(BALANCED, name="tight", version="1", compaction=MARKS)
NEVER = replace(TIGHT, name="never", compaction=Compaction(share=None))


def _played(talk: Conversation, seed: int) -> Iterator[int]:
    chance = random.Random(seed)
    for number in range(6):
        talk.record(
            user(f"{'Never use' if chance.random() < 0.3 else 'See'} {sentence(number, chance.choice([2, 20]))}")
        )
        if chance.random() < 0.5:
            calls = [call(f"c{number}_{place}", "look") for place in range(chance.choice([1, 3]))]
            talk.record(asks(*calls))
            for one in calls:
                talk.record(result(str(one["id"]), f"{sentence(700 + number, 20)} " * chance.choice([1, 8])))
        yield number
        talk.record({"role": "assistant", "content": sentence(500 + number, chance.choice([3, 20]))})


def _tokens(talk: Conversation, policy: PolicySetDocument, budget: int, provider: str) -> int | None:
    try:
        return talk.assemble(provider=provider, model=MODELS[provider], policy=policy, budget=budget).tokens
    except BudgetTooSmall:
        return None


@PROVIDERS
@pytest.mark.parametrize("seed", [2, 6, 10])
def test_what_fits_without_a_compaction_fits_with_one(provider: str, seed: int) -> None:
    for budget in (140, 180, 200, 300, 400, 600):
        with memory_runtime() as one, memory_runtime() as other:
            plain, compacting = one.conversation("x"), other.conversation("x")
            for _ in zip(_played(plain, seed), _played(compacting, seed), strict=True):
                fits = _tokens(plain, NEVER, budget, provider)
                size = _tokens(compacting, TIGHT, budget, provider)
                assert size is not None or fits is None
                assert size is None or size <= budget


def test_a_request_that_gave_way_is_worked_out_again_from_its_records(talk: Conversation) -> None:
    sheets = []
    for number in _played(talk, 12):
        try:
            sheets.append(talk.assemble(provider="openai", model="gpt-5.2", policy=TIGHT, budget=300 + 10 * number))
        except BudgetTooSmall:
            continue
    assert of(talk, Episode)
    assert all(talk.rebuild(sheet.id).same_selections for sheet in sheets)
    assert json.dumps(sheets[-1].messages())
