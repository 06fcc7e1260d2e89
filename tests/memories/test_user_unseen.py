"""What is kept of others, or for another participant alone, changes no byte of what a reader gets (C2)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from callsheet import Conversation, Runtime, Sheet
from callsheet.errors import InvalidOption, NotFound
from callsheet.ledger.memory import MemoryLedger
from callsheet.testing import FixedClock
from tests.memories.user_worlds import NOW, own_stream
from tests.proofs.profiles import graphs
from tests.proofs.told import Told, told
from tests.proofs.world import TwoIds
from tests.runtime.acts import MODELS
from tests.runtime.replies import openai_reply, user

WORDS = ("cat", "locker AB-551", "tea", "berth", "Orla", "BT-003")
SUBJECTS = (None, "diet", "locker")
OTHERS = ("ben", "elm", "critic")
"""Another user, another tenant, another participant of the same user."""


class Step(NamedTuple):
    act: str
    #: Who or what it is about, each by its number.
    word: int
    subject: int
    which: int
    other: int


ACTS = ("remember", "remember", "always", "update", "contradict", "forget", "propose", "accept", "pin", "asks", "asks")


def some(acts: Sequence[str], most: int) -> st.SearchStrategy[list[Step]]:
    step = st.builds(
        Step,
        act=st.sampled_from(acts),
        word=st.integers(0, len(WORDS) - 1),
        subject=st.integers(0, len(SUBJECTS) - 1),
        which=st.integers(0, 5),
        other=st.integers(0, len(OTHERS) - 1),
    )
    return st.lists(step, min_size=1, max_size=most)


class World:
    """One store: Mia's conversation as Ada sees it, and others around."""

    def __init__(self) -> None:
        self.ids, self.clock = TwoIds(), FixedClock(NOW)
        self.ledger = MemoryLedger(clock=self.clock)
        self.own = Runtime(self.ledger, tenant="oak", ids=self.ids, clock=self.clock)
        self.elm = Runtime(self.ledger, tenant="elm", ids=self.ids, clock=self.clock)
        self.talk = self.own.conversation("talk", user="mia").participant("ada")
        # So that the ids of what comes later are the same in both worlds.
        self.own.remember("mia", "likes rain")
        self.kept: dict[str, list[str]] = {}
        self.sheets: list[Sheet] = []

    @contextmanager
    def aside(self) -> Iterator[None]:
        self.ids.apart = True
        try:
            yield
        finally:
            self.ids.apart = False

    def act(self, step: Step, who: str) -> None:
        runtime = self.elm if who == "elm" else self.own
        whose = {"critic": "mia", "elm": "mia"}.get(who, who)
        known = self.kept.setdefault(who, [])
        which = known[step.which % len(known)] if known else "umem_none"
        value = f"the {WORDS[step.word]} of number {step.which}"
        subject = SUBJECTS[step.subject]
        reader = "critic" if who == "critic" else None
        acts: dict[str, Callable[[], object]] = {
            "remember": lambda: runtime.remember(whose, value, attribute=subject, participant=reader),
            "always": lambda: runtime.remember(whose, value, attribute=subject, participant=reader, always=True),
            "update": lambda: runtime.update(whose, which, value),
            "contradict": lambda: runtime.contradict(whose, which, known[0] if known else which),
            "forget": lambda: runtime.forget(whose, which),
            "propose": lambda: runtime.propose(whose, value, participant=reader),
            "accept": lambda: runtime.accept(whose, which),
            "pin": lambda: runtime.pin(whose, which, pinned=bool(step.word % 2)),
        }
        try:
            made = acts[step.act]()
        except (InvalidOption, NotFound):
            return
        id = getattr(made, "id", None)
        if isinstance(id, str) and id not in known:
            known.append(id)

    def asks(self, step: Step) -> None:
        self.talk.record(user(f"What of the {WORDS[step.word]}, number {step.which}?"))
        provider = ("openai", "anthropic")[step.subject % 2]
        sheet = self.talk.assemble(provider=provider, model=MODELS[provider])
        self.sheets.append(sheet)
        self.talk.record(openai_reply("I see."), sheet=sheet)


class Seen(NamedTuple):
    requests: list[Told]
    left_out: list[object]
    listed: list[object]
    rebuilt: list[bool]


def played(acted: Sequence[Step], hidden: Sequence[Step]) -> tuple[Seen, World]:
    world = World()
    for place, step in enumerate(acted):
        for other in hidden[place :: len(acted)]:
            with world.aside():
                world.act(other, OTHERS[other.other])
        world.clock.advance(60)
        if step.act == "asks":
            world.asks(step)
        else:
            world.act(step, "mia")
    world.asks(Step("asks", 0, 0, 0, 0))
    world.asks(Step("asks", 1, 1, 0, 0))
    return _seen(world), world


def _seen(world: World) -> Seen:
    def rebuilds(talk: Conversation, sheet: Sheet) -> bool:
        erased = any(not block for block in talk.sheet(sheet.id).blocks)
        return erased or talk.rebuild(sheet).same or bool(_forgotten(world))

    return Seen(
        requests=[told(sheet) for sheet in world.sheets],
        left_out=[sheet.record.decisions for sheet in world.sheets],
        listed=[world.talk.user_memories(), *(world.talk.user_memories(word) for word in WORDS)],
        rebuilt=[rebuilds(world.talk, sheet) for sheet in world.sheets],
    )


def _forgotten(world: World) -> bool:
    """Whether anything the requests saw may have been forgotten since."""
    key = own_stream(world.own, "mia").key
    return any(record.body is None for record in world.ledger.records(key))


@given(some(ACTS, 12), some(ACTS[:-2], 8))
@graphs(150)
def test_what_is_kept_of_others_changes_nothing(acted: list[Step], hidden: list[Step]) -> None:
    plain, _ = played(acted, [])
    more, _ = played(acted, hidden)

    assert plain.requests == more.requests
    assert plain.left_out == more.left_out
    assert plain.listed == more.listed
    assert all(plain.rebuilt)
    assert all(more.rebuilt)


@given(some(ACTS, 14))
@graphs(80)
def test_of_one_subject_one_memory_holds_at_any_time_and_nothing_ends_without_a_successor(acted: list[Step]) -> None:
    _, world = played(acted, [])
    everything = world.own.memories("mia", history=True)
    forgotten = _forgotten(world)
    for one in everything:
        if one.valid_until is not None and not forgotten:
            assert one.replaced_by
        if one.attribute is None or one.tainted:
            continue
        same = [
            other
            for other in world.own.memories("mia", attribute=one.attribute, as_of=one.observed)
            if not other.tainted and one.id not in other.conflicts_with and other.participant == one.participant
        ]
        assert len({other.id for other in same if not other.conflicts_with}) <= 1
