"""Headers: what goes on to the provider, and what comes back to the client."""

import re
from collections.abc import Iterable, Mapping, Sequence

from callsheet.serve.proxy.settings import Upstream

Header = tuple[bytes, bytes]
"""A name in lower case, and its value."""

OURS = b"x-callsheet-"
CONVERSATION = "x-callsheet-conversation"
USER = "x-callsheet-user"

_HOP = frozenset(
    {
        b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te",
        b"trailer", b"transfer-encoding", b"upgrade",
    }
)  # fmt: skip
"""What holds between two neighbours alone (RFC 9110, 7.6.1)."""

_NEVER_ON = frozenset({b"host", b"content-length", b"expect"})
"""What is said anew to the next one."""

NEIGHBOURS = frozenset(name.decode() for name in _HOP | _NEVER_ON)
"""What no operator says in the place of a client: it belongs to one connection or body."""

_UNPACKED = b"identity"

_FINAL, _NO_STATUS = 200, 600
"""Below: what is said before an answer, of which nothing was asked for here."""

_BODILESS = frozenset({204, 304})
_NO_NAME = re.compile(rb"[^!#$%&'*+.^_`|~0-9A-Za-z-]")
_NO_VALUE = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


def read(headers: Iterable[Header]) -> Mapping[str, str]:
    """By name; one that stands several times has its values joined, as HTTP says."""
    found: dict[str, str] = {}
    for name, value in headers:
        key, said = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {said}" if key in found else said
    return found


def onward(
    headers: Iterable[Header], upstream: Upstream, environment: Mapping[str, str], *, rewritten: bool, read: bool
) -> list[Header]:
    """What goes to an upstream. `rewritten`: with another body; `read`: with an answer that is to be read here."""
    headers = list(headers)
    dropped = _HOP | _NEVER_ON | _named(headers) | {name.encode("latin-1") for name in (*upstream.drop, *upstream.fill)}
    if rewritten:
        dropped |= {b"content-encoding", b"content-md5", b"digest", b"content-digest"}
    if read:
        dropped |= {b"accept-encoding"}
    found = [(name, value) for name, value in headers if name not in dropped and not name.startswith(OURS)]
    if read:
        found.append((b"accept-encoding", _UNPACKED))
    found += [(name.encode("latin-1"), environment[variable].encode()) for name, variable in upstream.fill.items()]
    return found


def can_be_said(status: int, headers: Iterable[Header]) -> bool:
    """Whether the head of an answer is one that a server may send on (RFC 9110, 5.5 and 15)."""
    return _FINAL <= status < _NO_STATUS and not any(
        _NO_NAME.search(name) or _NO_VALUE.search(value) for name, value in headers
    )


def framed(status: int, headers: Sequence[Header]) -> list[Header]:
    """The head of an answer with no length that its body does not have (RFC 9112, 6.3)."""
    unsized = status in _BODILESS or any(name.lower() == b"transfer-encoding" for name, _ in headers)
    return [(name, value) for name, value in headers if not unsized or name.lower() != b"content-length"]


def back(headers: Iterable[Header], *, rewritten: bool = False) -> list[Header]:
    """What comes back to the client. `rewritten`: with another body than came."""
    headers = [(name.lower(), value) for name, value in headers]
    dropped = _HOP | _named(headers)
    if rewritten:
        dropped |= {b"content-encoding", b"content-length", b"etag", b"content-digest"}
    return [(name, value) for name, value in headers if name not in dropped and not name.startswith(OURS)]


def _named(headers: Iterable[Header]) -> set[bytes]:
    """What ``connection`` says to hold between neighbours too."""
    return {
        token.strip().lower()
        for name, value in headers
        if name == b"connection"
        for token in value.split(b",")
        if token.strip()
    }
