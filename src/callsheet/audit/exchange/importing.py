"""Importing conversations: each line whole or not at all, resumed where it broke off, known again when it was finished.

What tells a line from others is the hash of its bytes, wherever it stands; how far it was read is recorded with what
was read of it. Within one source a repeated id means another conversation, ``id#2``; across sources it is refused.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import field

from callsheet.audit.exchange.grouping import grouped, stands_beside
from callsheet.audit.exchange.lines import ConversationLine, Fork, parse_line
from callsheet.audit.exchange.sources import Line, read_lines
from callsheet.errors import InputError, InvalidLine, NotFound
from callsheet.graph.canonical import content_digest
from callsheet.graph.changes import ImportProgress
from callsheet.graph.enums import Defect
from callsheet.graph.nodes import Message, ToolArtifact, ToolCall
from callsheet.graph.record import Record
from callsheet.graph.values import Digest, Value
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.importing import Dated, record_dated, standing
from callsheet.runtime.runtime import Runtime

AT_ONCE = 100
"""Messages recorded in one transaction."""


class Imported(Value):
    """What one line came to, or several."""

    #: Conversations and branches that were read to their end.
    conversations: int = 0
    #: Those that had been read to their end before.
    known: int = 0
    messages: int = 0
    calls: int = 0
    results: int = 0
    defects: Mapping[Defect, int] = field(default_factory=dict)
    #: What of the log of an agent is no part of a conversation or was not understood, by kind.
    passed: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: "Imported") -> "Imported":
        return Imported(
            conversations=self.conversations + other.conversations,
            known=self.known + other.known,
            messages=self.messages + other.messages,
            calls=self.calls + other.calls,
            results=self.results + other.results,
            defects=Counter(self.defects) + Counter(other.defects),
            passed=Counter(self.passed) + Counter(other.passed),
        )


def import_source(
    runtime: Runtime, name: str, *, told: Callable[[Line], None] = lambda _: None
) -> Iterator[Imported | InvalidLine]:
    """Import every line of a file (``-``: of standard input), telling of each line before it is read.

    Gives what each transaction came to, and for a line that cannot be imported why; nothing of that line is recorded.
    Raises `InputError` for a file that cannot be read, and `StoreError`; what was imported until then stays, and the
    next import goes on behind it.
    """
    source = _Source(runtime)
    for line in read_lines(name):
        if isinstance(line, InvalidLine):
            yield line
            continue
        told(line)
        try:
            yield from source.read(line)
        except (InputError, NotFound) as problem:
            yield InvalidLine(str(problem), file=line.file, line=line.number)


class _Source:
    """One source in one go: it remembers which conversation each id means, and which lines it has seen."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._times: Counter[str] = Counter()
        self._seen: set[Digest] = set()

    def read(self, line: Line) -> Iterator[Imported]:
        """Import one line, a transaction at a time. Raises `InputError` or `NotFound` for one that cannot be."""
        digest = content_digest(line.content)
        parsed = parse_line(line.content)
        if parsed.id is not None and digest in self._seen:
            yield Imported(known=1)
            return
        view = self._view(parsed, line)
        self._seen.add(digest)
        yield from _read_on(view, parsed.messages, digest, line.number)

    def _view(self, parsed: ConversationLine, line: Line) -> Conversation:
        if parsed.id is None:
            return self._runtime.conversation(line.name, user=parsed.user)
        if parsed.fork is not None:
            return branch_of(self._runtime.existing(self._named(parsed.id)), parsed.fork)
        self._times[parsed.id] += 1
        return self._runtime.conversation(self._named(parsed.id), user=parsed.user)

    def _named(self, id: str) -> str:
        times = self._times[id]
        return f"{id}#{times}" if times > 1 else id


def branch_of(conversation: Conversation, fork: Fork) -> Conversation:
    """The view of a branch, which is begun unless it is there. Raises `InputError` where it is and begins elsewhere."""
    parent = conversation.on(fork.parent)
    groups = grouped(parent.history()[0])
    beside = int(stands_beside(groups))
    if fork.at > len(groups) - beside:
        count = len(groups) - beside
        raise InputError(f"branch.at is {fork.at}, but {fork.parent!r} of {conversation.name!r} has {count} messages")
    inherited = [group[-1].id for group in groups[: fork.at + beside]]
    if fork.name in conversation.branches():
        known = conversation.on(fork.name)
        ends = [group[-1] for group in grouped(known.history()[0])]
        if inherited != [end.id for end in ends if end.branch != known.branch_id]:
            raise InputError(f"conversation {conversation.name!r} has another branch {fork.name!r} already")
        return known
    if inherited:
        return parent.branch(at=inherited[-1], name=fork.name)
    return parent.branch(before=groups[0][0].id if groups else None, name=fork.name)


def _read_on(view: Conversation, messages: Sequence[Dated], digest: Digest, line: int) -> Iterator[Imported]:
    """Record what has not been recorded yet of a conversation or branch."""
    stands = standing(view, digest)
    before = stands.progress
    if before is not None and before.done:
        yield Imported(known=1)
        return
    if stands.others:
        raise InputError(
            f"conversation {view.name!r} is there already and did not come from this line; give the new one another id"
        )
    done = before.messages if before is not None else 0
    while True:
        portion = messages[done : done + AT_ONCE]
        done += len(portion)
        progress = ImportProgress(source=digest, line=line, messages=done, done=done == len(messages))
        records = record_dated(view, portion, progress, before=before)
        yield counted(records, finished=progress.done)
        if progress.done:
            return
        before = progress


def counted(records: Sequence[Record], *, finished: bool) -> Imported:
    """What the records of one transaction come to."""
    bodies = [record.body for record in records]
    spoken = [body for body in bodies if isinstance(body, Message | ToolCall | ToolArtifact)]
    return Imported(
        conversations=int(finished),
        messages=sum(isinstance(body, Message) for body in spoken),
        calls=sum(isinstance(body, ToolCall) for body in spoken),
        results=sum(isinstance(body, ToolArtifact) for body in spoken),
        defects=Counter(defect for body in spoken for defect in body.defects),
    )
