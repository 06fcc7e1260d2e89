"""Candidates to compare with: plain replay, a window, the clearing of old results, and a bound that looks ahead."""

from collections.abc import Sequence

from msgspec.structs import replace

from callsheet.evaluate.candidates import Opening, Request, Step
from callsheet.evaluate.messages import Message, Role

WINDOW = 16_000
CLEAR_OVER = 8_000
CLEAR_KEEP = 3
CLEARED = "[Old tool result content cleared]"
NOT_NEEDED = "-"


class PlainReplay:
    """Everything, verbatim."""

    def __init__(self, opening: Opening) -> None:
        self._system = opening.system

    def request(self, step: Step) -> Request:
        """The system messages and the whole history."""
        return Request(messages=[*self._system, *step.history])


class Window:
    """The system messages, the first user message and the newest messages, never a result without its call.

    Once the request is over the limit, the oldest messages go until at most half of it stands. That cut stays until the
    limit is reached again, so that a provider can cache the prefix in between.
    """

    def __init__(self, opening: Opening, *, limit: int = WINDOW) -> None:
        self._system = opening.system
        self._meter = opening.meter
        self._limit = limit
        self._cut = 0

    def request(self, step: Step) -> Request:
        """At most `limit` tokens, unless the newest call and its results alone are more."""
        first = _first_user(step.history)
        size = self._meter.total(self._request(step.history, first))
        if size > self._limit:
            self._drop(step.history, first, size)
        return Request(messages=self._request(step.history, first))

    def _request(self, history: Sequence[Message], pinned: set[int]) -> list[Message]:
        return [*self._system, *(history[at] for at in pinned if at < self._cut), *history[self._cut :]]

    def _drop(self, history: Sequence[Message], pinned: set[int], size: int) -> None:
        for at in range(self._cut, len(history)):
            if history[at].role != Role.TOOL:
                self._cut = at
                if size <= self._limit // 2:
                    return
            if at not in pinned:
                size -= self._meter.tokens(history[at])


class Clearing:
    """Over a limit, every tool result but the newest few is replaced by a short notice."""

    def __init__(self, opening: Opening, *, over: int = CLEAR_OVER, keep: int = CLEAR_KEEP) -> None:
        self._system = opening.system
        self._meter = opening.meter
        self._over = over
        self._keep = keep

    def request(self, step: Step) -> Request:
        """The whole history, with old results cleared if it is over the limit."""
        plain = [*self._system, *step.history]
        if self._meter.total(plain) <= self._over:
            return Request(messages=plain)
        results = [at for at, message in enumerate(plain) if message.role == Role.TOOL]
        for at in results[: max(0, len(results) - self._keep)]:
            plain[at] = replace(plain[at], content=CLEARED)
        return Request(messages=plain)


class LookAhead:
    """A bound on tokens: it knows what the next message will use, and sends little else.

    The system messages, the first user message, everything from the last assistant message on, and for each needed
    value that does not stand there the shortest message that holds it, with its call; other results of that call
    become ``-``.
    """

    def __init__(self, opening: Opening) -> None:
        self._system = opening.system
        self._meter = opening.meter

    def request(self, step: Step) -> Request:
        """The request that holds every foreseen value."""
        history = step.history
        last = max((at for at, message in enumerate(history) if message.role == Role.ASSISTANT), default=0)
        whole = _first_user(history) | set(range(last, len(history)))
        sent = set(whole)
        for need in step.foreseen:
            if whole.isdisjoint(need.sources):
                shortest = min(need.sources, key=lambda at: self._meter.tokens(history[at]))
                start, end = _group(history, shortest)
                whole |= {start, shortest}
                sent.update(range(start, end))
        messages = (history[at] if at in whole else replace(history[at], content=NOT_NEEDED) for at in sorted(sent))
        return Request(messages=[*self._system, *messages])


def _first_user(history: Sequence[Message]) -> set[int]:
    """The position of the first user message, if there is one."""
    for at, message in enumerate(history):
        if message.role == Role.USER:
            return {at}
    return set()


def _group(history: Sequence[Message], at: int) -> tuple[int, int]:
    """Where the call and its results begin and end of which this message is a part; any other message stands alone."""
    start = at
    while start and history[start].role == Role.TOOL:
        start -= 1
    end = at + 1
    while end < len(history) and history[end].role == Role.TOOL:
        end += 1
    return start, end
