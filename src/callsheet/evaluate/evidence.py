"""What each step of a recording needs: the specific values that the recorded message used and earlier messages held."""

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping

from msgspec import Struct

from callsheet.evaluate.haystack import Haystack
from callsheet.evaluate.mentions import Mention, mentions
from callsheet.evaluate.messages import Role, copyable_text
from callsheet.evaluate.trajectory import Trajectory
from callsheet.evaluate.values import Value, scan

RECENT_TURNS = 2
"""What stands from the second-last assistant message on is recent."""

MAX_NEEDS = 200
"""Values beyond this number in one step are not looked at."""


class Need(Struct, frozen=True, kw_only=True):
    """A value that a step used and that its request must therefore hold."""

    value: Value
    #: Positions of the earlier messages in which it stands, ascending; never empty.
    sources: tuple[int, ...]
    #: It stands in nothing recent and not in the first user message.
    old: bool
    #: It stands in nothing recent and only in tool results.
    hard: bool


class Evidence:
    """The needs of a trajectory, whatever the candidate.

    A value that stands in the system messages or the tool schemas is in every request anyway and counts as no need.
    """

    def __init__(self, trajectory: Trajectory) -> None:
        self._trajectory = trajectory
        #: Of each message, what a value could be copied from.
        self.texts = tuple(map(copyable_text, trajectory.messages))
        self._history = Haystack(self.texts)
        schemas = json.dumps(trajectory.tools, ensure_ascii=False)
        self._fixed = Haystack([*(message.text for message in trajectory.system), schemas])
        self._holders: dict[tuple[str, ...], tuple[int, ...]] = {}
        self._is_fixed: dict[tuple[str, ...], bool] = {}
        #: By step.
        self.needs: Mapping[int, tuple[Need, ...]] = dict(self._steps())

    def holders(self, value: Value) -> tuple[int, ...]:
        """The positions of all messages in which the value stands, later ones too."""
        known = self._holders.get(value.spellings)
        if known is None:
            known = self._holders[value.spellings] = self._history.holders(value.spellings)
        return known

    def _steps(self) -> Iterator[tuple[int, tuple[Need, ...]]]:
        messages = self._trajectory.messages
        first_user = next((at for at, message in enumerate(messages) if message.role == Role.USER), -1)
        spoken = [at for at, message in enumerate(messages) if message.role == Role.ASSISTANT]
        for step in self._trajectory.steps:
            turn = bisect_left(spoken, step)
            recent = spoken[turn - RECENT_TURNS] if turn >= RECENT_TURNS else 0
            yield step, tuple(self._needs(step, recent, first_user))

    def _needs(self, step: int, recent: int, first_user: int) -> Iterator[Need]:
        messages = self._trajectory.messages
        seen: set[tuple[str, ...]] = set()
        for mention in mentions(messages[step]):
            for value, sources in self._copied(mention, step):
                if value.spellings in seen or len(seen) == MAX_NEEDS or self._in_every_request(value):
                    continue
                seen.add(value.spellings)
                old = sources[-1] < recent
                yield Need(
                    value=value,
                    sources=sources,
                    old=old and first_user not in sources,
                    hard=old and all(messages[at].role == Role.TOOL for at in sources),
                )

    def _copied(self, mention: Mention, step: int) -> Iterator[tuple[Value, tuple[int, ...]]]:
        """The values of the mention that stand in messages before the step: itself, or else its parts."""
        if mention.whole is not None and (sources := self._before(step, mention.whole)):
            yield mention.whole, sources
            return
        for part in scan(mention.parts):
            if sources := self._before(step, part):
                yield part, sources

    def _before(self, step: int, value: Value) -> tuple[int, ...]:
        holders = self.holders(value)
        return holders[: bisect_left(holders, step)]

    def _in_every_request(self, value: Value) -> bool:
        known = self._is_fixed.get(value.spellings)
        if known is None:
            known = self._is_fixed[value.spellings] = bool(self._fixed.holders(value.spellings))
        return known
