"""What was asked through the proxy, a row for each request: ids, counts, sums of money, and never content.

A file of its own beside the database: it also counts what is passed through and never recorded, and goes on counting
where the database cannot be written. Spend limits are counted from it, so they survive a restart.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from callsheet.errors import StoreBusy, StoreError, StoreFull

FILE = "requests.db"

_BUSY_SECONDS = 10.0

DAY = 86_400 * 1_000_000
"""Microseconds."""


class Sent(StrEnum):
    """What went to the provider."""

    SHEET = "sheet"
    #: The client's own request, since it was no dearer, or in observe-only mode.
    OWN = "own"
    #: The client's own request, since it could not be assembled.
    UNASSEMBLED = "unassembled"
    #: What is no request for an answer of a model, such as a list of models.
    PASSED = "passed"
    NOTHING = "nothing"


class Outcome(StrEnum):
    """What came of a request."""

    #: Not known yet; after a crash, never.
    OPEN = "open"
    ANSWERED = "answered"
    #: The client left, or the proxy was stopped, before the answer was over.
    CUT_OFF = "cut_off"
    #: The stream of the provider broke.
    BROKEN = "broken"
    #: The provider answered with an error.
    REFUSED = "refused"
    #: The provider was not reached, or took too long.
    UNREACHED = "unreached"
    #: Not let through by a limit of the proxy.
    LIMITED = "limited"
    #: Not let through, since it is nothing that can be read, assembled or served here.
    INVALID = "invalid"
    #: Not let through, since something in the proxy failed.
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """A request as it begins. Times are microseconds since 1970."""

    request: str
    at: int
    tenant: str
    digest: str
    key: str
    route: str
    upstream: str
    provider: str
    model: str
    #: Dollars that are counted as spent until it is known better.
    reserved: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """What came of it. Tokens are counted; `input` and below as the provider reported them, if it did."""

    at: int
    sent: Sent
    outcome: Outcome
    status: int
    conversation: str = ""
    sheet: str = ""
    how: str = ""
    #: The client's own request: its tokens, and those that the provider's cache would have held of it.
    asked: int = 0
    asked_cached: int = 0
    #: What was assembled, whether it was sent or not.
    assembled: int = 0
    assembled_cached: int = 0
    reported: bool = False
    input: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0
    #: Dollars; None: no price is known.
    cost: float | None = None
    #: Dollars that the client's own request, and the assembled one, would have cost; see `concluding`.
    plain_cost: float | None = None
    assembled_cost: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """The requests of one tenant, key, model and way, added up."""

    tenant: str
    key: str
    provider: str
    model: str
    sent: Sent
    outcome: Outcome
    requests: int
    asked: int
    asked_cached: int
    assembled: int
    assembled_cached: int
    #: Of those that the provider reported usage of.
    reported: int
    input: int
    cached: int
    written: int
    output: int
    #: Of those for which a price is known.
    priced: int
    cost: float
    plain_cost: float
    assembled_cost: float


class Journal:
    """The file. All methods may be called from any thread; each is one transaction."""

    def __init__(self, folder: Path | None) -> None:
        self._lock = threading.Lock()
        place = ":memory:" if folder is None else str(folder / FILE)
        with self._errors():
            self._connection = sqlite3.connect(
                place, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.executescript(_TABLES)

    def close(self) -> None:
        """Close it; closing twice is fine."""
        with self._lock:
            self._connection.close()

    def begin(self, begun: Begun) -> None:
        """Note that a request has come."""
        values = (
            begun.request, begun.at, begun.tenant, begun.digest, begun.key, begun.route, begun.upstream,
            begun.provider, begun.model, begun.reserved, Sent.NOTHING, Outcome.OPEN,
        )  # fmt: skip
        with self._transaction() as connection:
            connection.execute(_BEGIN, values)

    def end(self, request: str, ended: Ended) -> None:
        """Note what came of it; once more, and the later counts."""
        values = (
            ended.at, ended.sent, ended.outcome, ended.status, ended.conversation, ended.sheet, ended.how, ended.asked,
            ended.asked_cached, ended.assembled, ended.assembled_cached, ended.reported, ended.input, ended.cached,
            ended.written, ended.output, ended.cost, ended.plain_cost, ended.assembled_cost, request,
        )  # fmt: skip
        with self._transaction() as connection:
            found = connection.execute(_BEFORE, (request,)).fetchone()
            if found is None:
                return
            digest, day, before = found
            connection.execute(_END, values)
            if (ended.cost or 0.0) != before:
                connection.execute(_COUNT, (digest, day, (ended.cost or 0.0) - before))

    def spent(self, digest: str, since: int) -> float:
        """Dollars that a key has spent since the day on which a time falls, which is counted whole.

        Requests that are not over count with what is reserved for them.
        """
        with self._transaction() as connection:
            (spent,) = connection.execute(_SPENT, (digest, since // DAY)).fetchone()
            (reserved,) = connection.execute(_RESERVED, (digest, since)).fetchone()
        return float(spent) + float(reserved)

    def held(self, digest: str, since: int) -> float:
        """Dollars of these that are reserved: they count no more once the requests are over."""
        with self._transaction() as connection:
            (reserved,) = connection.execute(_RESERVED, (digest, since)).fetchone()
        return float(reserved)

    def rows(self, *, since: int, until: int, tenant: str | None = None, key: str | None = None) -> list[Row]:
        """The requests that began in a period, added up, the most first."""
        with self._transaction() as connection:
            found = connection.execute(_ROWS, {"since": since, "until": until, "tenant": tenant, "key": key}).fetchall()
        return [
            Row(
                tenant=tenant, key=key, provider=provider, model=model, sent=Sent(sent), outcome=Outcome(outcome),
                requests=requests, asked=asked, asked_cached=asked_cached, assembled=assembled,
                assembled_cached=assembled_cached, reported=reported, input=input, cached=cached, written=written,
                output=output, priced=priced, cost=cost, plain_cost=plain,
                assembled_cost=would,
            )
            for (
                tenant, key, provider, model, sent, outcome, requests, asked, asked_cached, assembled,
                assembled_cached, reported, input, cached, written, output, priced, cost, plain, would,
            ) in found
        ]  # fmt: skip

    def placed(self, how: str, *, since: int, until: int, tenant: str | None = None, key: str | None = None) -> int:
        """How many requests of a period were this to the conversation that they stand in."""
        given = {"how": how, "since": since, "until": until, "tenant": tenant, "key": key}
        with self._transaction() as connection:
            (count,) = connection.execute(_PLACED, given).fetchone()
        return int(count)

    def sheet_of(self, request: str, tenant: str) -> str | None:
        """The sheet of a request of a tenant; empty: none was made for it; None: there was no such request."""
        with self._transaction() as connection:
            found = connection.execute(_SHEET, (request, tenant)).fetchone()
        return None if found is None else str(found[0] or "")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as problem:
            said = str(problem)
            if "locked" in said or "busy" in said:
                raise StoreBusy from None
            if "full" in said:
                raise StoreFull from None
            raise StoreError(f"the list of requests cannot be used: {said}") from None
        except sqlite3.Error as problem:
            raise StoreError(f"the list of requests cannot be used: {problem}") from None


_TABLES = """
CREATE TABLE IF NOT EXISTS request (
    request TEXT PRIMARY KEY, begun INTEGER NOT NULL, tenant TEXT NOT NULL, digest TEXT NOT NULL, key TEXT NOT NULL,
    route TEXT NOT NULL, upstream TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL, reserved REAL NOT NULL,
    sent TEXT NOT NULL, outcome TEXT NOT NULL,
    ended INTEGER, status INTEGER, conversation TEXT, sheet TEXT, how TEXT,
    asked INTEGER NOT NULL DEFAULT 0, asked_cached INTEGER NOT NULL DEFAULT 0,
    assembled INTEGER NOT NULL DEFAULT 0, assembled_cached INTEGER NOT NULL DEFAULT 0,
    reported INTEGER NOT NULL DEFAULT 0,
    input INTEGER NOT NULL DEFAULT 0, cached INTEGER NOT NULL DEFAULT 0, written INTEGER NOT NULL DEFAULT 0,
    output INTEGER NOT NULL DEFAULT 0, cost REAL, plain_cost REAL, assembled_cost REAL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS request_by_time ON request (begun);
CREATE INDEX IF NOT EXISTS request_open ON request (digest, begun) WHERE outcome = 'open';
CREATE TABLE IF NOT EXISTS spent (
    digest TEXT NOT NULL, day INTEGER NOT NULL, dollars REAL NOT NULL, PRIMARY KEY (digest, day)
) WITHOUT ROWID;
"""

_BEGIN = """
INSERT INTO request (request, begun, tenant, digest, key, route, upstream, provider, model, reserved, sent, outcome)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_END = """
UPDATE request SET ended = ?, sent = ?, outcome = ?, status = ?, conversation = ?, sheet = ?, how = ?, asked = ?,
    asked_cached = ?, assembled = ?, assembled_cached = ?, reported = ?, input = ?, cached = ?, written = ?, output = ?,
    cost = ?, plain_cost = ?, assembled_cost = ?
WHERE request = ?
"""

_BEFORE = f"SELECT digest, begun / {DAY}, coalesce(cost, 0) FROM request WHERE request = ?"

_COUNT = """
INSERT INTO spent (digest, day, dollars) VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET dollars = dollars + excluded.dollars
"""

_SPENT = "SELECT coalesce(sum(dollars), 0) FROM spent WHERE digest = ? AND day >= ?"

_RESERVED = "SELECT coalesce(sum(reserved), 0) FROM request WHERE digest = ? AND begun >= ? AND outcome = 'open'"

_ROWS = """
SELECT tenant, key, provider, model, sent, outcome, count(*), sum(asked), sum(asked_cached), sum(assembled),
    sum(assembled_cached), sum(reported), sum(CASE WHEN reported THEN input ELSE 0 END),
    sum(CASE WHEN reported THEN cached ELSE 0 END), sum(CASE WHEN reported THEN written ELSE 0 END),
    sum(output), sum(cost IS NOT NULL), coalesce(sum(cost), 0), coalesce(sum(plain_cost), 0),
    coalesce(sum(assembled_cost), 0)
FROM request
WHERE begun >= :since AND begun < :until AND (:tenant IS NULL OR tenant = :tenant)
    AND (:key IS NULL OR key = :key OR digest = :key)
GROUP BY tenant, key, provider, model, sent, outcome
ORDER BY count(*) DESC, tenant, key, provider, model, sent, outcome
"""

_PLACED = """
SELECT count(*) FROM request
WHERE how = :how AND begun >= :since AND begun < :until AND (:tenant IS NULL OR tenant = :tenant)
    AND (:key IS NULL OR key = :key OR digest = :key)
"""

_SHEET = "SELECT sheet FROM request WHERE request = ? AND tenant = ?"
