"""The drafts of one transaction, in their order: whose each record is, what it is found by, and what it comes after."""

from dataclasses import dataclass, field

from msgspec.structs import replace

from callsheet.derive.derived import class_in
from callsheet.graph.enums import Isolation, Privacy, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.index import Index
from callsheet.graph.nodes import ToolArtifact, ToolCall
from callsheet.graph.ports import Ids
from callsheet.graph.record import Body, Draft
from callsheet.graph.times import Instant
from callsheet.graph.values import DEFAULT_PRIVACY, Scope
from callsheet.runtime.drafting.content import Content
from callsheet.runtime.indexing import Indexing
from callsheet.runtime.labels import strictest
from callsheet.runtime.tail import Tail

NOBODYS = Scope()
"""What the records of a view carry that is no sub-agent's."""


@dataclass(kw_only=True, slots=True)
class Drafts(Content):
    """Collects drafts on one branch."""

    ids: Ids
    tail: Tail
    #: When what is recorded happened, and when the transaction is made.
    at: Instant
    now: Instant
    participant: RecordId | None = None
    #: What each record carries of ownership beside branch and owner.
    carries: Scope = NOBODYS
    event: str | None = None
    #: The least strict class that any of it may have.
    least: Privacy = DEFAULT_PRIVACY
    drafts: list[Draft] = field(default_factory=list)

    def add(
        self,
        body: Body,
        *,
        kind: str,
        scope: Scope | None = None,
        id: RecordId | None = None,
        call: ToolCall | None = None,
        privacy: Privacy = DEFAULT_PRIVACY,
        at: Instant | None = None,
        index: Index | None = None,
    ) -> RecordId:
        """Draft one record, with what it is found by, and let the tail see it. `call` is the call of an artifact.

        `index` is what it is found by where that is known already.
        """
        if index is None:
            index = Indexing(read=self._read, count=self._count, redaction=self._redaction).of(body, call)
        if index is not None and isinstance(body, ToolArtifact):
            # So the header alone tells, without its content, that a result is of a stricter class.
            privacy = strictest((privacy, class_in(index.derived)))
        made = Draft(
            id=id or self.ids.record(kind),
            at=self.at if at is None else at,
            body=body,
            nonce=self.ids.nonce(),
            scope=scope or self.shared(),
            privacy=strictest((privacy, self.least)),
            index=index,
        )
        self.drafts.append(made)
        self.tail.see(made)
        return made.id

    def shared(self) -> Scope:
        """The ownership of what everyone on the branch may see."""
        return replace(
            self.carries,
            branch=self.tail.branch,
            owner=self.participant,
            isolation=Isolation.ISOLATED,
            shared_with=(),
        )

    def private(self, run: RecordId | None) -> Scope:
        """Runtime state belongs to its participant; without participants it belongs to the branch."""
        own = Visibility.PARTICIPANT if self.participant is not None else Visibility.BRANCH
        return replace(self.shared(), run=run, visibility=own)

    def worked(self, scope: Scope) -> Scope:
        """The same for a message that asks for tools, or a result: as isolated as its participant's work is."""
        if scope.visibility is not Visibility.PARTICIPANT:
            return scope
        return replace(scope, isolation=self.carries.isolation, shared_with=self.carries.shared_with)

    def scope_of(self, id: RecordId) -> Scope:
        """The ownership of a record that was drafted here."""
        return next(draft.scope for draft in self.drafts if draft.id == id)

    def join(self, other: "Drafts") -> None:
        """Take over what was drafted beside this on another branch; this one goes on behind it."""
        self.drafts.extend(other.drafts)
        self.tail.position = other.tail.position
