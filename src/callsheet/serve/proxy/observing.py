"""What the proxy tells of itself: a line for each request, and counters. Ids and counts, never content or keys."""

import logging
import re
import threading
from collections import Counter
from dataclasses import dataclass, field

from callsheet.derive.redaction import Redaction
from callsheet.serve.proxy.headers import CONVERSATION
from callsheet.serve.proxy.journal import Ended
from callsheet.serve.proxy.placed import How

LOG = logging.getLogger("callsheet.serve")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}")
_UNMARKED = Redaction()


def told(name: str) -> str:
    """A name that came from outside, such as a model's, as logs and lists show it; ``?`` for what is no name."""
    return name if _NAME.fullmatch(name) and _UNMARKED.text(name) == name else "?" if name else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """One request that is over."""

    request: str
    route: str
    upstream: str
    model: str
    key: str
    ended: Ended
    #: Seconds: in all, until the request was sent on, and until the first byte of its answer.
    seconds: float
    prepared: float | None = None
    first: float | None = None
    #: The class of an error of ours; empty: none.
    error: str = ""


@dataclass(kw_only=True, slots=True)
class Observer:
    """Counts and tells. Thread-safe."""

    open: int = 0
    _counts: Counter[str] = field(default_factory=Counter)
    _errors: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def over(self, told: Told) -> None:
        """A request is over."""
        ended = told.ended
        with self._lock:
            self._counts["requests"] += 1
            self._counts[f"outcome.{ended.outcome.value}"] += 1
            self._counts[f"sent.{ended.sent.value}"] += 1
        level = logging.WARNING if told.error or ended.how == How.AMBIGUOUS.value else logging.INFO
        LOG.log(level, " ".join(f"{name}={value}" for name, value in _line(told)))

    def failed(self, error: BaseException, where: str) -> str:
        """Something of the proxy failed, whose words may hold content. Returns what it is told by."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        told = f"{where}:{type(error).__name__}"
        with self._lock:
            self._errors[told] += 1
        LOG.warning("error=%s where=%s at=%s", type(error).__name__, where, place_of(error))
        return told

    def counts(self) -> dict[str, dict[str, int]]:
        """All counters since the start."""
        with self._lock:
            return {"requests": dict(sorted(self._counts.items())), "errors": dict(sorted(self._errors.items()))}


def place_of(error: BaseException) -> str:
    """Where in the code an error was raised: module and line, nothing of the values there."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "?"
    return f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"


def _line(told: Told) -> list[tuple[str, object]]:
    ended = told.ended
    found: list[tuple[str, object]] = [
        ("request", told.request),
        ("route", told.route),
        ("upstream", told.upstream),
        ("model", told.model or "-"),
        ("key", told.key),
        ("status", ended.status),
        ("outcome", ended.outcome.value),
        ("sent", ended.sent.value),
        ("ms", round(told.seconds * 1_000)),
    ]
    if told.prepared is not None:
        found.append(("prepared_ms", round(told.prepared * 1_000)))
    if told.first is not None:
        found.append(("first_ms", round(told.first * 1_000)))
    if ended.asked:
        found += [("asked", ended.asked), ("assembled", ended.assembled)]
    if ended.reported:
        found += [("input", ended.input), ("cached", ended.cached), ("output", ended.output)]
    for name, value in (("conversation", ended.conversation), ("sheet", ended.sheet), ("how", ended.how)):
        if value:
            found.append((name, value))
    if ended.how == How.AMBIGUOUS.value:
        # It began a conversation, with all that its client sent: what keeps the next from doing so.
        found.append(("advice", f"name-conversations-by-{CONVERSATION}"))
    if told.error:
        found.append(("error", told.error))
    return found
