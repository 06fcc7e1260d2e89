"""Histories that were read before: clients send theirs with every request, and all but its end is the same.

Nothing is told by it: what comes out for a message is what reading it anew gives.
"""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from callsheet.assemble.blocks import Block
from callsheet.serve.proxy.bodies import encoded
from callsheet.serve.proxy.hashing import Chain, Link
from callsheet.wire.body import ReadMessage

_MOST_BYTES = 16 << 20
"""Of messages that are remembered, as JSON; in memory each is there about three times, as JSON and as what was read.
Twice as many are kept for a while.
"""

_LONGEST = 64 << 10
"""Bytes of a message that is remembered: of a longer one reading takes no longer than comparing."""

_MOST_LINKS = 16_384
"""Links of chains that are remembered, some 8 MB: those of the histories of a hundred conversations."""


class Messages:
    """What messages say, by how they are written. Thread-safe."""

    def __init__(self, most: int = _MOST_BYTES) -> None:
        self._most = most
        self._size = 0
        #: Those that were asked for since the others were put aside, and these.
        self._young: dict[tuple[ReadMessage, bytes], tuple[Block, ...]] = {}
        self._old: dict[tuple[ReadMessage, bytes], tuple[Block, ...]] = {}

    def remembered(self, read: ReadMessage) -> ReadMessage:
        """Reads messages as `read` does; the blocks of one that was read before are the same objects."""

        def known(message: object, where: str) -> tuple[Block, ...]:
            written = encoded(message)
            if len(written) > _LONGEST:
                return read(message, where)
            key = (read, written)
            found = self._young.get(key)
            if found is None:
                found = self._old.get(key)
                if found is None:
                    found = read(message, where)
                self._keep(key, found)
            return found

        return known

    def _keep(self, key: tuple[ReadMessage, bytes], found: tuple[Block, ...]) -> None:
        # Where two threads come here at once, the size is off by a message: only how much is kept depends on it.
        self._young[key] = found
        self._size += len(key[1])
        if self._size > self._most:
            self._old, self._young, self._size = self._young, {}, 0


class Chains:
    """The links of histories; of one that goes on from another only the new ones are made. Thread-safe."""

    def __init__(self, most: int = _MOST_LINKS) -> None:
        self._most = most
        self._size = 0
        #: By what they begin with; the values hold the blocks, so that no other can have their identity.
        self._known: OrderedDict[tuple[bytes, int, int], tuple[tuple[Block, ...], list[Link]]] = OrderedDict()
        self._lock = Lock()

    def links(self, start: Chain, blocks: tuple[Block, ...]) -> list[Link]:
        """What `start.links(blocks)` gives."""
        if len(blocks) < _LEAST:
            return start.links(blocks)
        # Of histories that begin with the same question another answer tells one from the next.
        key = (start.whole, id(blocks[0]), id(blocks[_LEAST - 1]))
        with self._lock:
            before, known = self._known.get(key, ((), []))
        kept = known[: _kept(known, _shared(before, blocks))]
        last = kept[-1] if kept else None
        links = [*kept, *(last.chain.links(blocks, last.end) if last is not None else start.links(blocks))]
        with self._lock:
            replaced = self._known.pop(key, None)
            self._known[key] = (blocks, links)
            self._size += len(links) - (len(replaced[1]) if replaced is not None else 0)
            while self._size > self._most and len(self._known) > 1:
                _, (_, oldest) = self._known.popitem(last=False)
                self._size -= len(oldest)
        return links


_LEAST = 4
"""Blocks of a history that is remembered."""


def _shared(one: Sequence[Block], other: Sequence[Block]) -> int:
    """How many blocks both begin with, the same objects."""
    return next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] is not pair[1]),
        min(len(one), len(other)),
    )


def _kept(links: Sequence[Link], shared: int) -> int:
    """How many links stand in the blocks that are shared, and before others of them: what follows ends the last one."""
    return next((at for at in range(len(links), 0, -1) if links[at - 1].end < shared), 0)
