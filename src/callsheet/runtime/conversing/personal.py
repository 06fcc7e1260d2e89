"""What is kept of the user of a conversation: said here and kept, proposed here, seen here."""

from collections.abc import Mapping

from callsheet.errors import InputError, InvalidOption
from callsheet.graph.enums import Freshness, Privacy
from callsheet.graph.ids import RecordId
from callsheet.recall.request import beginning
from callsheet.runtime.calling import arguments_of
from callsheet.runtime.conversing.calls import PendingCall
from callsheet.runtime.conversing.view import Viewed
from callsheet.runtime.options import Time, label
from callsheet.runtime.personalising import listing, tool, writing
from callsheet.runtime.personalising.book import Book
from callsheet.runtime.personalising.listing import KeptMemory, Wanted
from callsheet.runtime.personalising.options import moment, statement
from callsheet.runtime.personalising.seeing import shelf_for
from callsheet.runtime.resolving import resolve
from callsheet.runtime.seeing import own_boundary, sight


class KnowsUser(Viewed):
    """Keeps and shows what is to be known of the user over all conversations."""

    def remember(
        self,
        value: str,
        *,
        message: str | None = None,
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
        always: bool = False,
    ) -> KeptMemory:
        """Keep a memory of this conversation's user: see `Runtime.remember`.

        `message` refers to the message of the user that says so. What the model or a tool said is refused with
        `InvalidOption`: see `propose`. A sub-agent keeps nothing.
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
            source=self._referred(message, "message"),
            participant=participant,
            always=always,
        )
        book = self._book()
        return listing.memory(book, writing.remember(book, new))

    def propose(
        self,
        value: str,
        *,
        source: str | None = None,
        kind: str = "fact",
        entity: str | None = None,
        attribute: str | None = None,
        confidence: float = 1.0,
        attributes: Mapping[str, str] | None = None,
    ) -> KeptMemory:
        """Propose a memory of this conversation's user, as a tool or a model would have it: see `Runtime.propose`.

        `source` refers to the message or result that it was taken from. A sub-agent proposes nothing.
        """
        return self._proposed(
            value,
            source=self._referred(source, "source"),
            kind=kind,
            entity=entity,
            attribute=attribute,
            confidence=confidence,
            attributes=attributes,
        )

    def remember_tool(self) -> dict[str, object]:
        """The tool ``remember``, to be given to `assemble`: what a model writes there becomes a proposal.

        Its calls are answered with `answer_remember`.
        """
        return tool.tool()

    def answer_remember(self, arguments: object) -> str:
        """Answer a model's call of ``remember``: the text to put into the tool message.

        Takes a call as `answer_recall` does. Whatever the model wrote is answered, and nothing of it becomes a memory
        before somebody has accepted the proposal.
        """
        pending = arguments if isinstance(arguments, PendingCall) else None
        asked = tool.parse(pending.arguments if pending is not None else arguments_of(arguments))
        if isinstance(asked, str):
            return asked
        try:
            self._proposed(
                asked.value,
                source=pending.id if pending is not None else None,
                entity=asked.about,
                attribute=asked.attribute,
            )
        except InputError as problem:
            return self._session.redacting.redaction.text(f"It was not kept: {problem}")
        return tool.ANSWER

    def user_memories(self, query: str | None = None, *, as_of: Time | None = None) -> list[KeptMemory]:
        """The memories of this conversation's user that this view sees: those that requests may show here.

        As `Runtime.memories`; those of one participant alone are left out for every other. A sub-agent sees none.
        """
        session, view = self._session, self._view
        at = moment(as_of)
        now = at if at is not None else session.clock.now()
        boundary = own_boundary(session, view, now)
        wanted = Wanted(query=beginning(query) if query is not None else None)
        shelf = shelf_for(session.place, boundary, session.desk(view))
        return listing.listed(shelf, wanted, now, session.meaning) if shelf is not None else []

    # ------------------------------------------------------------------ how

    def _proposed(
        self,
        value: str,
        *,
        source: str | None,
        kind: str = "fact",
        entity: str | None = None,
        attribute: str | None = None,
        confidence: float = 1.0,
        attributes: Mapping[str, str] | None = None,
    ) -> KeptMemory:
        new = statement(
            value,
            kind=kind,
            entity=entity,
            attribute=attribute,
            confidence=confidence,
            attributes=attributes,
            source=source,
        )
        book = self._book()
        return listing.memory(book, writing.propose(book, new))

    def _referred(self, reference: str | None, name: str) -> RecordId | None:
        """The record that a reference means for this view. Raises `NotFound`."""
        if reference is None:
            return None
        return resolve(sight(self._session, self._view), label(reference, name)).id

    def _book(self) -> Book:
        session = self._session
        if self._view.carries.sub_agent is not None:
            raise InvalidOption("a sub-agent keeps nothing of the user; it gives what it finds back to its parent")
        if session.owner.user is None:
            raise InvalidOption("this conversation belongs to no user")
        return Book(ledger=session.ledger, ids=session.ids, now=session.clock.now, owner=session.owner)
