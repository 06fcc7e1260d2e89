"""A store with one conversation and its reader: what it may see, and how its requests are asked for."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from callsheet import Conversation, Runtime, Sheet
from callsheet.errors import BudgetTooSmall, EmptyRequest
from callsheet.graph.changes import Released, Shared, Withdrawn
from callsheet.graph.enums import INSTRUCTING, Visibility
from callsheet.graph.ids import RecordId, StreamId
from callsheet.graph.nodes import Message
from callsheet.graph.ports import Ledger
from callsheet.graph.record import NONCE_BYTES, Record
from callsheet.ledger.memory import MemoryLedger
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime.conversation import SubAgent
from callsheet.testing import FixedClock
from tests.proofs.steps import Reader, Way
from tests.runtime.replies import tool, user

MODELS = {"openai": "gpt-5.2", "anthropic": "claude-sonnet-4-5"}
YARD = "yard"
TENANT = "local"
SKILLS = ("mooring", "painting")


class TwoIds:
    """Ids in sequence by kind; what is hidden has sequences of its own, so that hiding more shifts no visible id."""

    def __init__(self) -> None:
        self.apart = False
        self._numbers: dict[tuple[str, bool], count[int]] = {}

    def _next(self, kind: str) -> str:
        number = next(self._numbers.setdefault((kind, self.apart), count(1)))
        return f"{kind}_{'x' * self.apart}{number}"

    def record(self, kind: str) -> RecordId:
        return RecordId(self._next(kind))

    def stream(self) -> StreamId:
        return StreamId(self._next("stream"))

    def nonce(self) -> bytes:
        return self._next("nonce").encode().rjust(NONCE_BYTES, b"0")[-NONCE_BYTES:]


def apart(record: Record) -> bool:
    """Whether a record was hidden on purpose, under ids of its own."""
    return "_x" in record.id


class World:
    """One store, and its reader's view of the conversation in it."""

    def __init__(
        self, reader: Reader, *, ledger: Ledger | None = None, policy: PolicySetDocument | None = None
    ) -> None:
        self.reader, self.policy = reader, policy
        self.ids, self.clock = TwoIds(), FixedClock()
        self.ledger = ledger or MemoryLedger(clock=self.clock)
        self.runtime = self.opened()
        #: What was assembled on the way, in order.
        self.sheets: list[Sheet] = []
        #: Numbers of provider's ids, for what is visible and what is hidden.
        self.places = {False: count(1), True: count(1)}
        for name in SKILLS:
            self.runtime.skills.add(name, summary=f"Do {name}.", instructions="See BT-003.", tools=[tool(f"do_{name}")])
        root = self.runtime.conversation(YARD, user="mia")
        root.record([{"role": "system", "content": "Answer briefly."}, user("Which boats lie in the yard?")])
        if reader.branched:
            root = root.branch(name="mine")
        self.mate = root.participant("bo")
        self.talk = root.participant("ada") if reader.named else root
        #: Sub-agents, with the one who began each.
        self.children: list[tuple[Way, SubAgent]] = []
        self._elsewhere: dict[Way, Conversation] = {}

    def opened(self, tenant: str = TENANT) -> Runtime:
        """The store as a process has it that was just started."""
        return Runtime(self.ledger, tenant=tenant, ids=self.ids, clock=self.clock)

    def fresh(self) -> Conversation:
        """The reader's view in a process that was just started."""
        opened = self.opened().conversation(YARD).on(self.talk.branch_id)
        return opened.participant("ada") if self.reader.named else opened

    def assemble(
        self, talk: Conversation | None = None, *, provider: str | None = None, budget: int | None = None
    ) -> Sheet | None:
        """The reader's next request; None where the budget is too small for it, or there is nothing to answer."""
        reader = self.reader
        named = provider or reader.provider
        try:
            return (talk or self.talk).assemble(
                provider=named,
                model=MODELS[named],
                policy=self.policy or reader.policy,
                budget=budget or reader.budget,
                recall=reader.recall,
            )
        except (BudgetTooSmall, EmptyRequest):
            return None

    def view(self, way: Way) -> Conversation:
        """Who records a step: the reader, or somebody whom it does not see."""
        if way is Way.PRIVATE:
            return self.mate
        if way not in self._elsewhere and way in (Way.SIBLING, Way.USER, Way.TENANT):
            with self.aside():
                self._elsewhere[way] = self._begun(way)
        return self._elsewhere.get(way, self.talk)

    def _begun(self, way: Way) -> Conversation:
        if way is Way.SIBLING:
            return self.talk.branch(name="theirs")
        if way is Way.USER:
            return self.runtime.conversation("yard of ben", user="ben")
        return self.opened("other").conversation(YARD, user="mia")

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is recorded meanwhile has ids of its own."""
        before, self.ids.apart = self.ids.apart, True
        try:
            yield
        finally:
            self.ids.apart = before

    def settle(self) -> None:
        """Let every view see the newest state: an attempt to write on an older one would use up ids."""
        self.talk.pending()
        self.mate.pending()

    # ------------------------------------------------------------------ what there is

    def records(self) -> list[Record]:
        """All records of the conversation, in order."""
        session = self.talk._session
        return session.ledger.records(session.conversation.key)

    def visible(self) -> list[Record]:
        """The records that the reader may see by their scope and branch alone, told without the runtime's rules."""
        session = self.talk._session
        lineage = session.tail(self.talk._view, fresh=True).lineage
        opened = self.given()
        return [
            record
            for record in self.records()
            if lineage.sees(record.branch, record.position) and (self.sees(record) or record.id in opened)
        ]

    def given(self) -> set[RecordId]:
        """The records that were opened to the reader and not taken back, told without the runtime's rules."""
        session = self.talk._session
        lineage = session.tail(self.talk._view, fresh=True).lineage
        readers = {self.talk.participant_id, *(segment.branch for segment in lineage.segments)}
        pairs: set[tuple[RecordId, RecordId]] = set()
        records = self.records()
        for record in records:
            body = record.body
            if not lineage.sees(record.branch, record.position) or not self.sees(record):
                continue
            if isinstance(body, Released | Shared):
                to = body.to if isinstance(body, Released) else body.participants
                pairs |= {(id, one) for id in body.records for one in to if one in readers}
            elif isinstance(body, Withdrawn):
                pairs -= {(id, one) for id in body.records for one in body.from_}
        ids = {id for id, _ in pairs}
        return {
            record.id
            for record in records
            if record.id in ids
            and record.header.scope.visibility is not Visibility.AUDIT
            and not (isinstance(record.body, Message) and record.body.role in INSTRUCTING)
        }

    def sees(self, record: Record) -> bool:
        """Whether the scope of a record lets the reader see it: nothing here is on a share list by its scope."""
        scope = record.header.scope
        if scope.visibility is Visibility.AUDIT or scope.sub_agent is not None:
            return False
        own = scope.owner is None or scope.owner == self.talk.participant_id
        return own or scope.visibility is not Visibility.PARTICIPANT
