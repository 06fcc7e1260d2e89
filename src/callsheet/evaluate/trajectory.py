"""A recorded conversation as it is replayed: what stood at the start, the messages, and the steps to compare with."""

from collections.abc import Mapping

from msgspec import Struct

from callsheet.evaluate.messages import Message, Role


class Trajectory(Struct, frozen=True, kw_only=True):
    """One normalised recording."""

    id: str
    source: str
    #: Tool schemas as recorded; they are not counted as tokens.
    tools: tuple[object, ...]
    #: The system messages at the start.
    system: tuple[Message, ...]
    #: Everything after them.
    messages: tuple[Message, ...]
    #: How often normalising had to repair what.
    repairs: Mapping[str, int]
    #: Messages at the start that a branch inherits; they were measured where they were said.
    inherited: int = 0

    @property
    def steps(self) -> tuple[int, ...]:
        """Positions in `messages` that are measured: its own assistant messages but one that opens the conversation."""
        first = max(1, self.inherited)
        return tuple(at for at, message in enumerate(self.messages) if at >= first and message.role == Role.ASSISTANT)
