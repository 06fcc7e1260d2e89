"""A small store in a file with all that a verification looks at: calls, a blob, sheets, a branch, two tenants."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import callsheet
from callsheet.audit.report import Finding, Report
from callsheet.audit.verify import verify
from callsheet.graph.ids import StreamId
from callsheet.graph.ports import Signer
from callsheet.ledger.sqlite import SqliteLedger
from callsheet.testing import FixedClock, SequenceIds

TALK = "support-17"
LARGE = "row of a large result\n" * 1000


def make_store(path: Path, *, signer: Signer | None = None) -> None:
    """Two conversations of the tenant ``local`` and one of ``other``."""
    ids, clock = SequenceIds(), FixedClock()
    with callsheet.open(path, ids=ids, clock=clock, signer=signer) as runtime:
        talk = runtime.conversation(TALK, user="mia")
        asked = talk.record({"role": "user", "content": "Where is order W123?"})
        sheet = talk.assemble(provider="openai", model="gpt-5.2")
        function = {"name": "get_order", "arguments": '{"id": "W123"}'}
        call = {"id": "c1", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        talk.record({"choices": [{"message": message, "finish_reason": "tool_calls"}]}, sheet=sheet)
        talk.record({"role": "tool", "tool_call_id": "c1", "content": LARGE})
        talk.assemble(provider="openai", model="gpt-5.2")
        talk.record({"role": "assistant", "content": "On its way."})
        talk.branch(at=asked.ids[0], name="retry").record({"role": "user", "content": "And order W124?"})
        runtime.conversation("support-18", user="leo").record({"role": "user", "content": "Hello"})
    with callsheet.open(path, tenant="other", ids=ids, clock=clock, signer=signer) as runtime:
        runtime.conversation(TALK).record({"role": "user", "content": "Hello from next door"})


@contextmanager
def opened(path: Path) -> Iterator[SqliteLedger]:
    """The store as a ledger."""
    with closing(SqliteLedger.open(path)) as ledger:
        yield ledger


def verified(path: Path, *, signer: Signer | None = None, expect: tuple[str, ...] = ()) -> Report:
    """What verifying the whole store says."""
    with opened(path) as ledger:
        return verify(ledger, signer=signer, expect=expect)


def head(path: Path, name: str = TALK, kind: str = "conversation") -> str:
    """The head of a stream of ``local``, as one would note it down."""
    (found,) = [
        entry.head
        for entry in verified(path).heads
        if (entry.head.tenant, entry.name, entry.kind) == ("local", name, kind)
    ]
    return str(found)


class Tables:
    """The database itself, for damage that no method of a ledger would do."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, statement: str, *values: object) -> None:
        """Execute a statement that must change something."""
        assert self._connection.execute(statement, values).rowcount > 0, f"no damage done: {statement} {values}"

    def define(self, statement: str) -> None:
        """Change the schema."""
        self._connection.execute(statement)

    def one(self, statement: str, *values: object) -> tuple[object, ...]:
        """The one row of a query."""
        (row,) = self._connection.execute(statement, values).fetchall()
        assert isinstance(row, tuple)
        return row

    def stream(self, name: str = TALK, kind: str = "conversation", tenant: str = "local") -> StreamId:
        """The id of a stream."""
        return StreamId(
            str(self.one("SELECT id FROM stream WHERE name = ? AND kind = ? AND tenant = ?", name, kind, tenant)[0])
        )

    def column(self, column: str, position: int) -> bytes:
        """A column of a record of the conversation."""
        query = f"SELECT {column} FROM record WHERE stream = ? AND position = ?"
        found = self.one(query, self.stream(), position)[0]
        return found if isinstance(found, bytes) else str(found).encode()

    def replace(self, column: str, position: int, value: object) -> None:
        """Put another value into a column of a record of the conversation."""
        self.run(f"UPDATE record SET {column} = ? WHERE stream = ? AND position = ?", value, self.stream(), position)

    def cut(self, position: int) -> None:
        """Take all records behind a position away, with what was projected from them, and put the head there."""
        at = self.stream()
        for table, column in (("record", "position"), ("link", "position"), ("state", "from_pos")):
            self._connection.execute(f"DELETE FROM {table} WHERE stream = ? AND {column} > ?", (at, position))
        self._connection.execute("UPDATE state SET to_pos = NULL WHERE stream = ? AND to_pos > ?", (at, position))
        chain = self.one("SELECT chain FROM record WHERE stream = ? AND position = ?", at, position)[0]
        self.run("UPDATE stream SET position = ?, chain = ? WHERE id = ?", position, chain, at)


@contextmanager
def tampering(path: Path) -> Iterator[Tables]:
    """Open the file behind the ledger's back."""
    with closing(sqlite3.connect(path)) as connection:
        yield Tables(connection)
        connection.commit()


def told(findings: tuple[Finding, ...]) -> list[tuple[str, str, int | None]]:
    """Findings as kind, name of the stream and position."""
    return [(finding.kind.value, finding.name, finding.position) for finding in findings]
