"""From what was gathered to a request: planned, composed, rendered and measured, within the budget."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import msgspec

from callsheet.assemble import blocks, sizes
from callsheet.assemble.basis import Basis, Limits, Prices
from callsheet.assemble.compose import Composed
from callsheet.assemble.continuing import Composition
from callsheet.assemble.material import Material
from callsheet.assemble.planning import planned
from callsheet.assemble.plans import Plan
from callsheet.derive.derived import Derived
from callsheet.derive.document import ContentKind
from callsheet.errors import EmptyRequest
from callsheet.graph.enums import Level, Reason, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, Selection, ToolCall
from callsheet.graph.record import Record
from callsheet.graph.values import TokenParts
from callsheet.policy.freshness import rechecks
from callsheet.recall.tool import NAME as RECALL
from callsheet.recall.tool import tool as recall_tool
from callsheet.runtime.answering import answered
from callsheet.runtime.attributing import anothers
from callsheet.runtime.documenting.announcing import NOTHING_ANNOUNCED, Announced
from callsheet.runtime.gathered import Gathered, Yielded
from callsheet.runtime.personalising.book import Shelf
from callsheet.runtime.rendering import Rendered, rendered
from callsheet.runtime.sealing import bare_upto, sealed, thinking
from callsheet.runtime.terms import Terms
from callsheet.runtime.withholding import calls_of
from callsheet.wire import formats
from callsheet.wire.caching import Caching
from callsheet.wire.media import instead
from callsheet.wire.tokens import TokenCounter

HEAD = 40
"""Tokens of the head of a note, about."""

TRIES = 6
"""How often a request that turns out too large is planned with less room, the last time with none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Making:
    """Makes one request."""

    terms: Terms
    gathered: Gathered
    counter: TokenCounter
    cache: Caching

    def made(self) -> "Made":
        """Plan, compose, render and measure; where that is too large, again with less, down to what must be shown."""
        budget, policy = self.terms.order.boundary.budget, self.terms.order.policy
        making, made = self, self._within(budget)
        while not policy.verbatim and self._excess(made) > 0 and (less := making._less()) is not None:
            making, made = less, min(made, less._within(budget), key=self._excess)
        pins = partial(making.gathered.pinned, made.plan.selections)
        sizes.check_budget(made.measured.parts, budget, self.counter, str(policy), pins)
        return made

    def _within(self, budget: int) -> "Made":
        """Again with less room where it turns out larger than it was planned, in the end with the least that there is.

        The smallest that was tried, where none fits.
        """
        made = best = self._tried(sizes.room(budget, self.counter))
        if self.terms.order.policy.verbatim:
            return made
        for left in reversed(range(TRIES)):
            if (over := self._excess(made)) <= 0:
                return made
            room = max(0, made.planned() - over) if left else 0
            made = self._tried(room)
            best = min(best, made, key=self._excess)
            if not room:
                break
        return best

    def _excess(self, made: "Made") -> int:
        return sizes.excess(made.measured.parts, self.terms.order.boundary.budget, self.counter)

    def _less(self) -> "Making | None":
        """The same without what gives way next to what must be shown; None: nothing else does."""
        gathered = self.gathered
        if gathered.personal is not None:
            # What is known of the user gives way to the conversation.
            return replace(self, gathered=replace(gathered, personal=None))
        if gathered.yielded < Yielded.OWED and gathered.compacted.record is not None:
            # So does what compaction made: whatever fitted before it must fit with it.
            return replace(self, gathered=gathered.yielding(Yielded(gathered.yielded + 1)))
        if gathered.yielded < Yielded.RECALL and self.terms.recall:
            return replace(self, gathered=gathered.yielding(Yielded.RECALL))
        return None

    def _tried(self, room: int) -> "Made":
        """With the recall tool where something is not shown in full."""
        order = self.terms.order
        tools = self.terms.tools
        personal = self.gathered.personal
        fixed = self._fixed() + (personal.size(self.gathered.forced) if personal is not None else 0)
        always = fixed + sum(
            size
            for item in self.gathered.items.values()
            if item.instruction
            for size in (item.standing.get(Level.RAW, 0),)
        )
        history = self.counter.converted(self.gathered.history(self.terms))
        high, low = (
            min(room, always + mark.of(room - always, history))
            for mark in (order.policy.high_water, order.policy.low_water)
        )
        basis = Basis(
            items=self.gathered.items,
            policy=order.policy,
            limits=Limits(budget=room, high=high, low=low, fixed=fixed, aside=self._aside()),
            prices=Prices(cached=self.cache.share),
            needed=order.needed,
            turn=self.gathered.turn,
            habit=self.gathered.habit,
            episode=self.gathered.episode,
        )
        plan = planned(basis, self.gathered.standing, self.gathered.fresh, self.gathered.forced)
        told = (id for id, reason in plan.left_out.items() if reason is Reason.REMEMBERED)
        listed = ({selection.record for selection in plan.selections} - self.gathered.memories).union(told)
        # An instruction that was replaced is no part of what could be shown: nobody has to fetch it.
        total = self.terms.replayed_before + len(self.gathered.replayed) + self.gathered.older
        total -= len(self._replaced(plan))
        # The tool is no reason to refuse a request: where room is short, what has its episode does not call for it.
        missing = len(listed) < total and self.gathered.yielded < Yielded.OWED
        shortens = self._recalls and (missing or any(shortened(selection) for selection in plan.selections))
        offered = (shortens or self._consults(plan)) and not order.policy.verbatim
        sql = offered and self._tells_of_sql(plan)
        documents = self._documents(plan) if offered else NOTHING_ANNOUNCED
        if offered:
            tools.append(recall_tool(sql=sql, documents=documents.documents, titles=documents.titles))
        # As of the rewrite: the note that says so stands unchanged until the next one.
        before = self.terms.base.sheet.unlisted if self.terms.base is not None else 0
        unlisted = before if plan.rewrite is None else max(0, total - len(listed))
        wire = self.terms.wire
        bare = bare_upto(self.terms, plan.rewrite, wire)
        shown = [one.record for one in plan.selections if not one.note]
        material = Material(
            records=self.terms.desk.records,
            calls=self._own_calls(),
            read=self.terms.read,
            forms=self.terms.desk.forms_for(self._recalls),
            redaction=self.terms.redaction,
            times=order.policy.times,
            unlisted=unlisted,
            withheld=self.gathered.withheld,
            hidden=self._hidden(plan),
            sealed=sealed(self.terms, shown, wire),
            bare=thinking(self.terms, shown, bare),
            speakers=self._speakers(),
            rechecks=rechecks(order.policy.tools),
            instead=lambda media, role: instead(
                media, wire, in_text=role not in (None, Role.USER), vision=order.boundary.vision
            ),
        )
        placed = plan if personal is None else replace(plan, selections=personal.placed(plan))
        made = self._rendered(placed, material, wire)
        composed = list(made.composition.blocks)
        if not composed:
            raise EmptyRequest(policy=str(order.policy), left_out=self._left_out())
        boundary = order.boundary
        body = made.rendering.request(model=boundary.model, tools=tools, max_tokens=boundary.reserve or None)
        measured = self._measure(made.composition, body.get("tools"))
        return Made(
            plan=placed,
            composed=composed,
            body=body,
            messages=made.rendering.encoded(),
            measured=measured,
            tools=tools,
            recall=len(tools) > len(order.tools),
            sql=sql,
            documents=documents,
            total=total,
            counter=self.counter,
            unlisted=unlisted,
            bare=bare,
            planned=lambda: basis.size(plan.selections),
            shelf=personal.shelf if personal is not None else None,
        )

    @property
    def _recalls(self) -> bool:
        """Whether what is shortened comes with its reference, and with the tool that reads it."""
        return self.terms.recall and self.gathered.yielded < Yielded.RECALL

    def _left_out(self) -> Mapping[str, int]:
        """How many of the messages and results each rule of the policy set leaves out, the most first."""
        items = self.gathered.items.values()
        none = (one.rule for one in items if not one.instruction and one.most is Level.NONE)
        return dict(Counter(rule for rule in none if rule).most_common())

    def _consults(self, plan: Plan) -> bool:
        """Whether the recall tool is offered for the documents that it finds, whatever is shortened.

        Where none was there at the last rewrite it is not offered before the next one, as with SQL.
        """
        base = self.terms.base
        standing = plan.rewrite is None and base is not None and RECALL not in base.sheet.boundary.tools
        there = self.terms.recall and self.terms.order.consults and not standing
        return there and self.gathered.yielded < Yielded.OWED

    def _documents(self, plan: Plan) -> Announced:
        """What the recall tool is said to search: until the next rewrite as it was said, as with SQL."""
        base = self.terms.base
        stands = plan.rewrite is None and base is not None and RECALL in base.sheet.boundary.tools
        return self.terms.order.documents(base.sheet if stands and base is not None else None)

    def _tells_of_sql(self, plan: Plan) -> bool:
        """Whether the recall tool is said to take SQL: a table is shortened here, and the caller can answer that.

        Until the next rewrite it stays as it was said: other tools would be another beginning of the request.
        """
        base = self.terms.base
        if not self.terms.order.sql:
            return False
        if plan.rewrite is None and base is not None and RECALL in base.sheet.boundary.tools:
            return base.sheet.recall_sql
        derived = self.terms.desk.derived
        return any(shortened(one) and _is_table(derived.get(one.record)) for one in plan.selections)

    def _replaced(self, plan: Plan) -> list[RecordId]:
        """The instructions that this request lets go because newer ones of their scope govern."""
        items = self.gathered.items
        return [id for id, why in plan.left_out.items() if why is Reason.SUPERSEDED and items[id].instruction]

    def _speakers(self) -> Mapping[RecordId, str]:
        """The names of others as they may be shown: without secrets, unless secrets may be."""
        names, redaction = self.gathered.speakers, self.terms.redaction
        if not names or redaction is None:
            return names
        shown = {name: redaction.text(name) for name in set(names.values())}
        return {id: shown[name] for id, name in names.items()}

    def _own_calls(self) -> Mapping[RecordId, ToolCall]:
        """The calls that may stand in the request: those of others never do."""
        calls = self.terms.calls
        if not self.gathered.speakers:
            return calls
        desk, boundary = self.terms.desk, self.terms.order.boundary
        return {id: call for id, call in calls.items() if not anothers(desk.calls[id], boundary)}

    def _rendered(self, plan: Plan, material: Material, wire: formats.Wire) -> Rendered:
        desk = self.terms.desk
        variant = "" if self.terms.order.boundary.vision else ", no pictures"
        before, desk.rendered = desk.rendered, None
        model = self.terms.order.boundary.model
        desk.rendered = rendered(plan.selections, material, wire, before, model=model, variant=variant)
        return desk.rendered

    def _fixed(self) -> int:
        # As they are sent: made again, the request has them in that shape alone.
        tools = self.terms.sent_tools
        return self.terms.desk.counting(self.counter).tools(tools) + self.counter.framing.around(messages=0)

    def _measure(self, made: Composition, tools: object) -> "Measured":
        counting = self.terms.desk.counting(self.counter)
        composed = made.blocks
        by_block = made.sizes(
            self.counter, lambda blocks: sizes.count(blocks, self._known(blocks), self.counter, counting)
        )
        said = [item.block for item in composed if isinstance(item.block, blocks.Said)]
        framing = self.counter.framing.around(
            messages=len(composed),
            names=sum(block.name is not None for block in said),
            calls=sum(len(block.calls) for block in said),
            results=len(composed) - len(said),
        )
        # As they are sent: a format may reshape them, and Anthropic's offers those that the history calls.
        offered = tools if isinstance(tools, list) else []
        parts = sizes.by_part(composed, by_block, framing=framing, tools=counting.tools(offered))
        return Measured(by_block=by_block, parts=parts)

    def _hidden(self, plan: Plan) -> frozenset[RecordId]:
        """The calls in view that have a result of which policy shows nothing."""
        records = self.terms.desk.records
        placed = [records[one.record] for one in plan.selections if not one.note]
        calls = {call for record in placed for call in calls_of(record)} - self.terms.open
        calls -= {call for record in placed if (call := getattr(record.body, "call", None)) is not None}
        return answered(self.terms, calls) if calls else frozenset()

    def _aside(self) -> int:
        """Tokens that leaving something out brings with it."""
        if not self.terms.recall:
            return HEAD
        return HEAD + self.terms.desk.counting(self.counter).tools(formats.sent_tools([recall_tool()], self.terms.wire))

    def _is_timed(self, record: Record) -> bool:
        """Whether it is shown with its time, so that what was counted when it was recorded is too little."""
        return self.terms.order.policy.times and isinstance(record.body, Message) and record.body.role is Role.USER

    def _known(self, composed: Sequence[Composed]) -> dict[RecordId, int | None]:
        """Tokens of the blocks that show their record as it was counted when it was recorded."""
        calls = self.terms.calls
        known: dict[RecordId, int | None] = {}
        for item in composed:
            record = self.terms.desk.records.get(item.source) if item.source is not None else None
            if record is None or record.id in self.gathered.speakers or self._is_timed(record):
                continue
            if item.level is Level.RAW and self.gathered.withheld.isdisjoint(calls_of(record)):
                counted = self.terms.redaction is None or not self.terms.place.redacting.marks(record, calls)
                known[record.id] = sizes.recorded_tokens(record, calls) if counted else None
        return known


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """The tokens of a request, by block and by part."""

    by_block: Sequence[int]
    parts: TokenParts


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """A request as it was planned, composed, rendered and measured."""

    plan: Plan
    composed: Sequence[Composed]
    body: Mapping[str, object]
    #: Each of its messages as JSON.
    messages: tuple[bytes, ...]
    measured: Measured
    tools: Sequence[Mapping[str, object]]
    #: Whether the recall tool is among them, and whether it is said to take SQL.
    recall: bool
    sql: bool
    #: What it is said to search.
    documents: Announced
    #: Records that plain replay would show.
    total: int
    counter: TokenCounter
    unlisted: int
    #: Up to where thoughts are left out, because the model would not take them back.
    bare: int
    #: Its size as it was planned.
    planned: Callable[[], int]
    #: The user's own stream, as far as the request saw it; None: it shows nothing of it.
    shelf: Shelf | None = None

    def sent(self) -> tuple[bytes, ...]:
        """The exact bytes: the envelope of the request without its messages, then each message."""
        history = formats.history_key(formats.wire_of(self.counter.provider))
        envelope = {key: value for key, value in self.body.items() if key != history}
        return (msgspec.json.encode(envelope), *self.messages)


def _is_table(derived: Derived | None) -> bool:
    """Whether a result is read as rows that can be asked."""
    if derived is None or derived.total < 2:
        return False
    rows = derived.kind is ContentKind.JSON and derived.unit == "items"
    return rows or derived.kind in (ContentKind.TABLE, ContentKind.JSON_LINES)


def shortened(selection: Selection) -> bool:
    """Whether a record does not stand in full in its place."""
    return bool(selection.note) or selection.level not in (Level.RAW, Level.DENSE)
