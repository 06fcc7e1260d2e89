"""DEV-24: what was forgotten comes back on no route, before and after the store is opened anew."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callsheet import Conversation, Runtime
from callsheet.audit.indexing import index_of
from callsheet.audit.rebuild import rebuild
from callsheet.audit.verify import verify
from callsheet.errors import BodyErased, InvalidOption, NotFound
from callsheet.graph.changes import Erased
from callsheet.graph.enums import Relation
from callsheet.graph.query import LinkQuery, NodeQuery
from callsheet.runtime.personalising.book import along
from callsheet.runtime.personalising.listing import KeptMemory, MemoryStatus
from tests.memories.user_worlds import asked, everything, opened, own_stream, place, text, values

#: With a word in it, since digests and ids hold any four digits by chance.
SECRET = "5512-quincewort"
LOCKER = f"Orla's locker is {SECRET}"


class Told:
    """What was kept of Mia, and what was made of it."""

    def __init__(self, runtime: Runtime) -> None:
        self.locker = runtime.remember("mia", LOCKER, entity="Orla", attribute="locker")
        self.weaving = runtime.remember("mia", "Orla teaches weaving", entity="Orla")
        self.both = runtime.remember(
            "mia",
            f"Orla, of locker {SECRET}, teaches weaving",
            kind="episode",
            entity="Orla",
            sources=[self.locker.id, self.weaving.id],
            always=True,
        )
        self.alone = runtime.remember("mia", f"somebody has {SECRET}", kind="episode", sources=[self.locker.id])
        self.further = runtime.remember("mia", f"a note on {SECRET} and more", kind="episode", sources=[self.both.id])


def rooms(runtime: Runtime, provider: str) -> Conversation:
    talk = runtime.conversation("rooms", user="mia")
    talk.record({"role": "system", "content": "You help at a school."})
    for question in ("Which locker has Orla?", "And what does Orla teach?"):
        asked(talk, question, provider=provider)
    return talk


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_dev_24_forgotten_is_gone_on_every_route(kind: str, provider: str, tmp_path: Path) -> None:
    location = place(kind, tmp_path)
    with opened(location) as runtime:
        told = Told(runtime)
        talk = rooms(runtime, provider)
        assert SECRET in everything(runtime)
        assert any(SECRET.encode() in block for sheet in talk.sheets() for block in sheet.blocks)

        done = runtime.forget("mia", told.locker.id, by="mia", versions=False)

        assert done.gone == (told.locker.id, told.alone.id)
        assert [before for before, _ in done.rebuilt] == [told.both.id, told.further.id]
        assert str(done) == "2 gone, 2 made anew without them"
        comes_back_nowhere(runtime, told, provider)
        again = runtime.forget("mia", told.locker.id)
        assert (again.record, again.gone, again.already_gone) == (None, (), (told.locker.id,))
        assert str(again) == "already gone"
    if kind == "sqlite":
        with opened(location) as runtime:
            comes_back_nowhere(runtime, told, provider)
            assert str(runtime.forget("mia", told.locker.id)) == "already gone"
            assert verify(runtime.ledger).ok
            rebuild(runtime.ledger)
            comes_back_nowhere(runtime, told, provider)
            assert SECRET not in (tmp_path / "agent.db").read_bytes().decode("latin-1")


def comes_back_nowhere(runtime: Runtime, told: Told, provider: str) -> None:
    talk = runtime.conversation("rooms", user="mia")
    for query in ("Orla", "locker", SECRET, LOCKER, "somebody"):
        for found in (runtime.memories("mia", query, history=True), talk.user_memories(query)):
            assert SECRET not in repr(found)
        assert SECRET not in repr(talk.search(query))
        assert SECRET not in talk.answer_recall({"query": query}).replace(query, "")
    assert SECRET not in repr(runtime.memories("mia", history=True))
    assert SECRET not in repr(runtime.memories("mia", entity="Orla", history=True))
    assert "Orla teaches weaving" in values(runtime.memories("mia", "weaving"))
    for gone in (told.locker, told.alone, told.both, told.further):
        with pytest.raises(NotFound):
            runtime.memory("mia", gone.id)
        with pytest.raises(NotFound):
            talk.recall(gone.id)
    assert SECRET not in everything(runtime)
    neighbours(runtime, told)
    fresh = runtime.conversation("another room", user="mia")
    assert SECRET not in text(asked(fresh, "Which locker has Orla?", provider=provider, reply=None))
    assert "Orla teaches weaving" in text(asked(fresh, "What does Orla teach?", provider=provider, reply=None))
    assert SECRET not in text(asked(talk, "So which locker has Orla?", provider=provider))
    for sheet in talk.sheets():
        told_of = [repr(sheet.explain()), *(one.sentence for one in talk.explain(sheet).records)]
        assert SECRET not in repr(told_of)
    assert any(_sent(sheet) for sheet in talk.sheets())


def _sent(sheet: Any) -> bool:
    try:
        return bool(sheet.request())
    except BodyErased:
        return False


def neighbours(runtime: Runtime, told: Told) -> None:
    """What the graph has beside the memories of Orla is there without a body, or does not say it."""
    stream = own_stream(runtime, "mia")
    head = runtime.ledger.head(stream.key)
    assert head is not None
    query = LinkQuery(
        relation=Relation.DERIVED_FROM,
        targets=(told.locker.id, told.weaving.id, told.both.id),
        lineage=along(head.position),
    )
    ids = [end for row in runtime.ledger.links(stream.key, query) for end in (row.source, row.target)]
    for record in runtime.ledger.get(stream.key, tuple(dict.fromkeys(ids))):
        assert SECRET not in repr(record)
        assert SECRET not in str(getattr(getattr(record.body, "value", None), "inline", ""))


def test_the_record_of_it_holds_ids_time_and_who_and_never_what_was_said(tmp_path: Path) -> None:
    with opened(":memory:") as runtime:
        told = Told(runtime)
        done = runtime.forget("mia", told.locker.id, by="mia herself")
        stream = own_stream(runtime, "mia")
        (note,) = [
            one for one in runtime.ledger.nodes(stream.key, NodeQuery(kinds=("erased",))) if one.id == done.record
        ]

        assert isinstance(note.body, Erased)
        assert told.locker.id in note.body.records
        assert (note.body.by, note.header.at > 0) == ("mia herself", True)
        assert SECRET not in repr(note)
        assert verify(runtime.ledger).ok


def test_what_was_made_of_others_too_is_made_anew_of_these_and_stands_as_it_stood() -> None:
    with opened(":memory:") as runtime:
        told = Told(runtime)
        done = runtime.forget("mia", told.locker.id)

        made = dict(done.rebuilt)
        both, further = made[told.both.id], made[told.further.id]
        assert both is not None
        assert further is not None
        anew = runtime.memory("mia", both)
        assert (anew.value, anew.kind, anew.entity, anew.always) == ("Orla teaches weaving", "episode", "Orla", True)
        assert anew.sources == (told.weaving.id,)
        assert runtime.memory("mia", further).sources == (both,)
        assert runtime.memory("mia", further).value == "Orla teaches weaving"

        gone = runtime.forget("mia", told.weaving.id)
        assert set(gone.gone) == {told.weaving.id, both, further}
        assert runtime.memories("mia", history=True) == []


def test_what_a_forgotten_memory_had_replaced_does_not_hold_again() -> None:
    with opened(":memory:") as runtime:
        old = runtime.remember("mia", "no meat", attribute="diet", observed="2026-01-10T00:00:00Z")
        new = runtime.remember("mia", "fish", attribute="diet", observed="2026-06-02T00:00:00Z")
        runtime.forget("mia", new.id)

        assert runtime.memories("mia") == []
        assert values(runtime.memories("mia", as_of="2026-02-01T00:00:00Z")) == ["no meat"]
        rebuild(runtime.ledger)
        runtime.ledger.rebuild(own_stream(runtime, "mia").key, index_of(runtime.ledger))
        assert runtime.memories("mia") == []
        assert runtime.memory("mia", old.id).status is MemoryStatus.REPLACED

        third = runtime.remember("mia", "anything", attribute="diet")
        done = runtime.forget("mia", third.id, versions=True)
        assert done.gone == (third.id,)
        assert values(runtime.memories("mia", history=True)) == ["no meat"]


def test_with_its_versions_a_memory_is_gone_in_all_its_wordings() -> None:
    with opened(":memory:") as runtime:
        first = runtime.remember("mia", "locker alder 4410", attribute="locker", observed="2026-01-10T00:00:00Z")
        second = runtime.update("mia", first.id, "locker birch 5512", observed="2026-02-10T00:00:00Z")
        third = runtime.update("mia", second.id, "locker cedar 7100")
        done = runtime.forget("mia", third.id, versions=True)

        assert set(done.gone) == {first.id, second.id, third.id}
        assert runtime.memories("mia", history=True) == []
        assert all(word not in everything(runtime) for word in ("alder", "birch", "cedar"))


def test_a_proposal_goes_with_the_memory_that_it_became_and_the_other_way_round() -> None:
    with opened(":memory:") as runtime:
        for which in (0, 1):
            proposal = runtime.propose("mia", LOCKER)
            pair = (proposal.id, runtime.accept("mia", proposal.id).id)
            done = runtime.forget("mia", pair[which])
            assert set(done.gone) == set(pair)
            assert SECRET not in everything(runtime)


INTERRUPTED: list[tuple[str, str]] = [("before the blocks", "erase_blocks"), ("before the bodies", "erase_bodies")]


@pytest.mark.parametrize("method", [case[1] for case in INTERRUPTED], ids=[case[0] for case in INTERRUPTED])
def test_an_interrupted_erasure_shows_nothing_and_is_finished_by_the_next(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(":memory:") as runtime:
        told = Told(runtime)
        rooms(runtime, "openai")
        with monkeypatch.context() as patched:
            patched.setattr(runtime.ledger, method, _killed)
            with pytest.raises(KeyboardInterrupt):
                runtime.forget("mia", told.locker.id)

        with pytest.raises(NotFound):
            runtime.memory("mia", told.locker.id)
        assert SECRET not in repr(runtime.memories("mia", history=True))
        fresh = runtime.conversation("after", user="mia")
        assert SECRET not in text(asked(fresh, "Which locker has Orla?"))
        assert str(runtime.forget("mia", told.locker.id)) == "already gone"
        assert SECRET not in everything(runtime)


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_only_the_blocks_that_showed_it_go(tmp_path: Path) -> None:
    with opened(":memory:") as runtime:
        locker = runtime.remember("mia", LOCKER, entity="Orla", attribute="locker")
        runtime.remember("mia", "likes oolong tea", kind="preference")
        talk = runtime.conversation("rooms", user="mia")
        first = asked(talk, "Which tea do I like?")
        second = asked(talk, "Which locker has Orla?")
        other = runtime.conversation("kitchen", user="mia")
        third = asked(other, "Which tea do I like?")
        ben = asked(runtime.conversation("bens", user="ben"), "Which locker has Orla?")
        runtime.forget("mia", locker.id)

        assert list(talk.sheet(first.id).blocks) == list(first.blocks)
        assert list(other.sheet(third.id).blocks) == list(third.blocks)
        assert runtime.existing("bens").sheet(ben.id).blocks == ben.blocks
        left = talk.sheet(second.id).blocks
        assert sum(not block for block in left) == 1
        with pytest.raises(BodyErased):
            talk.sheet(second.id).request()
        assert talk.explain(second.id).records


FORGOTTEN: list[tuple[str, Callable[[Runtime, KeptMemory], object]]] = [
    ("updated", lambda runtime, gone: runtime.update("mia", gone.id, "x")),
    ("pinned", lambda runtime, gone: runtime.pin("mia", gone.id)),
    ("contradicted", lambda runtime, gone: runtime.contradict("mia", gone.id, gone.id)),
    ("made something of", lambda runtime, gone: runtime.remember("mia", "x", sources=[gone.id])),
    ("accepted", lambda runtime, gone: runtime.accept("mia", gone.id)),
]


@pytest.mark.parametrize("act", [case[1] for case in FORGOTTEN], ids=[case[0] for case in FORGOTTEN])
def test_nothing_can_be_done_with_what_was_forgotten(act: Callable[[Runtime, KeptMemory], object]) -> None:
    with opened(":memory:") as runtime:
        gone = runtime.remember("mia", LOCKER)
        runtime.forget("mia", gone.id)
        with pytest.raises(NotFound):
            act(runtime, gone)
        assert runtime.memories("mia", history=True) == []


def test_forgetting_asks_for_names_that_are_there() -> None:
    with opened(":memory:") as runtime:
        with pytest.raises(NotFound):
            runtime.forget("mia", "umem_nobody")
        kept = runtime.remember("mia", "likes tea")
        with pytest.raises(NotFound):
            runtime.forget("mia", kept.id, "umem_nobody")
        assert values(runtime.memories("mia")) == ["likes tea"]
        with pytest.raises(InvalidOption):
            runtime.forget("mia", kept.id, by="x" * 600)
        assert str(runtime.forget("mia")) == "nothing to forget"
        assert values(runtime.memories("mia")) == ["likes tea"]


@pytest.mark.parametrize("when", ["before it is on record", "after all is done"])
def test_a_request_that_is_stored_while_its_memory_is_forgotten_keeps_no_block_of_it(
    when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(":memory:") as runtime:
        told = runtime.remember("mia", LOCKER, entity="Orla")
        runtime.remember("mia", "likes oolong tea", always=True)
        talk = runtime.conversation("rooms", user="mia")
        talk.record({"role": "user", "content": "Which locker has Orla?"})
        append = runtime.ledger.append
        kind = "erased" if when == "before it is on record" else "assembly"
        stood: list[object] = []

        def racing(appends: Any) -> Any:
            kinds = {type(draft.body).__struct_config__.tag for one in appends for draft in one.drafts}
            if kind in kinds and not stood:
                stood.append(None)
                if kind == "erased":
                    stood.append(talk.assemble(provider="openai", model="gpt-5.2"))
                else:
                    runtime.forget("mia", told.id)
            return append(appends)

        monkeypatch.setattr(runtime.ledger, "append", racing)
        if kind == "erased":
            runtime.forget("mia", told.id)
        else:
            stood.append(talk.assemble(provider="openai", model="gpt-5.2"))

        assert SECRET in text(stood[1])  # type: ignore[arg-type]
        assert SECRET not in everything(runtime)
        assert verify(runtime.ledger).ok
        assert SECRET not in text(asked(talk, "So which locker has Orla?"))


def test_why_a_forgotten_memory_contradicted_another_is_gone_too(tmp_path: Path) -> None:
    location = tmp_path / "agent.db"
    with opened(str(location)) as runtime:
        one, other, third = (runtime.remember("mia", told) for told in ("one", "two", "three"))
        runtime.contradict("mia", one.id, other.id, reason=LOCKER)
        runtime.contradict("mia", other.id, third.id, reason="they differ")
        runtime.forget("mia", one.id)
        assert SECRET not in everything(runtime)
        against = {kept.value: kept.conflicts_with for kept in runtime.memories("mia")}
        assert against == {"two": (third.id,), "three": (other.id,)}
        runtime.forget("mia", other.id)
        assert [kept.conflicts_with for kept in runtime.memories("mia")] == [()]
        assert verify(runtime.ledger).ok
    assert SECRET not in location.read_bytes().decode("latin-1")
