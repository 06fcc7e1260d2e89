"""The logs of agents as recordings: each conversation and branch a trajectory, read when it is its turn.

Only one stands in memory at a time. What the log tells of the requests (usage, model, time) is kept beside.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, islice

from msgspec import Struct
from msgspec.structs import replace

from callsheet.audit.logs.blocks import chat_messages
from callsheet.audit.logs.formats import Log
from callsheet.audit.logs.trees import MAIN
from callsheet.audit.logs.values import Answered, LoggedConversation, LoggedMessage, Notes
from callsheet.evaluate.messages import Message, Role
from callsheet.evaluate.normalise import normalise
from callsheet.evaluate.trajectory import Trajectory


class Asked(Struct, frozen=True, kw_only=True):
    """One request, as far as the log tells of it."""

    answered: Answered
    #: When it was answered, in microseconds since 1970; None: the log does not tell.
    at: int | None = None
    #: Messages of the recording that the agent had dropped from it, those at the beginning.
    dropped: int = 0


class Told(Struct, frozen=True, kw_only=True):
    """What a log tells of the requests of one conversation or branch."""

    #: By the position of the answer in the trajectory's messages.
    asked: Mapping[int, Asked]
    #: Requests whose answers are no messages, or open the conversation.
    others: tuple[Answered, ...] = ()
    #: The others report what the requests of messages took, turn by turn.
    by_turn: bool = False


class LoggedTrajectories(Collection[Trajectory]):
    """The recordings of a log that have at least one step. Raises `InputError` where the file cannot be read."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._conversations = list(log.conversations())
        self._branches = {(one.id, _branch(one)): one for one in self._conversations}
        self._with_steps = [one for one in self._conversations if one.count and self._read(one, log.notes)[0].steps]

    def __len__(self) -> int:
        return len(self._with_steps)

    def __contains__(self, item: object) -> bool:
        return any(item == trajectory for trajectory in self)

    def __iter__(self) -> Iterator[Trajectory]:
        for one in self._with_steps:
            yield self._read(one)[0]

    def told(self) -> Iterator[tuple[Trajectory, Told]]:
        """The recordings again, each with what the log tells of its requests."""
        for one in self._with_steps:
            yield self._read(one)

    def without_steps(self) -> Iterator[tuple[str, tuple[Answered, ...]]]:
        """By name, the requests of conversations that hold nothing to measure, where the log tells of any."""
        known = {id(one) for one in self._with_steps}
        for one in self._conversations:
            if id(one) in known:
                continue
            told = self._read(one)[1] if one.count else Told(asked={}, others=one.others)
            asked = (*(each.answered for each in told.asked.values()), *told.others)
            if reported := tuple(each for each in asked if each.usage is not None):
                yield one.name, reported

    def _read(self, conversation: LoggedConversation, notes: Notes | None = None) -> tuple[Trajectory, Told]:
        """A recording; what cannot be read of it is noted where it is asked for, which is once."""
        unheard = Notes(self._log.notes.file)
        inherited = _Messages()
        for logged in self._inherited(conversation):
            inherited.add(logged, unheard)
        whole = inherited.copy()
        for logged in conversation.read():
            whole.add(logged, notes or unheard)
        before = normalise({"messages": inherited.raw}).messages if inherited.raw else ()
        found = normalise({"id": conversation.name, "source": self._log.format.value, "messages": whole.raw})
        trajectory = replace(found, inherited=len(before))
        return trajectory, _told(trajectory, whole.answers, conversation)

    def _inherited(self, conversation: LoggedConversation) -> Iterator[LoggedMessage]:
        """What a branch inherits: of its parent what that inherits itself, then of that one's own."""
        if conversation.fork is None:
            return
        parent = self._branches[conversation.id, conversation.fork.parent]
        yield from islice(chain(self._inherited(parent), parent.read()), conversation.fork.at)


class _Messages:
    """Messages in the chat shape, and for each that a model said what the log tells of its request."""

    def __init__(self) -> None:
        self.raw: list[dict[str, object]] = []
        #: With `Asked.dropped` as answers before the agent's last compaction.
        self.answers: list[Asked] = []
        self._dropped = 0

    def copy(self) -> "_Messages":
        made = _Messages()
        made.raw, made.answers, made._dropped = [*self.raw], [*self.answers], self._dropped
        return made

    def add(self, logged: LoggedMessage, notes: Notes) -> None:
        if logged.afresh:
            self._dropped = len(self.answers)
        messages, at = chat_messages(logged, notes)
        for message in messages:
            self.raw.append(message)
            if message.get("role") == Role.ASSISTANT:
                answered = logged.answered or Answered()
                self.answers.append(Asked(answered=answered, at=at, dropped=self._dropped))


def _told(trajectory: Trajectory, answers: Sequence[Asked], conversation: LoggedConversation) -> Told:
    """The answers by where they stand once the recording is normalised, which drops and adds no answer."""
    messages = trajectory.messages
    places = [at for at, message in enumerate(messages) if message.role == Role.ASSISTANT]
    asked = {
        at: replace(answer, dropped=_behind(messages, places[answer.dropped - 1]) if answer.dropped else 0)
        for at, answer in zip(places, answers, strict=True)
        if at >= trajectory.inherited
    }
    steps = set(trajectory.steps)
    opening = (answer.answered for at, answer in asked.items() if at not in steps and answer.answered.usage is not None)
    return Told(
        asked={at: answer for at, answer in asked.items() if at in steps},
        others=(*opening, *conversation.others),
        by_turn=conversation.by_turn,
    )


def _behind(messages: Sequence[Message], answer: int) -> int:
    """The position behind an answer and the results of its calls."""
    at = answer + 1
    while at < len(messages) and messages[at].role == Role.TOOL:
        at += 1
    return at


def _branch(conversation: LoggedConversation) -> str:
    return conversation.fork.name if conversation.fork is not None else MAIN
