"""A reranker puts in order what searches find; what runs elsewhere is given what the policy set lets go there."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

import pytest
from msgspec.structs import replace

import callsheet
from callsheet import Conversation, Runtime
from callsheet.errors import InvalidOption
from callsheet.graph.changes import Reclassified
from callsheet.graph.enums import Level, Privacy
from callsheet.graph.ids import RecordId
from callsheet.graph.values import Vector
from callsheet.policy.sets import BALANCED
from callsheet.policy.settings import ProviderForm
from callsheet.testing import FixedClock, SequenceIds
from tests.runtime.test_assembly_changes import change
from tests.runtime.test_search_arms import Concepts


class Overlap:
    """A real reranker, if a small one: how much of the query's words, in their order, a text has."""

    name = "overlap:1"

    def __init__(self) -> None:
        self.read: list[str] = []

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        self.read += texts
        return [SequenceMatcher(None, query.lower().split(), text.lower().split()).ratio() for text in texts]


class OverlapElsewhere(Overlap):
    provider = "acme"


class ConceptsElsewhere(Concepts):
    provider = "acme"

    def __init__(self) -> None:
        self.given: list[str] = []

    def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
        self.given += texts
        return super().embed(texts, query=query)


WITHHOLDING = replace(
    BALANCED,
    name="withholding",
    providers=tuple(
        ProviderForm(provider="acme", privacy=kind, form=Level.SAFE) for kind in (Privacy.PERSONAL, Privacy.DOCUMENT)
    ),
)


def opened(**options: Any) -> Runtime:
    return callsheet.open(":memory:", ids=SequenceIds(), clock=FixedClock(), **options)


@pytest.fixture
def reranker() -> Overlap:
    return Overlap()


@pytest.fixture
def runtime(reranker: Overlap) -> Iterator[Runtime]:
    with opened(reranker=reranker) as made:
        yield made


def said(talk: Conversation, *texts: str) -> list[str]:
    return [talk.record({"role": "assistant", "content": text}).ids[0] for text in texts]


TEXTS = (
    "Gate nine: the ferry to the north. The ferry!",
    "To the ferry it is far.",
    "The ferry leaves at nine from the gate.",
)
QUERY = "the ferry leaves at nine"


def test_what_is_found_comes_in_the_order_of_the_reranker(runtime: Runtime) -> None:
    talk = runtime.conversation("harbour")
    ids = said(talk, *TEXTS)
    assert talk.search(QUERY)[0].reference == ids[2]
    with opened() as plain:
        other = plain.conversation("harbour")
        ids = said(other, *TEXTS)
        without = [one.reference for one in other.search("north ferry gate nine to")]
    assert len(without) == 3
    assert len(talk.search(QUERY, 1)) == 1


def test_identifiers_stay_before_what_the_reranker_likes(runtime: Runtime) -> None:
    talk = runtime.conversation("harbour")
    _, named = said(talk, "the ferry leaves at nine", "Ticket TCK-4471 is void.")
    found = talk.search("the ferry leaves at nine TCK-4471")
    assert [one.exact for one in found] == [True, False]
    assert found[0].reference == named


def test_equal_scores_leave_the_order_of_the_search(runtime: Runtime) -> None:
    class Indifferent(Overlap):
        def scores(self, query: str, texts: Sequence[str]) -> list[float]:
            return [0.5 + 1e-9 * place for place in range(len(texts))]

    orders = []
    for reranker in (None, Indifferent()):
        with opened(reranker=reranker) as made:
            talk = made.conversation("harbour")
            said(talk, *TEXTS)
            orders.append([one.reference for one in talk.search(QUERY)])
    assert orders[0] == orders[1]


def test_passages_are_put_in_order_too(runtime: Runtime, reranker: Overlap) -> None:
    for number, text in enumerate(TEXTS):
        runtime.knowledge.add(f"D{number}", text)
    assert runtime.knowledge.search(QUERY)[0].document == "D2"
    talk = runtime.conversation("harbour")
    said(talk, "the ferry")
    assert talk.search(QUERY)[0].origin.startswith("document D2")
    assert reranker.read


def test_secrets_are_marked_in_what_the_reranker_reads(runtime: Runtime, reranker: Overlap) -> None:
    key = "AKIA" + "Q7ZT2M4KD9WX1RPL"[:16]
    talk = runtime.conversation("harbour")
    said(talk, f"The ferry uses key {key}.", "The ferry is late.")
    talk.search("ferry")
    assert len(reranker.read) == 2
    assert not any(key in text for text in reranker.read)


@pytest.mark.parametrize(
    "answer", [[0.5], [float("nan"), 1.0, 1.0], "abc", None, [[1.0], [2.0], [3.0]], {"a": 1.0, "b": 2.0, "c": 3.0}]
)
def test_what_a_reranker_must_not_give_is_refused(answer: object) -> None:
    class Wrong(Overlap):
        def scores(self, query: str, texts: Sequence[str]) -> list[float]:
            return answer  # type: ignore[return-value]

    with opened(reranker=Wrong()) as runtime:
        talk = runtime.conversation("harbour")
        said(talk, *TEXTS)
        with pytest.raises(InvalidOption, match="overlap:1"):
            talk.search(QUERY)


@pytest.mark.parametrize("given", [Overlap, object(), "overlap"])
def test_what_is_no_reranker_is_refused(given: object) -> None:
    with pytest.raises(InvalidOption, match="reranker"):
        opened(reranker=given)


# ---------------------------------------------------------------------------------------------- what runs elsewhere


def fill(runtime: Runtime) -> Conversation:
    talk = runtime.conversation("town", user="mia")
    said(talk, "The bath is closed.", "The boat leaves.")
    runtime.remember("mia", "Swims in the pool.")
    runtime.knowledge.add("RULES", "The pool opens at nine.", privacy="document")
    runtime.knowledge.add("TIMES", "The ferry leaves at nine.", privacy="public")
    runtime.work()
    return talk


def test_an_embedder_elsewhere_is_not_given_what_the_set_keeps_from_its_provider() -> None:
    embedder = ConceptsElsewhere()
    with opened(embedder=embedder, policy=WITHHOLDING) as runtime:
        talk = fill(runtime)
        given = " ".join(embedder.given)
        assert "bath is closed" in given
        assert "ferry leaves" in given
        assert "Swims" not in given
        assert "pool opens" not in given
        assert [one.origin for one in talk.search("swimming")][:1] == ["assistant"]
        assert runtime.memories("mia", "bath") == []


@pytest.mark.parametrize("embedder", [Concepts(), ConceptsElsewhere()])
def test_one_that_runs_here_or_whose_provider_is_allowed_gets_all(embedder: Concepts) -> None:
    policy = BALANCED if isinstance(embedder, ConceptsElsewhere) else WITHHOLDING
    with opened(embedder=embedder, policy=policy) as runtime:
        fill(runtime)
        assert [one.value for one in runtime.memories("mia", "bath")] == ["Swims in the pool."]


def test_a_question_of_a_class_that_may_not_go_there_is_not_embedded() -> None:
    embedder = ConceptsElsewhere()
    policy = replace(
        BALANCED, name="none", providers=(ProviderForm(provider="acme", privacy=Privacy.INTERNAL, form=Level.SAFE),)
    )
    with opened(embedder=embedder, policy=policy) as runtime:
        talk = runtime.conversation("town")
        talk.record({"role": "user", "content": "Which boat leaves?"})
        sheet = talk.assemble(provider="openai", model="gpt-5.2")
        runtime.work()
        assert embedder.given == []
        assert talk.rebuild(sheet).same


def test_what_was_put_into_a_stricter_class_is_not_given() -> None:
    embedder = ConceptsElsewhere()
    with opened(embedder=embedder, policy=WITHHOLDING) as runtime:
        talk = runtime.conversation("town")
        (secret,) = said(talk, "The boat of Orla.")
        change(talk, Reclassified(records=(RecordId(secret),), privacy=Privacy.PERSONAL), "reclassified")
        runtime.work()
        assert embedder.given == []


def test_a_reranker_elsewhere_is_not_given_it_either_and_it_keeps_its_place() -> None:
    reranker = OverlapElsewhere()
    with opened(reranker=reranker, policy=WITHHOLDING) as runtime:
        talk = fill(runtime)
        found = talk.search("the pool opens at nine")
        assert any(one.origin.startswith("document RULES") for one in found)
        runtime.knowledge.search("the pool opens at nine")
        assert not any("pool opens" in text for text in reranker.read)
