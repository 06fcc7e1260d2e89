"""Assembling one request: read what it may rest on, let the pure rooms decide and compose, render, store the sheet."""

import dataclasses
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from callsheet.assemble import sizes
from callsheet.assemble.delta import Whole, delta, whole
from callsheet.assemble.itemising import Itemiser
from callsheet.assemble.personal import bare
from callsheet.assemble.plans import Rewrite
from callsheet.errors import BudgetTooSmall, EmptyRequest
from callsheet.graph.cut import Lineage
from callsheet.graph.nodes import Boundary, ContextAssembly
from callsheet.graph.ports import Append
from callsheet.graph.record import Draft
from callsheet.graph.times import Instant
from callsheet.graph.values import Scope
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime.accounting import ASSEMBLER, SECOND, Accounting
from callsheet.runtime.calibrating import calibrated_counter
from callsheet.runtime.gathered import Gathered
from callsheet.runtime.gathering import Gathering
from callsheet.runtime.ground import Ground
from callsheet.runtime.labels import of_sheet
from callsheet.runtime.making import Made, Making, shortened
from callsheet.runtime.overdue import Overdue
from callsheet.runtime.personalising.blocks import withdraw
from callsheet.runtime.personalising.book import Book
from callsheet.runtime.personalising.seeing import shelf_for
from callsheet.runtime.refusing import enough
from callsheet.runtime.sheet import Sheet
from callsheet.runtime.terms import Terms
from callsheet.wire import formats
from callsheet.wire.caching import Caching, caching
from callsheet.wire.tokens import TokenCounter

Compact: TypeAlias = Callable[[Overdue], Lineage | None]
"""Compacts what is due; None: that came to nothing."""

NARROWED = 2
"""One narrowed result takes at most this part of the budget."""


@dataclass(frozen=True, kw_only=True)
class Assembling(Terms):
    """Assembles one sheet for a view."""

    def assemble(self, compact: "Compact | None" = None) -> tuple[Sheet, Whole]:
        """Assemble, store and return one sheet; also in full, for the sheet that will extend it.

        Where a compaction is due, `compact` is asked for it first, once; it gives the lineage with what it appended.
        Where none was and there is no request without one, it is asked however little is to compact.
        """
        started = time.perf_counter_ns()
        boundary = self.order.boundary
        counter, calibration = calibrated_counter(
            self.place.ledger, self.place.conversation.key, self.lineage, boundary
        )
        cache = caching(boundary.provider, boundary.model)
        gathered = self._gather(counter, cache)
        overdue = Overdue(terms=self, gathered=gathered, counter=counter)
        if compact is not None and overdue.due and (longer := compact(overdue)) is not None:
            return dataclasses.replace(self, lineage=longer).assemble()
        queried = time.perf_counter_ns()
        if not gathered.items or not any(not item.instruction for item in gathered.items.values()):
            raise EmptyRequest
        try:
            made = self._made(gathered, counter, cache)
        except BudgetTooSmall as refused:
            pressed = dataclasses.replace(overdue, pressed=True)
            due = compact is not None and pressed.due
            # Where instructions and tools alone are too large, a compaction would be in vain.
            in_vain = pressed.in_vain(refused.sizes["system"])
            if compact is not None and due and not in_vain and (longer := compact(pressed)) is not None:
                return dataclasses.replace(self, lineage=longer).assemble()
            raise self._refusal(refused, counter, cache, at_most=due and in_vain) from None
        decided = time.perf_counter_ns()
        rendered = made.sent()
        addresses = self.desk.addressed(rendered, lambda block: self.place.ledger.address(self.place.owner, block))
        change = delta(made.plan.selections, addresses, self.previous)
        record = Accounting(terms=self, gathered=gathered, made=made).record(
            change_base=change.base, rendered=rendered, addresses=addresses, calibration=calibration
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
        self.desk.under(self.redaction)
        # What was worked out about records holds under the same policy, counter and limit, for the same reader.
        reader = msgspec.structs.replace(order.boundary, now=Instant(0), trigger=None, exact=())
        remembered = self.desk.remembered.under((self.policy_hash, counter, limit, reader))
        ground = Ground(
            ledger=self.place.ledger,
            key=self.place.conversation.key,
            lineage=self.lineage,
            boundary=order.boundary,
            policy=order.policy,
            policy_hash=self.policy_hash,
            desk=self.desk,
            read=self.read,
            counting=self.desk.counting(counter),
            base=self._beside_memories,
            open=self.open,
            low=order.policy.low_water.of(room),
            questions=self.meant,
        )
        gathering = Gathering(
            ground=ground,
            itemiser=lambda calls, turn, in_play: Itemiser(
                calls=calls,
                counter=counter,
                policy=order.policy,
                read=self.read,
                turn=turn,
                limit=limit,
                narrowed=remembered.narrowed,
                per_message=around.message,
                per_call=around.call,
                per_result=around.result,
                in_play=in_play,
                vision=order.boundary.vision,
            ),
        )
        shelf = None if order.policy.verbatim else shelf_for(self.place, order.boundary, self.desk, self.personal_upto)
        stood = self.base.selected if self.base is not None else ()
        gathering = dataclasses.replace(gathering, shelf=shelf, stood=stood, room=room)
        return gathering.gather(self._forced(cache))

    @property
    def _beside_memories(self) -> Whole | None:
        """What it goes on from, without the memories of the user in it: these are chosen apart."""
        base = self.base
        if base is None or all(one.stream is None for one in base.selected):
            return base
        return dataclasses.replace(base, selected=bare(base.selected))

    def _forced(self, cache: Caching) -> Rewrite | None:
        """Why everything must, or may for nothing, be chosen anew whatever is in it."""
        if self.base is None:
            return Rewrite.CHANGED if self.shown_before else Rewrite.FIRST
        before, now = self.base.sheet, self.order.boundary
        if before.pins.policy_set != self.policy_hash or before.pins.assembler != ASSEMBLER:
            return Rewrite.CHANGED
        if self.recall != _recalls(before) or (self.recall and _gave_up_recall(self._beside_memories)):
            return Rewrite.CHANGED
        same = _model(before.boundary) == _model(now)
        given = tuple(formats.tool_name(tool, "tools") for tool in self.tools)
        if not same or _given_tools(before) != given:
            return None if self.order.policy.verbatim else Rewrite.UNCACHED
        if now.now - before.boundary.now > cache.life * SECOND and not self.order.policy.verbatim:
            return Rewrite.EXPIRED
        return None

    def _made(self, gathered: Gathered, counter: TokenCounter, cache: Caching) -> Made:
        return Making(terms=self, gathered=gathered, counter=counter, cache=cache).made()

    def _refusal(
        self, refused: BudgetTooSmall, counter: TokenCounter, cache: Caching, *, at_most: bool
    ) -> BudgetTooSmall:
        """The refusal that names the smallest budget that is enough."""

        def fitting(budget: int) -> Mapping[str, int] | None:
            boundary = msgspec.structs.replace(self.order.boundary, budget=budget)
            other = dataclasses.replace(self, order=dataclasses.replace(self.order, boundary=boundary))
            try:
                made = other._made(other._gather(counter, cache), counter, cache)
            except BudgetTooSmall:
                return None
            return sizes.bounded(made.measured.parts, counter)

        found = enough(refused.budget, sum(refused.sizes.values()), fitting)
        named = refused.sizes
        if found is not None:
            # The few tokens of room that planning wants beside what then stands go to the history.
            room = found.budget - sum(found.sizes.values())
            named = {**found.sizes, "history": found.sizes["history"] + room}
        return BudgetTooSmall(
            budget=refused.budget,
            sizes=named,
            policy=refused.policy,
            exact=counter.exact,
            pins=refused.pins,
            at_most=at_most,
        )

    def _stored(
        self,
        record: ContextAssembly,
        made: Made,
        rendered: tuple[bytes, ...],
        addresses: tuple[str, ...],
        kept: int,
    ) -> tuple[Sheet, Whole]:
        place, boundary = self.place, self.order.boundary
        id = place.ids.record("assembly")
        new = dict(zip(addresses[kept:], rendered[kept:], strict=True))
        scope = Scope(branch=boundary.branch, owner=boundary.participant)
        draft = Draft(
            id=id, at=boundary.now, body=record, nonce=place.ids.nonce(), scope=scope, privacy=of_sheet(record)
        )
        # Not durable by itself: whatever is recorded of an answer comes after it, and makes it so.
        place.ledger.append([Append(stream=place.sheets, drafts=(draft,), blocks=new, durable=False)])
        full = whole(id, record, self.previous if record.base is not None else None)
        if made.shelf is not None:
            book = Book(ledger=place.ledger, ids=place.ids, now=lambda: boundary.now, owner=place.owner)
            withdraw(made.shelf, book, full.selected, new)
        sheet = Sheet(id=id, record=record, selections=full.selected, blocks=rendered, _composed=made.composed)
        return sheet, full


def _model(boundary: Boundary) -> tuple[str, str, bool]:
    """Whose cache a request is read from, and whether pictures stand in it."""
    return boundary.provider, boundary.model, boundary.vision


def _given_tools(sheet: ContextAssembly) -> tuple[str, ...]:
    """The tools of a request that the caller gave: one named as ours is the caller's where ours was not served."""
    return tuple(name for name in sheet.boundary.tools if name != RECALL or not sheet.recall)


def _recalls(sheet: ContextAssembly) -> bool:
    return sheet.recall


def _gave_up_recall(shown: Whole | None) -> bool:
    """Whether a request had no room for the tool that reads what it shortened, and so no references."""
    if shown is None or RECALL in shown.sheet.boundary.tools:
        return False
    return any(shortened(one) for one in shown.selected)


def _timings(**nanoseconds: int) -> tuple[tuple[str, int], ...]:
    return tuple((phase, spent // 1000) for phase, spent in nanoseconds.items())
