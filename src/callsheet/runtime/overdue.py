"""Whether a compaction is due before a request: by what stands in the counts that were gathered for it anyway."""

from dataclasses import dataclass

from callsheet.assemble.compacting import over
from callsheet.assemble.sizes import estimated_tokens
from callsheet.runtime.gathered import Gathered
from callsheet.runtime.terms import Terms
from callsheet.wire.tokens import TokenCounter


@dataclass(frozen=True, kw_only=True, slots=True)
class Overdue:
    """Asks for one request."""

    terms: Terms
    gathered: Gathered
    counter: TokenCounter
    #: The request does not fit without: nothing waits then for more, as it does where others were compacted by hand.
    pressed: bool = False

    @property
    def due(self) -> bool:
        """Whether what no episode stands for has gone over a mark, and anything has come since that led to nothing."""
        marks = self.terms.order.policy.compaction
        if not marks.by_itself or self.terms.order.policy.verbatim:
            return False
        if self.pressed:
            return self.over(0)
        # Nothing new is not tried again. Whatever is new is: it may be little and end what was in the way, and a
        # process that was not there before, which knows of no try, must come to the same request.
        if self.terms.desk.compaction_tried == self.terms.lineage.upto or not self.over(0):
            return False
        return self.tokens - self._instructions >= max(1, self.least) and not self.in_vain(
            self.counter.bounded(self.counter.converted(self._instructions))
        )

    @property
    def least(self) -> int:
        """Tokens in o200k_base that are enough to compact."""
        return 0 if self.pressed else self.terms.order.policy.compaction.least

    @property
    def _instructions(self) -> int:
        """Tokens in o200k_base of what no episode ever stands for: however much it is, it is nothing to compact."""
        records = self.terms.desk.records
        said = (records[item.id] for item in self.gathered.items.values() if item.instruction)
        return sum(estimated_tokens(record, {}) for record in said)

    def in_vain(self, instructions: int) -> bool:
        """Whether instructions of so many tokens and the caller's tools are over the budget without any history.

        Tools that are offered because of the history, to read what is shortened or since it calls them, may go with it.
        """
        tools = self.terms.desk.counting(self.counter).tools(self.terms.tools)
        return instructions + self.counter.bounded(tools) > self.terms.order.boundary.budget

    @property
    def tokens(self) -> int:
        """Tokens in o200k_base of what no episode stands for."""
        return max(0, self.gathered.history(self.terms) - self.gathered.compacted.tokens)

    def over(self, taken: int, *, turns: int | None = None) -> bool:
        """Whether that is over a mark once so many of its tokens are taken, and so many turns are left."""
        policy, budget = self.terms.order.policy, self.terms.order.boundary.budget
        left = max(0, self.tokens - taken)
        beyond = self.gathered.turn - self.gathered.compacted.turn if turns is None else turns
        plain = self.counter.bounded(self._plain(left))
        return over(policy.compaction, turns=beyond, tokens=self.counter.converted(left), plain=plain, budget=budget)

    def _plain(self, tokens: int) -> int:
        """What plain replay of so much takes, with the caller's tools and framing: as sheets count it."""
        gathered, before = self.gathered, self.gathered.compacted
        results = max(0, gathered.results - before.results)
        total = self.terms.replayed_before + len(gathered.replayed) + gathered.older
        framing = self.counter.framing.around(
            messages=max(0, total - before.records), names=0, calls=results, results=results
        )
        tools = self.terms.desk.counting(self.counter).tools(self.terms.tools)
        return self.counter.converted(tokens) + framing + tools
