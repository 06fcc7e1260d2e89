"""A past request made again: the same pins over the same cut, from the records alone, without storing anything."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import msgspec

from callsheet.assemble.delta import Whole
from callsheet.assemble.needed import Needed, shipped
from callsheet.assemble.plans import Plan
from callsheet.errors import NotFound
from callsheet.explain.facts import SHOWN
from callsheet.graph.cut import Lineage, lineage
from callsheet.graph.enums import Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, ContextAssembly, ContinuationCheckpoint, Message
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.verdict import Decision
from callsheet.policy.visibility import hidden_from, refusal
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime.alluding import Questions
from callsheet.runtime.assembling import Assembling
from callsheet.runtime.calibrating import calibrated_counter
from callsheet.runtime.deciding import Deciding, Standings, read_standings
from callsheet.runtime.desk import Desk, bodies
from callsheet.runtime.documenting.announcing import announced_before
from callsheet.runtime.gathered import Gathered
from callsheet.runtime.ground import asks
from callsheet.runtime.living import archived_at
from callsheet.runtime.personalising.book import stream_of
from callsheet.runtime.personalising.recounting import Recounting
from callsheet.runtime.place import Place
from callsheet.runtime.policies import policy_by_hash
from callsheet.runtime.releasing import Opened, opened
from callsheet.runtime.ruling import shown, tool_of
from callsheet.runtime.stored import own_sheets
from callsheet.runtime.tail import branches, model_said, unanswered
from callsheet.runtime.terms import Order
from callsheet.runtime.unseen import Visible, unseen
from callsheet.runtime.whole_sheets import gone_on_from, read_sheet
from callsheet.wire import formats
from callsheet.wire.caching import caching


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """What the request comes to when it is made again."""

    gathered: Gathered
    plan: Plan
    #: Addresses of the envelope and of each message.
    blocks: tuple[str, ...]
    counter: str
    calibration: RecordId | None
    needed: str


@dataclass(frozen=True, kw_only=True)
class _Assembling(Assembling):
    """Assembles without storing."""

    def again(self) -> Made:
        """Gather, decide, compose and render as it was done then."""
        boundary, place = self.order.boundary, self.place
        counter, calibration = calibrated_counter(place.ledger, place.conversation.key, self.lineage, boundary)
        cache = caching(boundary.provider, boundary.model)
        gathered = self._gather(counter, cache)
        made = self._made(gathered, counter, cache)
        return Made(
            gathered=gathered,
            plan=made.plan,
            blocks=tuple(place.ledger.address(place.owner, block) for block in made.sent()),
            counter=counter.name,
            calibration=calibration,
            needed=self.order.needed.name,
        )


@dataclass(frozen=True, kw_only=True)
class Revisited:
    """A stored request with what it saw. What costs something is read when it is first asked for."""

    place: Place
    #: The record of the sheet.
    record: Record

    @cached_property
    def whole(self) -> Whole:
        """All its selections and addresses."""
        return read_sheet(self.place, self.record)

    @property
    def sheet(self) -> ContextAssembly:
        """The record as it was stored."""
        return _body(self.record)

    @property
    def boundary(self) -> Boundary:
        """Who was about to generate, and on what terms."""
        return self.sheet.boundary

    @property
    def cut(self) -> int:
        """The newest position that it saw."""
        return self.sheet.cut.at(self.place.conversation.id)

    @cached_property
    def policy(self) -> PolicySetDocument:
        """The policy set that it was made under. Raises `PolicyError` where it is not known any more."""
        return policy_by_hash(self.place.ledger, self.place.owner.tenant, self.sheet.pins.policy_set)

    @cached_property
    def lineage(self) -> Lineage:
        """What its branch saw."""
        known = branches(self.place.ledger, self.place.conversation.key)
        return lineage(known, self.boundary.branch, self.cut)

    @cached_property
    def desk(self) -> Desk:
        """The records that were read for it."""
        return Desk()

    # ------------------------------------------------------------------ the request before it

    @cached_property
    def earlier(self) -> "Revisited | None":
        """The request that was shown last before it, to be asked in the same way."""
        return Revisited(place=self.place, record=self.before) if self.before is not None else None

    @cached_property
    def before(self) -> Record | None:
        """The request that it went on from: that of its checkpoint, or else the one that was shown last before it.

        Shown is what an answer followed by then. Read from the stored sheets.
        """
        resumed = self._resumed()
        if resumed is not None:
            found = self.place.ledger.get(self.place.sheets.key, (resumed,))
            return found[0] if found else None
        said = self._said()
        if said == 0:
            return None
        ledger, sheets = self.place.ledger, self.place.sheets.key
        for segment in reversed(self.lineage.segments):
            own = own_sheets(ledger, sheets, segment.branch, self.boundary.participant, self.record.position - 1)
            for record, body in own:
                if body.cut.at(self.place.conversation.id) < min(said, segment.upto + 1):
                    return record
        return None

    def _resumed(self) -> RecordId | None:
        """The sheet that its checkpoint names; None: it has none, or that names none."""
        checkpoint = self.boundary.checkpoint
        found = self.place.ledger.get(self.place.conversation.key, (checkpoint,)) if checkpoint is not None else []
        body = found[0].body if found else None
        return body.sheets[-1] if isinstance(body, ContinuationCheckpoint) and body.sheets else None

    def _said(self) -> int:
        """The position of the newest message of a model that the reader could see; 0: there was none."""
        before: int | None = None
        while True:
            query = NodeQuery(kinds=("message",), lineage=self.lineage, newest=True, limit=_AT_A_TIME, before=before)
            found = self.place.ledger.nodes(self.place.conversation.key, query)
            for record in reversed(found):
                hidden = hidden_from(record.header.scope, self.boundary.participant, self.boundary.run)
                if hidden is None and model_said(record):
                    return record.position
            if len(found) < _AT_A_TIME:
                return 0
            before = found[0].position

    # ------------------------------------------------------------------ made again

    @cached_property
    def made(self) -> Made:
        """The request made again. Raises `PolicyError`, and what assembling raises."""
        sheet = self.sheet
        given = [name for name in self.boundary.tools if not (sheet.recall and name == RECALL)]
        order = Order(
            boundary=self.boundary,
            policy=self.policy,
            policy_hash=self.policy.hash,
            tools=self._tools(frozenset(given)),
            recall=sheet.recall,
            needed=self.needed,
            sql=sheet.recall_sql,
            consults=RECALL in self.boundary.tools,
            documents=lambda _: announced_before(self.place.ledger, self.place.owner.tenant, sheet),
        )
        return _Assembling(
            place=self.place,
            lineage=self.lineage,
            order=order,
            desk=self.desk,
            base=self.base,
            shown_before=self._shown is not None,
            open=self._open,
            personal_upto=self._personal_upto,
            questions=Questions.stored(self.place.ledger, self.place.conversation, sheet.pins.embedding),
        ).again()

    @property
    def _personal_upto(self) -> int:
        """What it saw of the user's own stream."""
        stream = stream_of(self.place.ledger, self.place.owner)
        return self.sheet.cut.at(stream.id) if stream is not None else 0

    @cached_property
    def base(self) -> Whole | None:
        """What it went on from: the request before it, unless everything had to be looked at anew."""
        return gone_on_from(self._shown, self.policy.hash, self.boundary)

    @cached_property
    def _shown(self) -> Whole | None:
        """The request before it."""
        return read_sheet(self.place, self.before) if self.before is not None else None

    @property
    def needed(self) -> Needed:
        """The table of how likely a result is needed. Another one than the shipped is not stored: its name tells."""
        return shipped()

    def _tools(self, given: frozenset[str]) -> list[dict[str, object]]:
        """The schemas that the caller gave, as they were sent; a format may have added those that it needs."""
        if not given:
            return []
        (envelope,) = self.place.ledger.blocks(self.place.owner, self.whole.blocks[:1])
        sent = msgspec.json.decode(envelope, type=dict[str, object]).get("tools")
        tools = sent if isinstance(sent, list) else []
        return formats.each_tool(formats.tools_named(tools, given.__contains__))

    @cached_property
    def _open(self) -> frozenset[RecordId]:
        """The calls that had no result yet."""
        ledger, key = self.place.ledger, self.place.conversation.key
        ids = unanswered(ledger, key, self.lineage, lambda record: refusal(record.header, self.boundary) is None)
        found = ledger.get(key, ids) if ids else []
        return frozenset(
            record.id
            for record in found
            if record.header.kind == "call" and refusal(record.header, self.boundary) is None
        )

    # ------------------------------------------------------------------ decided again

    @cached_property
    def opened(self) -> Opened:
        """What had been released to the reader, or shared with it, and not taken back."""
        return opened(self.place.ledger, self.place.conversation.key, self.lineage, self.boundary)

    def standings(self, ids: tuple[RecordId, ...]) -> Standings:
        """What changes that the reader sees had made of records."""
        ledger, key = self.place.ledger, self.place.conversation.key

        def sees(record: Record) -> bool:
            return refusal(record.header, self.boundary) is None

        hidden = unseen(ledger, key, self.lineage, sees)
        visible = Visible(ledger=ledger, key=key, lineage=self.lineage, shows=sees, hidden=hidden)
        shows = shown(self.policy, self.boundary, visible)
        return read_standings(ledger, key, self.lineage, ids, shows, hidden=hidden)

    @cached_property
    def personal(self) -> Recounting:
        """What it saw of the memories of the user."""
        return Recounting(place=self.place, boundary=self.boundary, desk=self.desk, upto=self._personal_upto)

    def decisions(
        self, ids: Iterable[RecordId], turns: Mapping[RecordId, int], exact: Container[RecordId] = frozenset()
    ) -> dict[RecordId, Decision]:
        """What the policies say of messages and results as of the cut, each in its turn.

        `exact` are those whose exact bytes were wanted.
        """
        wanted = tuple(dict.fromkeys(ids))
        self.desk.fetch(self.place.ledger, self.place.conversation.key, wanted)
        there = [id for id in wanted if id in self.desk.records and self.desk.records[id].body is not None]
        records = {id: self.desk.records[id] for id in there if self.desk.records[id].header.kind in SHOWN}
        deciding = self._deciding(tuple(records))
        resolved = deciding.resolved(self.desk.records.values())
        newest = self._newest_user_turn()
        found = {
            id: deciding.decide(
                record,
                turns.get(id, 0),
                derived=self.desk.derived.get(id),
                resolved=id in resolved,
                newest=record.position == newest,
                exact=id in exact,
            )
            for id, record in records.items()
        }
        return found | self.personal.decisions((id for id in wanted if id not in found), self.policy)

    @cached_property
    def judged(self) -> dict[RecordId, Decision]:
        """What the policies say of each candidate of the request made again, asked as they were asked then."""
        gathered, desk = self.made.gathered, self.desk
        records = [desk.records[id] for id in gathered.items]
        deciding = self._deciding(tuple(gathered.items))
        resolved = deciding.resolved(records)
        news = (desk.records[id] for id in gathered.fresh.records)
        newest = max((record.position for record in news if asks(record)), default=0)
        return {
            record.id: deciding.decide(
                record,
                gathered.items[record.id].turn,
                derived=desk.derived.get(record.id),
                resolved=record.id in resolved,
                newest=record.position == newest,
                exact=record.id in gathered.fresh.exact,
            )
            for record in records
        }

    def _deciding(self, ids: tuple[RecordId, ...]) -> Deciding:
        place = self.place
        return Deciding(
            boundary=self.boundary,
            policy=self.policy,
            standings=self.standings(ids),
            calls=bodies(self.desk.calls),
            open=self._open,
            turn=self.sheet.turns,
            archived=archived_at(place.ledger, place.conversation.key, self.lineage, self.boundary),
            episode=self.sheet.episode,
            tool_of=lambda id: tool_of(place.ledger, place.conversation.key, id),
            opened=self.opened.shown,
        )

    def _newest_user_turn(self) -> int:
        said = (
            record.position
            for record in self.desk.records.values()
            if isinstance(record.body, Message) and record.body.role is Role.USER and record.position <= self.cut
        )
        return max(said, default=0)


_AT_A_TIME = 8
"""Messages read at once in search of the newest of a model."""


def revisit(place: Place, id: RecordId) -> Revisited:
    """A stored request. Raises `NotFound`."""
    found = place.ledger.get(place.sheets.key, (id,))
    if not found or not isinstance(found[0].body, ContextAssembly):
        raise NotFound(f"no sheet {id!r} in conversation {place.conversation.name!r}")
    return Revisited(place=place, record=found[0])


def _body(record: Record) -> ContextAssembly:
    assert isinstance(record.body, ContextAssembly)
    return record.body
