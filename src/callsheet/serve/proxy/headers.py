"""Headers: what goes on to the provider, and what comes back to the client."""

from collections.abc import Iterable, Mapping

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

_UNPACKED = b"identity"


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
