"""A text that an embedder can never take holds up no other: it is set aside, told of, and left to another embedder."""

import logging
from collections.abc import Sequence
from pathlib import Path

import pytest

import callsheet
from callsheet.runtime.alluding import ATTEMPTS
from callsheet.runtime.working.draining import Worked
from callsheet.runtime.working.questions import WAIT
from callsheet.runtime.working.vectors import BATCH
from callsheet.testing import FixedClock

DAY = 86_400.0


class Tokeniser:
    """An embedder that fails at some words: alone, or among others."""

    dimensions = 2

    def __init__(self, name: str = "words:1", *, never: str = "", down: bool = False) -> None:
        self.name, self.never, self.down = name, never, down
        self.given: list[list[str]] = []

    def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        self.given.append(list(texts))
        if self.down:
            raise ConnectionError("nobody answers at tower 9")
        if self.never and any(self.never in text for text in texts):
            raise UnicodeError("cannot take " + self.never)
        return [[1.0, float(len(text) % 7 + 1)] for text in texts]


def work(runtime: callsheet.Runtime) -> Worked:
    (worked,) = runtime.work(works=["vectors"])
    return worked


def filled(runtime: callsheet.Runtime, number: int = 3 * BATCH) -> callsheet.Conversation:
    talk = runtime.conversation("hall")
    for place in range(number):
        said = f"Barge {place} lies in bay {place}." if place != 5 else "Barge zzz lies nowhere."
        talk.record({"role": "assistant", "content": said})
    return talk


def found(talk: callsheet.Conversation) -> int:
    return len(talk.search("where is it moored", arms="meaning", limit=500))


def until_set_aside(runtime: callsheet.Runtime, clock: FixedClock) -> list[Worked]:
    seen: list[Worked] = []
    for _ in range(ATTEMPTS):
        seen.append(work(runtime))
        clock.advance(DAY)
    return seen


@pytest.mark.parametrize("store", ["a.db", ":memory:"])
def test_the_rest_gets_its_vectors_and_counts_once_the_text_is_set_aside(
    tmp_path: Path, store: str, caplog: pytest.LogCaptureFixture
) -> None:
    embedder, clock = Tokeniser(never="zzz"), FixedClock()
    path = store if store == ":memory:" else tmp_path / store
    with callsheet.open(path, embedder=embedder, clock=clock) as runtime, caplog.at_level(logging.WARNING):
        talk = filled(runtime)
        *tried, last = until_set_aside(runtime, clock)
        assert all(one.failed and not one.refused and one.left for one in tried)
        assert (last.failed, last.refused, last.errors, last.left) == (0, 1, (("UnicodeError", 1),), False)
        # Nothing but the text itself is asked for again.
        assert sum(len(texts) for texts in embedder.given if len(texts) > 1) <= 4 * BATCH
        assert "UnicodeError" in caplog.text
        assert "zzz" not in caplog.text
        assert found(talk) == 3 * BATCH - 1
        assert work(runtime) == Worked(work="vectors")


def test_it_waits_longer_between_attempts_and_is_not_tried_meanwhile() -> None:
    embedder, clock = Tokeniser(never="zzz"), FixedClock()
    with callsheet.open(":memory:", embedder=embedder, clock=clock) as runtime:
        filled(runtime, 8)
        work(runtime)
        given = len(embedder.given)
        for attempt in range(ATTEMPTS - 1):
            clock.advance(WAIT * 2**attempt - 1)
            assert work(runtime).failed == 0
            assert len(embedder.given) == given
            clock.advance(1)
            worked = work(runtime)
            assert (worked.failed, worked.refused) == ((1, 0) if attempt < ATTEMPTS - 2 else (0, 1))
            given = len(embedder.given)


def test_an_embedder_that_is_down_sets_nothing_aside() -> None:
    embedder, clock = Tokeniser(down=True), FixedClock()
    with callsheet.open(":memory:", embedder=embedder, clock=clock) as runtime:
        talk = filled(runtime, 8)
        for worked in until_set_aside(runtime, clock) + until_set_aside(runtime, clock):
            assert (worked.refused, worked.errors) == (0, (("ConnectionError", 1),))
        embedder.down = False
        assert work(runtime).done == 1
        assert found(talk) == 8


def test_what_was_a_passing_failure_is_embedded_after_all() -> None:
    embedder, clock = Tokeniser(never="zzz"), FixedClock()
    with callsheet.open(":memory:", embedder=embedder, clock=clock) as runtime:
        talk = filled(runtime, 8)
        assert work(runtime).failed == 1
        embedder.never = ""
        clock.advance(DAY)
        worked = work(runtime)
        assert (worked.failed, worked.refused, worked.left) == (0, 0, False)
        assert found(talk) == 8


def test_attempts_are_counted_over_processes_and_another_embedder_tries_it_anew(tmp_path: Path) -> None:
    clock = FixedClock()
    for attempt in range(ATTEMPTS):
        with callsheet.open(tmp_path / "a.db", embedder=Tokeniser(never="zzz"), clock=clock) as runtime:
            talk = runtime.conversation("hall") if attempt else filled(runtime, 8)
            assert work(runtime).refused == (attempt == ATTEMPTS - 1)
            assert found(talk) == (7 if attempt == ATTEMPTS - 1 else 0)
    with callsheet.open(tmp_path / "a.db", embedder=Tokeniser("words:2"), clock=clock) as runtime:
        worked = work(runtime)
        assert (worked.failed, worked.refused) == (0, 0)
        assert found(runtime.conversation("hall")) == 8
