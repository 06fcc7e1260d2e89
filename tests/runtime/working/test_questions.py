"""What an embedder failed at is tried again in the background, a few times, and changes no request that was made."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import callsheet
from callsheet import Runtime
from callsheet.graph.enums import StreamKind
from callsheet.graph.index import VectorQuery
from callsheet.graph.values import Vector
from callsheet.runtime.alluding import ATTEMPTS, questions_of
from callsheet.runtime.working.questions import WAIT
from callsheet.testing import FixedClock, SequenceIds
from tests.runtime.test_alluding import TIGHT, Concepts, asked, lived, shows

FIRST = "How much money in euros?"


class Flaky(Concepts):
    """Fails while it is down, and always at one text."""

    down = False
    poison = "no such text"

    def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
        made = super().embed(texts, query=query)
        if query and (self.down or any(self.poison in text for text in texts)):
            raise ConnectionError("the pin is 4711")
        return made


def opened(embedder: Concepts | None, where: str | Path, clock: FixedClock) -> Runtime:
    return callsheet.open(where, embedder=embedder, ids=SequenceIds(), clock=clock)


@pytest.fixture
def embedder() -> Flaky:
    return Flaky()


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


def tried(runtime: Runtime) -> tuple[int, int, int, tuple[tuple[str, int], ...], bool]:
    (worked,) = runtime.work(works=["questions"])
    return worked.done, worked.refused, worked.failed, worked.errors, worked.left


def test_what_failed_for_a_while_counts_from_when_it_is_made(embedder: Flaky, clock: FixedClock) -> None:
    with opened(embedder, ":memory:", clock) as runtime:
        talk = lived(runtime)
        embedder.down = True
        without = asked(talk)
        assert not shows(without)
        assert tried(runtime) == (0, 0, 1, (("ConnectionError", 1),), True)
        embedder.down = False
        # It waits a while, whoever asks.
        assert tried(runtime) == (0, 0, 0, (), False)
        clock.advance(WAIT)
        assert tried(runtime) == (1, 0, 0, (), False)
        assert tried(runtime) == (0, 0, 0, (), False)
        count = embedder.asked
        with_it = talk.assemble(provider="anthropic", model="claude-sonnet-4-5", policy=TIGHT)
        assert shows(with_it)
        assert embedder.asked == count
        assert talk.rebuild(without).same
        assert talk.rebuild(with_it).same


def test_attempts_end(embedder: Flaky, clock: FixedClock) -> None:
    with opened(embedder, ":memory:", clock) as runtime:
        talk = lived(runtime)
        embedder.down = True
        sheet = asked(talk)
        before = embedder.asked
        found = []
        for _ in range(2 * ATTEMPTS):
            clock.advance(WAIT * 2**ATTEMPTS)
            found.append(tried(runtime))
        assert embedder.asked == before + ATTEMPTS - 1
        error = (("ConnectionError", 1),)
        assert found[: ATTEMPTS - 1] == [*[(0, 0, 1, error, True)] * (ATTEMPTS - 2), (0, 1, 0, (), False)]
        assert set(found[ATTEMPTS - 1 :]) == {(0, 0, 0, (), False)}
        assert talk.rebuild(sheet).same


def test_waits_grow(embedder: Flaky, clock: FixedClock) -> None:
    with opened(embedder, ":memory:", clock) as runtime:
        talk = lived(runtime)
        embedder.down = True
        asked(talk)
        failed = []
        for second in range(0, 10 * WAIT, WAIT // 2):
            if tried(runtime)[2]:
                failed.append(second)
            clock.advance(WAIT // 2)
        assert failed == [0, WAIT, 3 * WAIT]


def test_one_text_that_can_never_be_embedded_holds_up_no_other_for_good(embedder: Flaky, clock: FixedClock) -> None:
    with opened(embedder, ":memory:", clock) as runtime:
        talk = lived(runtime)
        embedder.poison = FIRST
        talk.record({"role": "assistant", "content": "Yes."}, sheet=asked(talk, FIRST))
        embedder.down = True
        asked(talk)
        embedder.down = False
        done = 0
        for _ in range(2 * ATTEMPTS):
            clock.advance(WAIT * 2**ATTEMPTS)
            done += tried(runtime)[0]
        assert done == 1
        assert shows(talk.assemble(provider="anthropic", model="claude-sonnet-4-5", policy=TIGHT))


def test_a_vector_that_was_made_and_not_recorded_is_recorded(
    embedder: Flaky, clock: FixedClock, tmp_path: Path
) -> None:
    path = tmp_path / "a.db"
    with opened(embedder, path, clock) as runtime:
        talk = lived(runtime)
        embedder.down = True
        sheet = asked(talk)
        embedder.down = False
        (stream,) = runtime.ledger.streams(kind=StreamKind.CONVERSATION)
        at = runtime.ledger.vectors(stream.key, VectorQuery(index=questions_of("concepts:1/4")))[-1].position
        made = embedder.embed([str(sheet.messages()[-1]["content"])], query=True)[0]
        # As of a process that ended between the two.
        runtime.ledger.put_vectors(stream.key, questions_of("concepts:1/4", 2), {at: made})
        count = embedder.asked
        assert not shows(talk.assemble(provider="anthropic", model="claude-sonnet-4-5", policy=TIGHT))
    with callsheet.open(path, embedder=embedder, clock=clock) as runtime:
        assert tried(runtime) == (1, 0, 0, (), False)
        assert embedder.asked == count
        talk = runtime.conversation("market", user="mia")
        assert shows(talk.assemble(provider="gemini", model="gemini-2.5-pro", policy=TIGHT))


def test_what_is_erased_is_not_asked_for_again(embedder: Flaky, clock: FixedClock) -> None:
    with opened(embedder, ":memory:", clock) as runtime:
        talk = lived(runtime)
        embedder.down = True
        sheet = asked(talk)
        embedder.down = False
        (stream,) = runtime.ledger.streams(kind=StreamKind.CONVERSATION)
        at = runtime.ledger.vectors(stream.key, VectorQuery(index=questions_of("concepts:1/4")))[-1].position
        assert sheet.record.boundary.trigger is not None
        runtime.ledger.erase_bodies(stream.key, [at])
        count = embedder.asked
        assert tried(runtime) == (0, 0, 0, (), False)
        assert embedder.asked == count
