"""The settings that a policy set is made of, as values with the limits of each."""

import math
from enum import StrEnum

from callsheet.errors import PolicyError
from callsheet.graph.enums import Freshness, Level, Privacy
from callsheet.graph.values import Value
from callsheet.policy.checked import checked


class Manner(StrEnum):
    """Which end of a long result is kept when it is narrowed."""

    START = "start"
    START_END = "start_end"
    #: Both ends until a summary of a model is there, which background work has made; then that, as a memory.
    SUMMARY = "summary"


class Fill(StrEnum):
    """How levels are chosen at a rewrite."""

    #: The best value for the tokens over the horizon.
    KNAPSACK = "knapsack"
    #: By score alone, skipping what does not fit.
    SORTED = "sorted"


class Retention(StrEnum):
    """What retention does to a record; the words of `RetentionApplied.action`, and ``keep``."""

    KEEP = "keep"
    TRUNCATE = "truncate"
    ARCHIVE = "archive"
    REDACT = "redact"
    HASH_ONLY = "hash_only"
    OFFLOAD = "offload"
    DELETE = "delete"


FORMS = (Level.RAW, Level.SAFE, Level.NONE)
"""What a privacy class may be given as: with its values, as metadata only, or not at all."""

HISTORY_LEVELS = (Level.RAW, Level.DENSE, Level.FOCUS, Level.GIST)


class ClassForms(Value):
    """In which form data of each privacy class may go to a provider that no exception names.

    Secrets and data from accounts (connected by OAuth, or derived from Google) stay out unless the operator opens a
    provider to them: whether the terms under which such data was obtained cover a provider is not ours to assume.
    """

    public: Level = Level.RAW
    internal: Level = Level.RAW
    personal: Level = Level.RAW
    connected_account: Level = Level.SAFE
    google_derived: Level = Level.SAFE
    document: Level = Level.RAW
    runtime_file: Level = Level.RAW
    secret: Level = Level.SAFE

    def __post_init__(self) -> None:
        checked(self, "privacy")
        for privacy in Privacy:
            among(self.of(privacy), FORMS, f"privacy.{privacy.value}")

    def of(self, privacy: Privacy) -> Level:
        """The form of one class."""
        form: Level = getattr(self, privacy)
        return form


class ProviderForm(Value):
    """An exception for one provider and one privacy class."""

    provider: str
    privacy: Privacy
    form: Level

    def __post_init__(self) -> None:
        checked(self, "a provider in privacy")
        label(self.provider, "a provider in privacy")
        among(self.form, FORMS, f"privacy.{self.privacy.value}.{self.provider}")


class StaleAfter(Value):
    """Seconds from observation after which a class of freshness is stale; None: time alone never makes it stale."""

    volatile: int | None = 900
    #: Stale when the session ends, whatever its age.
    session: int | None = None
    time_bounded: int | None = 86_400
    durable: int | None = None
    permanent: int | None = None

    def __post_init__(self) -> None:
        checked(self, "freshness")
        for freshness in Freshness:
            seconds = self.of(freshness)
            if seconds is not None:
                within(seconds, 0, MOST_SECONDS, f"freshness.{freshness.value}")

    def of(self, freshness: Freshness) -> int | None:
        """The seconds of one class."""
        seconds: int | None = getattr(self, freshness)
        return seconds


LEAST_OF_HISTORY = 160
"""Tokens that a share of the history comes to at least: a note with less in it is hardly worth its first line."""


class Water(Value):
    """A mark for the size of a request: tokens, a share of the budget or of the history, or the smallest of them."""

    tokens: int | None = None
    share: float | None = None
    #: Of what plain replay of the history would take.
    history: float | None = None

    def __post_init__(self) -> None:
        checked(self, "a water mark")
        if self.tokens is None and self.share is None and self.history is None:
            raise PolicyError("a water mark needs tokens, a share of the budget, a share of the history, or several")
        if self.tokens is not None:
            within(self.tokens, 0, MOST_TOKENS, "a water mark in tokens")
        if self.share is not None:
            within(self.share, 0, 1, "a water mark as a share")
        if self.history is not None:
            within(self.history, 0, 1, "a water mark as a share of the history")

    def of(self, budget: int, history: int | None = None) -> int:
        """The mark in tokens, for a request that may take `budget` and whose history plain replay takes `history`."""
        marks = [budget]
        if self.history is not None and history is not None:
            marks.append(max(LEAST_OF_HISTORY, int(history * self.history)))
        if self.tokens is not None:
            marks.append(self.tokens)
        if self.share is not None:
            marks.append(int(budget * self.share))
        return min(marks)


class Narrowing(Value):
    """How a long result is shortened."""

    #: Tokens of what is left.
    limit: int = 2_000
    manner: Manner = Manner.START_END

    def __post_init__(self) -> None:
        checked(self, "narrowing")
        within(self.limit, 1, MOST_TOKENS, "narrowing.limit")


class Compaction(Value):
    """When what is older than the last turns becomes an episode: at the first mark that the rest has gone over.

    Without any mark only when somebody asks for it.
    """

    #: Turns, and tokens in plain replay, of what no episode stands for. The source has 20,000 tokens; on recorded agent
    #: runs that made requests larger by 1 % and dearer by 5 % for the same evidence, since results that are needed come
    #: back by themselves.
    turns: int | None = None
    tokens: int | None = None
    #: Of the budget: what plain replay of what no episode stands for would take, with instructions and tools.
    share: float | None = 0.85
    #: Tokens that a compaction must stand for; what is less waits for more.
    least: int = 1_000
    #: Episodes that a request may show, the newest; before one leaves, its milestones become facts.
    episodes: int = 10
    #: Of the low-water mark: what episodes, milestones and facts may take together.
    shown: float = 0.25

    def __post_init__(self) -> None:
        checked(self, "compaction")
        for name, least in (("turns", 1), ("tokens", 1)):
            given = getattr(self, name)
            if given is not None:
                within(given, least, MOST_TOKENS, f"compaction.{name}")
        if self.share is not None:
            within(self.share, 0, 1, "compaction.share")
        within(self.least, 0, MOST_TOKENS, "compaction.least")
        within(self.episodes, 0, MOST_EPISODES, "compaction.episodes")
        within(self.shown, 0, 1, "compaction.shown")

    @property
    def by_itself(self) -> bool:
        """Whether it ever happens without being asked for."""
        return any(mark is not None for mark in (self.turns, self.tokens, self.share))


MOST_EPISODES = 100


class Weights(Value):
    """What the page-in score is made of, and when what was not selected leaves."""

    recency: float = 0.35
    #: Minutes in which recency falls by half.
    half_life: float = 45.0
    semantic: float = 0.45
    role: float = 0.10
    #: The role score of what is neither an instruction nor a milestone; theirs is 1.
    other_role: float = 0.7
    signal: float = 0.10
    #: Minutes after which a verbatim turn leaves.
    idle: float = 120.0
    #: A snippet less similar than this leaves.
    similarity: float = 0.25

    def __post_init__(self) -> None:
        checked(self, "weights")
        for name in ("recency", "semantic", "role", "other_role", "signal", "similarity"):
            within(getattr(self, name), 0, 1, f"weights.{name}")
        for name in ("half_life", "idle"):
            within(getattr(self, name), 1, MOST_MINUTES, f"weights.{name}")


MOST_TOKENS = 10**9
MOST_SECONDS = 10**10
MOST_MINUTES = 10**8
MOST_BYTES = 10**12
LONGEST_LABEL = 512


def label(value: str, name: str) -> None:
    """Raises `PolicyError` for text that cannot be read in a line."""
    if not value or len(value) > LONGEST_LABEL or not value.isprintable():
        raise PolicyError(f"{name} is {value[:60]!r}; it must be printable text of 1 to {LONGEST_LABEL} characters")


def within(value: float, least: float, most: float, name: str) -> None:
    """Raises `PolicyError` for a number that is not in the range."""
    if not (math.isfinite(value) and least <= value <= most):
        raise PolicyError(f"{name} is {value!r}; it must be from {least:,} to {most:,}")


def among(value: Level, allowed: tuple[Level, ...], name: str) -> None:
    """Raises `PolicyError` for a level that has no meaning there."""
    if value not in allowed:
        raise PolicyError(
            f"{name} is {value.value!r}; it must be one of: {', '.join(level.value for level in allowed)}"
        )
