"""The context gauge: what the newest request took, what has come since, how far compaction is."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from callsheet import Conversation, PolicySetDocument, Runtime, Sheet
from callsheet.errors import InvalidOption
from callsheet.policy.sets import BALANCED, REPLAY
from callsheet.policy.settings import Compaction
from callsheet.testing import memory_runtime
from callsheet.wire.tokens import count
from tests.runtime.replies import asks, call, result, user

MODEL = {"provider": "openai", "model": "gpt-5.2"}
ANSWER = {"role": "assistant", "content": "In bay 4, behind the tug."}


def assembled(talk: Conversation, policy: PolicySetDocument | None = None) -> Sheet:
    return talk.assemble(provider="openai", model="gpt-5.2", policy=policy)


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as opened:
        yield opened


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    return runtime.conversation("barge")


def test_it_says_what_the_newest_request_took_and_what_of(talk: Conversation) -> None:
    talk.record({"role": "system", "content": "You moor barges."})
    talk.record([user("Where is B-17?"), asks(call("c", "moor")), result("c", "bay 4"), ANSWER, user("And B-18?")])
    sheet = assembled(talk)
    gauge = talk.gauge()
    assert (gauge.sheet, gauge.provider, gauge.model) == (sheet.id, "openai", "gpt-5.2")
    assert (gauge.tokens, gauge.parts, gauge.replay_tokens) == (sheet.tokens, sheet.record.tokens, sheet.replay_tokens)
    assert (gauge.since, gauge.listed, gauge.exact) == (0, True, sheet.exact)
    assert gauge.parts.instructions == count("You moor barges.", "o200k_base")
    assert gauge.used == sheet.tokens / gauge.window
    assert gauge.replay_used == sheet.replay_tokens / gauge.window


def test_what_has_come_since_counts_with_its_calls_and_results(talk: Conversation) -> None:
    talk.record(user("Where is B-17?"))
    sheet = assembled(talk)
    said = ["moor", '{"bay": 4}', "moored in bay 4", ANSWER["content"]]
    talk.record([asks(call("c", said[0], said[1])), result("c", said[2]), ANSWER])
    gauge = talk.gauge()
    assert gauge.since == sum(count(text, "o200k_base") for text in said)
    assert gauge.used == (sheet.tokens + gauge.since) / gauge.window
    talk.record(user("And now?"))
    assembled(talk)
    assert talk.gauge().since == 0


def test_another_models_window_can_be_asked_for(talk: Conversation) -> None:
    talk.record(user("Where is B-17?"))
    assembled(talk)
    small = talk.gauge(provider="anthropic", model="claude-sonnet-4-5")
    unknown = talk.gauge(provider="local", model="no-such-model")
    assert (small.window, small.listed) == (200_000, True) or small.window == 1_000_000
    assert (unknown.window, unknown.listed) == (128_000, False)
    assert small.tokens == unknown.tokens == talk.gauge().tokens


def test_without_a_request_the_model_must_be_given(talk: Conversation) -> None:
    talk.record([user("Where is B-17?"), ANSWER])
    with pytest.raises(InvalidOption, match="say provider= and model="):
        talk.gauge()
    gauge = talk.gauge(**MODEL)
    assert (gauge.sheet, gauge.tokens, gauge.replay_tokens) == (None, 0, 0)
    assert gauge.since == count("Where is B-17?", "o200k_base") + count(str(ANSWER["content"]), "o200k_base")
    assert gauge.compaction.turns == 2


def test_it_is_the_gauge_of_one_view(talk: Conversation) -> None:
    talk.record(user("Where is B-17?"))
    pilot = talk.participant("pilot")
    assembled(pilot)
    assembled(talk)
    before = pilot.gauge()
    talk.participant("mate").record(asks(call("c", "moor", '{"bay": 4}')))
    talk.participant("mate").record(result("c", "moored " * 200))
    assert pilot.gauge() == before
    branch = talk.branch()
    branch.record(ANSWER)
    assert talk.gauge().since == 0
    assert branch.gauge().since == count(str(ANSWER["content"]), "o200k_base")


LONG = "a" + " a" * 199


@pytest.mark.parametrize(("beside", "due"), [(-1, True), (0, False), (1, False), (None, False)])
def test_compaction_is_due_beyond_a_mark_and_not_at_it(talk: Conversation, beside: int | None, due: bool) -> None:
    tokens = count(LONG, "o200k_base") + count("?", "o200k_base")
    marks = Compaction(tokens=tokens + beside if beside is not None else None, share=None)
    policy = replace(BALANCED, name="marked", version="1", compaction=marks)
    talk.record(user("?"))
    assembled(talk, policy)
    talk.record({"role": "assistant", "content": LONG})
    compaction = talk.gauge().compaction
    assert (compaction.tokens, compaction.turns, compaction.marks) == (tokens, 2, marks)
    assert compaction.due is due


def test_plain_replay_is_never_due(talk: Conversation) -> None:
    talk.record([user("x " * 50_000), ANSWER])
    talk.assemble(provider="openai", model="gpt-5.2", policy=REPLAY)
    assert not talk.gauge().compaction.due


def test_what_episodes_stand_for_counts_no_more_with_what_stood_around_it(talk: Conversation) -> None:
    for number in range(150):
        talk.record([user(f"Where is B-{number}?"), asks(call(f"c{number}", "moor")), result(f"c{number}", "bay 4")])
    talk.record(user("And the last one?"))
    policy = replace(BALANCED, name="asked", version="1", compaction=Compaction(share=None, least=0))
    talk.assemble(provider="anthropic", model="claude-sonnet-4-5", budget=4_000, policy=policy)
    marked = replace(policy, version="2", compaction=Compaction(share=0.8, least=0))
    talk.compact(keep=4)
    sheet = talk.assemble(provider="anthropic", model="claude-sonnet-4-5", budget=4_000, policy=marked)
    assert sheet.replay_tokens > 10_000
    compaction = talk.gauge().compaction
    assert compaction.turns < 10
    assert not compaction.due
    # The framing of what has come since counts, as in the next request.
    for number in range(150, 200):
        talk.record([user("?"), asks(call(f"c{number}", "m")), result(f"c{number}", "4")])
    assert talk.gauge().compaction.tokens < 0.8 * 4_000 / 2
    assert talk.gauge().compaction.due
