"""The candidate that goes through a real runtime: messages are recorded, requests assembled from the graph."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from random import Random

from callsheet.assemble.needed import Needed
from callsheet.errors import BudgetTooSmall
from callsheet.evaluate.candidates import CandidateFactory, Opening, Request, Step
from callsheet.evaluate.messages import Message, from_openai, to_openai
from callsheet.policy.sets import REPLAY, PolicySetDocument
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.opening import MEMORY, open
from callsheet.runtime.sheet import Sheet
from callsheet.runtime.sources import RandomIds
from callsheet.testing import FixedClock

A_TURN = 60
"""Seconds. Recordings carry no times: one turn counts as one minute."""

UNLIMITED = 10**9
"""A budget that no recording reaches: what is measured is what a policy chooses, not what it is forced to."""

RECALL = "recall"
"""The tool by which a model fetches what its request lacks."""


class Recalling:
    """The recall of one sheet; to be asked before anything else is recorded."""

    def __init__(self, talk: Conversation, sheet: Sheet) -> None:
        self._talk = talk
        self._sheet = sheet

    def references(self) -> Sequence[str]:
        """Those that really stand in the request."""
        return self._references

    def recall(self, arguments: Mapping[str, object]) -> str:
        """The answer that the model would get."""
        return self._talk.answer_recall(arguments)

    @cached_property
    def _references(self) -> Sequence[str]:
        sent = "\n".join(from_openai(message).text for message in self._sheet.messages("openai"))
        return [found.reference for found in self._sheet.references() if found.reference in sent]


class Assembled:
    """Records what a step's history adds, in an in-memory store, and assembles the next request."""

    def __init__(
        self,
        opening: Opening,
        *,
        provider: str,
        model: str,
        policy: str | PolicySetDocument | None,
        budget: int | None,
        needed: Needed | None,
    ) -> None:
        self._clock = FixedClock()
        # References stand in requests and are counted: the same recording gives the same ones in every run.
        runtime = open(MEMORY, ids=RandomIds(Random(0).randbytes), clock=self._clock)
        self._talk = runtime.conversation(opening.id or "recording")
        self._provider, self._model, self._policy, self._needed = provider, model, policy, needed
        verbatim = policy.verbatim if isinstance(policy, PolicySetDocument) else policy == REPLAY.name
        self._budget = UNLIMITED if budget is None and verbatim else budget
        self._tools = [tool for tool in opening.tools if isinstance(tool, Mapping) and _is_function(tool)]
        self._recorded = 0
        if opening.system:
            self._talk.record([to_openai(message) for message in opening.system])

    def request(self, step: Step) -> Request:
        """The request that Callsheet sends at this step."""
        self._record(step.history[self._recorded :])
        self._recorded = len(step.history)
        budget, over, sheet = self._budget, False, None
        while sheet is None:
            try:
                sheet = self._assemble(budget)
            except BudgetTooSmall as problem:
                # As a program would have to raise it; with more room more may be asked for, but each time it grows.
                budget, over = sum(problem.sizes.values()), True
        return Request(
            messages=[from_openai(message) for message in sheet.messages("openai")],
            fetch=Recalling(self._talk, sheet) if _offers_recall(sheet) else None,
            over_budget=over,
        )

    def _assemble(self, budget: int | None) -> Sheet:
        return self._talk.assemble(
            provider=self._provider,
            model=self._model,
            policy=self._policy,
            tools=self._tools,
            budget=budget,
            needed=self._needed,
        )

    def _record(self, messages: Sequence[Message]) -> None:
        for message in messages:
            if message.role in ("user", "assistant"):
                self._clock.advance(A_TURN)
        if messages:
            self._talk.record([to_openai(message) for message in messages])


def _is_function(tool: Mapping[str, object]) -> bool:
    # Tools that are built in at one provider can be offered nowhere else.
    return "function" in tool or "input_schema" in tool


def _offers_recall(sheet: Sheet) -> bool:
    return RECALL in sheet.record.boundary.tools


def assembled(
    *,
    provider: str = "openai",
    model: str = "gpt-5.2",
    policy: str | PolicySetDocument | None = None,
    budget: int | None = None,
    needed: Needed | None = None,
) -> CandidateFactory:
    """A candidate that assembles under a policy set (default: the runtime's) for a provider's model.

    `budget` is what a request may take in tokens, tool schemas included; default: what the model's window leaves, for
    the policy set ``replay`` no limit. Where it is too small for what must stand, the request is made with the smallest
    that is not. `needed` is the table of how likely results are needed; default: the one in the package.
    """
    return lambda opening: Assembled(
        opening, provider=provider, model=model, policy=policy, budget=budget, needed=needed
    )
