"""Assembling one request: read what it may rest on, let the pure rooms decide and compose, render, store the sheet."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from callsheet.assemble import blocks, sizes
from callsheet.assemble.compose import Composed, Material, compose
from callsheet.assemble.delta import Whole, common_prefix, delta, whole
from callsheet.assemble.itemising import Itemiser
from callsheet.assemble.needed import Needed
from callsheet.assemble.planning import Limits, Plan, Planner, Prices, Rewrite
from callsheet.errors import Damaged, EmptyRequest
from callsheet.graph.canonical import content_digest
from callsheet.graph.cut import Lineage, alone
from callsheet.graph.enums import Level, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, ContextAssembly, Pins, Selection, ToolArtifact, ToolCall
from callsheet.graph.ports import Append, Ids, Ledger, Owner
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Draft, Record, Stream
from callsheet.graph.times import Instant
from callsheet.graph.values import Cut, Payload, Scope, TokenParts
from callsheet.policy.sets import PolicySetDocument
from callsheet.recall.tool import NAME as RECALL
from callsheet.recall.tool import tool as recall_tool
from callsheet.runtime.calibrating import calibrated_counter
from callsheet.runtime.desk import Desk, bodies
from callsheet.runtime.gathering import Gathered, Gathering
from callsheet.runtime.sheet import Sheet
from callsheet.wire import formats
from callsheet.wire.caching import Caching, caching
from callsheet.wire.catalogue import catalogue
from callsheet.wire.tokens import TokenCounter

ASSEMBLER = "2"
"""The version of assembly: raised whenever the same pins over the same cut would give another selection."""

SECOND = 1_000_000
"""Microseconds."""

NARROWED = 2
"""One narrowed result takes at most this part of the budget."""

TRIES = 6
"""How often a request that turns out too large is planned with less room."""

LOOKED_AT = 8
"""Sheets of a branch that are looked at to find the one that was shown last."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where sheets are read from and written to."""

    ledger: Ledger
    ids: Ids
    owner: Owner
    conversation: Stream
    sheets: Stream

    def read(self, payload: Payload) -> bytes:
        """The bytes of a payload, wherever they lie."""
        return payload.inline if payload.inline is not None else self.ledger.fetch(self.owner, payload)


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """What one assembly is asked for."""

    boundary: Boundary
    policy: PolicySetDocument
    tools: Sequence[Mapping[str, object]]
    #: Whether the caller can serve the recall tool.
    recall: bool
    needed: Needed


def last_shown(place: Place, lineage: Lineage, participant: RecordId | None, said: int, desk: Desk) -> Whole | None:
    """The newest sheet that was shown: an answer followed it on this branch, or on one that it inherits.

    `said` is the position of the newest message of a model. A sheet that nobody answered changes nothing.
    """
    for kept in reversed(desk.sheets):
        if kept.sheet.cut.at(place.conversation.id) < said:
            return kept
    head = place.ledger.head(place.sheets.key)
    if head is None or said == 0:
        return None
    for segment in reversed(lineage.segments):
        own = alone(segment.branch, head.position)
        newest = place.ledger.nodes(
            place.sheets.key, NodeQuery(kinds=("assembly",), lineage=own, newest=True, limit=LOOKED_AT)
        )
        for record in reversed(newest):
            body = record.body
            if not isinstance(body, ContextAssembly) or record.header.scope.owner != participant:
                continue
            if body.cut.at(place.conversation.id) < min(said, segment.upto + 1):
                return read_sheet(place, record)
    return None


def gone_on_from(shown: Whole | None, policy: PolicySetDocument) -> Whole | None:
    """The sheet that was shown last, where this set can go on from it; None: it begins anew.

    A verbatim set does not go on from another one, which may have left out or shortened what it shows.
    """
    if shown is not None and policy.verbatim and shown.sheet.pins.policy_set != policy.hash:
        return None
    return shown


def read_sheet(place: Place, record: Record) -> Whole:
    """A sheet in full, walking back over the sheets that it extends. Raises `Damaged` where one is missing."""
    chain: list[tuple[RecordId, ContextAssembly]] = []
    current: Record | None = record
    while current is not None and isinstance(current.body, ContextAssembly):
        chain.append((current.id, current.body))
        if current.body.base is None:
            break
        found = place.ledger.get(place.sheets.key, (current.body.base,))
        current = found[0] if found else None
    if not chain or chain[-1][1].base is not None:
        raise Damaged(f"sheet {record.id} extends a sheet that is missing")
    result: Whole | None = None
    for id, body in reversed(chain):
        result = whole(id, body, result)
    assert result is not None
    return result


@dataclass(frozen=True, kw_only=True)
class Assembling:
    """Assembles one sheet for a view."""

    place: Place
    lineage: Lineage
    order: Order
    desk: Desk
    #: What was shown last: what is decided goes on from it.
    base: Whole | None
    #: Calls without a result on this branch.
    open: frozenset[RecordId]

    @property
    def previous(self) -> Whole | None:
        """The sheet that was assembled last, shown or not: what is stored and billed extends it."""
        return self.desk.sheets[-1] if self.desk.sheets else self.base

    def assemble(self) -> tuple[Sheet, Whole]:
        """Assemble, store and return one sheet; also in full, for the sheet that will extend it."""
        started = time.perf_counter_ns()
        boundary = self.order.boundary
        counter, calibration = calibrated_counter(
            self.place.ledger, self.place.conversation.key, self.lineage, boundary
        )
        cache = caching(boundary.provider, boundary.model)
        gathered = self._gather(counter, cache)
        queried = time.perf_counter_ns()
        if not gathered.items or not any(not item.instruction for item in gathered.items.values()):
            raise EmptyRequest
        made = self._made(gathered, counter, cache)
        decided = time.perf_counter_ns()
        rendered = _blocks(made.body)
        addresses = tuple(self.place.ledger.address(self.place.owner, block) for block in rendered)
        change = delta(made.plan.selections, addresses, self.previous)
        record = self._record(
            gathered, made, change_base=change.base, rendered=rendered, addresses=addresses, calibration=calibration
        )
        record = msgspec.structs.replace(
            record,
            kept=change.kept,
            kept_blocks=change.kept_blocks,
            selected=change.selected,
            blocks=change.blocks,
            timings=_timings(
                query=queried - started, policy=decided - queried, serialise=time.perf_counter_ns() - decided
            ),
        )
        return self._stored(record, made, rendered, addresses, change.kept_blocks)

    def _gather(self, counter: TokenCounter, cache: Caching) -> Gathered:
        order = self.order
        room = sizes.room(order.boundary.budget, counter)
        around = counter.framing
        limit = min(order.policy.narrowing.limit, room // NARROWED)
        # What was worked out about records holds under the same policy, counter and limit, for the same reader.
        reader = msgspec.structs.replace(order.boundary, now=Instant(0), trigger=None)
        remembered = self.desk.remembered.under((order.policy.hash, counter, limit, reader))
        gathering = Gathering(
            ledger=self.place.ledger,
            key=self.place.conversation.key,
            lineage=self.lineage,
            boundary=order.boundary,
            policy=order.policy,
            desk=self.desk,
            itemiser=lambda calls, turn, in_play: Itemiser(
                calls=calls,
                counter=counter,
                policy=order.policy,
                read=self.place.read,
                turn=turn,
                limit=limit,
                narrowed=remembered.narrowed,
                per_message=around.message,
                per_call=around.call,
                per_result=around.result,
                in_play=in_play,
            ),
            read=self.place.read,
            counting=self.desk.counting(counter),
            base=self.base,
            open=self.open,
            low=order.policy.low_water.of(room),
        )
        return gathering.gather(self._forced(cache))

    def _forced(self, cache: Caching) -> Rewrite | None:
        """Why everything must, or may for nothing, be chosen anew whatever is in it."""
        if self.base is None:
            return Rewrite.FIRST
        before, now = self.base.sheet, self.order.boundary
        if before.pins.policy_set != self.order.policy.hash or before.pins.assembler != ASSEMBLER:
            return Rewrite.CHANGED
        if self._recall != _recalls(before):
            return Rewrite.CHANGED
        same = (before.boundary.provider, before.boundary.model) == (now.provider, now.model)
        if not same or _given_tools(before.boundary.tools) != _given_tools(now.tools):
            return None if self.order.policy.verbatim else Rewrite.UNCACHED
        if now.now - before.boundary.now > cache.life * SECOND and not self.order.policy.verbatim:
            return Rewrite.EXPIRED
        return None

    @property
    def _recall(self) -> bool:
        return self.order.recall and self.order.policy.recall

    # ------------------------------------------------------------------ what is made

    def _made(self, gathered: Gathered, counter: TokenCounter, cache: Caching) -> "_Made":
        """Plan, compose, render and measure; again with less room where it turns out larger than it was planned."""
        budget, policy = self.order.boundary.budget, self.order.policy
        made = self._tried(gathered, counter, cache, sizes.room(budget, counter))
        for _ in range(TRIES):
            over = sizes.excess(made.measured.parts, budget, counter)
            room = made.planned - over
            if over <= 0 or policy.verbatim or room <= 0:
                break
            smaller = self._tried(gathered, counter, cache, room)
            if smaller.planned >= made.planned:
                break
            made = smaller
        sizes.check_budget(made.measured.parts, budget, counter, str(policy))
        return made

    def _tried(self, gathered: Gathered, counter: TokenCounter, cache: Caching, room: int) -> "_Made":
        """With the recall tool where something is not shown in full."""
        order = self.order
        tools = list(order.tools)
        fixed = self._fixed(counter, tools)
        always = fixed + sum(
            size for item in gathered.items.values() if item.instruction for size in (item.standing.get(Level.RAW, 0),)
        )
        high, low = (
            min(room, always + mark.of(room - always)) for mark in (order.policy.high_water, order.policy.low_water)
        )
        planner = Planner(
            items=gathered.items,
            policy=order.policy,
            limits=Limits(budget=room, high=high, low=low, fixed=fixed),
            prices=Prices(cached=cache.share),
            needed=order.needed,
            turn=gathered.turn,
            reuse=gathered.reused / gathered.results if gathered.results else 0.0,
            episode=gathered.episode,
        )
        plan = planner.plan(gathered.standing, gathered.fresh, gathered.forced)
        listed = {selection.record for selection in plan.selections}
        total = self._replayed_before + len(gathered.replayed) + gathered.older
        shortens = self._recall and (len(listed) < total or any(_shortened(selection) for selection in plan.selections))
        if shortens and not order.policy.verbatim:
            tools.append(recall_tool())
        # As of the rewrite: the note that says so stands unchanged until the next one.
        before = self.base.sheet.unlisted if self.base is not None else 0
        unlisted = before if plan.rewrite is None else max(0, total - len(listed))
        material = Material(
            records=self.desk.records,
            calls=self._visible_calls(),
            read=self.place.read,
            forms=self.desk.forms_for(self._recall),
            unlisted=unlisted,
        )
        composed = compose(plan.selections, material)
        body = _render(composed, order.boundary, tools)
        measured = self._measure(composed, counter, body.get("tools"))
        return _Made(
            plan=plan,
            composed=composed,
            body=body,
            measured=measured,
            tools=tools,
            total=total,
            counter=counter,
            unlisted=unlisted,
            planned=planner.size(plan.selections),
        )

    def _fixed(self, counter: TokenCounter, tools: Sequence[Mapping[str, object]]) -> int:
        schemas = counter.count_tools(msgspec.json.encode(tool).decode() for tool in tools)
        return schemas + counter.framing.around(messages=0)

    @property
    def _replayed_before(self) -> int:
        return self.base.sheet.messages_replayed if self.base is not None else 0

    def _visible_calls(self) -> dict[RecordId, ToolCall]:
        return bodies(self.desk.calls)

    def _measure(self, composed: Sequence[Composed], counter: TokenCounter, tools: object) -> "_Measured":
        counting = self.desk.counting(counter)
        by_block = sizes.count(composed, self._known(composed), counter, counting)
        said = [item.block for item in composed if isinstance(item.block, blocks.Said)]
        framing = counter.framing.around(
            messages=len(composed),
            names=sum(block.name is not None for block in said),
            calls=sum(len(block.calls) for block in said),
            results=len(composed) - len(said),
        )
        # As they are sent: a format may reshape them, and Anthropic's offers those that the history calls.
        offered = tools if isinstance(tools, list) else []
        toolset = counter.count_tools(msgspec.json.encode(tool).decode() for tool in offered)
        return _Measured(by_block=by_block, parts=sizes.by_part(composed, by_block, framing=framing, tools=toolset))

    def _known(self, composed: Sequence[Composed]) -> dict[RecordId, int | None]:
        """Tokens of the blocks that show their record as it was counted when it was recorded."""
        calls = self._visible_calls()
        known: dict[RecordId, int | None] = {}
        for item in composed:
            record = self.desk.records.get(item.source) if item.source is not None else None
            if record is not None and item.level is Level.RAW:
                known[record.id] = sizes.recorded_tokens(record, calls)
        return known

    # ------------------------------------------------------------------ what is stored

    def _record(
        self,
        gathered: Gathered,
        made: "_Made",
        *,
        change_base: RecordId | None,
        rendered: Sequence[bytes],
        addresses: Sequence[str],
        calibration: RecordId | None,
    ) -> ContextAssembly:
        order, counter, plan = self.order, made.counter, made.plan
        before = self.previous.used if change_base is not None and self.previous is not None else {}
        shown = {selection.record for selection in plan.selections}
        replayed = self._replayed_tokens(gathered)
        offered = made.tools
        return ContextAssembly(
            boundary=msgspec.structs.replace(
                order.boundary, tools=tuple(formats.tool_name(tool, "tools") for tool in offered)
            ),
            pins=Pins(
                policy_set=order.policy.hash,
                assembler=ASSEMBLER,
                counter=counter.name,
                calibration=calibration,
                prices=catalogue().name,
                analysers=(order.needed.name,),
            ),
            cut=Cut(positions=((self.place.conversation.id, self.lineage.upto),)),
            base=change_base,
            tools=content_digest(msgspec.json.encode(made.body["tools"])) if offered else None,
            messages_replayed=made.total,
            messages_assembled=len(rendered) - 1,
            history_o200k=replayed,
            tokens_replayed=self._plain(replayed, gathered.results, made),
            tokens=made.measured.parts,
            tokens_billed=self._billed(made, addresses),
            exact=counter.exact,
            recall=self._recall,
            artifacts=sum(
                selection.level is Level.RAW and isinstance(self.desk.records[selection.record].body, ToolArtifact)
                for selection in plan.selections
            ),
            omitted=self._omitted(gathered, plan, made.total),
            rewritten=plan.rewrite.value if plan.rewrite is not None else "",
            unlisted=made.unlisted,
            turns=gathered.turn,
            results=gathered.results,
            reused=gathered.reused,
            episode=gathered.episode,
            carried=round(plan.carried),
            used=tuple(
                (id, turn) for id, turn in sorted(gathered.used.items()) if id in shown and before.get(id) != turn
            ),
            timings=(),
        )

    def _replayed_tokens(self, gathered: Gathered) -> int:
        calls = self._visible_calls()
        before = self.base.sheet.history_o200k if self.base is not None else 0
        return (
            before
            + gathered.older_tokens
            + sum(
                sizes.recorded_tokens(self.desk.records[id], calls)
                or sizes.estimated_tokens(self.desk.records[id], calls)
                for id in gathered.replayed
            )
        )

    def _plain(self, replayed: int, results: int, made: "_Made") -> int:
        """Tokens of plain replay: of what was recorded, with the caller's tools and the framing that it would take.

        Each result is taken to have one call; names of speakers, which are rare, are not counted.
        """
        if self.order.policy.verbatim:
            return made.measured.parts.total
        counter = made.counter
        framing = counter.framing.around(messages=made.total, names=0, calls=results, results=results)
        return counter.converted(replayed) + framing + self._given_schemas(made)

    def _given_schemas(self, made: "_Made") -> int:
        """Tokens of the tools that the caller gave, as they are sent."""
        if len(made.tools) == len(self.order.tools):
            return made.measured.parts.tools
        sent = made.body["tools"]
        assert isinstance(sent, list)
        given = [tool for tool in sent if formats.tool_name(tool, "tools") != RECALL]
        return made.counter.count_tools(msgspec.json.encode(tool).decode() for tool in given)

    def _omitted(self, gathered: Gathered, plan: Plan, total: int) -> tuple[tuple[Reason, int], ...]:
        counts = dict(gathered.refused)
        if self.base is not None:
            for reason, number in self.base.sheet.omitted:
                if reason in _REFUSED:
                    counts[reason] = counts.get(reason, 0) + number
        for reason in plan.left_out.values():
            if reason not in (Reason.NOT_RELEVANT, Reason.INCLUDED):
                counts[reason] = counts.get(reason, 0) + 1
        shown = len({selection.record for selection in plan.selections})
        rest = (
            total
            - shown
            - sum(reason not in (Reason.NOT_RELEVANT, Reason.INCLUDED) for reason in plan.left_out.values())
        )
        if rest > 0:
            counts[Reason.NOT_RELEVANT] = rest
        return tuple(sorted(counts.items()))

    def _billed(self, made: "_Made", addresses: Sequence[str]) -> int:
        """What the request costs when the part that the last request began with too is read from the cache."""
        total = made.measured.parts.total
        base = self.previous
        if base is None or base.blocks[:1] != tuple(addresses[:1]):
            return total
        kept = common_prefix(made.plan.selections, base.selected)
        standing = {selection.record for selection in made.plan.selections[:kept]}
        prefix = made.measured.parts.tools
        for item, size in zip(made.composed, made.measured.by_block, strict=True):
            shows = (item.source,) if item.source is not None else item.noted
            if not standing.issuperset(shows):
                break
            prefix += size
        share = caching(self.order.boundary.provider, self.order.boundary.model).share
        return total - round((1 - share) * prefix)

    def _stored(
        self,
        record: ContextAssembly,
        made: "_Made",
        rendered: tuple[bytes, ...],
        addresses: tuple[str, ...],
        kept: int,
    ) -> tuple[Sheet, Whole]:
        place, boundary = self.place, self.order.boundary
        id = place.ids.record("assembly")
        new = dict(zip(addresses[kept:], rendered[kept:], strict=True))
        scope = Scope(branch=boundary.branch, owner=boundary.participant)
        draft = Draft(id=id, at=boundary.now, body=record, nonce=place.ids.nonce(), scope=scope)
        place.ledger.append([Append(stream=place.sheets, drafts=(draft,), blocks=new)])
        full = whole(id, record, self.previous if record.base is not None else None)
        sheet = Sheet(id=id, record=record, selections=full.selected, blocks=rendered, _composed=made.composed)
        return sheet, full


@dataclass(frozen=True, kw_only=True, slots=True)
class _Measured:
    by_block: Sequence[int]
    parts: TokenParts


@dataclass(frozen=True, kw_only=True, slots=True)
class _Made:
    plan: Plan
    composed: Sequence[Composed]
    body: Mapping[str, object]
    measured: _Measured
    tools: Sequence[Mapping[str, object]]
    #: Records that plain replay would show.
    total: int
    counter: TokenCounter
    unlisted: int
    #: Its size as it was planned.
    planned: int


_REFUSED = frozenset({Reason.BRANCH, Reason.PARTICIPANT_PRIVATE, Reason.AUDIT_ONLY, Reason.NOT_RELEASED, Reason.ERASED})


def _given_tools(names: Sequence[str]) -> tuple[str, ...]:
    """The tools of a request that the caller gave."""
    return tuple(name for name in names if name != RECALL)


def _recalls(sheet: ContextAssembly) -> bool:
    return sheet.recall


def _shortened(selection: Selection) -> bool:
    return bool(selection.note) or selection.level not in (Level.RAW, Level.DENSE)


def _render(
    composed: Sequence[Composed], boundary: Boundary, tools: Sequence[Mapping[str, object]]
) -> dict[str, object]:
    return formats.render(
        [item.block for item in composed],
        formats.wire_of(boundary.provider),
        model=boundary.model,
        tools=tools,
        max_tokens=boundary.reserve or None,
    )


def _blocks(body: Mapping[str, object]) -> tuple[bytes, ...]:
    """The envelope of a request without its messages, then each message."""
    messages = body["messages"]
    assert isinstance(messages, list)
    envelope = {key: value for key, value in body.items() if key != "messages"}
    return (msgspec.json.encode(envelope), *map(msgspec.json.encode, messages))


def _timings(**nanoseconds: int) -> tuple[tuple[str, int], ...]:
    return tuple((phase, spent // 1000) for phase, spent in nanoseconds.items())
