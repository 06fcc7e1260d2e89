"""Items to plan with, and a basis over them."""

from dataclasses import dataclass, field

from callsheet.assemble.basis import Basis, Limits, Prices
from callsheet.assemble.items import Item
from callsheet.assemble.needed import AGES, SIZES, Habit, Needed
from callsheet.graph.enums import Level, Reason, Role
from callsheet.graph.ids import RecordId
from callsheet.policy.sets import BALANCED, PolicySetDocument

LIKELY = Needed(name="likely@1", uses=(3.0,) * (len(AGES) + 1), size=(1.0,) * (len(SIZES) + 1))
"""Nearly everything is needed again, whatever its age and size."""

NEVER = Needed(name="never@1", uses=(0.0,) * (len(AGES) + 1), size=LIKELY.size)

NEW = Habit()
"""A conversation of which nothing is known."""

ASKED, LEFT, NARROW, DIFFERS = 10, 16, 200, 12
"""Tokens of what was asked in a note's line, of a result that only a reference is left of, of a narrowed one, and of
what differs between two."""


@dataclass(kw_only=True)
class Story:
    """Items in order, a turn for each that is said; results have the turn and the group of their call."""

    items: dict[RecordId, Item] = field(default_factory=dict)
    turn: int = 0

    def said(self, role: Role, tokens: int, *, open: bool = False) -> RecordId:
        instruction = role is Role.SYSTEM
        self.turn += not instruction
        place = len(self.items) + 1
        id = RecordId(f"{role.value}{place}")
        self.items[id] = Item(
            id=id,
            position=place,
            turn=self.turn,
            group=id,
            role=role,
            instruction=instruction,
            standing={Level.RAW: tokens},
            noted={} if instruction else {Level.DENSE: min(tokens, 30)} if open else {Level.GIST: min(tokens, 20)},
            least=Level.RAW if instruction else Level.DENSE if open else Level.NONE,
            used=self.turn,
            open=open,
        )
        return id

    def result(
        self,
        group: RecordId,
        tokens: int,
        *,
        most: Level = Level.DENSE,
        most_hard: Level = Level.RAW,
        least: Level = Level.NONE,
        reason: Reason = Reason.INCLUDED,
        like: RecordId | None = None,
    ) -> RecordId:
        place = len(self.items) + 1
        id = RecordId(f"result{place}")
        sizes = {Level.GIST: min(tokens, 30), Level.REF: LEFT, Level.STALE: LEFT, Level.SAFE: LEFT}
        focus = {Level.FOCUS: NARROW} if tokens > NARROW else {}
        noted = {Level.DENSE: tokens, **focus, **sizes}
        self.items[id] = Item(
            id=id,
            position=place,
            turn=self.turn,
            group=group,
            role=None,
            standing={Level.RAW: 2 * tokens, Level.DENSE: tokens, **sizes},
            noted={level: size + ASKED for level, size in noted.items()},
            gist_keeps=0.5,
            most=most,
            most_hard=most_hard,
            least=least,
            reason=reason,
            segments=(0, 1),
            used=self.turn,
            like=like,
            like_size=DIFFERS if like is not None else 0,
        )
        return id

    def exchange(self, tokens: int) -> tuple[RecordId, RecordId, RecordId]:
        """A question, a call, its result."""
        question = self.said(Role.USER, 10)
        call = self.said(Role.ASSISTANT, 5)
        return question, call, self.result(call, tokens)

    def basis(
        self,
        *,
        budget: int = 100_000,
        high: int | None = None,
        low: int | None = None,
        fixed: int = 0,
        policy: PolicySetDocument = BALANCED,
        needed: Needed = LIKELY,
        cached: float = 0.1,
        habit: Habit = NEW,
        episode: int | None = None,
    ) -> Basis:
        """Without `episode`, the present task begins with the newest turn."""
        return Basis(
            items=self.items,
            policy=policy,
            limits=Limits(
                budget=budget,
                high=budget if high is None else high,
                low=budget // 2 if low is None else low,
                fixed=fixed,
            ),
            prices=Prices(cached=cached),
            needed=needed,
            turn=self.turn,
            habit=habit,
            episode=self.turn if episode is None else episode,
        )
