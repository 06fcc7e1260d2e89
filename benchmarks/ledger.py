"""What the ledger costs, as ratios within one run: python benchmarks/ledger.py [--json | --postings]

turn        one turn's transaction, and the whole call of `append` (encoding, hashing and sealing before it begins),
            against a bare SQLite insert and commit of the same bytes at the same durability; with 15 entities and
            about 100 terms in each turn. Means have the merging of postings in them, medians do not
blob turn   the same with a tool result of 64 KB that goes to the blob store
request     reading what one request needs from conversations of 100 to 100,000 records
disk        bytes on disk for each turn
postings    ways to keep where names occur: a row each; FTS5; FTS5 and merged rows every so many turns
"""

import argparse
import base64
import json
import math
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ParamSpec

from callsheet.graph.codec import encode_body
from callsheet.graph.cut import Lineage, Segment
from callsheet.graph.enums import Relation, Role, RunStatus, StateField, StreamKind
from callsheet.graph.ids import ROOT_BRANCH, RecordId, StreamId, TenantId, UserId
from callsheet.graph.index import Index, PostingQuery
from callsheet.graph.nodes import Branch, Message, ModelRun, ToolArtifact, ToolCall
from callsheet.graph.ports import Append, Owner
from callsheet.graph.query import LinkQuery, NodeQuery, StateQuery
from callsheet.graph.record import Body, Draft, Stream
from callsheet.graph.times import Instant
from callsheet.graph.values import CallRef, Payload, Scope, Text, Usage
from callsheet.ledger.prepare import PreparedAppend, prepare
from callsheet.ledger.sqlite import SqliteLedger, write

TURNS = 1500
WARM_UP = 100
LENGTHS = (100, 1_000, 10_000, 100_000)
READS = 40
BLOB_BYTES = 64 * 1024
Given = ParamSpec("Given")
SCOPE = Scope(branch=ROOT_BRANCH)
WORDS = (
    *("order", "parcel", "invoice", "stock", "refund", "delivery", "customer"),
    *("address", "ticket", "shipped", "pending", "store", "size", "colour"),
)


@dataclass(frozen=True)
class Figures:
    """Times in microseconds are medians, ratios are of medians unless they say so."""

    bare_us: float
    transaction_us: float
    transaction_ratio: float
    transaction_ratio_of_means: float
    transaction_ratio_of_p95: float
    unindexed_ratio: float
    unindexed_ratio_of_means: float
    append_us: float
    append_ratio: float
    append_ratio_of_means: float
    turn_bytes: int
    turn_disk_bytes: int
    blob_bare_us: float
    blob_turn_us: float
    blob_turn_ratio: float
    request_us: dict[int, float]
    request_ratio: float
    postings_us: dict[int, float]
    postings_ratio: float


class Source:
    """Turns of a conversation: the same ones in every run."""

    def __init__(self, name: str, *, indexed: bool = True) -> None:
        self.random = random.Random(name)
        self.indexed = indexed
        self.stream = Stream(
            tenant=TenantId("local"),
            id=StreamId(self.id()),
            kind=StreamKind.CONVERSATION,
            name=name,
            user=UserId("mia"),
        )

    def id(self) -> RecordId:
        return RecordId("msg_" + base64.b32encode(self.random.randbytes(15)).decode().lower())

    def index(self, entities: int, terms: int) -> Index | None:
        """Entities of which some come again and most do not, and words as often as words are."""
        if not self.indexed:
            return None
        met = [f"W-{int(2000 * self.random.random() ** 3)}" for _ in range(entities // 2)]
        new = [f"N-{self.random.randrange(10**7)}" for _ in range(entities - entities // 2)]
        words = dict.fromkeys(f"w{int(math.exp(self.random.random() * math.log(30_000)))}" for _ in range(terms))
        return Index(
            entities=tuple(dict.fromkeys(met + new)),
            terms=tuple((word, 1) for word in words),
            derived=self.random.randbytes(60),
        )

    def draft(self, body: Body, id: RecordId | None = None, index: Index | None = None) -> Draft:
        return Draft(
            id=id or self.id(),
            at=Instant(1_760_000_000_000_000),
            body=body,
            nonce=self.random.randbytes(16),
            scope=SCOPE,
            index=index,
        )

    def text(self, size: int) -> bytes:
        words = " ".join(self.random.choices(WORDS, k=size // 4))
        return words[:size].encode()

    def payload(self, size: int) -> Payload:
        content = self.text(size)
        return Payload(size=len(content), inline=content)

    def root(self) -> Draft:
        return self.draft(Branch(name="main"), ROOT_BRANCH)

    def turn(self, result: Payload) -> tuple[Draft, ...]:
        """A user message, the run, its message with one call, and the result: 5 records, about 4.7 KB inline."""
        user, run, message, call = self.id(), self.id(), self.id(), self.id()
        said = Message(role=Role.USER, parts=(Text(text=self.payload(700), o200k=150),), wire="openai")
        ran = ModelRun(
            status=RunStatus.COMPLETED,
            requested_provider="openai",
            requested_model="gpt-5.2",
            answered_model="gpt-5.2",
            trigger=user,
            usage=Usage(input=3000, output=200),
            finish="tool_calls",
        )
        answered = Message(
            role=Role.ASSISTANT,
            parts=(Text(text=self.payload(1100), o200k=250), CallRef(call=call)),
            wire="openai",
        )
        arguments = Payload(size=120, inline=self.text(120), digest="sha256:" + "0" * 64)
        called = ToolCall(message=message, tool="search_orders", arguments=arguments, provider_id="call_1")
        got = ToolArtifact(call=call, tool="search_orders", content=(Text(text=result, o200k=500),), size=result.size)
        return (
            self.draft(said, user, self.index(2, 24)),
            self.draft(ran, run),
            self.draft(answered, message, self.index(3, 34)),
            self.draft(called, call, self.index(2, 4)),
            self.draft(got, index=self.index(8, 44)),
        )


def timed(work: Callable[Given, object], *given: Given.args, **named: Given.kwargs) -> float:
    """Microseconds that a call took."""
    began = time.perf_counter()
    work(*given, **named)
    return (time.perf_counter() - began) * 1e6


def bare(path: Path) -> Callable[[bytes], None]:
    """Insert and commit, nothing else, as durably as the ledger."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE bare (content BLOB)")

    def insert(content: bytes) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO bare VALUES (?)", (content,))
        connection.execute("COMMIT")

    return insert


@dataclass(frozen=True)
class Turns:
    """Times in microseconds; the first ones, while the files grow, are left out."""

    bare: list[float]
    transaction: list[float]
    append: list[float]
    size: int
    disk: int


def turns(folder: Path, *, indexed: bool = True) -> Turns:
    """Bare inserts and turns in alternation, so that all meet the same moments of the disk.

    Every other turn is prepared beforehand, and its transaction is timed alone.
    """
    folder.mkdir()
    source, insert = Source("turns", indexed=indexed), bare(folder / "bare.db")
    ledger = SqliteLedger.open(folder / "turns.db")
    ledger.append([Append(stream=source.stream, drafts=(source.root(),))])
    before = disk(folder / "turns.db")

    def transact(ready: PreparedAppend) -> None:
        with ledger._connections.writing() as connection:
            write.append(connection, [ready], None)

    bare_us, transaction_us, append_us, sizes = [], [], [], []
    for number in range(WARM_UP + TURNS):
        turn = Append(stream=source.stream, drafts=source.turn(source.payload(2050)))
        content = b"".join(encode_body(draft.body) for draft in turn.drafts)
        sizes.append(len(content))
        bare_us.append(timed(insert, content))
        if number % 2:
            append_us.append(timed(ledger.append, [turn]))
        else:
            transaction_us.append(timed(transact, prepare(turn, ledger._vault)))
    ledger.close()
    grown = disk(folder / "turns.db") - before
    return Turns(
        bare=bare_us[WARM_UP:],
        transaction=transaction_us[WARM_UP // 2 :],
        append=append_us[WARM_UP // 2 :],
        size=round(statistics.fmean(sizes)),
        disk=grown // (WARM_UP + TURNS),
    )


def blob_turns(folder: Path) -> tuple[float, float]:
    """Medians of a bare insert of a large result and of the turn with it, stashing included."""
    source, insert = Source("blobs"), bare(folder / "bare blobs.db")
    owner = Owner(tenant=source.stream.tenant, user=source.stream.user)
    ledger = SqliteLedger.open(folder / "blobs.db")

    def record(content: bytes) -> None:
        drafts = source.turn(ledger.stash(owner, content))
        ledger.append([Append(stream=source.stream, drafts=drafts)])

    bare_us, turn_us = [], []
    for _ in range(WARM_UP + TURNS // 5):
        content = source.text(BLOB_BYTES)
        bare_us.append(timed(insert, content))
        turn_us.append(timed(record, content))
    ledger.close()
    return statistics.median(bare_us[WARM_UP:]), statistics.median(turn_us[WARM_UP:])


def conversation(ledger: SqliteLedger, length: int) -> Source:
    source = Source(f"length {length}")
    drafts = [source.root()]
    while len(drafts) < length:
        drafts += source.turn(source.payload(800))
    for start in range(0, length, 1000):
        ledger.append([Append(stream=source.stream, drafts=tuple(drafts[start : start + 1000]))])
    return source


def request(ledger: SqliteLedger, source: Source) -> None:
    """What one request needs: the newest messages and results, what holds of them, and what is open."""
    key = source.stream.key
    head = ledger.head(key)
    assert head is not None
    lineage = Lineage(segments=(Segment(branch=ROOT_BRANCH, upto=head.position),), upto=head.position)
    shown = ledger.nodes(key, NodeQuery(kinds=("message", "artifact"), lineage=lineage, limit=50, newest=True))
    ids = tuple(record.id for record in shown)
    calls = tuple(record.body.call for record in shown if isinstance(record.body, ToolArtifact) and record.body.call)
    ledger.get(key, calls)
    ledger.states(key, StateQuery(field=StateField.STATUS, targets=calls, lineage=lineage))
    for field in (StateField.STALE, StateField.PRIVACY, StateField.PINNED):
        ledger.states(key, StateQuery(field=field, targets=ids, lineage=lineage))
    ledger.states(key, StateQuery(field=StateField.STATUS, value="open", lineage=lineage))
    ledger.links(key, LinkQuery(relation=Relation.SUPERSEDES, targets=ids, lineage=lineage))
    ledger.links(key, LinkQuery(relation=Relation.ANSWERS, targets=calls, lineage=lineage))


def search(ledger: SqliteLedger, source: Source) -> None:
    """Where 20 names occur: some everywhere, some once, some never; and what the newest records are found by."""
    key = source.stream.key
    head = ledger.head(key)
    assert head is not None
    lineage = Lineage(segments=(Segment(branch=ROOT_BRANCH, upto=head.position),), upto=head.position)
    entities = (*(f"W-{number}" for number in (0, 1, 2, 5, 90, 500, 1800)), "N-1", "N-2", "N-3")
    terms = tuple(f"w{number}" for number in (1, 2, 3, 10, 100, 1000, 5000, 20_000, 29_000, 31_000))
    ledger.postings(key, PostingQuery(entities=entities, terms=terms, lineage=lineage, limit=10))
    ledger.indexed(key, range(max(1, head.position - 20), head.position))


def requests(folder: Path) -> tuple[dict[int, float], dict[int, float]]:
    """Reading from conversations of every length in one store, taking turns; then searching them."""
    ledger = SqliteLedger.open(folder / "requests.db")
    sources = {length: conversation(ledger, length) for length in LENGTHS}
    times: dict[int, list[float]] = {length: [] for length in LENGTHS}
    searches: dict[int, list[float]] = {length: [] for length in LENGTHS}
    for _ in range(READS):
        for length, source in sources.items():
            times[length].append(timed(request, ledger, source))
            searches[length].append(timed(search, ledger, source))
    ledger.close()
    return _medians(times), _medians(searches)


def _medians(times: dict[int, list[float]]) -> dict[int, float]:
    return {length: statistics.median(found) for length, found in times.items()}


def p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


Rows = list[tuple[str | int, ...]]


def posting_rows(source: Source) -> tuple[Rows, Rows]:
    """A turn's names, as a row each and as a text for each record."""
    plain: Rows = []
    texts: Rows = []
    for number, (entities, terms) in enumerate(((2, 24), (3, 34), (2, 4), (8, 44))):
        index = source.index(entities, terms)
        assert index is not None
        names = ["12q" + name.replace("-", "") for name in (*index.entities, *(term for term, _ in index.terms))]
        plain += [(12, name, number) for name in dict.fromkeys(names)]
        texts.append((" ".join(names),))
    return plain, texts


PLAIN = "CREATE TABLE posting (stream INTEGER, name TEXT, position INTEGER, PRIMARY KEY (stream, name, position))"
WAYS = {
    "a row for each, written each turn": (f"{PLAIN} WITHOUT ROWID", "?, ?, ?", 1),
    "a row for each, written every 25 turns": (f"{PLAIN} WITHOUT ROWID", "?, ?, ?", 25),
    "FTS5, written each turn": ("CREATE VIRTUAL TABLE posting USING fts5(t, content='', detail=none)", "?", 1),
    "FTS5, written every 25 turns": ("CREATE VIRTUAL TABLE posting USING fts5(t, content='', detail=none)", "?", 25),
}


def posting_ways(folder: Path) -> dict[str, tuple[float, float]]:
    """Microseconds that each way adds to a turn of one bare insert: the mean and the 95th percentile."""
    found: dict[str, tuple[float, float]] = {}
    for way, (schema, values, every) in WAYS.items():
        connection = sqlite3.connect(folder / f"{len(found)}.db", isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "wal_autocheckpoint = 4000"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute(schema)
        connection.execute("CREATE TABLE bare (content BLOB)")
        source, content, times = Source("ways"), bytes(4700), []
        waiting: Rows = []
        for turn in range(TURNS):
            plain, texts = posting_rows(source)
            waiting += [(*row[:2], turn * 5 + int(row[2])) for row in plain] if "fts5" not in schema else texts
            written = sorted(waiting) if turn % every == 0 else []
            began = time.perf_counter()
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO bare VALUES (?)", (content,))
            if written:
                connection.executemany(f"INSERT INTO posting VALUES ({values})", written)
                waiting = []
            connection.execute("COMMIT")
            times.append((time.perf_counter() - began) * 1e6)
        connection.close()
        found[way] = statistics.fmean(times), p95(times)
    return found


def disk(database: Path) -> int:
    """Bytes of a store whose log is empty."""
    return sum(path.stat().st_size for path in [database, *database.parent.glob(f"{database.name}.blobs/*/*")])


def measured() -> Figures:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inline, unindexed = turns(folder / "indexed"), turns(folder / "unindexed", indexed=False)
        (blob_bare, blob_turn), (request_us, postings_us) = blob_turns(folder), requests(folder)
    bare_us, transaction_us = statistics.median(inline.bare), statistics.median(inline.transaction)
    append_us = statistics.median(inline.append)
    return Figures(
        bare_us=bare_us,
        transaction_us=transaction_us,
        transaction_ratio=transaction_us / bare_us,
        transaction_ratio_of_means=statistics.fmean(inline.transaction) / statistics.fmean(inline.bare),
        transaction_ratio_of_p95=p95(inline.transaction) / p95(inline.bare),
        unindexed_ratio=statistics.median(unindexed.transaction) / statistics.median(unindexed.bare),
        unindexed_ratio_of_means=statistics.fmean(unindexed.transaction) / statistics.fmean(unindexed.bare),
        append_us=append_us,
        append_ratio=append_us / bare_us,
        append_ratio_of_means=statistics.fmean(inline.append) / statistics.fmean(inline.bare),
        turn_bytes=inline.size,
        turn_disk_bytes=inline.disk,
        blob_bare_us=blob_bare,
        blob_turn_us=blob_turn,
        blob_turn_ratio=blob_turn / blob_bare,
        request_us=request_us,
        request_ratio=request_us[100_000] / request_us[1_000],
        postings_us=postings_us,
        postings_ratio=postings_us[100_000] / postings_us[1_000],
    )


def table(figures: Figures) -> str:
    rows = [
        (f"bare insert and commit of {figures.turn_bytes:,} bytes", figures.bare_us, ""),
        (
            "transaction of a turn, 5 records",
            figures.transaction_us,
            f"{figures.transaction_ratio:.2f} × bare, target 2.5"
            f" ({figures.transaction_ratio_of_means:.2f} of means, {figures.transaction_ratio_of_p95:.2f} of p95;"
            f" unindexed {figures.unindexed_ratio:.2f}, {figures.unindexed_ratio_of_means:.2f} of means)",
        ),
        (
            "append of a turn, all in all",
            figures.append_us,
            f"{figures.append_ratio:.2f} × bare ({figures.append_ratio_of_means:.2f} of means)",
        ),
        (f"bare insert and commit of {BLOB_BYTES:,} bytes", figures.blob_bare_us, ""),
        ("stash and append of a turn with those", figures.blob_turn_us, f"{figures.blob_turn_ratio:.2f} × bare"),
        *(
            (f"reading for a request at {length:,} records", took, f"{took / figures.request_us[1_000]:.2f} × at 1,000")
            for length, took in figures.request_us.items()
        ),
        *(
            (f"searching 20 names at {length:,} records", took, f"{took / figures.postings_us[1_000]:.2f} × at 1,000")
            for length, took in figures.postings_us.items()
        ),
    ]
    lines = [f"{what:<44}{took:>8,.0f} µs   {note}".rstrip() for what, took, note in rows]
    return "\n".join([*lines, f"{'bytes on disk for each turn':<44}{figures.turn_disk_bytes:>8,}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--postings", action="store_true", help="compare ways to keep where names occur")
    options = parser.parse_args()
    if options.postings:
        with tempfile.TemporaryDirectory() as name:
            for way, (mean, high) in posting_ways(Path(name)).items():
                print(f"{way:<44}{mean:>8,.0f} µs   p95 {high:,.0f} µs")
        return
    figures = measured()
    print(json.dumps(asdict(figures)) if options.json else table(figures))


if __name__ == "__main__":
    main()
