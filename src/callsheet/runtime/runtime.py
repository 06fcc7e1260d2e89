"""`Runtime`: an open store, and the conversations in it."""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from callsheet.errors import Damaged, InputError, InvalidOption, NotFound
from callsheet.graph.enums import Lifecycle, StreamKind
from callsheet.graph.ids import ROOT_BRANCH, RecordId, StreamId, TenantId, UserId
from callsheet.graph.nodes import Branch
from callsheet.graph.nodes import Conversation as ConversationBody
from callsheet.graph.ports import Append, Clock, Embedder, Ids, Ledger, Owner, Reranker, Summariser
from callsheet.graph.record import Body, Draft, Stream
from callsheet.graph.values import Scope
from callsheet.policy.sets import BALANCED, PolicySetDocument
from callsheet.runtime import living
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.documenting.knowledge import Knowledge
from callsheet.runtime.documenting.library import Library
from callsheet.runtime.entrusting import Entrusting, provider_of
from callsheet.runtime.identified import name_of
from callsheet.runtime.meaning import Meaning
from callsheet.runtime.options import choice, label, positive, texts
from callsheet.runtime.personalising.face import KeepsMemories
from callsheet.runtime.reranking import Reranking
from callsheet.runtime.routing import Provider, Route
from callsheet.runtime.session import Session
from callsheet.runtime.skills import Skills
from callsheet.runtime.sources import Dated
from callsheet.runtime.typed import all_checked
from callsheet.runtime.working.draining import Draining, Worked
from callsheet.runtime.working.worker import Worker
from callsheet.runtime.working.works import Works
from callsheet.runtime.working.workshop import Workshop

DEFAULT_USER = "local"
"""Who owns a conversation when nobody is named."""


@all_checked
class Runtime(KeepsMemories):
    """An open store, seen by one tenant. A context manager; all methods may be called from any thread."""

    def __init__(
        self,
        ledger: Ledger,
        *,
        tenant: str,
        ids: Ids,
        clock: Clock,
        idle: float | None = None,
        worker: bool = False,
        embedder: Embedder | None = None,
        summariser: Summariser | None = None,
        reranker: Reranker | None = None,
        policy: PolicySetDocument = BALANCED,
    ) -> None:
        clock = Dated(clock)
        self._ledger = ledger
        self._tenant = TenantId(tenant)
        self._ids = ids
        self._clock = clock
        self._meaning = Meaning.of(ledger, embedder, policy) if embedder is not None else None
        self._reranking = (
            Reranking(
                reranker=reranker,
                entrusting=Entrusting(ledger=ledger, provider=provider_of(reranker), policy=policy),
            )
            if reranker is not None
            else None
        )
        self._library = Library.of(ledger, self._tenant, self._meaning, self._reranking)
        self._workshop = Workshop(
            ledger=ledger,
            tenant=self._tenant,
            ids=ids,
            clock=clock,
            idle=idle,
            embedder=embedder,
            policy=policy,
            summariser=summariser,
        )
        self._works = Works(self._workshop)
        self._worker = Worker(self._works.named()) if worker else None
        if self._worker is not None:
            self._worker.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Runtime of tenant {self._tenant!r}>"

    def close(self) -> None:
        """Close the store, and stop its worker before. What was recorded is safe without it; closing twice is fine."""
        if self._worker is not None:
            self._worker.stop()
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
    def knowledge(self) -> Knowledge:
        """The documents that conversations may search."""
        return Knowledge(self._library, self._ledger, self._tenant, self._ids, self._clock)

    @property
    def skills(self) -> Skills:
        """The skills that conversations may offer their models."""
        return Skills(self._ledger, self._tenant, self._ids, self._clock)

    def conversation(self, name: str, *, user: str | None = None) -> Conversation:
        """Open the conversation with this name, or begin it.

        `user` owns it: what is recorded is erased together with its user. A conversation keeps the user it began with;
        another one is refused with `InvalidOption`. One that begins without a user belongs to ``local``, the one person
        of this machine, and shares the memories of that user with all others that do: name users where there are
        several.
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

    def conversations(self, *, status: Lifecycle | str | None = None) -> list[str]:
        """The names of the conversations, in the order in which they began; with `status` of those that stand there.

        `status` is ``opened``, ``active``, ``compacted`` or ``archived``.
        """
        wanted = choice(Lifecycle, status, "status") if status is not None else None
        return [
            stream.name
            for stream in self._workshop.conversations()
            if wanted is None or living.status(self._ledger, stream.key) is wanted
        ]

    def existing(self, name: str) -> Conversation:
        """Open the conversation with this name, or else with this id. Raises `NotFound`; nothing is begun."""
        label(name, "the conversation's name")
        if self._ledger.stream(self._tenant, StreamKind.CONVERSATION, name) is not None:
            return self.conversation(name)
        identified = name_of(self._ledger, self._tenant, StreamId(name))
        if identified is None:
            raise NotFound(f"no conversation {name!r} in this store")
        return self.conversation(identified)

    @property
    def worker(self) -> Worker | None:
        """The thread that does background work; None: the store was opened without one."""
        return self._worker

    def work(
        self,
        *,
        limit: int | None = None,
        works: Sequence[str] | None = None,
        progress: Callable[[Worked], object] | None = None,
    ) -> tuple[Worked, ...]:
        """Do the background work that is pending now, and return what came of each kind of it.

        `works` names those to do, such as ``archiving``; default: all that the store was opened with what they need
        for. `limit` is the most units of each, and `progress` is told before the first and after each one what has come
        of its work so far. What fails is counted, logged by its class, and found again the next time. Nothing is
        queued: several processes may do it at once. Raises `InvalidOption`.
        """
        most = positive(limit, "limit") if limit is not None else None
        named = texts(works, "works") if works is not None else None
        return tuple(Draining(work=work, limit=most, told=progress).drain() for work in self._works.named(named))

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
            library=self._library,
            meaning=self._meaning,
            reranking=self._reranking,
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
