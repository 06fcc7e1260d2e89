"""DEV-25: a user's memories reach that user's requests alone, also where a store would give out everything."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import callsheet
from callsheet import Runtime
from callsheet.errors import CallsheetError, InvalidOption, NotFound
from callsheet.graph.enums import StreamKind
from callsheet.graph.ids import RecordId, TenantId
from callsheet.graph.index import Posting, PostingQuery
from callsheet.graph.query import LinkQuery, LinkRow, NodeQuery, StateQuery, StateRow
from callsheet.graph.record import Record, StreamKey
from callsheet.ledger.memory import MemoryLedger
from callsheet.runtime.opening import open as open_store
from callsheet.testing import FixedClock, SequenceIds
from tests.memories.user_worlds import NOW, asked, opened, place, text, values

HERS, HIS = "My cat Quillfeather takes 2 ml at 18:00", "My cat Bramble takes 1 ml"
QUESTION = "When does my cat get its medicine?"
FORBIDDEN = ("Quillfeather", "18:00", "2 ml")


def two_tenants(location: str) -> tuple[Runtime, Runtime]:
    return opened(location, tenant="oak"), opened(location, tenant="elm")


def test_dev_25_two_tenants_with_the_same_session_see_their_own(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    location = str(tmp_path / "agent.db")
    caplog.set_level(logging.DEBUG)
    oak, elm = two_tenants(location)
    with oak, elm:
        kept = oak.remember("alice", HERS)
        elm.remember("bob", HIS)
        assert "Quillfeather" in text(asked(oak.conversation("s-1", user="alice"), QUESTION))

        told = [*reads(elm, "bob", "s-1", kept.id), caplog.text]

        assert all(word not in one for one in told for word in (*FORBIDDEN, kept.id))
        assert any("Bramble" in one for one in told)
    oak, elm = two_tenants(location)
    with oak, elm:
        assert all(word not in one for one in reads(elm, "bob", "s-1", kept.id) for word in (*FORBIDDEN, kept.id))
        assert "Quillfeather" in text(asked(oak.conversation("s-1", user="alice"), QUESTION))


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_two_users_of_one_tenant_see_their_own(kind: str, tmp_path: Path) -> None:
    with opened(place(kind, tmp_path)) as runtime:
        kept = runtime.remember("alice", HERS)
        runtime.remember("bob", HIS)
        told = reads(runtime, "bob", "b-1", kept.id)
        assert all(word not in one for one in told for word in (*FORBIDDEN, kept.id))
        assert "Quillfeather" in text(asked(runtime.conversation("a-1", user="alice"), QUESTION))
        with pytest.raises(InvalidOption):
            runtime.conversation("a-1", user="bob")


def reads(runtime: Runtime, user: str, session: str, another: str) -> list[str]:
    """All that somebody gets who looks for what is not theirs: results, requests, texts of errors."""
    talk = runtime.conversation(session, user=user)
    ways: Sequence[Callable[[], object]] = (
        lambda: runtime.memories(user),
        lambda: runtime.memories(user, "cat", history=True),
        lambda: runtime.memories(user, proposals=True),
        lambda: runtime.memory(user, another),
        lambda: runtime.update(user, another, "mine now"),
        lambda: runtime.forget(user, another),
        lambda: runtime.pin(user, another),
        lambda: runtime.contradict(user, another, another),
        lambda: runtime.accept(user, another),
        lambda: runtime.remember(user, "made of hers", sources=[another]),
        lambda: runtime.remember(user, "taken from hers", source=another),
        lambda: runtime.propose(user, "taken from hers", source=another),
        lambda: talk.remember("taken from hers", message=another),
        lambda: talk.user_memories("cat"),
        lambda: talk.search("Quill cat"),
        lambda: talk.recall(another),
        lambda: text(asked(talk, QUESTION)),
        lambda: text(asked(talk, QUESTION, provider="anthropic")),
        talk.transcript,
        lambda: [sheet.explain() for sheet in talk.sheets()],
        runtime.conversations,
    )
    return [
        _told(way).replace(another, "<asked>") if place in _ECHOES else _told(way) for place, way in enumerate(ways)
    ]


_ECHOES = (12, 15)
"""Ways of a conversation that repeat what was asked for, whatever it was."""


def _told(way: Callable[[], object]) -> str:
    try:
        return repr(way())
    except CallsheetError as problem:
        return f"{type(problem).__name__}: {problem}"


def test_another_users_memory_is_answered_exactly_as_none() -> None:
    with opened(":memory:") as runtime:
        hers = runtime.remember("alice", HERS)
        proposed = runtime.propose("alice", HERS)
        runtime.remember("bob", HIS)
        gone = runtime.remember("bob", "likes rain")
        runtime.forget("bob", gone.id)

        answers = {_answer(runtime, id) for id in (hers.id, proposed.id, gone.id, "umem_never_was")}
        assert len(answers) == 1
        # Whoever has none at all is told the same.
        assert {_answer(runtime, hers.id, "carol")} == answers


def _answer(runtime: Runtime, id: str, user: str = "bob") -> str:
    with pytest.raises(NotFound) as refused:
        runtime.memory(user, id)
    return repr(refused.value)


class Leaky(MemoryLedger):
    """A store that forgets which user's memories were asked for, and gives those of all."""

    def _all(self, key: StreamKey) -> list[StreamKey]:
        users = [stream.key for stream in self.streams(kind=StreamKind.USER)]
        return users if key in users else [key]

    def get(self, key: StreamKey, ids: Sequence[RecordId]) -> list[Record]:
        return [record for each in self._all(key) for record in super(Leaky, self).get(each, ids)]

    def nodes(self, key: StreamKey, query: NodeQuery) -> list[Record]:
        return [record for each in self._all(key) for record in super(Leaky, self).nodes(each, query)]

    def states(self, key: StreamKey, query: StateQuery) -> list[StateRow]:
        return [row for each in self._all(key) for row in super(Leaky, self).states(each, query)]

    def links(self, key: StreamKey, query: LinkQuery) -> list[LinkRow]:
        return [row for each in self._all(key) for row in super(Leaky, self).links(each, query)]

    def postings(self, key: StreamKey, query: PostingQuery) -> list[Posting]:
        return [posting for each in self._all(key) for posting in super(Leaky, self).postings(each, query)]


def test_a_store_that_gives_out_everything_leaks_nothing() -> None:
    ledger = Leaky(clock=FixedClock(NOW))

    def of(tenant: str) -> Runtime:
        return Runtime(ledger, tenant=tenant, ids=SequenceIdsOf(tenant), clock=FixedClock(NOW))

    oak, elm = of("oak"), of("elm")
    kept = oak.remember("alice", HERS, always=True)
    other = elm.remember("alice", HERS.replace("18:00", "19:00"), always=True)
    elm.remember("bob", HIS)
    for another in (kept.id, other.id):
        told = reads(elm, "bob", "s-1", another)
        assert all(word not in one for one in told for word in (*FORBIDDEN, "19:00", another))
        assert any("Bramble" in one for one in told)
    assert values(oak.memories("alice")) == [HERS]
    assert values(elm.memories("alice")) == [HERS.replace("18:00", "19:00")]


class SequenceIdsOf(SequenceIds):
    """Ids that no other tenant has."""

    def __init__(self, tenant: str) -> None:
        super().__init__()
        self._tenant = tenant

    def record(self, kind: str) -> RecordId:
        return RecordId(f"{super().record(kind)}{self._tenant}")


def test_the_memories_of_a_user_lie_in_one_stream_of_their_own() -> None:
    with open_store(":memory:", clock=FixedClock(NOW)) as runtime:
        runtime.remember("alice", HERS)
        runtime.remember("bob", HIS)
        runtime.conversation("c", user="alice").remember("likes rain")

        streams = runtime.ledger.streams(kind=StreamKind.USER)
        assert [(stream.name, stream.user) for stream in streams] == [("alice", "alice"), ("bob", "bob")]
        assert runtime.ledger.stream(TenantId("local"), StreamKind.USER, "alice") == streams[0]
        assert callsheet.Runtime is Runtime
