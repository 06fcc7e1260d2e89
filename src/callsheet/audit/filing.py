"""Whether records are found where they are searched for, and their blobs are kept from being collected."""

from collections.abc import Callable, Mapping, Set

from callsheet.audit.folding import Span
from callsheet.graph.ids import UserId
from callsheet.ledger.inspection import BlobName, Filing


def misfiled(
    filing: Filing,
    names: Mapping[tuple[str, int], int],
    *,
    user: UserId | None,
    sound: Set[str],
    blob_size: Callable[[str], int | None],
    span: Span,
) -> list[int]:
    """The positions whose records are filed otherwise than they say.

    `names` are the sizes of blobs by address and the position of the record that names them. How many bytes of a
    blob are stored is compared only where its content is `sound`.
    """
    lying = {address: blob_size(address) for address in sound}
    there: set[tuple[str, int]] = set()
    wrong = list(filing.misfiled)
    for row in filing.blobs:
        if span.meanwhile(row.position):
            continue
        place = (row.address, row.position)
        if row.user != user or place not in names or not _sized(row, names[place], lying):
            wrong.append(row.position)
        there.add(place)
    return wrong + [position for address, position in names if (address, position) not in there]


def _sized(row: BlobName, size: int, lying: Mapping[str, int | None]) -> bool:
    return row.address not in lying or (row.size, row.stored) == (size, lying[row.address])
