"""Checkpoints of LangGraph in SQLite: each is the whole state after a step, and names the one that it comes from.

Nothing of LangChain is imported and nothing in the file is run: pickled checkpoints are not read. What a step took out
of the state stays in the conversation, since it was said.
"""

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from callsheet.audit.exchange.lines import Fork
from callsheet.audit.logs.database import database, tables
from callsheet.audit.logs.files import LogFile
from callsheet.audit.logs.jsonlines import decoded, mapping, moment, text
from callsheet.audit.logs.langchain import Object, answered, fields_of, from_json, is_message, message, plain, unpacked
from callsheet.audit.logs.trees import grown
from callsheet.audit.logs.values import LoggedConversation, LoggedMessage, Notes
from callsheet.wire.names import Wire

CHECKPOINTS = "checkpoints"
COLUMNS = frozenset({"thread_id", "checkpoint_ns", "checkpoint_id", "parent_checkpoint_id", "type", "checkpoint"})
WRITES = "writes"
WRITES_COLUMNS = frozenset({"thread_id", "checkpoint_ns", "checkpoint_id", "channel"})

_THREADS = "SELECT DISTINCT thread_id, checkpoint_ns FROM checkpoints ORDER BY 1, 2"
_STEPS = """
SELECT rowid, checkpoint_id, parent_checkpoint_id, type, CAST(checkpoint AS BLOB) FROM checkpoints
WHERE thread_id IS ? AND checkpoint_ns IS ? ORDER BY checkpoint_id
"""
_STEPS_ALONE = "SELECT checkpoint_id, parent_checkpoint_id FROM checkpoints WHERE thread_id IS ? AND checkpoint_ns IS ?"
_STEP = "SELECT type, CAST(checkpoint AS BLOB) FROM checkpoints WHERE rowid = ?"
_WRITES = """
SELECT checkpoint_id, count(*) FROM writes
WHERE thread_id IS ? AND checkpoint_ns IS ? AND channel NOT GLOB '__*' GROUP BY 1
"""
_MESSAGES = "messages"


@dataclass(kw_only=True, slots=True)
class _Message:
    parent: str | None
    content: str
    at: str | None
    #: The newest checkpoint that holds it, and where in its list.
    row: int = 0
    index: int = 0
    afresh: bool = False


def read(log: LogFile, notes: Notes) -> Iterator[LoggedConversation]:
    """Each thread with its branches, and each of its sub-graphs that has messages of its own."""
    with database(log) as connection:
        has_writes = WRITES_COLUMNS.issubset(tables(connection).get(WRITES, ()))
        for thread, space in connection.execute(_THREADS).fetchall():
            found = _thread(connection, notes, thread, space)
            if has_writes and (pending := _pending(connection, thread, space)):
                notes.pass_over("write of a step that came to no checkpoint", pending)
            id, parent = (f"{thread}/{space}", str(thread)) if space else (str(thread), None)
            for branch in grown({key: one.parent for key, one in found.items()}):
                own = [found[key] for key in branch.keys]
                yield LoggedConversation(
                    id=id,
                    fork=Fork(name=branch.name, parent=branch.parent, at=branch.at) if branch.parent else None,
                    count=len(own),
                    read=partial(_read, log, own),
                    parent=parent,
                )


class _Thread:
    """The messages of a thread, each after the one that it follows, grown checkpoint by checkpoint."""

    def __init__(self) -> None:
        self.messages: dict[str, _Message] = {}
        self._children: dict[tuple[str | None, str], str] = {}
        #: By checkpoint: its last message, and how many of the messages up to there its state holds no more.
        self._ends: dict[object, tuple[str | None, int]] = {}
        #: The way to one message, by content: checkpoints mostly follow each other.
        self._way: tuple[str | None, dict[str, str]] = (None, {})

    def skip(self, checkpoint: object, before: object) -> None:
        """Pass over a checkpoint that cannot be read."""
        self._ends[checkpoint] = self._ends.get(before, (None, 0))

    def add(self, checkpoint: object, before: object, row: int, at: str | None, messages: Sequence[Object]) -> None:
        """Add what the state of a checkpoint holds more than that of the one before."""
        contents = _contents(messages)
        end, left = self._ends.get(before, (None, 0))
        way = self._to(end)
        length, held, begun = len(way), 0, None
        for index, (one, content) in enumerate(zip(messages, contents, strict=True)):
            key = way.get(content)
            if key is not None:
                held += 1  # each stands once in a list, so it stood there before
            else:
                known = len(self.messages)
                key = end = way[content] = self._follow(end, one, content, at)
                begun = key if begun is None and len(self.messages) > known else begun
            self.messages[key].row, self.messages[key].index = row, index
        gone = length - held
        if begun is not None and gone - left > (length - left) // 2:
            self.messages[begun].afresh = True
        self._way = end, way
        self._ends[checkpoint] = end, gone

    def _follow(self, parent: str | None, one: Object, content: str, at: str | None) -> str:
        key = self._children.get((parent, content))
        if key is None:
            key = self._children[parent, content] = _key(one, self.messages)
            self.messages[key] = _Message(parent=parent, content=content, at=at)
        return key

    def _to(self, end: str | None) -> dict[str, str]:
        """What stands on the way to a message, by content."""
        if self._way[0] == end:
            return self._way[1]
        path: list[str] = []
        key = end
        while key is not None:
            path.append(key)
            key = self.messages[key].parent
        return {self.messages[key].content: key for key in reversed(path)}


def _thread(connection: sqlite3.Connection, notes: Notes, thread: object, space: object) -> dict[str, _Message]:
    """All messages of a thread by key."""
    grown_so_far = _Thread()
    for row, checkpoint, before, kind, data in connection.execute(_STEPS, (thread, space)):
        try:
            state = _state(kind, data)
            grown_so_far.add(checkpoint, before, row, moment(state.get("ts")), _messages(state, notes))
        except (ValueError, RecursionError) as problem:
            notes.refuse(str(problem), row)
            grown_so_far.skip(checkpoint, before)
    return grown_so_far.messages


def _pending(connection: sqlite3.Connection, thread: object, space: object) -> int:
    """Writes for a next checkpoint that is not there: a run was broken off."""
    steps = connection.execute(_STEPS_ALONE, (thread, space)).fetchall()
    followed = {before for _, before in steps}
    written = connection.execute(_WRITES, (thread, space))
    return sum(times for checkpoint, times in written if checkpoint not in followed)


def _key(one: Object, known: dict[str, _Message]) -> str:
    named = text(fields_of(one).get("id")) or f"message {len(known)}"
    key, number = named, 2
    while key in known:
        key, number = f"{named}#{number}", number + 1
    return key


def _contents(messages: Sequence[Object]) -> list[str]:
    """The hash of each; what is said again without an id of its own is another message."""
    times: Counter[str] = Counter()
    contents: list[str] = []
    for one in messages:
        encoded = json.dumps([one.name, plain(one.fields)], sort_keys=True, ensure_ascii=True)
        digest = hashlib.sha256(encoded.encode()).hexdigest()
        times[digest] += 1
        contents.append(f"{digest}#{times[digest]}")
    return contents


def _state(kind: object, data: bytes | None) -> dict[str, object]:
    if kind == "msgpack":
        return mapping(unpacked(data or b""))
    if kind == "json":
        return mapping(from_json(decoded(data or b"")))
    raise ValueError(f"a checkpoint of type {str(kind)[:40]!r}, which is not read: it could run code")


def _messages(state: dict[str, object], notes: Notes | None = None) -> list[Object]:
    """The messages of a state: those of the channel of that name, or of the first that holds any."""
    channels = mapping(state.get("channel_values"))
    lists = {name: value for name, value in channels.items() if isinstance(value, list) and any(map(is_message, value))}
    if notes is not None:
        for name in channels.keys() - lists.keys():
            if not name.startswith(("branch:", "__")) and name != _MESSAGES:
                notes.pass_over(f"value of channel {name}")
    if not lists:
        return []
    name = _MESSAGES if _MESSAGES in lists else next(iter(lists))
    if notes is not None:
        for other in lists.keys() - {name}:
            notes.pass_over(f"messages of channel {other}")
    return [one for one in lists[name] if isinstance(one, Object) and is_message(one)]


def _read(log: LogFile, messages: Sequence[_Message]) -> Iterator[LoggedMessage]:
    held: tuple[int, list[Object]] = (0, [])
    with database(log) as connection:
        for one in messages:
            if held[0] != one.row:
                kind, data = connection.execute(_STEP, (one.row,)).fetchone() or ("msgpack", b"\x80")
                held = one.row, _messages(_state(kind, data))
            if one.index >= len(held[1]):
                continue
            value = message(held[1][one.index])
            yield LoggedMessage(
                message={**value, "x_at": one.at},
                wire=Wire.OPENAI,
                line=one.row,
                answered=answered(held[1][one.index]) if value["role"] == "assistant" else None,
                afresh=one.afresh,
            )
