"""Recording what is new of a history that is sent whole again and again, behind the place that is known of it.

Internal; `callsheet.serve.proxy` is its user. Blocks are recorded as they were parsed: several messages, results and
replies of any provider, with the instructions that govern them, in one transaction, and only where nothing else has
been said behind that place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import NamedTuple

from callsheet.assemble.blocks import Answer, Block, Said
from callsheet.graph.changes import Superseded
from callsheet.graph.cut import alone
from callsheet.graph.enums import INSTRUCTING, ForkReason, InstructionScope
from callsheet.graph.ids import ROOT_BRANCH, RecordId
from callsheet.graph.ports import Ledger
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import StreamKey
from callsheet.graph.times import Instant
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.governing import Governing, said_digest
from callsheet.runtime.runtime import Runtime
from callsheet.runtime.stages import turn_begins
from callsheet.runtime.tail import Tail


class Stands(NamedTuple):
    """Where a message or result stands."""

    record: RecordId
    position: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """What was recorded of a history."""

    #: Where each of its blocks stands.
    stands: Sequence[Stands]
    #: Behind what the history goes on; None: nothing was said.
    newest: Stands | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """What is new of a history."""

    blocks: Sequence[Block]
    #: What stands before everything else; it replaces what stood there before.
    instructions: Sequence[Said]
    #: The ids by which the sender knows the calls of the message that it goes on behind, in their order.
    calls: Sequence[str | None] = ()
    #: When it was said; None: now.
    at: Instant | None = None


def fresh_name(runtime: Runtime) -> str:
    """A name that no conversation has."""
    return str(runtime._ids.stream())


def on(talk: Conversation, branch: RecordId) -> Conversation:
    """The view of a branch that is known to be there."""
    return Conversation(talk._session, *talk._view._replace(branch=branch))


def place_of(talk: Conversation, record: RecordId) -> tuple[RecordId, int] | None:
    """The branch and the position of a message or result; None: it is not there."""
    for found in talk._get((record,)):
        if found.branch is not None:
            return found.branch, found.position
    return None


def stands_last(talk: Conversation, position: int) -> bool:
    """Whether nothing was said behind a position, as far as it can be told without recording."""
    session, view = talk._session, talk._view
    # What is at hand is asked first: where it is overtaken, recording notices.
    return any(session.tail(view, fresh=fresh).last_shown == position for fresh in (False, True))


def is_newest(ledger: Ledger, key: StreamKey, branch: RecordId, position: int) -> bool:
    """The same of a branch of a conversation that need not be open, as it lies in the store."""
    head = ledger.head(key)
    if head is None:
        return False
    query = NodeQuery(kinds=("message", "artifact"), lineage=alone(branch, head.position), newest=True, limit=1)
    return [one.position for one in ledger.nodes(key, query)] == [position]


def begin_beside(talk: Conversation, record: RecordId | None, reason: ForkReason) -> Conversation:
    """Begin a branch behind a record of this view; None: before everything that was said in the conversation."""
    if record is not None:
        return talk.branch(at=record, reason=reason)
    session, root = talk._session, on(talk, ROOT_BRANCH)
    head = session.ledger.head(session.conversation.key)
    lineage = alone(ROOT_BRANCH, head.position if head is not None else 0)
    query = NodeQuery(kinds=("message", "artifact"), lineage=lineage, limit=1)
    found = session.ledger.nodes(session.conversation.key, query)
    return root.branch(before=found[0].id if found else None, reason=reason)


def governing_of(talk: Conversation) -> Governing:
    """Keeps at hand what governs in a conversation."""
    session = talk._session
    return Governing(ledger=session.ledger, key=session.conversation.key, read=session.read)


def record_behind(talk: Conversation, governing: Governing, sent: Sent, *, behind: int) -> Recorded | None:
    """Record what is new behind a position, in one transaction.

    None: something else was said behind that position; then nothing is recorded. What is recorded is durable once an
    answer is, which is not sent to its end before; until then its sender has it too.
    """
    session = talk._session
    recorded: list[Recorded] = []

    def draft(drafting: Drafting) -> None:
        recorded.clear()
        if drafting.tail.last_shown == behind:
            recorded.append(_Sending(drafting=drafting, governing=governing, sent=sent).draft())

    tail, records = session.append(talk._view, draft, durable=False)
    if not records and recorded and session.tail(talk._view, fresh=True).position != tail.position:
        # Nothing had to be recorded, so nobody has noticed that it was overtaken.
        session.append(talk._view, draft, durable=False)
    return recorded[0] if recorded else None


@dataclass(kw_only=True, slots=True)
class _Sending:
    """What is sent once, on its way into one transaction."""

    drafting: Drafting
    governing: Governing
    sent: Sent
    #: The recorded ids of calls that the sender knows by others.
    _renamed: Mapping[str, str] = field(default_factory=dict)
    _stands: list[Stands] = field(default_factory=list)

    def draft(self) -> Recorded:
        drafting, sent = self.drafting, self.sent
        if sent.at is not None:
            drafting.at = sent.at
        self._renamed = _renamed(drafting.tail, sent.calls)
        if sent.blocks:
            turn_begins(drafting)
        # Nothing comes between calls and their results: these would be late.
        answers = list(takewhile(lambda block: isinstance(block, Answer), sent.blocks))
        self._add(answers)
        before = drafting.tail.last_message
        replaced = self._instruct()
        instruction = drafting.tail.last_message
        self._add(sent.blocks[len(answers) :])
        newest = self._stands[-1] if self._stands else None
        if instruction is not None and instruction != before and len(answers) == len(sent.blocks):
            newest = Stands(instruction, drafting.tail.last_shown)
        # Without instructions in their place, what is said next tells that the older ones govern no more.
        current = newest.record if newest is not None else drafting.tail.last_message
        if replaced and current is not None:
            gone = Superseded(current=current, replaced=replaced, reason="sent again without instructions")
            drafting.add(gone, kind="superseded")
        return Recorded(stands=self._stands, newest=newest)

    def _add(self, blocks: Sequence[Block]) -> None:
        for block in blocks:
            self._stands.append(Stands(self._block(block), self.drafting.tail.last_shown))

    def _block(self, block: Block) -> RecordId:
        if isinstance(block, Answer):
            return self.drafting.answered(self._known(block), None)
        if block.role in INSTRUCTING:
            # Of this place in the history: what is said before everything does not replace it.
            return self.drafting.message(block, self.drafting.shared(), None)
        return self.drafting.said(block)

    def _known(self, answer: Answer) -> Answer:
        """The same result under the id by which its call was recorded."""
        if answer.call is None or self.drafting.tail.named(answer.call):
            return answer
        known = self._renamed.get(answer.call)
        return replace(answer, call=known) if known is not None else answer

    def _instruct(self) -> tuple[RecordId, ...]:
        """Record other instructions than those that govern; those that are to be replaced by nothing."""
        drafting, sent = self.drafting, self.sent
        governs = self.governing.on(drafting.tail)
        if [said_digest(one) for one in sent.instructions] == list(governs.values()):
            return ()
        older = tuple(governs)
        if not sent.instructions:
            return older
        shared, scope = drafting.shared(), InstructionScope.CONVERSATION
        made = [drafting.message(one, shared, scope) for one in sent.instructions]
        if older:
            newer = Superseded(current=made[0], replaced=older, reason="newer instruction of the same scope")
            drafting.add(newer, kind="superseded", scope=shared)
        return ()


def _renamed(tail: Tail, calls: Sequence[str | None]) -> Mapping[str, str]:
    """The recorded ids of the newest message's calls, by those that the sender gives them."""
    known = [one for one in (*tail.open.values(), *tail.answered.values()) if one.body.message == tail.last_message]
    known = [one for one in known if one.body.tool != RECALL]
    if len(known) != len(calls):
        return {}
    ids = (one.body.provider_id for one in sorted(known, key=lambda one: one.body.index))
    return {theirs: ours for theirs, ours in zip(calls, ids, strict=True) if theirs and ours}
