"""A history as a chain of hashes: equal for histories that say the same, in whatever form they came.

Clients send back what they were answered with other ids of calls, without reasoning, with white space cut off, as parts
or as text, in another provider's shape. None of that makes it another history, so none of it counts: a link of the
chain is a role with its text, its calls and its media, or what came of the calls of one turn.

Beside the chain of what is said runs another one, the outline, in which results count by their calls alone: a client
that cuts old results goes on in it. It begins with the first result.
"""

from collections.abc import Sequence
from hashlib import blake2b, sha256
from typing import NamedTuple

import msgspec

from callsheet.assemble.blocks import Answer, Block, Call, Said
from callsheet.graph.enums import Role
from callsheet.serve.proxy.contents import digest_of, result_digest, result_size, says, turn_digest

SIZE = 32
"""Bytes of a hash, and of the keys of chains."""


class Link(NamedTuple):
    """A turn of one side, or the results of one turn's calls, and the chain up to and with it."""

    #: Index behind its last block.
    end: int
    chain: "Chain"
    #: Of what it says itself.
    digest: bytes
    #: Whether it is a turn of the model.
    model: bool = False
    #: Whether it holds results, and how long they are.
    results: bool = False
    size: int = 0


class Chain(NamedTuple):
    """A history up to some point. Equal chains of one key are histories that say the same."""

    key: bytes
    whole: bytes
    #: The same without what results say; None: there were none yet.
    outline: bytes | None = None
    #: The ids of the calls that results may come for.
    calls: tuple[str | None, ...] = ()
    #: Of the ids of all calls so far; empty: there were none. They are no part of what is said, and tell apart copies
    #: of one history that were answered one by one.
    ids: bytes = b""

    @classmethod
    def empty(cls, key: bytes) -> "Chain":
        """No history yet. All keys are of one length."""
        return cls(key, _joined(key, b"", b""))

    def links(self, blocks: Sequence[Block], begin: int = 0) -> list[Link]:
        """The links that these blocks, from the place `begin` on, add. What says nothing, such as a turn of reasoning
        alone, adds none.
        """
        links: list[Link] = []
        chain, place, length = self, begin, len(blocks)
        while place < length:
            block, end = blocks[place], place + 1
            if isinstance(block, Answer):
                answers = [block]
                while end < length and isinstance(following := blocks[end], Answer):
                    answers.append(following)
                    end += 1
                links.append(chain._results(answers, end))
            elif block.role is Role.ASSISTANT:
                said = [block]
                while end < length and isinstance(following := blocks[end], Said) and following.role is Role.ASSISTANT:
                    said.append(following)
                    end += 1
                if any(says(one) for one in said):
                    calls = tuple([part.id for one in said for part in one.parts if isinstance(part, Call)])
                    links.append(chain._turn(said, end, calls, model=True))
            else:
                links.append(chain._turn((block,), end, (), model=False))
            chain, place = (links[-1].chain if links else chain), end
        return links

    def packed(self) -> bytes:
        """The chain without its key."""
        return msgspec.msgpack.encode(_Packed(self.whole, self.outline, self.calls, self.ids))

    @classmethod
    def unpacked(cls, content: bytes, key: bytes) -> "Chain":
        """The chain that was packed. Raises `msgspec.DecodeError` for what is none."""
        return cls(key, *msgspec.structs.astuple(_packed.decode(content)))

    def _turn(self, said: Sequence[Said], end: int, calls: tuple[str | None, ...], *, model: bool) -> Link:
        key, _, outline, _, ids = self
        digest = turn_digest(said)
        further = _joined(key, outline, digest) if outline is not None else None
        given = [call.encode("utf-8", "surrogatepass") for call in calls if call]
        if given:
            ids = mark(b"ids", key, digest_of((ids, *given)))
        return Link(end, Chain(key, _joined(key, self.whole, digest), further, calls, ids), digest, model)

    def _results(self, answers: Sequence[Answer], end: int) -> Link:
        key, whole, outline, calls, ids = self
        places = _places(calls, answers)
        # A result of no call counts by what it says alone.
        found = sorted(zip(places, map(result_digest, answers), strict=True))
        order = ",".join([str(at) for at, _ in found]).encode()
        digest = digest_of((b"results", order, *[each for _, each in found]))
        further = _joined(key, outline or whole, digest_of((b"results", order)))
        # Calls that wait still may be answered later.
        chain = Chain(key, _joined(key, whole, digest), further, calls, ids)
        return Link(end, chain, digest, results=True, size=sum(map(result_size, answers)))


def _places(calls: Sequence[str | None], answers: Sequence[Answer]) -> list[int]:
    """Of each result the place of its call among the calls that wait; -1: it answers none of them."""
    if len(answers) == 1:
        id = answers[0].call
        return [calls.index(id) if id and id in calls else -1]
    waiting: dict[str | None, list[int]] = {}
    for at in range(len(calls) - 1, -1, -1):
        waiting.setdefault(calls[at], []).append(at)
    found = (waiting.get(answer.call) if answer.call else None for answer in answers)
    return [places.pop() if places else -1 for places in found]


class _Packed(msgspec.Struct, array_like=True, frozen=True):
    """A chain as it is kept; of those kept before there were ids of all calls, three fields."""

    whole: bytes
    outline: bytes | None
    calls: tuple[str | None, ...]
    ids: bytes = b""


_packed = msgspec.msgpack.Decoder(_Packed)


def mark(kind: bytes, key: bytes, content: bytes = b"") -> bytes:
    """A keyed hash for one kind of use; `kind` has at most 16 bytes, `key` at most 64."""
    return blake2b(content, digest_size=SIZE, key=key, person=kind).digest()


def _joined(key: bytes, before: bytes, digest: bytes) -> bytes:
    # All three are of one length, so no two triples are the same bytes, and nothing can be put behind them.
    return sha256(key + before + digest).digest()
