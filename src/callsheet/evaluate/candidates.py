"""What can be measured: a candidate builds the request of each step from what happened before it."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from callsheet.evaluate.billing import Meter
from callsheet.evaluate.evidence import Need
from callsheet.evaluate.messages import Message
from callsheet.evaluate.values import Value


class MissReason(StrEnum):
    """Why a needed value does not stand in a request."""

    #: What held it was never recorded.
    NOT_CAPTURED = "not_captured"
    #: It stands on a branch that is not visible here.
    BRANCH = "branch"
    #: It is private to another participant.
    PRIVATE = "private"
    AUDIT_ONLY = "audit_only"
    #: A sub-agent holds it and has not released it.
    UNRELEASED = "unreleased"
    STALE = "stale"
    #: Its privacy class may not go to this provider.
    PRIVACY_PROVIDER = "privacy_provider"
    #: What held it was left out or shortened to save tokens.
    BUDGET = "budget"
    #: Nothing that was searched holds it.
    NOT_FOUND = "not_found"
    #: It stood in the request and the model did not use it. Only runs whose answers are judged can tell;
    #: a replay looks at values that were used, so it never gives this reason.
    SHOWN_BUT_UNUSED = "shown_but_unused"


class Opening(Struct, frozen=True, kw_only=True):
    """What a candidate is told before the first step of a conversation."""

    id: str
    system: tuple[Message, ...]
    #: Tool schemas as recorded.
    tools: tuple[object, ...]
    #: Counts tokens as the measurement does; shared, so what was counted once is free.
    meter: Meter


class Step(Struct, frozen=True, kw_only=True):
    """One point of a conversation at which the assistant speaks next."""

    #: Position of the recorded assistant message.
    at: int
    #: Everything before it, without the system messages of the opening. Grows from step to step and never changes.
    history: Sequence[Message]
    #: What the recorded message will need. Only a bound may look at it; for all others it is the future.
    foreseen: Sequence[Need]


class Fetch(Protocol):
    """The recall that a request offers to its model."""

    def references(self) -> Sequence[str]:
        """The records that the request refers to, by the texts that stand in it for them."""
        ...

    def recall(self, arguments: Mapping[str, object]) -> str:
        """The answer to one call with these arguments."""
        ...


class Request(Struct, frozen=True, kw_only=True):
    """What a candidate would send, system messages first."""

    messages: Sequence[Message]
    #: Explains a needed value that stands in none of the messages. Without it every miss counts as `BUDGET`: a needed
    #: value always stands in an earlier message, which was then left out or shortened.
    why_missing: Callable[[Value], MissReason] | None = None
    #: How its model could fetch what is missing; None: it could not.
    fetch: Fetch | None = None
    #: What must stand in it does not fit the budget: it is the smallest that there is.
    over_budget: bool = False


class Candidate(Protocol):
    """Built once per conversation, then asked for every step in order."""

    def request(self, step: Step) -> Request:
        """The request for this step."""
        ...


CandidateFactory = Callable[[Opening], Candidate]
