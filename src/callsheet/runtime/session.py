"""What all views of one open conversation share: its streams, the tails of its branches, and how it is appended to."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from callsheet.errors import InvalidOption, PositionConflict, StoreBusy
from callsheet.graph.changes import RunEnded
from callsheet.graph.enums import Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Branch
from callsheet.graph.ports import Append, Clock, Ids, Ledger, Owner
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record, Stream
from callsheet.graph.times import Instant
from callsheet.graph.values import Payload, Scope
from callsheet.runtime.branching import Branches
from callsheet.runtime.desk import Desk
from callsheet.runtime.documenting.library import Library
from callsheet.runtime.drafting import NOBODYS, Drafting
from callsheet.runtime.meaning import Meaning
from callsheet.runtime.place import Place
from callsheet.runtime.redacting import Redacting, redaction_of
from callsheet.runtime.reranking import Reranking
from callsheet.runtime.skills import Skills
from callsheet.runtime.stages import holds_turn, turn_begins
from callsheet.runtime.tail import Tail, load
from callsheet.runtime.tallying import Tallying

_ATTEMPTS = 200
"""Times that recording begins anew because other writers were first; each time at least one of them got through."""


class View(NamedTuple):
    """A branch as one participant sees it; None: nobody in particular."""

    branch: RecordId
    participant: RecordId | None = None
    #: What every record of this view carries of ownership beside branch and owner: a sub-agent's run, mode and parents.
    carries: Scope = NOBODYS


@dataclass(kw_only=True)
class Session:
    """One open conversation. Thread-safe."""

    ledger: Ledger
    ids: Ids
    clock: Clock
    owner: Owner
    conversation: Stream
    sheets: Stream
    #: The documents that its conversations share.
    library: Library
    #: Finds records by their vectors; None: the store was opened without an embedder.
    meaning: Meaning | None = None
    #: Puts what a search has found in a better order; None: it stays in that of the search.
    reranking: Reranking | None = None
    #: Reads content with markers in the place of secrets.
    redacting: Redacting = field(init=False)
    #: Knows its branches, and what they have come to.
    branching: Branches = field(init=False)
    tallying: Tallying = field(init=False)
    _tails: dict[View, Tail] = field(default_factory=dict)
    _desks: dict[View, Desk] = field(default_factory=dict)
    #: The runs that have ended, as far as the conversation was read for them.
    _ended: set[RecordId] = field(default_factory=set)
    _ended_upto: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.branching = Branches(ledger=self.ledger, key=self.conversation.key)
        self.tallying = Tallying(ledger=self.ledger, conversation=self.conversation.key, sheets=self.sheets.key)
        self.redacting = Redacting(read=self.read, redaction=redaction_of(self.conversation))

    @property
    def place(self) -> Place:
        """Where its sheets are read from and written to."""
        return Place(
            ledger=self.ledger,
            ids=self.ids,
            owner=self.owner,
            conversation=self.conversation,
            sheets=self.sheets,
            redacting=self.redacting,
        )

    @property
    def skills(self) -> Skills:
        """The skills of its workspace."""
        return Skills(self.ledger, self.owner.tenant, self.ids, self.clock)

    def tail(self, view: View, *, fresh: bool = False) -> Tail:
        """The newest known state of a branch; with `fresh`, read anew unless it is still the newest."""
        with self._lock:
            known = self._tails.get(view)
        if known is not None and fresh:
            head = self.ledger.head(self.conversation.key)
            moved = not known.complete or (head is not None and head.position != known.position)
            if moved or (known.open and self.ledger.erased(self.conversation.key, tuple(known.open))):
                known = None
        if known is None:
            known = load(self.branching, view.branch, view.participant, view.carries.sub_agent)
            self._know(view, known)
        return known

    def _know(self, view: View, tail: Tail) -> None:
        with self._lock:
            self._tails[view] = tail

    def ended(self, view: View) -> bool:
        """Whether the view is a sub-agent's that has ended."""
        return view.carries.sub_agent is not None and self.has_ended(view.carries.sub_agent)

    def has_ended(self, run: RecordId) -> bool:
        """Whether a sub-agent has ended, on whatever branch its report stands."""
        query = NodeQuery(kinds=("run_ended",), after=self._ended_upto)
        found = self.ledger.nodes(self.conversation.key, query)
        with self._lock:
            self._ended.update(record.body.run for record in found if isinstance(record.body, RunEnded))
            self._ended_upto = max([self._ended_upto, *(record.position for record in found)])
            return run in self._ended

    def refuse_ended(self, view: View) -> None:
        """Raise `InvalidOption` for the view of a sub-agent that has ended: nothing is done for it any more."""
        if self.ended(view):
            (record,) = self.ledger.get(self.conversation.key, (view.branch,))
            name = record.body.name if isinstance(record.body, Branch) else view.branch
            raise InvalidOption(f"sub-agent {name!r} has ended; nothing more is recorded, assembled or run for it")

    def append(
        self, view: View, draft: Callable[[Drafting], object], *, late: bool = False, durable: bool = True
    ) -> tuple[Tail, list[Record]]:
        """Let `draft` collect records on the newest state of a branch and append them, all or none.

        When another writer was first, the branch is read anew and `draft` is called again. Raises `InvalidOption` for a
        sub-agent that has ended, unless it is `late`: what came of what was begun before. Not `durable`: see `Append`.
        """
        at = self.clock.now()
        fresh = False
        for _ in range(_ATTEMPTS):
            tail = self.tail(view, fresh=fresh)
            if not late:
                self.refuse_ended(view)  # who ends it meanwhile moves the position on, and it is asked again
            drafting = self._drafting(view, tail, at)
            try:
                draft(drafting)
                if not drafting.drafts:
                    return tail, []
                if holds_turn(drafting.drafts):
                    turn_begins(drafting)
                self._count(drafting, tail)
                drafts = tuple(drafting.drafts)
                append = Append(stream=self.conversation, drafts=drafts, expect=tail.position, durable=durable)
                records = self.ledger.append([append])
            except PositionConflict:
                fresh = True
                continue
            self._know(view, drafting.tail)
            self.tallying.appended(tail.position, drafting.drafts, drafting.tail.position)
            return (drafting.tail if drafting.tail.complete else self.tail(view, fresh=True)), records
        raise StoreBusy(f"other writers of {self.conversation.name!r} were first {_ATTEMPTS} times; try again")

    def _count(self, drafting: Drafting, tail: Tail) -> None:
        """Draft what the branch had come to before this transaction, where that was not recorded for a while."""
        figures = self.tallying.due(tail.branch, tail.lineage)
        if figures is not None:
            scope = Scope(branch=tail.branch, visibility=Visibility.AUDIT)
            drafting.add(figures, kind="counted", scope=scope, at=drafting.now)

    def _drafting(self, view: View, tail: Tail, at: Instant) -> Drafting:
        return Drafting(
            ledger=self.ledger,
            stream=self.conversation.key,
            ids=self.ids,
            owner=self.owner,
            tail=tail.copy(),
            at=at,
            now=at,
            participant=view.participant,
            carries=view.carries,
        )

    def beside(self, drafting: Drafting, view: View, tail: Tail | None = None) -> Drafting:
        """A drafting of the same transaction on another branch, to be joined to the first one when it is done.

        `tail` is the state of a branch that this transaction begins; default: as it is in the store, at the position
        where the transaction begins. Raises `PositionConflict` where another writer was there in between.
        """
        known = tail if tail is not None else self.tail(view, fresh=True)
        begins = drafting.tail.position - len(drafting.drafts)
        if tail is None and known.position != begins:
            raise PositionConflict(stream=self.conversation.name, expected=begins, actual=known.position)
        made = self._drafting(view, known, drafting.at)
        made.tail.position = drafting.tail.position
        return made

    def read(self, payload: Payload) -> bytes:
        """The bytes of a payload, wherever they lie."""
        return payload.inline if payload.inline is not None else self.ledger.fetch(self.owner, payload)

    def desk(self, view: View) -> Desk:
        """What a branch and participant keep at hand between two requests."""
        with self._lock:
            return self._desks.setdefault(view, Desk())
