"""The record of a request: what was pinned, what stands in it, what was left out, and what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from callsheet.assemble.delta import common_prefix
from callsheet.assemble.paging import paged_out
from callsheet.assemble.personal import bare
from callsheet.assemble.plans import Plan
from callsheet.explain.facts import MEMORY
from callsheet.graph.canonical import content_digest
from callsheet.graph.enums import Level, Privacy, Reason
from callsheet.graph.ids import RecordId, StreamId
from callsheet.graph.nodes import ContextAssembly, Pins, Selection, ToolArtifact
from callsheet.graph.record import StreamKey
from callsheet.graph.values import Cut
from callsheet.recall.tool import NAME as RECALL
from callsheet.runtime.gathered import Gathered
from callsheet.runtime.labels import SHOWING, SILENT, class_counts
from callsheet.runtime.making import Made
from callsheet.runtime.terms import Terms
from callsheet.wire import formats
from callsheet.wire.caching import caching
from callsheet.wire.catalogue import catalogue

ASSEMBLER = "7"
"""The version of assembly: raised whenever the same pins over the same cut would give another selection."""

SECOND = 1_000_000
"""Microseconds."""

_REFUSED = frozenset({Reason.BRANCH, Reason.PARTICIPANT_PRIVATE, Reason.AUDIT_ONLY, Reason.NOT_RELEASED, Reason.ERASED})


@dataclass(frozen=True, kw_only=True, slots=True)
class Accounting:
    """Accounts for one request."""

    terms: Terms
    gathered: Gathered
    made: Made

    def record(
        self,
        *,
        change_base: RecordId | None,
        rendered: Sequence[bytes],
        addresses: Sequence[str],
        calibration: RecordId | None,
    ) -> ContextAssembly:
        order, counter, plan = self.terms.order, self.made.counter, self.made.plan
        before = self.terms.previous.used if change_base is not None and self.terms.previous is not None else {}
        shown = {selection.record for selection in plan.selections}
        replayed = self.gathered.history(self.terms)
        return ContextAssembly(
            boundary=msgspec.structs.replace(
                order.boundary, tools=tuple(formats.tool_name(tool, "tools") for tool in self.made.tools)
            ),
            pins=Pins(
                policy_set=self.terms.policy_hash,
                assembler=ASSEMBLER,
                counter=counter.name,
                calibration=calibration,
                prices=catalogue().name,
                embedding=self.terms.meant.index if self.terms.meant is not None else "",
                analysers=(order.needed.name,),
                index_positions=self._indexed(),
            ),
            cut=Cut(positions=self._cut()),
            base=change_base,
            tools=content_digest(msgspec.json.encode(self.made.body["tools"])) if self.made.tools else None,
            messages_replayed=self.made.total,
            messages_assembled=len(rendered) - 1,
            history_o200k=replayed,
            tokens_replayed=self._plain(replayed),
            tokens=self.made.measured.parts,
            tokens_billed=self._billed(addresses),
            exact=counter.exact,
            recall=self.terms.recall,
            recall_sql=self.made.sql,
            documents=self.made.documents.documents,
            titled=self.made.documents.titled,
            artifacts=sum(
                selection.level is Level.RAW
                and isinstance(self.terms.desk.records[selection.record].body, ToolArtifact)
                for selection in plan.selections
            ),
            rehydrated=sum(
                selection.level is Level.RAW and selection.record in self.gathered.fresh.exact
                for selection in plan.selections
            ),
            memories=len(shown & self.gathered.memories) + len({one.record for one in plan.selections if one.stream}),
            omitted=self._omitted(plan, self.made.total),
            decisions=(
                *class_counts(self._class_of(one) for one in plan.selections if one.level in SHOWING),
                *(((SILENT, 1),) if self.gathered.silenced else ()),
                *self._memories_left_out(plan),
            ),
            rewritten=plan.rewrite.value if plan.rewrite is not None else "",
            unlisted=self.made.unlisted,
            bare=self.made.bare,
            turns=self.gathered.turn,
            results=self.gathered.results,
            reused=self.gathered.habit.late,
            uses=self.gathered.habit.uses,
            episode=self.gathered.episode,
            tasks=self.gathered.tasks,
            carried=round(plan.carried),
            paged_out=paged_out(plan, self.gathered.standing, self.gathered.items, order.policy),
            used=tuple(
                (id, turn) for id, turn in sorted(self.gathered.used.items()) if id in shown and before.get(id) != turn
            ),
            timings=(),
        )

    def _cut(self) -> tuple[tuple[StreamId, int], ...]:
        own = (self.terms.place.conversation.id, self.terms.lineage.upto)
        personal = self.gathered.personal
        return (own,) if personal is None else (own, (personal.stream, personal.shelf.position))

    def _indexed(self) -> tuple[tuple[StreamId, int], ...]:
        """Up to where vectors counted in each stream of the cut."""
        questions, tenant = self.terms.meant, self.terms.place.conversation.tenant
        if questions is None:
            return ()
        return tuple(
            (stream, questions.meaning.advanced(StreamKey(tenant=tenant, stream=stream), upto))
            for stream, upto in self._cut()
        )

    def _class_of(self, selection: Selection) -> Privacy:
        personal = self.gathered.personal
        if personal is not None and selection.stream is not None:
            return personal.class_of(selection.record)
        return self.gathered.classes[selection.record]

    def _memories_left_out(self, plan: Plan) -> tuple[tuple[str, int], ...]:
        personal = self.gathered.personal
        counts = personal.left_out(plan.selections) if personal is not None else {}
        return tuple((MEMORY + reason.value, count) for reason, count in sorted(counts.items()))

    def _plain(self, replayed: int) -> int:
        """Tokens of plain replay: of what was recorded, with the caller's tools and the framing that it would take.

        Each result is taken to have one call; names of speakers, which are rare, are not counted.
        """
        if self.terms.order.policy.verbatim:
            return self.made.measured.parts.total
        counter = self.made.counter
        framing = counter.framing.around(
            messages=self.made.total, names=0, calls=self.gathered.results, results=self.gathered.results
        )
        return counter.converted(replayed) + framing + self._given_schemas()

    def _given_schemas(self) -> int:
        """Tokens of the tools that the caller gave, as they are sent."""
        if not self.made.recall:
            return self.made.measured.parts.tools
        sent = self.made.body["tools"]
        assert isinstance(sent, list)
        given = formats.tools_named(sent, lambda name: name != RECALL)
        return self.terms.desk.counting(self.made.counter).tools(given)

    def _omitted(self, plan: Plan, total: int) -> tuple[tuple[Reason, int], ...]:
        counts = dict(self.gathered.refused)
        stays = 0
        for reason, number in self.terms.base.sheet.omitted if self.terms.base is not None else ():
            hidden = reason in _REFUSED
            if hidden or (plan.rewrite is None and reason is not Reason.NOT_RELEVANT):
                # What is appended to leaves out what was left out, for the same reasons.
                counts[reason] = counts.get(reason, 0) + number
                stays += 0 if hidden else number
        # Memories, and instructions that were replaced, are none of the records that plain replay would show.
        items, memories = self.gathered.items, self.gathered.memories
        left = ((items[id], reason) for id, reason in plan.left_out.items() if id not in memories)
        told = [reason for item, reason in left if not (item.instruction and reason is Reason.SUPERSEDED)]
        told = [reason for reason in told if reason not in (Reason.NOT_RELEVANT, Reason.INCLUDED)]
        for reason in told:
            counts[reason] = counts.get(reason, 0) + 1
        shown = len({selection.record for selection in bare(plan.selections)} - self.gathered.memories)
        rest = total - shown - len(told) - stays
        if rest > 0:
            counts[Reason.NOT_RELEVANT] = rest
        return tuple(sorted(counts.items()))

    def _billed(self, addresses: Sequence[str]) -> int:
        """What the request costs when the part that the last one shown began with too is read from the cache.

        What nobody answered was perhaps never sent, and what lies back longer than the cache lives is forgotten.
        """
        total = self.made.measured.parts.total
        boundary, base = self.terms.order.boundary, self.terms.base
        cache = caching(boundary.provider, boundary.model)
        if base is None or base.blocks[:1] != tuple(addresses[:1]):
            return total
        sent = base.sheet.boundary
        if sent.provider != boundary.provider or boundary.now - sent.now > cache.life * SECOND:
            return total
        kept = common_prefix(self.made.plan.selections, base.selected)
        standing = {selection.record for selection in self.made.plan.selections[:kept]}
        prefix = self.made.measured.parts.tools
        for item, size in zip(self.made.composed, self.made.measured.by_block, strict=True):
            shows = (item.source,) if item.source is not None else item.noted
            if not standing.issuperset(shows):
                break
            prefix += size
        return total - round((1 - cache.share) * prefix)
