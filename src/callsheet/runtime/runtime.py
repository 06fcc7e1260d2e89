"""`Runtime`: an open store, and the conversations in it."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from callsheet.errors import Damaged, InputError, InvalidOption, NotFound
from callsheet.graph.enums import StreamKind
from callsheet.graph.ids import ROOT_BRANCH, RecordId, TenantId, UserId
from callsheet.graph.nodes import Branch
from callsheet.graph.nodes import Conversation as ConversationBody
from callsheet.graph.ports import Append, Clock, Ids, Ledger, Owner
from callsheet.graph.record import Body, Draft, Stream
from callsheet.graph.values import Scope
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.options import label
from callsheet.runtime.routing import Provider, Route
from callsheet.runtime.session import Session
from callsheet.runtime.skills import Skills

DEFAULT_USER = "local"
"""Who owns a conversation when nobody is named."""


class Runtime:
    """An open store, seen by one tenant. A context manager; all methods may be called from any thread."""

    def __init__(self, ledger: Ledger, *, tenant: str, ids: Ids, clock: Clock) -> None:
        self._ledger = ledger
        self._tenant = TenantId(tenant)
        self._ids = ids
        self._clock = clock

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Runtime of tenant {self._tenant!r}>"

    def close(self) -> None:
        """Close the store. What was recorded is safe with or without it; closing twice is fine."""
        self._ledger.close()

    @property
    def tenant(self) -> str:
        """Whose part of the store this is."""
        return self._tenant

    @property
    def ledger(self) -> Ledger:
        """The store itself, for audit and inspection."""
        return self._ledger

    @property
    def skills(self) -> Skills:
        """The skills that conversations may offer their models."""
        return Skills(self._ledger, self._tenant, self._ids, self._clock)

    def conversation(self, name: str, *, user: str | None = None) -> Conversation:
        """Open the conversation with this name, or begin it.

        `user` owns it: what is recorded is erased together with its user. A conversation keeps the user it began with;
        another one is refused with `InvalidOption`.
        """
        label(name, "the conversation's name")
        if user is not None:
            label(user, "user")
        found = self._ledger.stream(self._tenant, StreamKind.CONVERSATION, name)
        if found is None:
            found = self._begin(name, UserId(user or DEFAULT_USER))
        if user is not None and found.user != user:
            raise InvalidOption(f"conversation {name!r} belongs to another user than {user!r}")
        sheets = self._ledger.stream(self._tenant, StreamKind.SHEETS, name)
        if sheets is None:
            raise Damaged(f"conversation {name!r} has no stream for its sheets. Run callsheet verify.")
        return self._opened(found, sheets)

    def conversations(self) -> list[str]:
        """The names of all conversations, in the order in which they began."""
        return [stream.name for stream in self._ledger.streams(self._tenant, StreamKind.CONVERSATION)]

    def existing(self, name: str) -> Conversation:
        """Open the conversation with this name. Raises `NotFound`; nothing is begun."""
        label(name, "the conversation's name")
        if self._ledger.stream(self._tenant, StreamKind.CONVERSATION, name) is None:
            raise NotFound(f"no conversation {name!r} in this store")
        return self.conversation(name)

    def route(
        self,
        talk: Conversation,
        providers: Sequence[Provider],
        *,
        policy: str | PolicySetDocument | None = None,
        scopes: Sequence[str] = (),
    ) -> tuple[Route, ...]:
        """Which of these providers may serve the next request of a conversation, and why. See `Conversation.route`."""
        return talk.route(providers, policy=policy, scopes=scopes)

    def _opened(self, conversation: Stream, sheets: Stream) -> Conversation:
        session = Session(
            ledger=self._ledger,
            ids=self._ids,
            clock=self._clock,
            owner=Owner(tenant=self._tenant, user=conversation.user),
            conversation=conversation,
            sheets=sheets,
        )
        return Conversation(session)

    def _begin(self, name: str, user: UserId) -> Stream:
        conversation = self._stream(StreamKind.CONVERSATION, name, user)
        drafts = (
            self._draft(ConversationBody(name=name, user=user), Scope(), self._ids.record("conversation")),
            self._draft(Branch(name=ROOT_BRANCH), Scope(branch=ROOT_BRANCH), ROOT_BRANCH),
        )
        sheets = self._stream(StreamKind.SHEETS, name, user)
        try:
            self._ledger.append(
                [Append(stream=conversation, drafts=drafts, expect=0), Append(stream=sheets, drafts=(), expect=0)]
            )
        except InputError:
            # Somebody else began it a moment ago.
            found = self._ledger.stream(self._tenant, StreamKind.CONVERSATION, name)
            if found is None:
                raise
            return found
        return conversation

    def _stream(self, kind: StreamKind, name: str, user: UserId) -> Stream:
        return Stream(tenant=self._tenant, id=self._ids.stream(), kind=kind, name=name, user=user)

    def _draft(self, body: Body, scope: Scope, id: RecordId) -> Draft:
        return Draft(id=id, at=self._clock.now(), body=body, nonce=self._ids.nonce(), scope=scope)
