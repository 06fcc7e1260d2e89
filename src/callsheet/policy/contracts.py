"""Tool contracts: what a tool's owner declares about its results, and how declarations are put together."""

from collections.abc import Iterable, Mapping
from typing import Self

import msgspec
from msgspec.structs import fields, replace

from callsheet.errors import PolicyError
from callsheet.graph.enums import Freshness, Privacy
from callsheet.graph.times import Instant
from callsheet.graph.values import Value
from callsheet.policy import hints
from callsheet.policy.checked import checked
from callsheet.policy.settings import MOST_SECONDS, Manner, Retention, label, within

_SECOND = 1_000_000
"""Microseconds."""

LEAST_TIME = 0.001
MOST_TIME = 86_400.0
"""Seconds that an attempt, or the wait before one, can be declared to take."""

MOST_ATTEMPTS = 20


class ToolContract(Value):
    """What is declared about one tool. What is None was not declared: the content decides, in doubt restrictively.

    Members of closed sets may be given by their word, such as ``privacy="secret"``. Raises `PolicyError` for a value
    that a field cannot have, naming the field and what is allowed.
    """

    name: str
    freshness: Freshness | None = None
    #: Seconds from observation after which a result is stale, whatever its class.
    stale_after: int | None = None
    privacy: Privacy | None = None
    retention: Retention | None = None
    #: Whether calling it changes anything outside.
    side_effects: bool | None = None
    #: Whether calling it twice does no more than calling it once.
    idempotent: bool | None = None
    #: Tools that tell whether a result still holds.
    recheck: tuple[str, ...] | None = None
    #: Whether it reads how things are now, so that a newer result of the same call replaces an older one.
    reads_current_state: bool | None = None
    #: Whether others change what it reads, so that its results always show when they were observed.
    shared_world: bool | None = None
    narrowing: Manner | None = None
    #: The parameter that takes a key that is the same in every attempt of a call; the model never sees it.
    idempotency_key: str | None = None
    #: Seconds that one attempt may take.
    time_limit: float | None = None
    #: Attempts in all, where running it again does no harm.
    attempts: int | None = None
    #: Seconds before the second attempt; doubled before each further one.
    backoff: float | None = None
    #: Whether a person has to approve each call, with its exact arguments, before it runs.
    needs_approval: bool | None = None

    @property
    def effectful(self) -> bool:
        """Whether calling it may change something outside; what was not declared may."""
        return self.side_effects is not False

    @property
    def repeatable(self) -> bool:
        """Whether running a call again does no harm: it changes nothing, or its owner says that twice is as once."""
        if not self.effectful:
            return True
        return self.idempotency_key is not None if self.idempotent is None else self.idempotent

    def __post_init__(self) -> None:
        checked(self, f"the contract of {self.name!r}" if isinstance(self.name, str) else "a contract")
        label(self.name, "the tool of a contract")
        if self.idempotency_key is not None:
            label(self.idempotency_key, f"the idempotency key of {self.name}")
        if self.time_limit is not None:
            within(self.time_limit, LEAST_TIME, MOST_TIME, f"the time limit of {self.name}")
        if self.attempts is not None:
            within(self.attempts, 1, MOST_ATTEMPTS, f"the attempts of {self.name}")
        if self.backoff is not None:
            within(self.backoff, 0, MOST_TIME, f"the backoff of {self.name}")
        if self.stale_after is not None:
            within(self.stale_after, 0, MOST_SECONDS, f"stale_after of {self.name}")
        for tool in self.recheck or ():
            label(tool, f"a re-check tool of {self.name}")

    @classmethod
    def from_mcp(cls, tool: object, *, trusted: bool = False) -> Self:
        """The contract that an MCP tool's annotations come to; `tool` as its server lists it, a dict or an SDK object.

        ========================  =========================================  ==================================
        hint                      always                                     only if the server is `trusted`
        ========================  =========================================  ==================================
        ``readOnlyHint``          false: side effects                        true: none, and may be repeated
        ``destructiveHint``       true: side effects                         false: nothing
        ``idempotentHint``        false: may not be repeated                 true: may be repeated
        ``openWorldHint``         true: others change what it reads          false: nobody else does
        ========================  =========================================  ==================================

        A hint that is not given, or is no truth value, declares nothing. What the server puts under
        ``callsheet/contract`` in the tool's ``_meta`` goes by the same rule: ``side_effects``, ``shared_world``,
        ``freshness: volatile``, ``privacy: connected_account | secret`` and ``idempotent: false`` are taken from
        anybody, everything else from a trusted server only. What the caller or the policy set declares goes over all of
        this, see `contracts`.

        Raises `PolicyError` for a tool without a readable name, or a trusted one whose re-check tools have none.
        """
        try:
            return msgspec.convert({"name": hints.name_of(tool), **hints.said(tool, trusted=trusted)}, cls)
        except msgspec.ValidationError as problem:
            raise PolicyError(str(problem)) from None


def contracts(declared: Iterable[ToolContract], policy: Iterable[ToolContract] = ()) -> Mapping[str, ToolContract]:
    """One contract per tool. What the policy set declares goes over what the code declares, field by field.

    A name that stands twice in one of the two is taken the same way: the later one goes over the earlier.
    """
    found: dict[str, ToolContract] = {}
    for contract in (*declared, *policy):
        before = found.get(contract.name)
        found[contract.name] = contract if before is None else _over(before, contract)
    return found


def classes(
    contract: ToolContract | None, privacy: Privacy, freshness: Freshness | None
) -> tuple[Privacy, Freshness | None]:
    """The classes of a result, from its tool's contract and from what its content shows.

    The contract knows better, except that content found to be secret stays so whatever was declared. What is declared
    to go stale after a time is bounded by time where nothing else is known.
    """
    if contract is None:
        return privacy, freshness
    declared = privacy if contract.privacy is None or privacy is Privacy.SECRET else contract.privacy
    ages = freshness or (Freshness.TIME_BOUNDED if contract.stale_after is not None else None)
    return declared, contract.freshness or ages


def stale_from(contract: ToolContract | None, observed: Instant) -> Instant | None:
    """When a result that was observed then goes stale by its tool's contract; None: as the policy set says."""
    if contract is None or contract.stale_after is None:
        return None
    return Instant(observed + contract.stale_after * _SECOND)


def _over(before: ToolContract, contract: ToolContract) -> ToolContract:
    said = {field.name: getattr(contract, field.name) for field in fields(contract)}
    return replace(before, **{name: value for name, value in said.items() if value is not None})
