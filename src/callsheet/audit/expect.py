"""Heads that were noted down elsewhere, to be found again: what reveals a cut tail, which no chain can show."""

from collections.abc import Iterable, Mapping

from callsheet.audit.report import Finding, FindingKind
from callsheet.errors import InvalidOption
from callsheet.graph.ids import StreamId, TenantId
from callsheet.graph.record import Head, Stream, StreamKey, genesis
from callsheet.graph.values import Digest

_MOST_DIGITS = 18
"""Digits of a position that any store can reach."""

_SHOWN = 200
"""Characters of a refused head that are repeated."""


def parse_head(text: str) -> Head:
    """Read a head as `str(Head)` prints it: ``tenant/stream@position:chain``. Raises `InvalidOption`."""
    where, at, point = text.strip().rpartition("@")
    tenant, slash, stream = where.rpartition("/")
    position, colon, chain = point.partition(":")
    numbered = position.isascii() and position.isdigit() and len(position) <= _MOST_DIGITS
    whole = at and slash and colon and tenant and stream and chain and numbered
    if not whole or any(character.isspace() for character in f"{stream}{chain}"):
        raise InvalidOption(
            f"{_shortened(text)!r} is not one head; it must be of the form tenant/stream@position:chain"
        )
    return Head(tenant=TenantId(tenant), stream=StreamId(stream), position=int(position), chain=chain)


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def by_stream(expected: Iterable[Head], tenant: TenantId | None) -> dict[StreamKey, list[Head]]:
    """Expected heads by the stream that they are of. Raises `InvalidOption` for another tenant's."""
    sorted_out: dict[StreamKey, list[Head]] = {}
    for head in expected:
        if tenant not in (None, head.tenant):
            raise InvalidOption(f"{head} is of tenant {head.tenant!r}, but only {tenant!r} is verified")
        sorted_out.setdefault(StreamKey(tenant=head.tenant, stream=head.stream), []).append(head)
    return sorted_out


def gone(expected: Head) -> Finding:
    """The finding for a stream that does not exist."""
    text = f"the stream was known to reach position {expected.position}, but it does not exist"
    return Finding(kind=FindingKind.GONE, tenant=expected.tenant, stream=expected.stream, text=text)


def missed(expected: Head, stream: Stream, chains: Mapping[int, Digest], last: int) -> Finding | None:
    """What an expected head reveals about a stream that ends at `last` and has these chains; None: all is well."""
    at = expected.position
    if at > last:
        kind, text = FindingKind.CUT, f"the stream was known to reach position {at}, but it ends at {last}"
    elif (genesis(stream.key) if at == 0 else chains.get(at)) != expected.chain:
        kind, text = FindingKind.REPLACED, f"the history up to position {at} is not the one that was known"
    else:
        return None
    return Finding(
        kind=kind, tenant=stream.tenant, stream=stream.id, name=stream.name, position=min(at, last), text=text
    )
