"""What the tests of tool execution are made of: calls, a pace that waits for nothing, and what was recorded."""

import json
import queue
import threading
from collections.abc import Mapping

from callsheet import Conversation
from callsheet.graph.changes import CallAttempt
from callsheet.graph.nodes import ToolArtifact
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record, StreamKey

Json = dict[str, object]


def ask(talk: Conversation, **calls: tuple[str, Mapping[str, object] | str]) -> None:
    """Record an assistant's message that calls tools, by the provider's ids."""
    asked = [
        {
            "id": id,
            "type": "function",
            "function": {"name": tool, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for id, (tool, given) in calls.items()
    ]
    talk.record({"role": "assistant", "content": None, "tool_calls": asked})


def talking(talk: Conversation, **calls: tuple[str, Mapping[str, object] | str]) -> Conversation:
    talk.record({"role": "user", "content": "Please see to it."})
    ask(talk, **calls)
    return talk


def artifacts(talk: Conversation) -> list[ToolArtifact]:
    return [record.body for record in talk.history()[0] if isinstance(record.body, ToolArtifact)]


def texts(talk: Conversation) -> list[str]:
    """The recorded results that are its own as text, in the order in which they came."""
    return [
        talk.raw(record.id).decode()
        for record in talk.history()[0]
        if isinstance(record.body, ToolArtifact) and record.header.scope.owner in (None, talk.participant_id)
    ]


def key_of(talk: Conversation) -> StreamKey:
    return talk._session.conversation.key


def attempts(talk: Conversation) -> list[CallAttempt]:
    records: list[Record] = talk._session.ledger.nodes(key_of(talk), NodeQuery(kinds=("call_attempt",)))
    return [record.body for record in records if isinstance(record.body, CallAttempt)]


def request(talk: Conversation, provider: str = "openai") -> list[Json]:
    return talk.assemble(provider=provider, model="gpt-5.2" if provider == "openai" else "claude-sonnet-4-5").messages()


def shown(talk: Conversation) -> dict[str, str]:
    """What a request shows as the result of each call."""
    return {
        str(message["tool_call_id"]): str(message["content"]) for message in request(talk) if message["role"] == "tool"
    }


class HandPace:
    """Time passes when a tool says so (`advance`), and no wait waits."""

    def __init__(self) -> None:
        self._now = 0.0
        self._queue: queue.SimpleQueue[object] = queue.SimpleQueue()
        self.pauses: list[float] = []

    def now(self) -> float:
        return self._now

    def landed(self, flight: object) -> None:
        self._queue.put(flight)

    def advance(self, seconds: float) -> None:
        self._queue.put(seconds)

    def next(self, seconds: float) -> object | None:
        while True:
            found = self._queue.get(timeout=20)
            if not isinstance(found, float):
                return found
            self._now += found
            if found >= seconds:
                return None
            seconds -= found

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self._now += seconds


class Gate:
    """Where a tool hangs until the test lets it through."""

    def __init__(self) -> None:
        self._reached = threading.Event()
        self._open = threading.Event()

    def wait(self) -> None:
        self._reached.set()
        assert self._open.wait(20)

    def reached(self) -> None:
        assert self._reached.wait(20)

    def open(self) -> None:
        self._open.set()


def tools_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("tool ")]


def join_tools() -> None:
    """Wait until what was given up on has landed."""
    for thread in tools_threads():
        thread.join(20)
