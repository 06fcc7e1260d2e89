"""What an operator says of a proxy: where it listens, which providers stand behind it, what may be spent."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase

from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.runtime.conversing.asking import DEFAULT_RESERVE

HOST, PORT = "127.0.0.1", 8377
DATABASE = "callsheet.db"
TENANT = "local"


class Format(StrEnum):
    """Which interface an upstream speaks."""

    #: Chat Completions and Responses.
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeouts:
    """Seconds that an upstream may take."""

    connect: float = 10.0
    #: From the end of the request to the first byte of the answer. Reasoning models think for minutes.
    answer: float = 600.0
    #: Between two pieces of an answer. Providers send a sign of life every few seconds, some none while they think.
    silence: float = 300.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Upstream:
    """A provider, or what speaks like one."""

    #: Also the first part of an address that chooses it: ``http://127.0.0.1:8377/NAME/v1``.
    name: str
    format: Format
    #: Scheme, host and perhaps a path, such as ``https://api.openai.com``.
    address: str
    #: The provider as policy sets, catalogue and counters name it.
    provider: str
    #: Patterns of the models that it serves, with ``*``.
    models: tuple[str, ...] = ("*",)
    #: Headers of the client that do not go there.
    drop: tuple[str, ...] = ()
    #: Headers that go there instead of the client's: by name the environment variable that holds the value.
    fill: Mapping[str, str] = field(default_factory=dict)
    timeouts: Timeouts = Timeouts()

    def serves(self, model: str) -> bool:
        """Whether a model of this name goes there."""
        return any(fnmatchcase(model, pattern) for pattern in self.models)


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """Dollars for a million tokens."""

    input: float
    output: float
    #: Input read from the provider's cache, and written to it; None: as fresh input.
    cached: float | None = None
    write: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Handling:
    """How requests for a model are made."""

    policy: PolicySetDocument = BALANCED
    #: Tokens that a request may take; None: what the model's window leaves.
    budget: int | None = None
    #: Tokens kept free for the reply where the client does not say how long it may be.
    reserve: int = DEFAULT_RESERVE
    #: Whether the model may be given the recall tool, whose calls the proxy answers itself.
    recall: bool = True
    #: How often it answers them for one request of the client, and how many bytes it gives the model in all.
    recall_rounds: int = 4
    recall_bytes: int = 32_000
    #: Whether the client's own request is sent, and what assembly would have saved is only reported.
    observe_only: bool = False
    #: Requests over which a request must not be dearer than the client's own; None: as far as its policy set looks.
    horizon: int | None = None
    #: None: as the catalogue says.
    price: Price | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelHandling:
    """What holds for the models whose names fit a pattern."""

    match: str
    handling: Handling


@dataclass(frozen=True, kw_only=True, slots=True)
class Spending:
    """Dollars that a key may spend; None: no limit. Days and months are those of UTC."""

    day: float | None = None
    month: float | None = None

    @property
    def limited(self) -> bool:
        """Whether there is any limit."""
        return self.day is not None or self.month is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """A credential that the operator knows, by its digest."""

    #: What ``callsheet serve digest`` prints for it.
    digest: str
    #: What logs and reports call it.
    name: str
    tenant: str | None = None
    spending: Spending = Spending()


VALUES = 1_000_000
"""Values of a body that may be decoded in any case. While so many are made, a tenth of a second, no other thread runs.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What one client, and all of them together, may take."""

    #: Bytes of a body, unpacked. Anthropic takes 32 MiB, others more where pictures are in it.
    body: int = 64 * 1024 * 1024
    #: Messages, items or contents of one request. Work grows faster than their number; agents send some thousands.
    messages: int = 10_000
    #: Requests that are answered at the same time.
    streams: int = 256
    #: Threads that work on requests, and as many on answers. Python runs one at a time, so that more than one that
    #: works and one that waits for the disk let all requests come as late as the last of them.
    threads: int = 2
    #: Seconds in which the head of a request must have come; and for which its body may be waited for, of which each
    #: 10 kB that come give one back.
    head_seconds: float = 10.0
    body_seconds: float = 60.0
    #: Seconds for which a client may take nothing of its answer.
    stalled_seconds: float = 300.0
    #: Seconds that answers may still take when the proxy is stopped.
    shutdown_seconds: float = 30.0

    @property
    def values(self) -> int:
        """Values of a body that is decoded, objects and lists among them: a hundred for each message."""
        return max(VALUES, 100 * self.messages)


PUBLIC = (
    Upstream(name="openai", format=Format.OPENAI, address="https://api.openai.com", provider="openai"),
    Upstream(name="anthropic", format=Format.ANTHROPIC, address="https://api.anthropic.com", provider="anthropic"),
    Upstream(
        name="gemini", format=Format.GEMINI, address="https://generativelanguage.googleapis.com", provider="google"
    ),
)
"""The providers' public addresses: what stands behind a proxy for which nothing else is said."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """All of it. Without anything said it serves this machine alone."""

    host: str = HOST
    port: int = PORT
    database: str = DATABASE
    tenant: str = TENANT
    upstreams: tuple[Upstream, ...] = PUBLIC
    handling: Handling = Handling()
    models: tuple[ModelHandling, ...] = ()
    limits: Limits = Limits()
    #: For keys that are not named.
    spending: Spending = Spending()
    keys: tuple[Key, ...] = ()
    #: Whether what is no request to a model that is known here, such as embeddings, passes through unseen.
    pass_others: bool = True
    #: The environment variable with the token that opens ``/callsheet/status`` from elsewhere; None: this machine only.
    operator: str | None = None

    def handling_of(self, model: str) -> Handling:
        """What holds for a model: the first pattern that fits."""
        for one in self.models:
            if fnmatchcase(model, one.match):
                return one.handling
        return self.handling

    def observing(self) -> "Settings":
        """The same in observe-only mode, whatever it says of single models."""
        models = tuple(replace(one, handling=replace(one.handling, observe_only=True)) for one in self.models)
        return replace(self, handling=replace(self.handling, observe_only=True), models=models)

    @property
    def tenants(self) -> tuple[str, ...]:
        """Every tenant that something can be recorded for."""
        return tuple(dict.fromkeys((self.tenant, *(key.tenant for key in self.keys if key.tenant is not None))))
