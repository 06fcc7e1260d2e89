"""Summaries by a model: checked before they are used, made in the background, and never in the way of what is known."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

import callsheet
from callsheet import Conversation, Runtime
from callsheet.derive.guarding import Flaw, Material
from callsheet.errors import InvalidOption
from callsheet.graph.enums import Level
from callsheet.graph.nodes import Episode, PolicyDecision, ToolMemory
from callsheet.graph.record import Record
from callsheet.policy.contracts import ToolContract
from callsheet.policy.settings import Manner, Narrowing
from callsheet.runtime.summarising import PARTS, AnySummariser, summarised, summariser_of, tokens
from callsheet.testing import FixedClock, SequenceIds, memory_runtime
from tests.runtime.replies import asks, call, result, user
from tests.runtime.test_compacting import ORDER, QUIET, RULES, STRINGS, ask, chat, of, summary, text

GOOD = "The user wants a refund and mentioned a config file."


def opened(summariser: AnySummariser) -> Runtime:
    return callsheet.open(":memory:", ids=SequenceIds(), clock=FixedClock(), summariser=summariser)


class Stub:
    """A summariser that says what it is told to, and remembers what it was given."""

    name = "stub-1"

    def __init__(self, says: str | Callable[[str], object] = GOOD, *, provider: str = "", window: int = 4_000) -> None:
        self.says, self.provider, self.window = says, provider, window
        self.given: list[str] = []

    def summarise(self, material: str, *, limit: int) -> str:
        self.given.append(material)
        return self.says if isinstance(self.says, str) else self.says(material)  # type: ignore[return-value]


@pytest.fixture
def stub() -> Stub:
    return Stub()


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with memory_runtime() as opened:
        yield opened


@pytest.fixture
def talk(runtime: Runtime) -> Conversation:
    opened = runtime.conversation("kiln")
    opened.record(user(ORDER))
    chat(opened, 12)
    return opened


def test_a_summary_that_passes_stands_for_its_span_and_ids_stay_verbatim(talk: Conversation, stub: Stub) -> None:
    made = talk.compact(keep=2, summariser=stub)
    assert made.rejected == ()
    talk.record(user("Which order was it, how much, and which file?"))
    words = text(ask(talk))
    assert GOOD in words
    assert "by stub-1; second-hand" in words
    assert all(one in words for one in STRINGS)
    newest = of(talk, Episode)[-1]
    assert isinstance(newest.body, Episode)
    assert (newest.body.method, newest.body.by) == ("abstractive", "stub-1")
    assert made.episodes == (newest.id,)


@pytest.mark.parametrize(
    ("says", "why"),
    [
        ("Refund ORD-7F3A-00921, 1,284.70 EUR.", "unknown_value"),
        ("", "empty"),
        ("I'm sorry, but I cannot help with that.", "refused"),
        ("word " * 900, "too_long"),
    ],
)
def test_a_summary_that_does_not_pass_is_recorded_as_rejected(talk: Conversation, says: str, why: str) -> None:
    made = talk.compact(keep=2, summariser=Stub(says))
    (extract,) = of(talk, Episode)
    assert made.rejected == ((extract.id, why),)
    assert made.episodes == (extract.id,)
    (decision,) = [one.body for one in of(talk, PolicyDecision) if getattr(one.body, "kind", "") == "summary"]
    assert isinstance(decision, PolicyDecision)
    assert (decision.verdict, decision.rule) == ("rejected", f"summary.{why}.stub-1")
    talk.record(user("Which order was it, how much, and which file?"))
    words = text(ask(talk))
    assert "00921" not in words
    assert "1,284.70" not in words
    assert all(one in words for one in STRINGS)


def test_a_summary_is_not_made_of_a_summary_and_nothing_grows(talk: Conversation) -> None:
    talk.record(user(RULES))
    chat(talk, 30, "tile")

    def first_part(material: str) -> str:
        words = material.split()
        return " ".join(words[: min(len(words) * 6 // 10, 150)])

    stub = Stub(first_part)
    talk.compact(keep=2, summariser=stub)
    asked = len(stub.given)
    first = ask(talk)
    size = sum(getattr(one.body, "o200k", 0) for one in of(talk, Episode))
    for _ in range(9):
        assert talk.compact(keep=2, summariser=stub).reason == "nothing_new"
    assert len(stub.given) == asked
    assert ask(talk).blocks == first.blocks
    assert sum(getattr(one.body, "o200k", 0) for one in of(talk, Episode)) == size
    for fact in ("Thursday group", "4,150", "77-41"):
        assert fact in text(first)
    kinds = {one.header.kind for record in of(talk, Episode) for one in _sources(talk, record.body)}
    assert kinds <= {"message", "artifact"}


def _sources(talk: Conversation, body: object) -> list[Record]:
    return talk._session.ledger.get(talk._session.conversation.key, getattr(body, "sources", ()))


def test_each_request_to_a_summariser_fits_its_window_and_none_is_empty(talk: Conversation) -> None:
    for number in range(20):
        talk.record(user(f"Shelf {number}: " + "a plate, a cup and a jug; " * 120))
        talk.record({"role": "assistant", "content": "Noted."})
    stub = Stub("A summary of shelves.", window=1_000)
    talk.compact(keep=2, summariser=stub)
    assert len(stub.given) > 5
    assert all(0 < tokens(one) <= 1_000 and one.strip() for one in stub.given)


def test_nothing_to_say_is_not_asked_for() -> None:
    stub = Stub()
    assert summarised(stub, (), limit=300).flaw is Flaw.EMPTY
    assert summarised(stub, (Material("user", " \n"),), limit=300).flaw is Flaw.EMPTY
    assert stub.given == []


def test_one_word_longer_than_the_window_is_cut() -> None:
    stub = Stub("Short.", window=600)
    assert summarised(stub, (Material("user", "x1y2" * 4_000),), limit=300).flaw is None
    assert all(tokens(one) <= 600 for one in stub.given)


def test_instructions_and_secrets_are_not_given_to_a_summariser(runtime: Runtime) -> None:
    talk = runtime.conversation("kiln")
    talk.record({"role": "system", "content": "You are S1. Answer in at most two lines."})
    talk.record(user("My key is sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56Qr78St90Uv12Wx34."))
    chat(talk, 8)
    stub = Stub("A talk about paint.")
    talk.compact(keep=2, summariser=stub)
    assert stub.given
    assert not any("S1" in one or "sk-proj-" in one for one in stub.given)


def test_a_summariser_gets_what_its_provider_may(runtime: Runtime) -> None:
    from callsheet.graph.enums import Privacy
    from callsheet.policy.settings import ProviderForm

    closed = replace(
        QUIET,
        name="closed",
        providers=(ProviderForm(provider="elsewhere", privacy=Privacy.PERSONAL, form=Level.NONE),),
    )
    for provider, given in (("elsewhere", False), ("", True)):
        talk = runtime.conversation(f"talk with {provider or 'nobody'}")
        talk.record(user("My e-mail is mia.berg@example.org and my phone is +49 30 901820."))
        (first,) = (one.id for one in talk.history()[0][-1:])
        _reclassify(talk, first, Privacy.PERSONAL)
        chat(talk, 8)
        stub = Stub("A talk about paint.", provider=provider)
        talk.compact(keep=2, policy=closed, summariser=stub)
        assert any("mia.berg" in one for one in stub.given) is given


def _reclassify(talk: Conversation, record: object, privacy: object) -> None:
    from tests.runtime.test_compacting import _reclassify as reclassify

    reclassify(talk, record, privacy)  # type: ignore[arg-type]


def test_a_plain_function_is_a_summariser(talk: Conversation) -> None:
    def shorten(material: str) -> str:
        return GOOD

    assert summariser_of(shorten).name == "shorten"
    talk.compact(keep=2, summariser=shorten)
    assert "by shorten; second-hand" in text(ask(talk))


def altered(**given: object) -> Stub:
    made = Stub()
    vars(made).update(given)
    return made


@pytest.mark.parametrize(
    "given",
    [
        5,
        "gpt",
        object(),
        Stub,
        altered(name="a\nb"),
        altered(name=None),
        altered(name=""),
        altered(provider=None),
        altered(provider=b"openai"),
        altered(window="all"),
        altered(window=True),
        altered(window=10),
        altered(summarise="how"),
    ],
)
def test_what_cannot_summarise_is_refused(talk: Conversation, given: object) -> None:
    with pytest.raises(InvalidOption, match="summariser"):
        talk.compact(keep=2, summariser=given)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="summariser"):
        opened(given)  # type: ignore[arg-type]
    assert of(talk, Episode) == []


@pytest.mark.parametrize("given", ["yes", 1, None])
def test_whether_a_worker_is_wanted_is_true_or_false(given: object) -> None:
    with pytest.raises(InvalidOption, match=r"worker is .*True or False"):
        callsheet.open(":memory:", worker=given)  # type: ignore[arg-type]


@pytest.mark.parametrize("answer", ["\0Fine.", "Fi\0ne.", "Fine.\ud800"])
def test_what_no_store_holds_is_no_summary(answer: str) -> None:
    made = summarised(Stub(answer), (Material("user", "Fine weather."),), limit=300)
    assert made.flaw is Flaw.INVALID


def test_what_a_summariser_raises_leaves_the_extract(talk: Conversation) -> None:
    def breaks(material: str) -> str:
        raise TimeoutError("no answer")

    with pytest.raises(TimeoutError):
        talk.compact(keep=2, summariser=breaks)
    (extract,) = of(talk, Episode)
    assert "ORD-7F3A-00912" in summary(talk, extract)


# ------------------------------------------------------------------------------------------ in the background


def test_background_work_writes_them_once(stub: Stub) -> None:
    with opened(stub) as runtime:
        talk = runtime.conversation("kiln")
        talk.record(user(ORDER))
        chat(talk, 12)
        talk.compact(keep=2)
        assert stub.given == []
        (worked,) = runtime.work(works=["episodes"])
        assert (worked.done, worked.left) == (1, False)
        assert [getattr(one.body, "method", "") for one in of(talk, Episode)] == ["extractive", "abstractive"]
        (again,) = runtime.work(works=["episodes"])
        assert (again.done, again.nothing, again.refused) == (0, 0, 0)
        assert len(stub.given) == 1
        assert GOOD in text(ask(talk))


def test_what_was_rejected_is_not_asked_for_again_and_what_failed_is() -> None:
    stub = Stub("Refund ORD-7F3A-00921.")
    with opened(stub) as runtime:
        talk = runtime.conversation("kiln")
        talk.record(user(ORDER))
        chat(talk, 12)
        talk.compact(keep=2)
        (worked,) = runtime.work(works=["episodes"])
        assert worked.refused == 1
        (worked,) = runtime.work(works=["episodes"])
        assert worked.refused == 0
        assert len(stub.given) == 1

    def breaks(material: str) -> str:
        raise TimeoutError("no answer")

    with opened(breaks) as runtime:
        talk = runtime.conversation("kiln")
        chat(talk, 12)
        talk.compact(keep=2)
        for _ in range(2):
            (worked,) = runtime.work(works=["episodes"])
            assert (worked.failed, worked.left, worked.errors) == (1, True, (("TimeoutError", 1),))


def rejecting(path: Path, given: AnySummariser, works: int = 1) -> int:
    """How many summaries are rejected of the span of one conversation."""
    with callsheet.open(path, clock=FixedClock(), summariser=given) as runtime:
        talk = runtime.conversation("kiln")
        if not of(talk, Episode):
            talk.record(user(ORDER))
            chat(talk, 12)
            talk.compact(keep=2)
        return sum(runtime.work(works=["episodes"])[0].refused for _ in range(works))


def test_what_was_rejected_of_one_is_not_held_against_another_whose_name_ends_so(tmp_path: Path) -> None:
    wrong = "Refund ORD-7F3A-00921."
    assert rejecting(tmp_path / "a.db", altered(name="gpt-5.1", says=wrong)) == 1
    assert rejecting(tmp_path / "a.db", altered(name="gpt-5.1", says=wrong)) == 0
    assert rejecting(tmp_path / "a.db", altered(name="1", says=wrong)) == 1


def test_functions_without_a_name_are_not_taken_for_each_other(tmp_path: Path) -> None:
    def named(material: str) -> str:
        return "Refund ORD-7F3A-00921."

    path = tmp_path / "a.db"
    assert rejecting(path, lambda material: "Refund ORD-7F3A-00921.", works=3) == 1
    assert rejecting(path, lambda material: "Refund ORD-7F3A-00922.", works=3) == 1
    assert rejecting(path, partial(named), works=3) == 1
    assert rejecting(path, partial(named), works=3) == 1
    assert rejecting(path, named, works=3) == 1
    assert rejecting(path, named, works=3) == 0


LISTING = "\n".join(f"Shelf S-{n:04} in hall {n % 7} holds {n % 13} plates and {n % 5} jugs." for n in range(400))


def test_a_long_result_is_narrowed_to_a_summary_once_that_is_there() -> None:
    stub = Stub("Shelves S-0000 to S-0399 hold plates and jugs.")
    policy = replace(
        QUIET,
        name="narrowed",
        turns=1,
        tools=(ToolContract(name="list_shelves", narrowing=Manner.SUMMARY),),
        narrowing=Narrowing(limit=400),
    )
    with opened(stub) as runtime:
        talk = runtime.conversation("pottery")
        talk.record(user("What is on the shelves?"))
        talk.record(asks(call("c", "list_shelves")))
        talk.record(result("c", LISTING))
        talk.record({"role": "assistant", "content": "Plates and jugs."})
        talk.record(user("And in hall 3, on S-0003?"))
        before = ask(talk, policy)
        assert stub.given == []
        assert "S-0003" in text(before)
        (worked,) = runtime.work(works=["narrowing"])
        assert worked.done == 1
        (memory,) = of(talk, ToolMemory)
        assert isinstance(memory.body, ToolMemory)
        assert memory.body.extractor == "model:stub-1"
        assert memory.body.tainted
        (again,) = runtime.work(works=["narrowing"])
        assert again.done == 0
        assert all(tokens(one) <= 4_000 for one in stub.given)
        fresh = talk.branch()
        assert "Shelves S-0000 to S-0399 hold plates and jugs." in text(ask(fresh, policy))


def test_a_summary_of_a_result_that_invents_is_rejected_and_the_ends_stay() -> None:
    stub = Stub("Shelf S-9999 is empty.")
    policy = replace(QUIET, name="invents", turns=1, narrowing=Narrowing(limit=400, manner=Manner.SUMMARY))
    with opened(stub) as runtime:
        talk = runtime.conversation("pottery")
        talk.record(asks(call("c", "list_shelves")))
        talk.record(result("c", LISTING))
        talk.record(user("And in hall 3, on S-0003?"))
        ask(talk, policy)
        (worked,) = runtime.work(works=["narrowing"])
        assert worked.refused == 1
        assert of(talk, ToolMemory) == []
        (worked,) = runtime.work(works=["narrowing"])
        assert worked.refused == 0
        assert "S-9999" not in text(ask(talk, policy))
        assert "S-0000" in text(ask(talk, policy))
        assert json.dumps([one.rule for one in _decisions(talk)]).count("unknown_value") == 1


def _decisions(talk: Conversation) -> list[PolicyDecision]:
    return [one.body for one in of(talk, PolicyDecision) if isinstance(one.body, PolicyDecision)]


class Halves:
    """A pruner that leaves every second word out."""

    name = "halves-1"

    def prune(self, prose: str) -> str:
        return " ".join(prose.split()[::2])


@pytest.mark.parametrize(
    "given", [5, "halves", object(), Halves, str.upper, type("Named", (Halves,), {"name": "a\nb"})(), Stub()]
)
def test_what_cannot_prune_is_refused(talk: Conversation, given: object) -> None:
    with pytest.raises(InvalidOption, match="pruner"):
        talk.compact(keep=2, pruner=given)  # type: ignore[arg-type]
    assert of(talk, Episode) == []


def test_a_pruner_makes_room_for_more_and_never_touches_what_must_stay(talk: Conversation) -> None:
    talk.record(user(RULES))
    for number in range(16):
        talk.record(
            user(f"Delivery {number} of order ORD-{number:04} came late and the boxes were wet on the left side.")
        )
        talk.record({"role": "assistant", "content": "That is a pity, and I shall note it for the next long report."})
    plain, pruned = talk.branch(), talk.branch()
    plain.compact(keep=2)
    pruned.compact(keep=2, pruner=Halves())
    whole, fewer = (one for one in of(talk, Episode) if isinstance(one.body, Episode))
    assert isinstance(fewer.body, Episode)
    assert (fewer.body.method, fewer.body.by) == ("pruned", "halves-1")
    assert fewer.body.o200k <= 300
    assert summary(talk, fewer).count("ORD-") >= summary(talk, whole).count("ORD-")
    assert "halves" not in text(ask(pruned))


def test_a_summariser_that_hardly_shortens_is_not_asked_for_ever() -> None:
    stub = Stub(lambda material: material[:-1], window=600)
    made = summarised(stub, (Material("user", "a plate and a cup; " * 800),), limit=300)
    assert made.flaw is Flaw.TOO_LONG
    assert made.calls == len(stub.given) < 100


def test_an_answer_that_is_far_too_long_is_never_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []

    def counts(text: str, encoding: str) -> int:
        counted.append(len(text))
        return len(text) // 4

    monkeypatch.setattr("callsheet.runtime.summarising.count", counts)
    stub = Stub("\0word " * 100_000, window=600)
    made = summarised(stub, (Material("user", "a plate and a cup; " * 800),), limit=300)
    assert (made.flaw, made.calls, made.text) == (Flaw.TOO_LONG, 1, "")
    assert max(counted) < 100_000


def test_of_a_very_long_result_the_beginning_and_the_end_are_given_in_a_bounded_number_of_requests() -> None:
    stub = Stub("Rows of a log.", window=512)
    rows = [f"row {number} of the log reads {number * 3}" for number in range(100_000)]
    made = summarised(stub, (Material("result of log", "\n".join(rows), untrusted=True),), limit=300)
    assert made.flaw is None
    assert made.calls == len(stub.given) <= PARTS
    assert rows[0] in stub.given[0]
    assert rows[-1] in stub.given[-1]
    assert all(tokens(one) <= 512 for one in stub.given)
    stub = Stub("Row 50000 reads 150000.", window=512)
    assert summarised(stub, (Material("log", "\n".join(rows), untrusted=True),), limit=300).flaw is Flaw.UNKNOWN_VALUE


def test_of_many_short_messages_the_first_and_the_last_are_given() -> None:
    stub = Stub("Shelves.", window=512)
    many = [Material("user", f"shelf {number} " + "plate " * 20) for number in range(5_000)]
    summarised(stub, many, limit=300)
    assert len(stub.given) <= PARTS
    assert "shelf 0 " in stub.given[0]
    assert "shelf 4999 " in stub.given[-1]
