"""Doing what is pending, piece by piece, and telling what came of it."""

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from callsheet.errors import StoreClosed
from callsheet.runtime.working.work import Outcome, SetAside, Unit, Work

_LOG = logging.getLogger(__name__)

_AT_ONCE = 64
"""Units asked for at a time: few enough that what others did meanwhile is seen soon."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Worked:
    """What came of one kind of background work."""

    work: str
    #: Units by how they ended.
    done: int = 0
    nothing: int = 0
    refused: int = 0
    failed: int = 0
    #: What failed with an error, by the class of the error; never its text, which may hold content.
    errors: tuple[tuple[str, int], ...] = ()
    #: Whether something is still pending: beyond the limit, or because it failed.
    left: bool = False

    def with_(self, other: "Worked") -> "Worked":
        """What came of this and then of that."""
        errors = Counter(dict(self.errors)) + Counter(dict(other.errors))
        return Worked(
            work=self.work,
            done=self.done + other.done,
            nothing=self.nothing + other.nothing,
            refused=self.refused + other.refused,
            failed=self.failed + other.failed,
            errors=tuple(sorted(errors.items())),
            left=other.left,
        )


@dataclass(kw_only=True, slots=True)
class Draining:
    """Does what is pending of one kind of work, once: what fails is left for the next time."""

    work: Work
    #: Units at most; None: all there are.
    limit: int | None = None
    #: Told before the first unit, if there is one, and after each what has come of the work so far.
    told: Callable[[Worked], object] | None = None
    #: Whether to stop before the next unit.
    stopped: Callable[[], bool] = lambda: False
    _outcomes: Counter[Outcome] = field(default_factory=Counter)
    _errors: Counter[str] = field(default_factory=Counter)
    #: Units that were tried, as long as the query still finds them.
    _tried: set[Unit] = field(default_factory=set)

    def drain(self) -> Worked:
        """Do the work, and return what came of it. Raises `StoreClosed`; every other error is counted and logged."""
        try:
            while due := self._due():
                if self.told is not None and not self._outcomes:
                    self.told(self._worked(left=True))
                for unit in due:
                    if self.stopped():
                        return self._worked(left=True)
                    outcome = self._do(unit)
                    self._outcomes[outcome] += 1
                    self._tried.add(unit)
                    if self.told is not None:
                        self.told(self._worked(left=True))
                    if outcome is Outcome.NOTHING:
                        # Somebody else is at it: what is left is asked for anew.
                        break
            # What failed may wait before it is pending again.
            failed = bool(self._outcomes[Outcome.FAILED])
            return self._worked(left=failed or bool(self.work.pending(1)))
        except StoreClosed:
            raise
        except Exception as problem:  # noqa: BLE001 - the query failed; what it would have found is found the next time
            self._note(problem, "looking for what is pending")
            return self._worked(left=True)

    def _due(self) -> list[Unit]:
        """The oldest units that were not tried yet."""
        room = _AT_ONCE if self.limit is None else min(_AT_ONCE, self.limit - self._outcomes.total())
        if room <= 0:
            return []
        found = self.work.pending(len(self._tried) + room)
        self._tried.intersection_update(found)
        return [unit for unit in found if unit not in self._tried][:room]

    def _do(self, unit: Unit) -> Outcome:
        try:
            return self.work.do(unit)
        except StoreClosed:
            raise
        except SetAside as refused:
            self._note(refused.cause, f"stream {unit.stream.stream}, and is not tried again there")
            return Outcome.REFUSED
        except Exception as problem:  # noqa: BLE001 - one piece that cannot be done keeps no other from being done
            self._note(problem, f"stream {unit.stream.stream}")
            return Outcome.FAILED

    def _note(self, problem: Exception, where: str) -> None:
        name = type(problem).__name__
        self._errors[name] += 1
        _LOG.warning("background work %r failed with %s: %s", self.work.name, name, where)

    def _worked(self, *, left: bool) -> Worked:
        count = self._outcomes
        return Worked(
            work=self.work.name,
            done=count[Outcome.DONE],
            nothing=count[Outcome.NOTHING],
            refused=count[Outcome.REFUSED],
            failed=count[Outcome.FAILED],
            errors=tuple(sorted(self._errors.items())),
            left=left,
        )
