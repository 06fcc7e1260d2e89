"""An embedder for tests: no model, no meaning, but texts that share letters lie close together, on every machine."""

import hashlib
from collections.abc import Sequence

from callsheet.graph.values import Vector
from callsheet.graph.vectors import quantised


class Hashing:
    """An `Embedder` that counts runs of three letters, each at a place that its hash says. Notes what it was given."""

    def __init__(self, dimensions: int = 64, name: str = "hashing:1") -> None:
        self._dimensions = dimensions
        self._name = name
        self.texts: list[str] = []

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
        if not query:
            self.texts += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        cells = [0.0] * self._dimensions
        letters = " ".join(text.casefold().split())
        for at in range(len(letters)):
            run = hashlib.blake2b(letters[at : at + 3].encode("utf-8", "replace"), digest_size=4).digest()
            cells[int.from_bytes(run[:3], "big") % self._dimensions] += 1 if run[3] & 1 else -1
        return quantised(cells)
