"""Sessions of the OpenAI Agents SDK in SQLite: items of the Responses API in a table, by session.

`AdvancedSQLiteSession` says in a second table which items stand on which branch, and in a third what turns took. The
plain session keeps neither instructions nor usage.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from callsheet.audit.exchange.lines import Fork
from callsheet.audit.logs.database import database, tables
from callsheet.audit.logs.files import LogFile
from callsheet.audit.logs.jsonlines import count, decoded, mapping, moment, text
from callsheet.audit.logs.responses import Kind, kind_of, message, name_of
from callsheet.audit.logs.trees import MAIN
from callsheet.audit.logs.values import Answered, LoggedConversation, LoggedMessage, Notes
from callsheet.graph.values import Usage
from callsheet.wire.names import Wire

MESSAGES, BRANCHES, USAGE = "agent_messages", "message_structure", "turn_usage"
COLUMNS = frozenset({"id", "session_id", "message_data", "created_at"})
"""Those of the table of messages."""

_ITEMS = "SELECT id, CAST(message_data AS BLOB) FROM agent_messages WHERE session_id IS ? ORDER BY id"
_ITEM = "SELECT CAST(message_data AS BLOB), created_at FROM agent_messages WHERE id = ?"
_PLACES = "SELECT branch_id, message_id FROM message_structure WHERE session_id IS ? ORDER BY sequence_number, id"
_TURNS = """
SELECT branch_id, user_turn_number, input_tokens, output_tokens, CAST(input_tokens_details AS BLOB),
       CAST(output_tokens_details AS BLOB)
FROM turn_usage WHERE session_id IS ?
"""


@dataclass(frozen=True, slots=True)
class _Message:
    kind: Kind
    #: Ids of its items.
    rows: tuple[int, ...]


def read(log: LogFile, notes: Notes) -> Iterator[LoggedConversation]:
    """Each session with its branches."""
    with database(log) as connection:
        present = tables(connection)
        for (session,) in connection.execute("SELECT DISTINCT session_id FROM agent_messages ORDER BY 1").fetchall():
            yield from _conversations(log, notes, connection, session, frozenset(present))


def _conversations(
    log: LogFile, notes: Notes, connection: sqlite3.Connection, session: object, present: frozenset[str]
) -> Iterator[LoggedConversation]:
    kinds = dict(_kinds(connection, session, notes))
    placed: dict[str, list[int]] = defaultdict(list)
    if BRANCHES in present:
        for branch, row in connection.execute(_PLACES, (session,)):
            if row in kinds:
                placed[str(branch)].append(row)
    on_some = {row for rows in placed.values() for row in rows}
    if not on_some or MAIN not in placed:
        placed[MAIN] = [row for row in kinds if row not in on_some]
    elif left := len(kinds) - len(on_some):
        notes.pass_over("item on no branch", left)
    turns = _turns(connection, session) if USAGE in present else {}
    known: dict[str, list[_Message]] = {}
    for branch in sorted(placed, key=lambda name: (name != MAIN, placed[name][-1:], name)):
        messages = list(_messages(placed[branch], kinds))
        parent, at = _parent(messages, known)
        known[branch] = messages
        own = messages[at:]
        yield LoggedConversation(
            id=str(session),
            fork=None if branch == MAIN else Fork(name=branch, parent=parent, at=at),
            count=len(own),
            read=partial(_read, log, own),
            others=tuple(turns.get(branch, ())),
            by_turn=True,
        )


def _kinds(connection: sqlite3.Connection, session: object, notes: Notes) -> Iterator[tuple[int, Kind]]:
    for row, data in connection.execute(_ITEMS, (session,)):
        try:
            item = mapping(decoded(data or b""))
        except ValueError as problem:
            notes.refuse(str(problem), row)
            continue
        kind = kind_of(item)
        if kind is not None:
            yield row, kind
        elif "__enc__" in item:
            notes.pass_over("encrypted item")
        else:
            notes.pass_over(name_of(item))


def _messages(rows: Sequence[int], kinds: dict[int, Kind]) -> Iterator[_Message]:
    held: list[int] = []
    for row in rows:
        if kinds[row] is Kind.ASSISTANT:
            held.append(row)
            continue
        if held:
            yield _Message(Kind.ASSISTANT, tuple(held))
            held = []
        yield _Message(kinds[row], (row,))
    if held:
        yield _Message(Kind.ASSISTANT, tuple(held))


def _parent(messages: Sequence[_Message], known: dict[str, list[_Message]]) -> tuple[str, int]:
    """The branch that shares the longest beginning, and its length."""
    best = MAIN, 0
    for name, others in known.items():
        alike = 0
        for ours, theirs in zip(messages, others, strict=False):
            if ours != theirs:
                break
            alike += 1
        if alike > best[1]:
            best = name, alike
    return best


def _turns(connection: sqlite3.Connection, session: object) -> dict[str, list[Answered]]:
    """What turns took, by branch: of a turn, not of a request."""
    found: dict[str, list[Answered]] = defaultdict(list)
    for branch, _, input, output, input_details, output_details in connection.execute(_TURNS, (session,)):
        took = _details(input_details)
        usage = Usage(
            input=count(input),
            output=count(output),
            cached_input=count(took.get("cached_tokens")),
            cache_write=count(took.get("cache_write_tokens")),
            reasoning=count(_details(output_details).get("reasoning_tokens")),
        )
        found[str(branch)].append(Answered(provider="openai", usage=usage))
    return found


def _details(data: bytes | None) -> dict[str, object]:
    try:
        return mapping(decoded(data or b"{}"))
    except ValueError:
        return {}


def _read(log: LogFile, messages: Sequence[_Message]) -> Iterator[LoggedMessage]:
    with database(log) as connection:
        for one in messages:
            found = [connection.execute(_ITEM, (row,)).fetchone() or (b"", None) for row in one.rows]
            items = [_details(data) for data, _ in found]
            more = {"x_at": _utc(found[0][1])}
            yield LoggedMessage(
                message={**message(items), **more},
                wire=Wire.OPENAI,
                line=one.rows[0],
                answered=Answered(provider="openai") if one.kind is Kind.ASSISTANT else None,
                pieces=len(items),
                split=partial(_split, items, more),
            )


def _split(
    items: Sequence[dict[str, object]], more: Mapping[str, object], at: int
) -> tuple[dict[str, object], dict[str, object]]:
    return {**message(items[:at]), **more}, {**message(items[at:]), **more}


def _utc(value: object) -> str | None:
    """SQLite's own clock: UTC, without saying so."""
    said = text(value)
    return moment(f"{said.replace(' ', 'T')}Z") if said is not None else None
