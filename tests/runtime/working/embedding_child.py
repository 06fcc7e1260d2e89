"""A worker in a process of its own, for the tests: ``python -m tests.runtime.working.embedding_child PATH NUMBER``."""

import subprocess
import sys
from collections.abc import Sequence
from hashlib import blake2s
from pathlib import Path

import callsheet
from callsheet.graph.enums import StreamKind
from callsheet.graph.index import VectorQuery
from callsheet.graph.values import Vector
from callsheet.runtime.meaning import index_of


class Own:
    """An embedder whose vectors tell which process made them, as those of two machines may differ in their last bits.

    Its first batch waits for a line on standard input, so that two processes have the same one in hand.
    """

    name = "own"
    dimensions = 8

    def __init__(self, number: int) -> None:
        self.number = number
        self.made = 0

    def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
        if not self.made:
            print("ready", flush=True)
            sys.stdin.readline()
        self.made += len(texts)
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> Vector:
        return Vector(scale=1.0, cells=bytes([self.number]) + blake2s(text.encode(), digest_size=7).digest())


def start(path: Path, number: int) -> "subprocess.Popen[str]":
    """A process that works on a store until nothing is left, and prints how many texts it embedded."""
    command = [sys.executable, "-m", __name__, str(path), str(number)]
    root = Path(__file__).parents[3]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root)


def stored(runtime: callsheet.Runtime) -> dict[int, bytes]:
    """The vectors of the one conversation of a store."""
    (stream,) = runtime.ledger.streams(kind=StreamKind.CONVERSATION)
    rows = runtime.ledger.vectors(stream.key, VectorQuery(index=index_of(Own(0))))
    return {row.position: row.vector.cells for row in rows}


def main(path: str, number: str) -> None:
    embedder = Own(int(number))
    with callsheet.open(path, embedder=embedder) as runtime:
        (worked,) = runtime.work(works=["vectors"])
        print(embedder.made, worked.failed, worked.left)


if __name__ == "__main__":
    main(*sys.argv[1:])
