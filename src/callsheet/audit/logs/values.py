"""What a log holds, whatever its format: conversations and branches of messages, and notes of what was not read."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from callsheet.audit.exchange.lines import Fork
from callsheet.errors import InvalidLine
from callsheet.graph.values import Usage
from callsheet.wire.names import Wire

Fields = Mapping[str, object]

MOST_REFUSED = 100
"""Refused places of one file that are told one by one; the others are counted."""

MOST_NAMES = 100
"""Different kinds of what was passed over that are told by name: names come from the file, which may be hostile."""

LONGEST_NAME = 100
"""Characters of such a name."""


class LogFormat(StrEnum):
    """The logs of agents that can be read."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    OPENAI_AGENTS = "openai-agents"
    LANGGRAPH = "langgraph"
    OPENTELEMETRY = "opentelemetry"


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """What the log tells of the request that a model answered by a message."""

    provider: str | None = None
    model: str | None = None
    #: The provider's id of the response.
    response: str | None = None
    #: As the provider reported it; None: the log does not tell.
    usage: Usage | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedMessage:
    """One message."""

    #: In the shape of `wire`; ``x_at`` and ``x_status`` as in a line of JSON, other keys beginning with ``x_`` as well.
    message: Fields
    wire: Wire
    #: Where it stands in the file, from 1: the line, or the row of a database.
    line: int
    #: None: no model said it.
    answered: Answered | None = None
    #: The agent had compacted here: of what stood before, the requests from here on held nothing.
    afresh: bool = False
    #: In how many pieces it was written, one after another.
    pieces: int = 1
    #: The message of the first so many pieces, and that of the others.
    split: Callable[[int], tuple[Fields, Fields]] | None = field(default=None, compare=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedConversation:
    """A conversation, or one branch of it; a conversation comes before its branches."""

    id: str
    #: None: the conversation itself.
    fork: Fork | None = None
    #: Messages of its own.
    count: int
    #: Reads them, from the file, one after another. Raises `InputError` where the file has changed meanwhile.
    read: Callable[[], Iterator[LoggedMessage]]
    #: The conversation whose agent handed work to this one.
    parent: str | None = None
    #: Requests without a message in the log, such as those that compacted.
    others: tuple[Answered, ...] = ()
    #: The others tell what the requests of its messages took, turn by turn, and the messages do not tell it.
    by_turn: bool = False

    @property
    def name(self) -> str:
        """The id, and the branch where it is one."""
        return f"{self.id}/{self.fork.name}" if self.fork is not None else self.id


class Notes:
    """What was not read of one file, and why: nothing is left out silently."""

    def __init__(self, file: str) -> None:
        self.file = file
        #: The first `MOST_REFUSED` places that could not be read.
        self.refused: list[InvalidLine] = []
        #: By kind, how much was passed over.
        self.passed: Counter[str] = Counter()

    def pass_over(self, what: str, times: int = 1) -> None:
        """Count something that is no part of a conversation, or that is not understood."""
        name = "".join(c if c.isprintable() else "?" for c in what[:LONGEST_NAME])
        self.passed[name if name in self.passed or len(self.passed) < MOST_NAMES else "of other kinds"] += times

    def refuse(self, problem: str, place: int) -> None:
        """Note a line, or a row, that cannot be read; places count from 1."""
        if len(self.refused) < MOST_REFUSED:
            self.refused.append(InvalidLine(problem, file=self.file, line=place))
        else:
            self.passed["further lines that cannot be read"] += 1
