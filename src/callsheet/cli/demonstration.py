"""The demonstration's work: a recorded day is lived again through the real runtime, one request at a time."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from callsheet.cli.opening import opened
from callsheet.cli.parsing import DEFAULT_TENANT
from callsheet.errors import InvalidOption
from callsheet.evaluate import recordings
from callsheet.graph.enums import ForkReason
from callsheet.graph.ids import RecordId
from callsheet.graph.times import Instant, instant
from callsheet.ledger.sqlite import Durability, SqliteLedger
from callsheet.ledger.sqlite.backup import blob_folder
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.runtime import Runtime
from callsheet.runtime.sheet import Sheet
from callsheet.runtime.sources import RandomIds
from callsheet.wire.caching import caching

PROVIDER = "openai"
MODEL = "gpt-5.2"
POLICY = "balanced"

OWNER = "callsheet-demo"
"""The user of the demonstration's conversations: a store in which all belongs to this user is its own."""

Message = dict[str, object]


class Fork(msgspec.Struct):
    """Where a branch begins."""

    name: str
    parent: str
    at: int


class Line(msgspec.Struct):
    """A line of the recording, as far as it matters here."""

    id: str
    messages: list[Message]
    tools: list[Message] = []
    branch: Fork | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One request of the day, and what was answered to it."""

    conversation: str
    branch: str
    #: Turns of the branch before it.
    turn: int
    sheet: Sheet
    #: Billed-equivalent tokens of plain replay, when all of its request before was read from the cache.
    replay_billed: int
    #: Messages since the request before it.
    news: Sequence[Message]
    reply: Message


def recording() -> Path:
    """The recording, as it is installed."""
    return Path(recordings.__file__).with_name("support_desk.jsonl")


def make_room(store: Path) -> None:
    """Remove the store of an earlier demonstration; make a folder where there is none.

    Raises `InvalidOption` for a store that holds anything else, `NotAStore` for another file.
    """
    if not store.exists():
        store.parent.mkdir(parents=True, exist_ok=True)
        return
    with opened(str(store)) as runtime:
        owners = {stream.user for stream in runtime.ledger.streams()}
    if owners - {OWNER}:
        raise InvalidOption(f"{store} holds more than an earlier demonstration; name another place with --store")
    for ending in ("", "-wal", "-shm"):
        store.with_name(store.name + ending).unlink(missing_ok=True)
    shutil.rmtree(blob_folder(store), ignore_errors=True)


def live(store: Path, told: Callable[[Request], None]) -> list[Request]:
    """Record the day into a new store, assembling a request before each of the assistant's messages."""
    time = _DayTime()
    requests: list[Request] = []
    # Faster on slow disks; a demonstration need not survive a power cut.
    ledger = SqliteLedger.open(store, durability=Durability.NORMAL, clock=time)
    with Runtime(ledger, tenant=DEFAULT_TENANT, ids=RandomIds(), clock=time) as runtime:
        day = _Day(runtime, time)
        for line in recording().read_bytes().splitlines():
            for request in day.live(msgspec.json.decode(line, type=Line)):
                requests.append(request)
                told(request)
    return requests


_SECOND = 1_000_000
"""Microseconds."""


class _DayTime:
    """The day's own time, so that the store tells of the day and not of its repetition."""

    def __init__(self) -> None:
        self._now = Instant(0)

    def now(self) -> Instant:
        return self._now

    def follow(self, message: Message) -> None:
        said = message.get("x_at")
        if isinstance(said, str):
            self._now = instant(said)


class _Day:
    def __init__(self, runtime: Runtime, time: _DayTime) -> None:
        self._runtime = runtime
        self._time = time
        self._tools: list[Message] = []
        #: The messages of each branch, by its name.
        self._said: dict[str, list[tuple[RecordId, Message]]] = {}
        #: Of each request of a branch, the messages that it saw, the tokens that plain replay of them takes, and when.
        self._replayed: dict[str, list[tuple[int, int, Instant]]] = {}
        self._cache = caching(PROVIDER, MODEL)

    def live(self, line: Line) -> Iterator[Request]:
        """Live one conversation, or one branch of it."""
        self._tools = line.tools or self._tools
        self._time.follow(next(message for message in line.messages if "x_at" in message))
        talk = self._runtime.conversation(line.id, user=OWNER)
        if line.branch is None:
            return self._speak(talk, "main", [], line.messages)
        fork = line.branch
        inherited = self._said[fork.parent][: fork.at]
        self._replayed[fork.name] = [entry for entry in self._replayed[fork.parent] if entry[0] <= fork.at]
        branch = talk.on(fork.parent).branch(at=inherited[-1][0], name=fork.name, reason=ForkReason.EDIT)
        return self._speak(branch, fork.name, inherited, line.messages)

    def _speak(
        self, talk: Conversation, branch: str, inherited: list[tuple[RecordId, Message]], messages: list[Message]
    ) -> Iterator[Request]:
        said = self._said[branch] = list(inherited)
        news: list[Message] = []
        for message in messages:
            self._time.follow(message)
            if message["role"] != "assistant":
                status = message.get("x_status")
                done = talk.record(message, status=status if isinstance(status, str) else None)
                news.append(message)
            else:
                sheet = talk.assemble(provider=PROVIDER, model=MODEL, policy=POLICY, tools=self._tools)
                done = talk.record(_response(message), sheet=sheet)
                turn = sum(before["role"] in ("user", "assistant") for _, before in said)
                yield Request(
                    conversation=talk.name,
                    branch=branch,
                    turn=turn,
                    sheet=sheet,
                    replay_billed=self._replay_billed(branch, len(said), sheet.replay_tokens),
                    news=news,
                    reply=message,
                )
                news = []
            said += [(id, message) for id in done.ids]

    def _replay_billed(self, branch: str, said: int, tokens: int) -> int:
        """What plain replay costs when the request before it is read from the provider's cache, while that lives."""
        before, now = self._replayed.setdefault(branch, []), self._time.now()
        lives = bool(before) and now - before[-1][2] <= self._cache.life * _SECOND
        cached = before[-1][1] if lives else 0
        before.append((said, tokens, now))
        return tokens - round((1 - self._cache.share) * min(cached, tokens))


def _response(message: Message) -> Message:
    """A recorded message, as the provider's response would hold it."""
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}
