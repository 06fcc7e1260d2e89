"""Whether a value stands in an assembled request, and whether it stands in place there."""

from collections.abc import Iterable, Set

from msgspec import Struct

from callsheet.evaluate.evidence import Evidence
from callsheet.evaluate.haystack import stands_in
from callsheet.evaluate.messages import Message, copyable_text
from callsheet.evaluate.surroundings import Document, Surroundings, documents, surroundings
from callsheet.evaluate.trajectory import Trajectory
from callsheet.evaluate.values import Value


class _Sought(Struct, kw_only=True):
    """What is known of one value: which texts were searched, which of them hold it, and which hold it in place."""

    searched: set[int]
    holders: set[int]
    in_place: dict[int, bool]


class Presence:
    """Answers for all requests of one trajectory. A text is searched for a value once, however often it is sent."""

    def __init__(self, trajectory: Trajectory, evidence: Evidence) -> None:
        self._messages = trajectory.messages
        self._evidence = evidence
        self._texts: list[str] = []
        self._numbers: dict[str, int] = {}
        self._blocks: dict[Message, int] = {}
        self._history = [self._number(text) for text in evidence.texts]
        self._sought: dict[tuple[str, ...], _Sought] = {}
        self._surroundings: dict[tuple[str, ...], Surroundings] = {}
        self._documents: dict[str, Document] = {}

    def blocks(self, request: Iterable[Message]) -> frozenset[int]:
        """The messages of a request as the numbers of their texts, to ask the questions below about."""
        return frozenset(map(self._block, request))

    def holding(self, value: Value, blocks: Set[int]) -> Set[int]:
        """Those of the blocks in which the value stands."""
        sought = self._seek(value)
        for block in blocks - sought.searched:
            if stands_in(value.spellings, self._texts[block]):
                sought.holders.add(block)
        sought.searched |= blocks
        return sought.holders & blocks

    def in_place(self, value: Value, holding: Set[int]) -> bool:
        """One of the blocks, all of which hold the value, also holds something of what surrounds it in its sources."""
        known = self._seek(value).in_place
        for block in holding:
            if block not in known:
                known[block] = self._surroundings_of(value).are_in(self._texts[block])
            if known[block]:
                return True
        return False

    def _block(self, message: Message) -> int:
        known = self._blocks.get(message)
        if known is None:
            known = self._blocks[message] = self._number(copyable_text(message))
        return known

    def _number(self, text: str) -> int:
        known = self._numbers.get(text)
        if known is None:
            known = self._numbers[text] = len(self._texts)
            self._texts.append(text)
        return known

    def _seek(self, value: Value) -> _Sought:
        known = self._sought.get(value.spellings)
        if known is None:
            holders = {self._history[at] for at in self._evidence.holders(value)}
            known = _Sought(searched=set(self._history), holders=holders, in_place={})
            self._sought[value.spellings] = known
        return known

    def _surroundings_of(self, value: Value) -> Surroundings:
        known = self._surroundings.get(value.spellings)
        if known is None:
            sources = [self._messages[at] for at in self._evidence.holders(value)]
            found = [self._document(text) for source in sources for text in documents(source)]
            known = self._surroundings[value.spellings] = surroundings(value.spellings, found)
        return known

    def _document(self, text: str) -> Document:
        known = self._documents.get(text)
        if known is None:
            known = self._documents[text] = Document(text)
        return known
