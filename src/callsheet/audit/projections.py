"""Whether what can be queried is what the records say, and records are filed where they are found and keep their blobs.

Rows that others append meanwhile are left out, as far as the head reaches that is read after the rows.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass

from callsheet.audit.folding import Rows, Span, difference
from callsheet.audit.report import Finding, FindingKind, finding
from callsheet.errors import Damaged
from callsheet.graph.ids import UserId
from callsheet.graph.ports import Ledger
from callsheet.graph.record import Stream
from callsheet.ledger.inspection import BlobName, Inspectable


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """The blobs that the records of a stream name, and what else is known of them."""

    #: Size of each by its address and the position of a record that names it.
    names: Mapping[tuple[str, int], int]
    user: UserId | None
    #: Those that lie there as they were recorded; only of these the stored size is compared.
    sound: Set[str]
    #: Whether it is known what records are found by.
    indexed: bool = False


def wrong_projection(ledger: Ledger, stream: Stream, rows: Rows, kept: Kept) -> Finding | None:
    """How the rows of a stream differ from those that its records come to."""
    try:
        stored = ledger.projection(stream.key)
        filing = ledger.filing(stream.key) if isinstance(ledger, Inspectable) else None
    except (ValueError, Damaged) as problem:
        return finding(stream, FindingKind.PROJECTION, f"rows cannot be read: {problem}")
    head = ledger.head(stream.key)
    span = Span(upto=rows.position, until=max(rows.position, head.position if head is not None else 0))
    wrong: list[int] = []
    if isinstance(ledger, Inspectable) and filing is not None:
        wrong = [*filing.misfiled, *_wrong_names(ledger, filing.blobs, kept, span)]
    differs = difference(rows.projection(), stored, span, indexed=kept.indexed)
    if differs is None and not wrong:
        return None
    told = [f"{differs.missing} missing or changed, {differs.extra} too many or changed"] if differs is not None else []
    told += [f"{len(wrong)} filed wrongly"] if wrong else []
    text = f"rows differ from what the records say ({', '.join(told)}); run `callsheet rebuild`"
    first = min([*wrong, *([differs.position] if differs is not None else [])])
    return finding(stream, FindingKind.PROJECTION, text, first)


def _wrong_names(ledger: Inspectable, rows: tuple[BlobName, ...], kept: Kept, span: Span) -> list[int]:
    """The positions of records that are said to name other blobs than they do, or whose blobs have other sizes."""
    lying = {address: ledger.blob_size(address) for address in kept.sound}
    there: set[tuple[str, int]] = set()
    wrong: list[int] = []
    for row in rows:
        if span.meanwhile(row.position):
            continue
        place = (row.address, row.position)
        sized = row.address not in lying or (row.size, row.stored) == (kept.names.get(place), lying[row.address])
        if row.user != kept.user or place not in kept.names or not sized:
            wrong.append(row.position)
        there.add(place)
    return wrong + [position for address, position in kept.names if (address, position) not in there]
