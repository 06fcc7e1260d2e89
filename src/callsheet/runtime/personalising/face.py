"""The memories of users, as a program keeps, reads and forgets them through its runtime."""

from collections.abc import Mapping, Sequence

from callsheet.graph.enums import Freshness, Privacy
from callsheet.graph.ids import RecordId, TenantId
from callsheet.graph.ports import Clock, Ids, Ledger
from callsheet.recall.request import beginning
from callsheet.runtime.meaning import Meaning
from callsheet.runtime.options import Time, choice, label, remark, texts
from callsheet.runtime.personalising import forgetting, listing, writing
from callsheet.runtime.personalising.book import Book
from callsheet.runtime.personalising.forgetting import Forgotten
from callsheet.runtime.personalising.listing import KeptMemory, Wanted
from callsheet.runtime.personalising.options import MemoryKind, moment, statement
from callsheet.runtime.typed import all_checked


@all_checked
class KeepsMemories:
    """Keeps what is to be known of users over all their conversations, each in a stream of its own."""

    _ledger: Ledger
    _tenant: TenantId
    _ids: Ids
    _clock: Clock
    _meaning: Meaning | None

    def remember(
        self,
        user: str,
        value: str,
        *,
        kind: str = "fact",
        entity: str | None = None,
        attribute: str | None = None,
        observed: Time | None = None,
        valid_until: Time | None = None,
        freshness: Freshness | str | None = None,
        stale_after: Time | None = None,
        confidence: float = 1.0,
        privacy: Privacy | str | None = None,
        attributes: Mapping[str, str] | None = None,
        source: str | None = None,
        sources: Sequence[str] = (),
        contradicts: Sequence[str] = (),
        participant: str | None = None,
        always: bool = False,
    ) -> KeptMemory:
        """Keep a memory of a user: a ``fact``, a ``preference`` or an ``episode``. Returns it as it stands then.

        `entity` is whom or what it is about (default: ``user``), `attribute` what it says of that. Of one entity and
        attribute the memory that was `observed` last (default: now) is the one that holds: it ends the older one from
        then on, which stays readable. Where the older one is to be believed more, by provenance and confidence, both
        stand and say so; so do those that it is said to contradict. Without an attribute it ends nothing but what
        says the same. What says the same as one that holds, and does not age, goes on from it, no less private and
        shown as much; at the same time it is that one.

        `source` is the message that it was taken from, `sources` are memories and messages that it was made of: it is
        as private as the strictest of them and ages as fast as the fastest. What a tool or a model said is none of
        these: see `propose`. By default a memory is of the class ``personal`` and lasting. A `participant` is the name
        of the only one that sees it; `always` has every request show it, not only those that call for it.

        Times need a zone. Raises `InvalidTime`, `InvalidOption`, `NotFound`; then nothing was kept.
        """
        new = statement(
            value,
            kind=kind,
            entity=entity,
            attribute=attribute,
            observed=observed,
            valid_until=valid_until,
            freshness=freshness,
            stale_after=stale_after,
            confidence=confidence,
            privacy=privacy,
            attributes=attributes,
            source=source,
            sources=sources,
            participant=participant,
            always=always,
            contradicts=contradicts,
        )
        book = self._book(user)
        return listing.memory(book, writing.remember(book, new))

    def update(
        self,
        user: str,
        memory: str,
        value: str,
        *,
        kind: str | None = None,
        entity: str | None = None,
        attribute: str | None = None,
        observed: Time | None = None,
        valid_until: Time | None = None,
        freshness: Freshness | str | None = None,
        stale_after: Time | None = None,
        confidence: float | None = None,
        privacy: Privacy | str | None = None,
        attributes: Mapping[str, str] | None = None,
        source: str | None = None,
    ) -> KeptMemory:
        """Put another statement in the place of a memory, which ends then and names it as its successor.

        What is not given is as it was; an end that has passed by then is not kept. What rests on a tool or a model
        stays marked so, whatever the words: the user's own are kept by `remember`. It ends others on its subject as
        `remember` does. Raises as that, `NotFound` for a memory that is not there, and `InvalidOption` for one that was
        replaced already.
        """
        new = statement(
            value,
            kind=kind,
            entity=entity,
            attribute=attribute,
            observed=observed,
            valid_until=valid_until,
            freshness=freshness,
            stale_after=stale_after,
            confidence=confidence,
            privacy=privacy,
            attributes=attributes,
            source=source,
        )
        book = self._book(user)
        return listing.memory(book, writing.update(book, _id(memory), new))

    def contradict(self, user: str, one: str, other: str, *, reason: str = "") -> RecordId:
        """Record that two memories contradict each other and nobody knows which is right: both stand and say so.

        Returns the id of the record that says it. Raises `NotFound`, `InvalidOption`.
        """
        return writing.contradict(self._book(user), _id(one), _id(other), remark(reason))

    def propose(
        self,
        user: str,
        value: str,
        *,
        source: str | None = None,
        sources: Sequence[str] = (),
        kind: str = "fact",
        entity: str | None = None,
        attribute: str | None = None,
        observed: Time | None = None,
        valid_until: Time | None = None,
        freshness: Freshness | str | None = None,
        stale_after: Time | None = None,
        confidence: float = 1.0,
        privacy: Privacy | str | None = None,
        attributes: Mapping[str, str] | None = None,
        participant: str | None = None,
    ) -> KeptMemory:
        """Keep what a tool or a model would have kept: no request shows it before somebody has accepted it.

        `source` and `sources` may be any records of the user's conversations. Whoever proposes, it is marked as resting
        on untrusted output, and stays marked when it is accepted. Raises as `remember` does.
        """
        new = statement(
            value,
            kind=kind,
            entity=entity,
            attribute=attribute,
            observed=observed,
            valid_until=valid_until,
            freshness=freshness,
            stale_after=stale_after,
            confidence=confidence,
            privacy=privacy,
            attributes=attributes,
            source=source,
            sources=sources,
            participant=participant,
        )
        book = self._book(user)
        return listing.memory(book, writing.propose(book, new))

    def accept(self, user: str, proposal: str, *, by: str = "") -> KeptMemory:
        """Take a proposal on, in the name of the user: it becomes a memory, which is returned. Twice is once.

        The memory stays marked as untrusted: requests show it in quotes, with whose word it is not, and it replaces no
        memory that the user stated; both stand then and say so. Raises `NotFound`, `InvalidOption`.
        """
        book = self._book(user)
        return listing.memory(book, writing.accept(book, _id(proposal), _by(by)))

    def decline(self, user: str, proposal: str, *, by: str = "") -> RecordId:
        """Record that a proposal becomes no memory. Returns the id of that. Raises `NotFound`, `InvalidOption`."""
        return writing.decline(self._book(user), _id(proposal), _by(by))

    def pin(self, user: str, memory: str, *, pinned: bool = True) -> RecordId:
        """Have every request of the user show a memory, or no more. Returns the id of the record that says so.

        Raises `NotFound`, and `InvalidOption` for one that rests on what a tool or a model said.
        """
        return writing.pin(self._book(user), _id(memory), bool(pinned))

    def forget(
        self,
        user: str,
        *memories: str,
        before: Time | None = None,
        versions: bool = False,
        by: str = "",
    ) -> Forgotten:
        """Forget memories and proposals for good: by id, and all that were observed `before` a time.

        By id a fact goes as often as it was observed in a row. What they said is gone with all that it is found by, and
        from the requests of the past that showed it. What was made of them alone goes too; what was made of others as
        well is made anew of these. With `versions` all that they replaced is forgotten with them. What is left is a
        record of ids, time and whom it was done `by`. What was replaced by a forgotten memory does not hold again.
        Messages that say the same are records of their own.

        What was forgotten before is told as that. Raises `NotFound` for what never was or is not this user's, and
        `InvalidTime`; then nothing is forgotten.
        """
        ids = tuple(map(RecordId, dict.fromkeys(texts(memories, "memories"))))
        limit = moment(before)
        return forgetting.forget(self._book(user), ids, before=limit, versions=versions, by=_by(by))

    def memories(
        self,
        user: str,
        query: str | None = None,
        *,
        as_of: Time | None = None,
        kind: str | None = None,
        entity: str | None = None,
        attribute: str | None = None,
        history: bool = False,
        proposals: bool = False,
    ) -> list[KeptMemory]:
        """The memories of a user that hold, or held `as_of` a time, by when they were observed.

        With `history` also those that hold no more or not yet; with `proposals` the proposals that wait, in their
        place. A `query` finds by identifiers and words, and by meaning where the store was opened with an embedder,
        the best first; the rest narrows by what is given. Takes time in proportion to the number of memories. Raises
        `InvalidTime`, `InvalidOption`.
        """
        wanted = Wanted(
            query=beginning(query) if query is not None else None,
            at=moment(as_of),
            kind=choice(MemoryKind, kind, "kind").value if kind is not None else None,
            entity=label(entity, "entity") if entity is not None else None,
            attribute=label(attribute, "attribute") if attribute is not None else None,
            history=history,
            proposals=proposals,
        )
        return listing.memories(self._book(user), wanted, self._meaning)

    def memory(self, user: str, memory: str) -> KeptMemory:
        """One memory or proposal. Raises `NotFound`: for another user's, and a forgotten one, exactly as for none."""
        return listing.memory(self._book(user), _id(memory))

    def _book(self, user: str) -> Book:
        return Book.of(self._ledger, self._ids, self._clock, self._tenant, label(user, "user"))


def _id(given: str) -> RecordId:
    return RecordId(label(given, "memory"))


def _by(given: object) -> str:
    """Who does it, as your program calls them. Raises `InvalidOption`."""
    return label(given, "by") if given != "" else ""
