"""How large a request is and what of it the provider's cache holds: counted alike for the client's own request and for
the one that was assembled, so that the two can be compared.

The rule. The client's own request goes on from what it sent before, so a provider that caches the beginnings of
requests charges a part of its price for most of it; a request that was assembled anew is smaller and all of it is
fresh. Compared is what both cost now and in the requests to come, as far as the policy set looks ahead (its `horizon`;
the setting of that name goes before): now, what lies beyond the longest beginning that the request shares with the one
that was really sent last costs its full price, or what the provider takes for writing into its cache, and the shared
beginning what the provider takes for reading from it; then, in each of the others, the whole of it is read from the
cache. The assembled request is sent if it is no larger in tokens and cheaper in this sum. The first request of a
conversation, which may be its last, is compared by itself. With a horizon of 1 all are, and no single request is ever
dearer than the one it replaces.
"""

import hashlib
import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from typing import TypeAlias

from callsheet.serve.proxy.bodies import encoded
from callsheet.serve.proxy.settings import Price
from callsheet.wire.caching import caching
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields
from callsheet.wire.tokens import TokenCounter

LEAST_CACHED = 1_024
"""Tokens of a beginning below which providers cache nothing; OpenAI and Anthropic document this for most models."""

_REMEMBERED = 65_536
"""Pieces whose tokens are remembered, over all conversations."""

_CONVERSATIONS = 4_096
"""Conversations of which it is remembered what was sent last."""

_DIGEST = 16
"""Bytes of a digest: enough that no two pieces of all that are remembered have the same by chance."""

Piece: TypeAlias = tuple[bytes, int]
"""A digest of a piece of a request, and its tokens."""

_MEDIA = 1_500
"""Tokens that a picture or file counts for here: about what a large picture takes. It is the same on both sides."""

_LONGEST_TEXT = 4_096
"""Characters of one text above which it is a file, or something sealed, where it is base64 from end to end."""

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Weight:
    """One request: its pieces in the order in which a provider's cache compares them."""

    #: The tools, what stands before the conversation, each message.
    pieces: tuple[Piece, ...]
    #: Whether the provider caches its beginning at all.
    caches: bool = True
    #: How many pieces stand up to the last mark, where the provider keeps what marks end alone; None: it keeps all.
    kept: int | None = None
    #: All of it.
    tokens: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", sum([size for _, size in self.pieces]))

    def cached(self, sent: "Weight | None") -> int:
        """Tokens that the cache holds after a request that was sent; None: nothing is held."""
        if sent is None or not (self.caches and sent.caches):
            return 0
        shared = 0
        for (ours, size), (theirs, _) in zip(self.pieces, sent.pieces, strict=False):
            if ours != theirs:
                break
            shared += size
        return shared if shared >= LEAST_CACHED else 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """What tokens cost beside fresh ones."""

    cached: float
    write: float
    #: Seconds that the cache remembers.
    life: float


@lru_cache(maxsize=1_024)
def rates(provider: str, model: str, price: Price | None) -> Rates:
    """How the cache of a provider is priced."""
    known = caching(provider, model)
    if price is None or not price.input:
        return Rates(cached=known.share, write=1.0, life=known.life)
    return Rates(
        cached=known.share if price.cached is None else min(1.0, price.cached / price.input),
        write=1.0 if price.write is None else price.write / price.input,
        life=known.life,
    )


def billed(weight: Weight, cached: int, rates: Rates, horizon: int) -> float:
    """Tokens at the full price that a request, and those that go on from it, would cost as much as."""
    caches = weight.caches and weight.tokens >= LEAST_CACHED
    now = (weight.tokens - cached) * (rates.write if caches else 1.0) + cached * rates.cached
    return now + (horizon - 1) * weight.tokens * (rates.cached if caches else 1.0)


_ASKED = 100
"""Tokens of a call that asks to read something again: its name, a reference, a part."""

_READ = 500
"""Tokens of an answer below which reading again is hardly of use."""

_DEAR = 5.0
"""What a token of an answer usually costs of one of a request, where no price is known."""


def round_costs(weight: Weight, cached: int, rates: Rates, price: Price | None) -> float:
    """Tokens at the full price that a round of one answer costs which was not foreseen: its request, and the call that
    it answers.
    """
    output = price.output / price.input if price is not None and price.input else _DEAR
    return billed(weight, cached, rates, 1) + _ASKED * output


def a_round_more(weight: Weight, rates: Rates, horizon: int, price: Price | None) -> float:
    """What a request with a tool of ours may cost more than it seems to, at the least: the call may have to be answered
    by a request without the tool, of which nothing is cached, and what is read stays in the requests to come.
    """
    caches = weight.caches and weight.tokens >= LEAST_CACHED
    stays = (_ASKED + _READ) * ((rates.write if caches else 1.0) + (horizon - 1) * (rates.cached if caches else 1.0))
    return round_costs(weight, 0, rates, price) + stays


def readable(spare: float, weight: Weight, rates: Rates, horizon: int, price: Price | None) -> int:
    """Bytes that may be read for a call, so that what is left pays for the next request and for what stays of them."""
    caches = weight.caches and weight.tokens >= LEAST_CACHED
    each = (rates.write if caches else 1.0) + (horizon - 1) * (rates.cached if caches else 1.0)
    left = spare - round_costs(weight, 0, rates, price) - _ASKED * each
    return max(0, int(left / each * _LEAST_BYTES))


_LEAST_BYTES = 2
"""Bytes of a token, at the least, but for text that nobody reads."""


class Scales:
    """Weighs requests, each piece once. Thread-safe."""

    def __init__(self) -> None:
        #: By what a piece is, and by how it was written: nearly all pieces of a request were in the one before it.
        self._known: OrderedDict[bytes, Piece] = OrderedDict()
        self._written: OrderedDict[bytes, Piece] = OrderedDict()
        self._lock = Lock()

    def weigh(self, body: Fields, wire: Wire, counter: TokenCounter) -> Weight:
        """The weight of a whole request body."""
        framing = counter.framing.message
        scale = f"{counter.name}/{framing}/".encode()
        found = list(pieces(body))
        weighed = tuple([self._piece(piece, counter, scale, framing) for piece in found])
        if wire is not Wire.ANTHROPIC:
            return Weight(pieces=weighed)
        # A mark on the request itself is one on its end.
        kept = None if "cache_control" in body else _upto_mark(found)
        return Weight(pieces=weighed, caches=_marked(body), kept=kept)

    def _piece(self, piece: object, counter: TokenCounter, scale: bytes, framing: int) -> Piece:
        written = scale + hashlib.sha256(encoded(piece)).digest()[:_DIGEST]
        with self._lock:
            found = self._written.get(written)
            if found is not None:
                self._written.move_to_end(written)
                return found
        made = self._by_content(piece, counter, scale, framing)
        with self._lock:
            _remember(self._written, written, made)
        return made

    def _by_content(self, piece: object, counter: TokenCounter, scale: bytes, framing: int) -> Piece:
        plain = _unmarked(piece)
        digest = hashlib.sha256(encoded(plain, order="sorted")).digest()[:_DIGEST]
        key = scale + digest
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                return known
        made = (digest, sum(_size(text, counter) for text in texts(plain)) + framing)
        with self._lock:
            # Requests of one conversation share their pieces, so that what is remembered of each is small.
            _remember(self._known, key, made)
        return made


def _remember(known: OrderedDict[bytes, Piece], key: bytes, piece: Piece) -> None:
    known[key] = piece
    if len(known) > _REMEMBERED:
        known.popitem(last=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Before:
    """What was last sent in a conversation, and what the client's own last request was."""

    #: Microseconds since 1970.
    at: int
    sent: Weight
    own: Weight
    #: Whether an assembled request has been sent there, then or before.
    assembled: bool = False
    #: How many messages of what was sent, from the first, were without their thoughts; see `thoughts`.
    bare: int = 0


class Memory:
    """What was sent last, by conversation and branch. Lost with the process: then nothing counts as cached."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Before] = OrderedDict()
        self._lock = Lock()

    def before(self, name: str, now: int, life: float) -> Before | None:
        """What was sent there, if the provider's cache still remembers it after `life` seconds."""
        with self._lock:
            found = self._known.get(name)
        return found if found is not None and now - found.at <= life * 1_000_000 else None

    def sent(self, name: str, before: Before) -> None:
        """Remember what was sent there."""
        with self._lock:
            self._known[name] = before
            self._known.move_to_end(name)
            if len(self._known) > _CONVERSATIONS:
                self._known.popitem(last=False)


NAMES = frozenset({"type", "role", "id", "tool_call_id", "tool_use_id", "call_id"})
"""What names and pairs the parts of a request; a token or two of each is counted as framing."""

_HEADS = ("system", "instructions", "systemInstruction", "system_instruction")
_LISTS = ("messages", "input", "contents")


def pieces(body: Fields) -> Iterator[object]:
    """Tools, what stands before the conversation, and its messages: one at least."""
    yield from _listed(body.get("tools"))
    for head in _HEADS:
        if body.get(head):
            yield {"head": body[head]}
    for name in _LISTS:
        yield from _listed(body.get(name))


def _listed(value: object) -> Sequence[object]:
    if isinstance(value, list):
        return value
    return () if value is None else (value,)


def _unmarked(value: object) -> object:
    """Without marks for the cache, which are no part of what it compares; text in one part is the text itself."""
    if isinstance(value, dict):
        found = {key: _unmarked(item) for key, item in value.items() if key != "cache_control"}
        content = found.get("content")
        if isinstance(content, list) and len(content) == 1:
            (part,) = content
            if isinstance(part, dict) and part.get("type") == "text" and set(part) <= {"type", "text"}:
                found["content"] = part["text"]
        return found
    if isinstance(value, list):
        return [_unmarked(item) for item in value]
    return value


def _marked(value: object) -> bool:
    if isinstance(value, dict):
        return "cache_control" in value or any(_marked(item) for item in value.values())
    return isinstance(value, list) and any(map(_marked, value))


def _upto_mark(found: Sequence[object]) -> int:
    """How many pieces stand up to the last one that holds a mark."""
    return next((at for at in range(len(found), 0, -1) if _marked(found[at - 1])), 0)


def texts(value: object, but: frozenset[str] = NAMES) -> Iterator[str]:
    """Every text in it that a model reads, without what stands under these names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in but:
                yield from texts(item, but)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item, but)
    elif value is not None:
        yield str(value)


def _size(text: str, counter: TokenCounter) -> int:
    if text.startswith("data:") or (len(text) > _LONGEST_TEXT and _BASE64.fullmatch(text)):
        return _MEDIA
    return counter.count(text)
