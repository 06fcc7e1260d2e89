"""What the newest turn means the like of comes back into a request, which is made again of what is stored."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

import callsheet
from callsheet import Conversation, Runtime
from callsheet.graph.enums import StreamKind
from callsheet.graph.index import VectorQuery
from callsheet.graph.values import Vector
from callsheet.graph.vectors import quantised
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.policy.settings import Water
from callsheet.runtime.alluding import questions_of
from callsheet.runtime.sheet import Sheet
from callsheet.testing import FixedClock, SequenceIds
from tests.runtime.replies import asks, call, result

MEANT = {
    **dict.fromkeys(("money", "paid", "euros", "handed"), 0),
    **dict.fromkeys(("kiln", "oven", "glaze"), 1),
    **dict.fromkeys(("food", "fish", "dinner"), 2),
}
FACT = "At the gate I paid forty euros in cash."
QUESTION = "How much money was handed over?"

#: Small, so that nothing old stands by itself.
TIGHT = replace(
    BALANCED, name="tight", turns=1, miss=1, low_water=Water(tokens=600), high_water=Water(tokens=900), meaning=4
)
OFF = replace(TIGHT, name="off", meaning=0)


class Concepts:
    """Knows a few words by what they mean, and counts what it is asked."""

    name = "concepts:1"
    dimensions = 4

    def __init__(self) -> None:
        self.asked = 0

    def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
        self.asked += query
        return [quantised([*self._counts(text), 0.5]) for text in texts]

    def _counts(self, text: str) -> list[float]:
        found = [MEANT[word] for word in text.lower().replace(".", "").replace("?", "").split() if word in MEANT]
        return [float(found.count(concept)) for concept in range(3)]


class Broken(Concepts):
    def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
        if query:
            raise OSError("nobody answers")
        return super().embed(texts, query=query)


def opened(embedder: Concepts | None, where: str | Path = ":memory:") -> Runtime:
    return callsheet.open(where, embedder=embedder, ids=SequenceIds(), clock=FixedClock())


@pytest.fixture
def embedder() -> Concepts:
    return Concepts()


@pytest.fixture
def runtime(embedder: Concepts) -> Iterator[Runtime]:
    with opened(embedder) as made:
        yield made


def lived(
    runtime: Runtime,
    *,
    policy: PolicySetDocument = TIGHT,
    between: Callable[[Conversation], None] = lambda talk: None,
) -> Conversation:
    """A conversation in which something was said long ago."""
    talk = runtime.conversation("market", user="mia")
    talk.record([{"role": "user", "content": "Good morning."}, {"role": "assistant", "content": "Good morning."}])
    talk.record([{"role": "user", "content": FACT}, {"role": "assistant", "content": "Noted."}])
    between(talk)
    # What the conversation began with stands: the fact is not that.
    for number in range(20):
        talk.record({"role": "user", "content": f"Story {number}: " + "Tell me of harbours and gardens. " * 6})
        sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=policy)
        talk.record({"role": "assistant", "content": f"Story {number}. " + "There was a river. " * 20}, sheet=sheet)
    runtime.work()
    return talk


def asked(talk: Conversation, question: str = QUESTION, *, policy: PolicySetDocument = TIGHT) -> Sheet:
    talk.record({"role": "user", "content": question})
    return talk.assemble(provider="openai", model="gpt-5.2", policy=policy)


def shows(sheet: Sheet, text: str = FACT) -> bool:
    return text in str(sheet.messages())


def test_what_was_said_in_other_words_comes_back(runtime: Runtime) -> None:
    sheet = asked(lived(runtime))
    assert shows(sheet)
    assert sheet.record.pins.embedding == "concepts:1/4"
    ((stream, position),) = sheet.record.pins.index_positions
    assert stream == sheet.record.boundary.conversation
    assert 0 < position < sheet.record.cut.at(stream)


def test_a_set_that_does_not_ask_for_it_makes_the_request_of_a_store_without_an_embedder(embedder: Concepts) -> None:
    made = []
    for used in (embedder, None):
        with opened(used) as runtime:
            sheet = asked(lived(runtime, policy=OFF), policy=OFF)
            assert not shows(sheet)
            assert (sheet.record.pins.embedding, sheet.record.pins.index_positions) == ("", ())
            made.append(sheet.messages())
    assert made[0] == made[1]
    assert embedder.asked == 0


def test_what_has_nothing_to_do_with_it_does_not_come_back(runtime: Runtime) -> None:
    sheet = asked(lived(runtime), "Which glaze fits this kiln?")
    assert not shows(sheet)


def test_nothing_comes_back_by_its_meaning_before_it_has_a_vector(embedder: Concepts) -> None:
    with opened(embedder) as runtime:
        talk = runtime.conversation("market", user="mia")
        talk.record([{"role": "user", "content": "Good morning."}, {"role": "assistant", "content": "Good morning."}])
        talk.record([{"role": "user", "content": FACT}, {"role": "assistant", "content": "Noted."}])
        for number in range(20):
            talk.record({"role": "user", "content": f"Story {number}: " + "Tell me of harbours. " * 10})
            talk.record({"role": "assistant", "content": "There was a river. " * 20})
        assert not shows(asked(talk))


def test_the_same_request_is_made_again_without_the_embedder(embedder: Concepts, tmp_path: Path) -> None:
    with opened(embedder, tmp_path / "a.db") as runtime:
        talk = lived(runtime)
        sheet = asked(talk)
        before = embedder.asked
        assert talk.rebuild(sheet).same
        assert embedder.asked == before
    for again in (None, Broken()):
        with callsheet.open(tmp_path / "a.db", embedder=again) as runtime:
            rebuilt = runtime.conversation("market").rebuild(sheet.id)
            assert rebuilt.same
            assert rebuilt.same_blocks == rebuilt.blocks


def test_vectors_that_are_made_later_change_no_past_request(runtime: Runtime) -> None:
    talk = lived(runtime)
    sheet = asked(talk)
    talk.record({"role": "assistant", "content": "Forty."}, sheet=sheet)
    talk.record({"role": "user", "content": "And how much money in euros, handed or paid?"})
    runtime.work(works=["vectors"])
    assert talk.rebuild(sheet).same


def test_the_vector_of_a_question_is_made_once_and_erased_with_it(runtime: Runtime, embedder: Concepts) -> None:
    talk = lived(runtime)
    sheet = asked(talk)
    count = embedder.asked
    talk.assemble(provider="anthropic", model="claude-sonnet-4-5", policy=TIGHT)
    assert embedder.asked == count
    (stream,) = runtime.ledger.streams(kind=StreamKind.CONVERSATION)
    query = VectorQuery(index=questions_of("concepts:1/4"))
    newest = runtime.ledger.vectors(stream.key, query)[-1]
    assert newest.record == sheet.record.boundary.trigger
    runtime.ledger.erase_bodies(stream.key, [newest.position])
    assert newest.position not in [row.position for row in runtime.ledger.vectors(stream.key, query)]


def test_no_request_fails_with_an_embedder_that_does(embedder: Concepts) -> None:
    broken = Broken()
    with opened(broken) as runtime:
        talk = lived(runtime)
        sheet = asked(talk)
        assert not shows(sheet)
        assert talk.rebuild(sheet).same


@pytest.mark.parametrize("hides", ["branch", "participant"])
def test_what_is_hidden_changes_nothing(hides: str) -> None:
    made = []
    for text in ("I paid in euros.", "There was a kiln."):

        def aside(talk: Conversation, text: str = text) -> None:
            other = talk.branch(name="b") if hides == "branch" else talk.participant("critic")
            for number in range(40):
                call = {"id": f"c{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
                other.record({"role": "assistant", "content": None, "tool_calls": [call]})
                other.record({"role": "tool", "tool_call_id": f"c{number}", "content": f"{number} {text}"})

        with opened(Concepts()) as runtime:
            sheet = asked(lived(runtime, between=aside))
            assert shows(sheet)
            made.append([message["content"] for message in sheet.messages()])
    assert made[0] == made[1]


def test_memories_of_the_user_are_called_for_by_their_meaning(embedder: Concepts) -> None:
    made = []
    for policy in (TIGHT, OFF):
        with opened(embedder) as runtime:
            for text in ("Likes harbours.", "Has a garden.", "Eats no fish.", "Lives in Graz."):
                runtime.remember("mia", text)
            talk = lived(runtime, policy=policy)
            sheet = asked(talk, "Which dinner suits me?", policy=policy)
            made.append("Eats no fish." in str(sheet.messages()))
            assert "Lives in Graz." not in str(sheet.messages())
            assert talk.rebuild(sheet).same
            if policy.meaning:
                assert len(sheet.record.pins.index_positions) == 2
    assert made == [True, False]


def test_a_vector_that_is_lost_is_not_made_again_to_compare(runtime: Runtime) -> None:
    talk = lived(runtime)
    sheet = asked(talk)
    (stream,) = runtime.ledger.streams(kind=StreamKind.CONVERSATION)
    index = questions_of("concepts:1/4")
    runtime.ledger.drop_vectors(stream.key, index)
    assert not talk.rebuild(sheet).same
    assert runtime.ledger.vectors(stream.key, VectorQuery(index=index)) == []


def test_words_that_only_a_call_holds_bring_nothing_back(runtime: Runtime) -> None:
    def between(talk: Conversation) -> None:
        talk.record([asks(call("c1", "look", '{"place": "harbour crane berth"}')), result("c1", "Lost.")])

    talk = lived(runtime, between=between)
    sheet = asked(talk, "The harbour crane at the berth: how much money was handed over?")
    assert shows(sheet)
    assert talk.rebuild(sheet).same
