"""Which log a file is, recognised by what it holds, and the readers by format."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from itertools import islice

from callsheet.audit.exchange.sources import STDIN
from callsheet.audit.logs import claude_code, codex, langgraph, openai_agents, opentelemetry
from callsheet.audit.logs.database import MAGIC, database, tables
from callsheet.audit.logs.files import LogFile, beginning, opened
from callsheet.audit.logs.jsonlines import decoded, mapping
from callsheet.audit.logs.responses import kind_of
from callsheet.audit.logs.trees import MAIN
from callsheet.audit.logs.values import LogFormat, LoggedConversation, Notes
from callsheet.errors import InputError

LINES = "lines"
"""The name of the format of `callsheet.audit.exchange.lines`, which is no log of an agent."""

NAMES = (LINES, *(each.value for each in LogFormat))

_LOOKED_AT = 50
"""Lines at the beginning that may tell; a log begins with what is no message, and may begin with what is torn."""

_LONGEST_NAME = 200
"""Characters of a conversation's name that are kept; ids of agents have up to a hundred, with a sub-agent's."""

Reader = Callable[[LogFile, Notes], Iterator[LoggedConversation]]

READERS: Mapping[LogFormat, Reader] = {
    LogFormat.CLAUDE_CODE: claude_code.read,
    LogFormat.CODEX: codex.read,
    LogFormat.OPENAI_AGENTS: openai_agents.read,
    LogFormat.LANGGRAPH: langgraph.read,
    LogFormat.OPENTELEMETRY: opentelemetry.read,
}


class Log:
    """A file that is the log of an agent."""

    def __init__(self, file: LogFile, format: LogFormat) -> None:
        self.format = format
        self.notes = Notes(file.shown)
        self._file = file

    def conversations(self) -> Iterator[LoggedConversation]:
        """Each conversation, then its branches; what could not be read stands in `notes` afterwards.

        Raises `InputError` for a file that cannot be read at all.
        """
        names = _Names()
        return map(names.named, READERS[self.format](self._file, self.notes))


class _Names:
    """Names that a store and a terminal take for conversations and branches, each but once, whatever the file says."""

    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()
        #: Of the conversation whose branches are being read: its name, and theirs by what the file calls them.
        self._id = ""
        self._branches: dict[str, str] = {}
        self._branches_taken: Counter[str] = Counter()

    def named(self, conversation: LoggedConversation) -> LoggedConversation:
        """The conversation under its name; a second one of the same name is ``id#2``."""
        fork = conversation.fork
        if fork is None:
            self._id = _free(conversation.id, self._taken)
            self._branches, self._branches_taken = {MAIN: MAIN}, Counter({MAIN: 1})
            return replace(conversation, id=self._id)
        self._branches[fork.name] = name = _free(fork.name, self._branches_taken)
        return replace(conversation, id=self._id, fork=replace(fork, name=name, parent=self._branches[fork.parent]))


def _free(name: str, taken: Counter[str]) -> str:
    shown = "".join(c if c.isprintable() else "?" for c in name[:_LONGEST_NAME])
    while taken[shown]:
        taken[shown] += 1
        shown = f"{shown}#{taken[shown]}"
    taken[shown] = 1
    return shown


@contextmanager
def recognised(name: str, format: str | None = None) -> Iterator[Log | None]:
    """The log of a name, in the format that it shows or that is said; None: it is lines of conversations.

    Standard input (``-``) is lines unless a format is said. Raises `InputError` for a file that cannot be read, for a
    database that is no log, and for a file that cannot be of the format that is said.
    """
    if format == LINES or (format is None and name == STDIN):
        yield None
        return
    # A pipe cannot be looked into without taking something out of it, so it is lines as well.
    start = beginning(name) if format is None else None
    if format is None and (start is None or (not start.startswith(MAGIC) and _of_start(start) is None)):
        yield None
        return
    with opened(name) as file:
        if format is not None:
            yield Log(file, _agreed(file, LogFormat(format)))
        else:
            yield Log(file, _of_start(start or b"") or _of_tables(file))


def _agreed(file: LogFile, said: LogFormat) -> LogFormat:
    wants_database = said in (LogFormat.OPENAI_AGENTS, LogFormat.LANGGRAPH)
    if wants_database != _is_database(file):
        told = "no" if wants_database else "a"
        raise InputError(f"{file.shown} is no {said.value} log: it is {told} SQLite database")
    if wants_database and (found := _of_tables(file)) is not said:
        raise InputError(f"{file.shown} is no {said.value} log but {found}")
    return said


def _is_database(file: LogFile) -> bool:
    with file.path.open("rb") as opened_file:
        return opened_file.read(len(MAGIC)) == MAGIC


def _of_start(start: bytes) -> LogFormat | None:
    """The format that the beginning of a text shows; None: lines of conversations, or nothing that is known."""
    lines = (line for line in BytesIO(start) if line.strip())
    for line in islice(lines, _LOOKED_AT):
        if line.strip() in (b"{", b"["):
            told = any(key in start for key in (b'"resourceSpans"', b'"resourceLogs"', b'"trace_id"'))
            return LogFormat.OPENTELEMETRY if told else None
        try:
            found = _of_object(decoded(line))
        except ValueError:
            continue
        if found is not None:
            return found if isinstance(found, LogFormat) else None
    return None


def _of_tables(file: LogFile) -> LogFormat:
    with database(file) as connection:
        present = tables(connection)
    if langgraph.COLUMNS.issubset(present.get(langgraph.CHECKPOINTS, ())):
        return LogFormat.LANGGRAPH
    if openai_agents.COLUMNS.issubset(present.get(openai_agents.MESSAGES, ())):
        return LogFormat.OPENAI_AGENTS
    named = ", ".join(sorted(present)[:5]) or "none"
    raise InputError(f"{file.shown} is a SQLite database, but no log that is known (its tables: {named})")


def _of_object(value: object) -> LogFormat | str | None:
    """The format that a line shows, `LINES` among them; None: it shows none."""
    if isinstance(value, list):
        value = value[0] if value else None
        told = _of_object(value) if isinstance(value, dict) else None
        return told if told is LogFormat.OPENTELEMETRY else LINES
    found = mapping(value)
    kind = found.get("type")
    if "messages" in found or "traj" in found or "role" in found:
        return LINES if "type" not in found else (LogFormat.CODEX if kind_of(found) else LINES)
    if found.keys() & {"resourceSpans", "resourceLogs"} or ("context" in found and "start_time" in found):
        return LogFormat.OPENTELEMETRY
    if "traceId" in found and "spanId" in found:
        return LogFormat.OPENTELEMETRY
    if not isinstance(kind, str):
        return LogFormat.CODEX if {"id", "timestamp", "instructions"} <= found.keys() else None
    if kind in codex.ENVELOPES and "payload" in found:
        return LogFormat.CODEX
    if kind in claude_code.RECORDS and found.keys() & {"uuid", "sessionId", "leafUuid", "messageId"}:
        return LogFormat.CLAUDE_CODE
    return LogFormat.CODEX if kind_of(found) is not None else None
