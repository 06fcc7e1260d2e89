"""Tokens of a request, and what they cost once the provider's prompt cache is billed.

Tokens are counted over contents, tool names and arguments; not over tool schemas, ids and framing, which are the same
for every candidate.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from callsheet.evaluate.messages import Call, Message
from callsheet.wire.tokens import count, encode

CACHED_PRICE = 0.1
"""What a token of the cached prefix costs, as a part of the price of a fresh one."""


class Tokeniser(Protocol):
    """Counts and encodes text in one encoding."""

    def count(self, text: str) -> int: ...

    def encode(self, text: str) -> Sequence[int]: ...


class O200k:
    """The encoding ``o200k_base``: exact, offline."""

    def count(self, text: str) -> int:
        """Tokens of the text."""
        return count(text, "o200k_base")

    def encode(self, text: str) -> Sequence[int]:
        """The ids of its tokens."""
        return encode(text, "o200k_base")


class Bill(Struct, frozen=True, kw_only=True):
    """The size of one request."""

    #: All tokens of the request.
    tokens: int
    #: Those of the longest prefix that it shares with the request before it.
    cached: int

    @property
    def billed(self) -> float:
        """Tokens at the full price that would cost as much."""
        return self.tokens - self.cached + CACHED_PRICE * self.cached


class Meter:
    """Counts messages and requests, each text once. It remembers all it has seen: keep one per conversation."""

    def __init__(self, tokeniser: Tokeniser) -> None:
        self._tokeniser = tokeniser
        self._messages: dict[Message, int] = {}
        self._texts: dict[str, int] = {"": 0}

    def tokens(self, message: Message) -> int:
        """Tokens of one message."""
        known = self._messages.get(message)
        if known is None:
            known = self._text(message.text) + sum(map(self._call, message.calls))
            self._messages[message] = known
        return known

    def total(self, request: Sequence[Message]) -> int:
        """Tokens of a request."""
        return sum(map(self.tokens, request))

    def bill(self, request: Sequence[Message], previous: Sequence[Message]) -> Bill:
        """The size of the request after `previous`, the one before it in the same conversation (empty for the first).

        The common prefix is made of the messages that are sent alike (ids apart) and, in the first that differs, of the
        tokens that are alike if the role is.
        """
        sizes = list(map(self.tokens, request))
        alike = 0
        cached = 0
        for ours, theirs in zip(request, previous, strict=False):
            if ours is not theirs and not _sent_alike(ours, theirs):
                cached = self._common_part(ours, theirs)
                break
            alike += 1
        return Bill(tokens=sum(sizes), cached=sum(sizes[:alike]) + cached)

    def _common_part(self, ours: Message, theirs: Message) -> int:
        if ours.role != theirs.role:
            return 0
        if ours.text != theirs.text:
            return self._common_text(ours.text, theirs.text)
        common = self._text(ours.text)
        for our_call, their_call in zip(ours.calls, theirs.calls, strict=False):
            if our_call.name != their_call.name:
                break
            common += self._text(our_call.name)
            common += self._common_text(our_call.arguments, their_call.arguments)
            if our_call.arguments != their_call.arguments:
                break
        return common

    def _common_text(self, ours: str, theirs: str) -> int:
        if ours == theirs:
            return self._text(ours)
        ours_encoded, theirs_encoded = self._tokeniser.encode(ours), self._tokeniser.encode(theirs)
        pairs = zip(ours_encoded, theirs_encoded, strict=False)
        return next(
            (at for at, (our, their) in enumerate(pairs) if our != their), min(len(ours_encoded), len(theirs_encoded))
        )

    def _call(self, call: Call) -> int:
        return self._text(call.name) + self._text(call.arguments)

    def _text(self, text: str) -> int:
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = self._tokeniser.count(text)
        return known


def _sent_alike(ours: Message, theirs: Message) -> bool:
    """The two are sent with the same bytes, ids apart."""
    if ours.role != theirs.role or ours.text != theirs.text or len(ours.calls) != len(theirs.calls):
        return False
    return all(
        our.name == their.name and our.arguments == their.arguments
        for our, their in zip(ours.calls, theirs.calls, strict=True)
    )
