"""What a model is told of the documents that its recall tool searches: how many, and of a few the titles.

All of it is a function of the documents that may be read at the boundary of the request.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from callsheet.derive.classify import STRICTNESS
from callsheet.errors import BodyErased
from callsheet.graph.ids import RecordId, TenantId
from callsheet.graph.nodes import ContextAssembly
from callsheet.graph.ports import Ledger
from callsheet.graph.values import DEFAULT_PRIVACY
from callsheet.runtime.documenting.admitting import Admission
from callsheet.runtime.documenting.finding import Filters, eligible
from callsheet.runtime.documenting.library import Library
from callsheet.runtime.documenting.shelf import Version

FEW = 4
"""Documents of which the titles are told; of more, a part would read as if the others were not there."""

LONGEST = 120
"""Characters of all titles together: about 30 tokens, which are in every request."""

_USUAL = STRICTNESS.index(DEFAULT_PRIVACY)


class Announced(NamedTuple):
    """What is told of documents."""

    #: How many there are.
    documents: int = 0
    #: The versions whose titles are told, and their titles, with markers in the place of secrets.
    titled: tuple[RecordId, ...] = ()
    titles: tuple[str, ...] = ()


NOTHING_ANNOUNCED = Announced()


def nothing_announced(sheet: ContextAssembly | None) -> Announced:
    """Where there are no documents, nothing is told."""
    return NOTHING_ANNOUNCED


@dataclass(frozen=True, kw_only=True)
class Announcing:
    """What is told at one boundary."""

    library: Library
    admission: Admission

    def __call__(self, sheet: ContextAssembly | None) -> Announced:
        """As a request told it, unless a title of it is gone or may not be told any more; for None as it is now."""
        if sheet is None:
            return self._now
        if not sheet.titled:
            return Announced(documents=sheet.documents)
        contents = self.library.shelf.look()
        found = [version for id in sheet.titled if (version := contents.by_id(id)) is not None]
        if len(found) < len(sheet.titled) or not all(map(self._may_be_named, found)):
            return self._now
        return _announced(self.library, sheet.documents, found)

    @cached_property
    def _now(self) -> Announced:
        newest = eligible(self.library.shelf.look(), Filters(), self.admission).versions
        if len(newest) > FEW or not all(map(self._may_be_named, newest)):
            return Announced(documents=len(newest))
        told = _announced(self.library, len(newest), newest)
        return told if sum(map(len, told.titles)) <= LONGEST else Announced(documents=len(newest))

    def _may_be_named(self, version: Version) -> bool:
        # A title of a stricter class would make the request one of that class, and all that answers it.
        return self.admission.admits(version) and STRICTNESS.index(version.privacy) <= _USUAL


def announced_before(ledger: Ledger, tenant: TenantId, sheet: ContextAssembly) -> Announced:
    """What a past request told, without the titles of what was removed since."""
    if not sheet.titled:
        return Announced(documents=sheet.documents)
    library = Library.of(ledger, tenant)
    contents = library.shelf.look()
    found = [version for id in sheet.titled if (version := contents.by_id(id)) is not None]
    return _announced(library, sheet.documents, found)


def _announced(library: Library, documents: int, versions: Sequence[Version]) -> Announced:
    stream = library.shelf.look().stream
    titles: dict[RecordId, str] = {}
    for version in versions:
        try:
            if stream is not None:
                titles[version.id] = library.texts.title(stream.key, version.id)
        except BodyErased:  # removed a moment ago
            continue
    return Announced(documents=documents, titled=tuple(titles), titles=tuple(titles.values()))
