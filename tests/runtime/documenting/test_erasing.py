"""Removing a document: its text comes back on no route, before and after the store was opened again."""

from collections.abc import Callable
from pathlib import Path

import pytest

from callsheet import Runtime
from callsheet.audit.verify import verify
from callsheet.errors import CallsheetError, NotFound
from callsheet.graph.changes import Erased
from callsheet.graph.enums import StreamKind
from callsheet.graph.index import VectorQuery
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Stream
from callsheet.runtime.meaning import index_of
from tests.hashing import Hashing
from tests.runtime.documenting.shop import fill, opened
from tests.runtime.replies import user

MARK = "zirconium"
TEXT = f"# Glaze\n\nThe glaze holds {MARK} and nothing else, code ZRX-4411.\n" + "Much more of it is told here. " * 700


def stream_of(runtime: Runtime) -> Stream:
    found = runtime.ledger.stream(runtime.ledger.streams()[0].tenant, StreamKind.WORKSPACE, "knowledge")
    assert found is not None
    return found


def routes(runtime: Runtime, ids: list[str]) -> dict[str, Callable[[], object]]:
    """Every way to the text of a document."""
    talk = runtime.conversation("talk")
    ways: dict[str, Callable[[], object]] = {
        "search": lambda: runtime.knowledge.search(f"{MARK} glaze"),
        "exact": lambda: runtime.knowledge.search("ZRX-4411"),
        "version": lambda: runtime.knowledge.search(MARK, version="1"),
        "get": lambda: runtime.knowledge.get("GLZ-09"),
        "get version": lambda: runtime.knowledge.get("GLZ-09", version="1"),
        "list": runtime.knowledge.list,
        "list of one": lambda: runtime.knowledge.list(document="GLZ-09"),
        "talk.search": lambda: talk.search(f"{MARK} glaze"),
        "answer": lambda: talk.answer_recall({"query": f"{MARK} ZRX-4411"}).partition("\n")[2],
        "records": lambda: runtime.ledger.records(stream_of(runtime).key),
        "vectors": lambda: runtime.ledger.vectors(stream_of(runtime).key, VectorQuery(index=index_of(Hashing()))),
    }
    for id in ids:
        ways[f"by id {id}"] = lambda id=id: runtime.knowledge.version(id)  # type: ignore[misc]
        ways[f"recall {id}"] = lambda id=id: talk.recall(id)  # type: ignore[misc]
        ways[f"answer {id}"] = lambda id=id: talk.answer_recall({"reference": id})  # type: ignore[misc]
    return ways


def told(way: Callable[[], object]) -> str:
    try:
        return repr(way())
    except CallsheetError as problem:
        return f"{type(problem).__name__}: {problem}"


def check_gone(runtime: Runtime, ids: list[str]) -> None:
    for name, way in routes(runtime, ids).items():
        said = told(way)
        assert MARK not in said, name
        assert "ZRX-4411" not in said, name
        assert "GLZ-09" not in said.replace("no document 'GLZ-09'", ""), name
    (note,) = runtime.ledger.nodes(stream_of(runtime).key, NodeQuery(kinds=("erased",)))
    assert isinstance(note.body, Erased)
    assert (note.body.by, note.body.reason) == ("mia", "asked_for")


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_the_text_of_a_removed_document_comes_back_on_no_route(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "store.db" if kind == "file" else None
    with opened(path, embedder=Hashing()) as runtime:
        fill(runtime)
        ids = [str(runtime.knowledge.add("GLZ-09", TEXT, version="1", title=f"About {MARK}"))]
        ids.append(str(runtime.knowledge.replace("GLZ-09", TEXT + "2", version="2")))
        runtime.work()
        runtime.conversation("talk").record(user("What is in the glaze?"))
        key = stream_of(runtime).key
        ids += [one.reference for one in runtime.knowledge.search(MARK, document="GLZ-09")]
        found = {name: told(way) for name, way in routes(runtime, ids).items()}
        for name in (
            "search",
            "exact",
            "version",
            "get",
            "talk.search",
            "answer",
            f"recall {ids[0]}",
        ):
            assert MARK in found[name], name
        assert any(MARK in found[f"recall {id}"] for id in ids[2:])
        before = {row.position for row in runtime.ledger.vectors(key, VectorQuery(index=index_of(Hashing())))}
        runtime.knowledge.remove("GLZ-09", by="mia", reason="asked_for")
        check_gone(runtime, ids)
        after = {row.position for row in runtime.ledger.vectors(key, VectorQuery(index=index_of(Hashing())))}
        assert after < before
        assert len(runtime.knowledge.list()) == 3
        assert runtime.knowledge.search("goods")[0].document == "RET-01"
        assert verify(runtime.ledger).ok
        if path is None:
            return
    assert not any(MARK.encode() in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    with opened(path, embedder=Hashing()) as runtime:
        check_gone(runtime, ids)
        runtime.work()
        check_gone(runtime, ids)
        runtime.knowledge.add("GLZ-09", "The glaze holds tin.", version="1")
        assert "tin" in runtime.knowledge.get("GLZ-09").text
        assert len(runtime.knowledge.list(document="GLZ-09")) == 1


@pytest.mark.parametrize("anew", [False, True])
def test_a_removal_that_was_interrupted_hides_at_once_and_is_finished_by_the_next(
    monkeypatch: pytest.MonkeyPatch, anew: bool
) -> None:
    with opened() as runtime:
        fill(runtime)
        id = runtime.knowledge.add("GLZ-09", TEXT, version="1")

        def crash(*_: object) -> None:
            raise RuntimeError("power cut")

        with monkeypatch.context() as patched:
            patched.setattr(runtime.ledger, "erase_bodies", crash)
            with pytest.raises(RuntimeError):
                runtime.knowledge.remove("GLZ-09", by="mia", reason="asked_for")
        key = stream_of(runtime).key
        assert runtime.ledger.get(key, [id])[0].body is not None
        assert runtime.knowledge.search(MARK) == []
        assert runtime.knowledge.list(document="GLZ-09") == []
        with pytest.raises(NotFound):
            runtime.conversation("talk").recall(id)
        if anew:
            runtime.knowledge.add("GLZ-09", "The glaze holds tin.")
            runtime.knowledge.remove("GLZ-09")
        else:
            with pytest.raises(NotFound):
                runtime.knowledge.remove("GLZ-09")
        assert runtime.ledger.get(key, [id])[0].body is None
        if not anew:
            check_gone(runtime, [str(id)])
