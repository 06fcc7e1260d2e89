"""Importing the logs of agents. A log grows, so what is new in it since the last import is added.

A conversation is known by the format, its id and its branch. With it stands recorded how many of its messages were read
and a hash of them all: they must still be there, or nothing is added. Of a message that was not whole then, the rest is
a message of its own.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from callsheet.audit.exchange.importing import AT_ONCE, Imported, branch_of, counted, import_source
from callsheet.audit.exchange.lines import NO_MESSAGES
from callsheet.audit.exchange.sources import Line
from callsheet.audit.logs.blocks import dated
from callsheet.audit.logs.formats import Log, recognised
from callsheet.audit.logs.unrecognised import told_once
from callsheet.audit.logs.values import Fields, LogFormat, LoggedConversation, LoggedMessage, Notes
from callsheet.errors import InputError, InvalidLine, NotFound
from callsheet.graph.canonical import content_digest
from callsheet.graph.changes import ImportProgress
from callsheet.graph.values import Digest
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.importing import Dated, record_dated, standing
from callsheet.runtime.runtime import Runtime

BYTES_AT_ONCE = 16 * 2**20
"""JSON of messages recorded in one transaction: a long log with big results does not stand in memory."""

_NOTHING_YET = content_digest(b"")


def import_file(
    runtime: Runtime,
    name: str,
    format: str | None = None,
    *,
    line_told: Callable[[Line], None] = lambda _: None,
    told: Callable[[LoggedConversation], None] = lambda _: None,
) -> Iterator[Imported | InvalidLine]:
    """Import a file (``-``: standard input): lines of conversations, or a log in the format it shows or that is said.

    Gives what each transaction came to, what cannot be imported with its reason, and for a log, at last, what of it was
    passed over. Raises `InputError` for a file that cannot be read, and `StoreError`; what was imported until then
    stays, and the next import goes on behind it.
    """
    with recognised(name, format) as log:
        if log is None:
            outcomes = import_source(runtime, name, told=line_told)
            yield from outcomes if format is not None else told_once(outcomes, NO_MESSAGES)
            return
        refused = 0
        for conversation in log.conversations():
            told(conversation)
            yield from _conversation(runtime, log, conversation)
            yield from log.notes.refused[refused:]
            refused = len(log.notes.refused)
        yield from log.notes.refused[refused:]
        yield Imported(passed=Counter(log.notes.passed))


def _conversation(runtime: Runtime, log: Log, conversation: LoggedConversation) -> Iterator[Imported | InvalidLine]:
    if conversation.others:
        log.notes.pass_over("usage of requests that left no message", len(conversation.others))
    if not conversation.count:
        log.notes.pass_over("conversation without messages")
        return
    reading = _Reading(conversation, log.notes)
    try:
        if conversation.fork is None:
            view = runtime.conversation(conversation.id)
        else:
            view = branch_of(runtime.existing(conversation.id), conversation.fork)
        yield from _read_on(view, reading, _source(log.format, conversation))
    except (InputError, NotFound) as problem:
        yield InvalidLine(str(problem), file=log.notes.file, line=reading.line)


def _source(format: LogFormat, conversation: LoggedConversation) -> Digest:
    branch = conversation.fork.name if conversation.fork is not None else None
    return content_digest(json.dumps([format.value, conversation.id, branch]).encode())


class _Reading:
    """The messages of a conversation, counted and hashed as they are read."""

    def __init__(self, conversation: LoggedConversation, notes: Notes) -> None:
        self.line = 1
        self.messages = 0
        self.hash = _NOTHING_YET
        self._notes = notes
        self._left = conversation.read()
        self._rest: list[LoggedMessage] = []

    def skip(self, messages: int, hash: Digest | None) -> bool:
        """Read so many messages that were recorded before; whether they are the same, of which that is the hash."""
        before, newest = self.hash, None
        while self.messages < messages:
            before = self.hash
            read = self._next()
            if read is None:
                return False
            newest = read[0]
        return self.hash == hash or (newest is not None and self._was_in_part(newest, before, hash))

    def _was_in_part(self, message: LoggedMessage, before: Digest, hash: Digest | None) -> bool:
        """Whether only the first pieces of a message were there; the others are what comes next."""
        if message.split is None:
            return False
        for at in range(1, message.pieces):
            first, rest = message.split(at)
            if _chained(before, first)[0] == hash:
                # What the log tells of the request was recorded with the first pieces.
                self._rest.append(replace(message, message=rest, answered=None))
                return True
        return False

    def portion(self) -> list[Dated]:
        """What goes into one transaction; nothing at the end."""
        found = [dated(rest, self._notes) for rest in self._rest]
        self._rest = []
        size = 0
        while len(found) < AT_ONCE and size < BYTES_AT_ONCE and (read := self._next()) is not None:
            message, length = read
            found.append(dated(message, self._notes))
            size += length
        return found

    def _next(self) -> tuple[LoggedMessage, int] | None:
        message = next(self._left, None)
        if message is None:
            return None
        self.line = message.line
        self.hash, size = _chained(self.hash, message.message)
        self.messages += 1
        return message, size


def _chained(before: Digest, message: Fields) -> tuple[Digest, int]:
    """The hash of all messages up to this one, and how many bytes it has."""
    encoded = json.dumps(message, sort_keys=True).encode()
    return content_digest(before.encode() + encoded), len(encoded)


def _read_on(view: Conversation, reading: _Reading, source: Digest) -> Iterator[Imported]:
    """Record what has not been recorded yet."""
    stands = standing(view, source)
    before = stands.progress
    if before is None and stands.others:
        raise InputError(
            f"conversation {view.name!r} is there already and did not come from this log; import into another store"
        )
    if before is not None and not reading.skip(before.messages, before.read):
        told = f"its first {before.messages} messages are not those that were imported before"
        raise InputError(f"conversation {view.name!r}: {told}")
    new = False
    while portion := reading.portion():
        if before is not None and stands.others:
            raise InputError(
                f"conversation {view.name!r} went on here after it was imported; what is new in the log is left out"
            )
        new = True
        progress = ImportProgress(
            source=source, line=reading.line, messages=reading.messages, done=True, read=reading.hash
        )
        records = record_dated(view, portion, progress, before=before)
        yield counted(records, finished=False)
        before = progress
    yield Imported(conversations=int(new), known=int(not new))
