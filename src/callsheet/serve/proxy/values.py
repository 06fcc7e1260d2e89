"""Values of the configuration: each reader takes one, or raises the error that names its place and what is allowed."""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias, TypeVar
from urllib.parse import urlsplit

from callsheet.policy.positions import Source
from callsheet.policy.settings import MOST_TOKENS
from callsheet.serve.proxy.routes import is_plain
from callsheet.serve.proxy.settings import Price

if TYPE_CHECKING:
    from yaml.nodes import Node

T = TypeVar("T")
Read: TypeAlias = Callable[[Source, "Node", str], object]

MOST_DOLLARS = 10**9
MOST_SECONDS = 86_400
MOST_BYTES = 4 * 1024**3
MOST_STREAMS = 100_000
MOST_REQUESTS = 10_000
MOST_ROUNDS = 100

_ADDRESS = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):(?P<port>[0-9]{1,5})")
_NO_ADDRESS = re.compile(r"[\s\x00-\x1f\x7f\\]")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
DIGEST = re.compile(r"[0-9a-f]{64}")
_RESERVED = frozenset({"v1", "v1beta", "v1alpha", "healthz", "callsheet"})
"""First parts of addresses that mean something else than an upstream."""


def fields(kind: type[T], readers: Mapping[str, Read]) -> Callable[[Source, "Node", str], T]:
    """A mapping whose entries have readers, as a value of this kind."""

    def read(source: Source, node: "Node", name: str) -> T:
        def field(item: "tuple[str, Node]") -> tuple[str, object]:
            key, value = item
            return key, readers[key](source, value, f"{name}.{key}")

        return kind(**dict(source.each(source.mapping(node, name, readers).items(), field)))

    return read


def text(source: Source, node: "Node", name: str) -> str:
    """A label."""
    return source.text(node, name)


def flag(source: Source, node: "Node", name: str) -> object:
    """True or false."""
    return source.flag(node, name)


def whole(least: int, most: int) -> Read:
    """A whole number in the range."""
    return lambda source, node, name: source.whole(node, name, least, most)


def number(least: float, most: float) -> Read:
    """A number in the range."""
    return lambda source, node, name: source.number(node, name, least, most)


def listen(source: Source, node: "Node", name: str) -> tuple[str, int]:
    """A host and a port."""
    found = listening(source.text(node, name))
    if found is None:
        raise source.wrong(node, name, "a host and a port, such as 127.0.0.1:8377")
    return found


def listening(text: str) -> tuple[str, int] | None:
    """The host and port of text such as ``127.0.0.1:8377`` or ``[::1]:8377``; None: it is none."""
    found = _ADDRESS.fullmatch(text)
    if found is None or int(found["port"]) > 65_535:
        return None
    return found["host"].strip("[]"), int(found["port"])


def address(source: Source, node: "Node", name: str) -> str:
    """Where an upstream is."""
    given = source.text(node, name)
    try:
        parts = urlsplit(given)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        right = False
    if not right or parts.query or parts.fragment or _NO_ADDRESS.search(given) or not is_plain(parts.path or "/"):
        allowed = "an http or https address without query, spaces and dot segments, such as https://api.openai.com"
        raise source.wrong(node, name, allowed)
    if parts.username is not None or parts.password is not None:
        # Not shown: there stands a secret.
        raise source.problem(node, f"{name} holds a name or password; use headers.from_environment")
    return given.rstrip("/")


def upstream_name(source: Source, node: "Node", name: str) -> str:
    """What an upstream is called."""
    given = source.text(node, name)
    if not NAME.fullmatch(given) or given.lower() in _RESERVED:
        raise source.wrong(node, name, f"letters, digits, _ and -, and none of: {', '.join(sorted(_RESERVED))}")
    return given


def header(source: Source, node: "Node", name: str) -> str:
    """The name of a header, in lower case."""
    given = source.text(node, name)
    if not HEADER.fullmatch(given):
        raise source.wrong(node, name, "the name of a header")
    return given.lower()


def variable(source: Source, node: "Node", name: str) -> str:
    """The name of an environment variable."""
    given = source.text(node, name)
    if not _VARIABLE.fullmatch(given):
        # It may be the secret itself, which no error shows.
        raise source.problem(node, f"{name} must be the name of an environment variable, such as OPENAI_API_KEY")
    return given


def price(source: Source, node: "Node", name: str) -> Price:
    """What tokens cost."""
    entries = source.mapping(node, name, PRICE)
    for needed in ("input", "output"):
        if needed not in entries:
            raise source.problem(node, f"{name} has no {needed}; it needs input and output")
    return fields(Price, PRICE)(source, node, name)


_SECONDS = number(0.001, MOST_SECONDS)
_DOLLARS = number(0, MOST_DOLLARS)
HANDLING: Mapping[str, Read] = {
    "budget": whole(1, MOST_TOKENS),
    "reserve": whole(1, MOST_TOKENS),
    "recall": flag,
    "recall_rounds": whole(1, MOST_ROUNDS),
    "recall_bytes": whole(1, MOST_BYTES),
    "observe_only": flag,
    "horizon": whole(1, MOST_REQUESTS),
}
LIMITS: Mapping[str, Read] = {
    "body": whole(1, MOST_BYTES),
    "messages": whole(1, MOST_BYTES),
    "streams": whole(1, MOST_STREAMS),
    "threads": whole(1, 256),
    "head_seconds": _SECONDS,
    "body_seconds": _SECONDS,
    "stalled_seconds": _SECONDS,
    "shutdown_seconds": _SECONDS,
}
SPENDING: Mapping[str, Read] = {"day": _DOLLARS, "month": _DOLLARS}
TIMEOUTS: Mapping[str, Read] = {"connect": _SECONDS, "answer": _SECONDS, "silence": _SECONDS}
PRICE: Mapping[str, Read] = dict.fromkeys(("input", "output", "cached", "write"), _DOLLARS)
