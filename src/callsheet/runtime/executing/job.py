"""One call that is to be run, and what came of the calls that were."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass

from callsheet.graph.effects import UNSETTLED
from callsheet.graph.enums import ArtifactStatus
from callsheet.graph.ids import RecordId
from callsheet.graph.times import Instant
from callsheet.graph.values import RetryContract
from callsheet.policy.contracts import ToolContract
from callsheet.runtime.executing.tool import Tool
from callsheet.runtime.tail import KnownCall

TIME_LIMIT = 120.0
"""Seconds that an attempt may take where its contract says nothing."""

BACKOFF = 1.0
"""Seconds before the second attempt where its contract says nothing; doubled each time."""

LONGEST_BACKOFF = 60.0

RESUMED = 3
"""Attempts after which a call whose process ended during it is not begun again, where its contract says nothing."""


@dataclass(kw_only=True, slots=True)
class Job:
    """A call that this execution has taken on."""

    call: KnownCall
    tool: Tool[..., object]
    contract: ToolContract
    arguments: Mapping[str, object]
    #: Attempts that have begun, those of earlier executions among them.
    attempts: int = 0
    #: Failures in this execution.
    failures: int = 0
    #: An earlier attempt may have taken effect: this asks first.
    lookup: bool = False
    #: The recorded result that says that nobody knows what became of it.
    unknown: RecordId | None = None
    started: Instant | None = None
    #: Its execution broke off: what still runs of it makes the result.
    let_go: bool = False

    @property
    def limit(self) -> float:
        """Seconds that one attempt may take."""
        return self.contract.time_limit or TIME_LIMIT

    @property
    def most(self) -> int:
        """Attempts that one execution makes."""
        return (self.contract.attempts or 1) if self.contract.repeatable else 1

    @property
    def again(self) -> bool:
        """Whether another attempt may be made after this one failed."""
        return self.failures < self.most

    @property
    def pause(self) -> float:
        """Seconds before the next attempt."""
        return self._pause(max(0, self.failures - 1))

    def _pause(self, turn: int) -> float:
        first = BACKOFF if self.contract.backoff is None else self.contract.backoff
        return min(first * 2.0**turn, max(first, LONGEST_BACKOFF))

    @property
    def key(self) -> str:
        """The same for every attempt of the call, in every process; of no other call."""
        return f"{self.call.id}"

    @property
    def longest(self) -> float:
        """Seconds that it takes at most."""
        return self.limit * (self.most + 1) + sum(self._pause(turn) for turn in range(self.most - 1))

    def given(self) -> dict[str, object]:
        """The arguments that the function gets, its idempotency key among them."""
        name = self.contract.idempotency_key
        own = deepcopy(dict(self.arguments))  # a function may change what it is given; the next attempt gets the same
        return {**own, name: self.key} if name is not None else own

    def retry(self) -> RetryContract:
        """Under which terms it was run, for the record."""
        return RetryContract(
            attempts=self.attempts,
            limit=self.most,
            backoff=self.contract.backoff,
            idempotency_key=self.key if self.contract.idempotency_key is not None else None,
            safe=self.contract.repeatable,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of one call."""

    call: RecordId
    #: The provider's id of the call.
    provider_id: str | None
    tool: str
    #: ``awaiting_approval``, ``unknown`` and ``pending`` are not final; the last was left alone.
    status: ArtifactStatus
    #: The recorded result; None: it was left alone.
    artifact: RecordId | None = None
    #: How often it was begun.
    attempts: int = 0
    #: Why it was left alone, or why it is still unknown, where it is.
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Executed:
    """What came of an execution, in the order of the calls."""

    outcomes: tuple[Outcome, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every call has its final result, so that the model can go on."""
        return not any(outcome.status in UNSETTLED for outcome in self.outcomes)
