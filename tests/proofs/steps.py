"""Random graphs as data: what is said, done, kept and changed, by whom, and who may see it."""

from enum import StrEnum
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy


class Way(StrEnum):
    """On whose account a step is recorded. All but the first are hidden from the reader."""

    OPEN = "open"
    SIBLING = "sibling"
    PRIVATE = "private"
    AUDIT = "audit"
    CHILD = "child"
    USER = "user"
    TENANT = "tenant"


class Kind(StrEnum):
    """What a step records."""

    ASKS = "asks"
    INSTRUCTS = "instructs"
    ANSWERS = "answers"
    CALLS = "calls"
    WAITS = "waits"
    FAILS = "fails"
    STRAY = "stray"
    ANOTHER = "another"
    READS = "reads"
    SUPERSEDES = "supersedes"
    CONFLICTS = "conflicts"
    STALE = "stale"
    PINS = "pins"
    UNPINS = "unpins"
    RECLASSIFIES = "reclassifies"
    RETAINS = "retains"
    ERASES = "erases"
    PROMOTES = "promotes"
    DEMOTES = "demotes"
    RESOLVES = "resolves"
    RELEASES = "releases"
    WITHDRAWS = "withdraws"
    SHARES = "shares"
    REMEMBERS = "remembers"
    COMPACTS = "compacts"
    CHECKPOINTS = "checkpoints"
    JUDGES = "judges"
    OFFERS = "offers"
    ENDS = "ends"
    PASSES = "passes"
    # Through the public face.
    SPAWNS = "spawns"
    WORKS = "works"
    GIVES = "gives"
    TAKES = "takes"
    MERGES = "merges"
    SKILLS = "skills"
    EXECUTES = "executes"
    LEARNS = "learns"
    REPLACES = "replaces"
    CONTRADICTS = "contradicts"
    OUTDATES = "outdates"
    FORGETS = "forgets"


SPOKEN = (Kind.ASKS, Kind.CALLS, Kind.CALLS, Kind.ANSWERS, Kind.FAILS, Kind.WAITS, Kind.INSTRUCTS, Kind.STRAY)
CHANGES = (
    Kind.SUPERSEDES,
    Kind.CONFLICTS,
    Kind.STALE,
    Kind.PINS,
    Kind.UNPINS,
    Kind.RECLASSIFIES,
    Kind.RETAINS,
    Kind.PROMOTES,
    Kind.DEMOTES,
    Kind.RESOLVES,
    Kind.RELEASES,
    Kind.WITHDRAWS,
    Kind.SHARES,
    Kind.REMEMBERS,
    Kind.COMPACTS,
    Kind.CHECKPOINTS,
    Kind.JUDGES,
    Kind.OFFERS,
    Kind.ENDS,
)
ACTS = (
    Kind.SPAWNS,
    Kind.WORKS,
    Kind.GIVES,
    Kind.TAKES,
    Kind.MERGES,
    Kind.SKILLS,
    Kind.EXECUTES,
    Kind.LEARNS,
    Kind.LEARNS,
    Kind.REPLACES,
    Kind.CONTRADICTS,
    Kind.OUTDATES,
    Kind.FORGETS,
)
HIDING = (Way.SIBLING, Way.PRIVATE, Way.AUDIT, Way.CHILD, Way.USER, Way.TENANT)


class Step(NamedTuple):
    """One step of a graph."""

    kind: Kind
    way: Way = Way.OPEN
    #: Chooses the content, and the records that a change is about.
    number: int = 0
    #: Lines of content, or how far a change reaches.
    size: int = 1


class Reader(NamedTuple):
    """Who reads, and how each request is asked for."""

    #: Whether it takes part under a name of its own.
    named: bool = False
    #: Whether it reads on a branch.
    branched: bool = False
    provider: str = "openai"
    policy: str = "balanced"
    budget: int = 4_000
    recall: bool = True


def _step(kinds: tuple[Kind, ...], ways: tuple[Way, ...]) -> SearchStrategy[Step]:
    return st.builds(
        Step, st.sampled_from(kinds), st.sampled_from(ways), st.integers(0, 20), st.sampled_from([1, 9, 60])
    )


said = _step(SPOKEN, (Way.OPEN,))
changes = _step(CHANGES, (Way.OPEN,))
hidden = _step((*SPOKEN, *SPOKEN, *CHANGES, *ACTS, Kind.ANOTHER, Kind.READS), HIDING)
acts = _step(ACTS, (Way.OPEN,))
private = _step((Kind.CALLS, Kind.FAILS, Kind.WAITS, *CHANGES), (Way.PRIVATE,))
passing = _step((Kind.PASSES, Kind.ERASES), (Way.OPEN,))

steps: SearchStrategy[list[Step]] = st.lists(
    st.one_of(said, said, said, changes, acts, private, passing), min_size=1, max_size=9
)
"""Graphs of all kinds of record, a participant's private ones among them."""

hidden_steps: SearchStrategy[list[Step]] = st.lists(hidden, min_size=1, max_size=4)

readers: SearchStrategy[Reader] = st.builds(
    Reader,
    named=st.booleans(),
    branched=st.booleans(),
    provider=st.sampled_from(["openai", "anthropic"]),
    policy=st.sampled_from(["balanced", "lean", "faithful", "replay"]),
    budget=st.sampled_from([600, 1_500, 4_000, 100_000]),
    recall=st.sampled_from([True, True, False]),
)
