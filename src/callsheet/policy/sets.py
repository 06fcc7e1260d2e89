"""Policy sets: immutable, versioned, named by the hash of their content and of the rules they rest on."""

from collections.abc import Mapping

import msgspec

from callsheet.errors import PolicyError
from callsheet.graph.canonical import tagged_digest
from callsheet.graph.enums import Level, Policy
from callsheet.graph.values import Digest, Value
from callsheet.policy.checked import checked
from callsheet.policy.contracts import ToolContract
from callsheet.policy.keeping import Keeping
from callsheet.policy.rules import MOST_RULES, Rule
from callsheet.policy.settings import (
    HISTORY_LEVELS,
    MOST_BYTES,
    MOST_TOKENS,
    ClassForms,
    Compaction,
    Fill,
    Narrowing,
    ProviderForm,
    StaleAfter,
    Water,
    Weights,
    among,
    label,
    within,
)

RULE_VERSIONS: Mapping[str, int] = {
    **{policy.value: 1 for policy in Policy},
    "recovery": 2,
    "freshness": 3,
    "deciding": 1,
    "conditions": 3,
}
"""The version of each of the nine policies, of how their verdicts come together (``deciding``), and of the facts that
the conditions of users' rules see (``conditions``).

Raised whenever the rule decides anything differently.
"""

MOST_TURNS = 64
MOST_REQUESTS = 1_000
MOST_MEANT = 30


class PolicySetDocument(Value):
    """What one version of a policy set says. A setting that is not given has the value that it has in ``balanced``."""

    name: str
    version: str
    #: In how much detail a finished result stands where its exact bytes are not asked for. Text is always verbatim.
    history: Level = Level.DENSE
    #: Every instruction in its place, instead of the newest of each scope at the front.
    instructions_in_place: bool = False
    #: What may be seen stands verbatim: only attribution, visibility, privacy and retention take anything out.
    verbatim: bool = False
    #: The last turns that stay in view.
    turns: int = 6
    #: Requests that a choice of levels looks ahead.
    horizon: int = 20
    #: Tokens that not having what is needed counts for: a fetch where the model notices, a wrong answer where not.
    miss: int = 20_000
    #: History of this size, beside instructions and tools, is rewritten whatever it costs ...
    high_water: Water = Water(tokens=60_000, share=0.8)
    #: ... and shrunk to this one, as it is whenever rewriting pays.
    low_water: Water = Water(tokens=6_000, share=0.5)
    fill: Fill = Fill.KNAPSACK
    narrowing: Narrowing = Narrowing()
    #: When older history becomes an episode.
    compaction: Compaction = Compaction()
    privacy: ClassForms = ClassForms()
    #: Exceptions from `privacy`, by provider.
    providers: tuple[ProviderForm, ...] = ()
    freshness: StaleAfter = StaleAfter()
    #: Whether the model is offered a tool that fetches what was shortened or left out.
    recall: bool = True
    #: Whether the model is told when the user said each thing. A message keeps its own time, so nothing before changes.
    times: bool = False
    #: Older records and memories that a request brings back at most because they mean the like of what the user says,
    #: where the store was opened with an embedder.
    meaning: int = 4
    weights: Weights = Weights()
    #: Bytes of exact evidence that one request may load.
    rehydrate: int = 65_536
    tools: tuple[ToolContract, ...] = ()
    #: What users wrote beside the tables, asked in their order.
    rules: tuple[Rule, ...] = ()
    #: What becomes of records with age, by context class; the first that applies speaks.
    retention: tuple[Keeping, ...] = ()

    def __post_init__(self) -> None:
        checked(self, f"policy set {self.name!r}" if isinstance(self.name, str) else "a policy set")
        label(self.name, "the name of a policy set")
        label(self.version, "the version of a policy set")
        if "@" in self.name or "@" in self.version:
            raise PolicyError(f"{self.name!r}, version {self.version!r}: name and version of a policy set hold no '@'")
        among(self.history, HISTORY_LEVELS, "history")
        within(self.turns, 0, MOST_TURNS, "turns")
        within(self.horizon, 1, MOST_REQUESTS, "horizon")
        within(self.miss, 0, MOST_TOKENS, "miss")
        within(self.rehydrate, 0, MOST_BYTES, "rehydrate")
        within(self.meaning, 0, MOST_MEANT, "meaning")
        low, high = self.low_water, self.high_water
        if any(_above(getattr(low, mark), getattr(high, mark)) for mark in ("tokens", "share", "history")):
            raise PolicyError("low_water is above high_water; a rewrite must make the request smaller")
        names = [tool.name for tool in self.tools]
        if len(set(names)) != len(names):
            twice = next(name for place, name in enumerate(names) if name in names[:place])
            raise PolicyError(f"tools has {twice!r} twice")
        named = [rule.name for rule in self.rules]
        if len(named) > MOST_RULES:
            raise PolicyError(f"{len(named)} rules; a policy set has at most {MOST_RULES}")
        if len(set(named)) != len(named):
            twice = next(name for place, name in enumerate(named) if name in named[:place])
            raise PolicyError(f"rules has {twice!r} twice")

    @property
    def content(self) -> bytes:
        """All settings as JSON with sorted keys, those at their default too, so that a changed default is seen."""
        return msgspec.json.encode(_complete(self), order="sorted")

    @property
    def hash(self) -> Digest:
        """Changes with the content and with the version of any built-in rule."""
        rules = ",".join([f"{name}={version}" for name, version in sorted(RULE_VERSIONS.items())])
        known = _HASHES.get((id(self), rules))
        if known is None:
            if len(_HASHES) >= _REMEMBERED:
                _HASHES.clear()
            known = _HASHES[id(self), rules] = (self, tagged_digest("policy-set", self.content, rules.encode()))
        return known[1]

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


_REMEMBERED = 64
_HASHES: dict[tuple[int, str], tuple[PolicySetDocument, Digest]] = {}
"""By identity, since equal sets may be written differently; each with its set, so that no other has its identity."""


def _above(low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and low > high


def _complete(value: object) -> object:
    if isinstance(value, msgspec.Struct):
        return {name: _complete(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, tuple):
        return [_complete(item) for item in value]
    return value


BALANCED = PolicySetDocument(name="balanced", version="1")
"""Few tokens, and nothing lost that a later turn is likely to need."""

LEAN = PolicySetDocument(
    name="lean",
    version="1",
    history=Level.FOCUS,
    turns=4,
    miss=2_000,
    high_water=Water(tokens=20_000, share=0.6),
    low_water=Water(tokens=2_500, share=0.3, history=0.2),
    narrowing=Narrowing(limit=800),
    meaning=2,
    rehydrate=32_768,
)
"""As few tokens as can be; more is fetched back."""

FAITHFUL = PolicySetDocument(
    name="faithful",
    version="1",
    turns=8,
    miss=200_000,
    high_water=Water(share=0.9),
    low_water=Water(share=0.7),
    narrowing=Narrowing(limit=8_000),
    rehydrate=262_144,
)
"""Lossless forms until the budget is nearly full."""

REPLAY = PolicySetDocument(
    name="replay",
    version="1",
    history=Level.RAW,
    instructions_in_place=True,
    verbatim=True,
    high_water=Water(share=1.0),
    low_water=Water(share=1.0),
    privacy=ClassForms(connected_account=Level.RAW, google_derived=Level.RAW, secret=Level.RAW),
    freshness=StaleAfter(volatile=None, time_bounded=None),
    compaction=Compaction(share=None),
    recall=False,
    meaning=0,
)
"""Everything verbatim, every instruction in its place: plain replay of the history as one policy among others."""

BUILT_IN: Mapping[str, PolicySetDocument] = {policy.name: policy for policy in (BALANCED, LEAN, FAITHFUL, REPLAY)}

DEFAULT = BALANCED.name


def policy_set(name: str) -> PolicySetDocument:
    """The built-in policy set with this name. Raises `PolicyError` that lists those there are."""
    found = BUILT_IN.get(name)
    if found is None:
        # What has a folder or an ending is meant as a file.
        file = "; one in a file is read by callsheet.load_policy" if "/" in name or "." in name else ""
        raise PolicyError(f"no policy set {name!r}; there are: {', '.join(sorted(BUILT_IN))}{file}")
    return found


def check_known(document: PolicySetDocument, known: Mapping[str, Digest]) -> None:
    """Raises `PolicyError` if the name and version of a set already stand for something else.

    `known` has the hash of each set that was used before, by ``name@version``; built-in sets are always known.
    """
    built_in = BUILT_IN.get(document.name)
    taken = built_in.hash if built_in is not None and str(built_in) == str(document) else known.get(str(document))
    if taken is not None and taken != document.hash:
        raise PolicyError(
            f"policy set {document} is known as {taken}, but this one is {document.hash}: "
            "give it a new version, or restore what it said"
        )
