"""The candidate that goes through a real runtime: messages are recorded, requests assembled from the graph."""

from collections.abc import Mapping, Sequence

from callsheet.assemble.needed import Needed
from callsheet.evaluate.candidates import CandidateFactory, Opening, Request, Step
from callsheet.evaluate.messages import Message, from_openai, to_openai
from callsheet.policy.sets import REPLAY, PolicySetDocument
from callsheet.runtime.opening import MEMORY, open
from callsheet.runtime.sources import RandomIds
from callsheet.testing import FixedClock

A_TURN = 60
"""Seconds. Recordings carry no times: one turn counts as one minute."""

UNLIMITED = 10**9
"""A budget that no recording reaches: what is measured is what a policy chooses, not what it is forced to."""


class Assembled:
    """Records what a step's history adds, in an in-memory store, and assembles the next request."""

    def __init__(
        self,
        opening: Opening,
        *,
        provider: str,
        model: str,
        policy: str | PolicySetDocument | None,
        needed: Needed | None,
    ) -> None:
        self._clock = FixedClock()
        runtime = open(MEMORY, ids=RandomIds(), clock=self._clock)
        self._talk = runtime.conversation(opening.id or "recording")
        self._provider, self._model, self._policy, self._needed = provider, model, policy, needed
        self._tools = [tool for tool in opening.tools if isinstance(tool, Mapping) and _is_function(tool)]
        self._recorded = 0
        if opening.system:
            self._talk.record([to_openai(message) for message in opening.system])

    def request(self, step: Step) -> Request:
        """The request that Callsheet sends at this step."""
        self._record(step.history[self._recorded :])
        self._recorded = len(step.history)
        sheet = self._talk.assemble(
            provider=self._provider,
            model=self._model,
            policy=self._policy,
            tools=self._tools,
            budget=UNLIMITED if self._policy == REPLAY.name else None,
            needed=self._needed,
        )
        return Request(messages=[from_openai(message) for message in sheet.messages("openai")])

    def _record(self, messages: Sequence[Message]) -> None:
        for message in messages:
            if message.role in ("user", "assistant"):
                self._clock.advance(A_TURN)
        if messages:
            self._talk.record([to_openai(message) for message in messages])


def _is_function(tool: Mapping[str, object]) -> bool:
    # Tools that are built in at one provider can be offered nowhere else.
    return "function" in tool or "input_schema" in tool


def assembled(
    *,
    provider: str = "openai",
    model: str = "gpt-5.2",
    policy: str | PolicySetDocument | None = None,
    needed: Needed | None = None,
) -> CandidateFactory:
    """A candidate that assembles under a policy set (default: the runtime's) for a provider's model.

    `needed` is the table of how likely results are needed; default: the one in the package.
    """
    return lambda opening: Assembled(opening, provider=provider, model=model, policy=policy, needed=needed)
