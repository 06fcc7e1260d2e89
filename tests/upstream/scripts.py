"""What the service is told to do, and what it was asked."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Json: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True)
class Called:
    """A call that the model makes."""

    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)


class Gate:
    """Holds a stream until it is opened, so that no test has to wait for a time to pass."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._reached = threading.Event()

    def open(self) -> None:
        """Let the stream go on."""
        self._open.set()

    def wait_until_reached(self) -> None:
        """Wait until the stream stands before the gate."""
        assert self._reached.wait(30), "no stream reached the gate"

    def pass_through(self) -> bool:
        """Called by the service before each look whether it may go on."""
        self._reached.set()
        return self._open.is_set()


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A reply in no provider's format. Thinking comes first, then text, then calls."""

    text: str = ""
    calls: tuple[Called, ...] = ()
    thinking: str = ""
    #: The model declines, with these words.
    refusal: str = ""
    #: It stopped at the limit of tokens.
    cut: bool = False
    #: Tokens reported of the output; None: a quarter of the characters.
    output: int | None = None
    #: Seconds between the events of a stream, for measurements alone.
    pause: float = 0.0
    #: Before the event of this number (from 0) the stream waits for the gate.
    gate: Gate | None = None
    gate_before: int = 1


@dataclass(frozen=True, slots=True)
class Failing:
    """An error with a status instead of a reply."""

    status: int
    message: str = "scripted failure"
    #: Seconds, for the header.
    retry_after: int | None = None
    #: A body that is not JSON, as load balancers in front of a provider send; None: the provider's own.
    body: bytes | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Broken:
    """A streamed reply that goes wrong behind so many of its events. Not streamed, it is a body that ends too early."""

    reply: Reply
    after: int
    #: Bytes sent there, such as an error of the provider's or half an event.
    sends: bytes = b""
    #: The provider's own error event is sent there.
    error: bool = False
    #: The connection is cut; else the stream ends as if all were well.
    cut: bool = True


class Lost(str):
    """Why a request is refused that goes on from what the service does not hold: said with a status and a code."""

    __slots__ = ()


Step: TypeAlias = Reply | Failing | Broken


@dataclass(kw_only=True, slots=True)
class Received:
    """A request as it came."""

    method: str
    #: With its query.
    path: str
    #: Names in lower case.
    headers: dict[str, str]
    raw: bytes
    #: The JSON of the body; empty where it has none.
    body: Json
    #: Why it was refused; None: it was not.
    refused: str | None = None
    #: The status of the answer, and how many events of a stream went out.
    status: int = 0
    events: int = 0
    #: Set when the answer is over: sent, broken as scripted, or given up by the client.
    over: threading.Event = field(default_factory=threading.Event)
    #: The client went away before the end.
    left: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Counted:
    """Tokens of an exchange. `input` is all of them, read and written ones included."""

    input: int
    read: int
    written: int
    output: int
