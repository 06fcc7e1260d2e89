"""Policy sets: immutable, versioned, named by the hash of their content and of the rules they rest on."""

from collections.abc import Mapping

from callsheet.errors import PolicyError
from callsheet.graph.canonical import canonical, tagged_digest
from callsheet.graph.enums import Level
from callsheet.graph.values import Digest, Value

RULE_VERSIONS: Mapping[str, int] = {"visibility": 1}
"""The version of each built-in rule; raised whenever the rule decides anything differently."""


class PolicySetDocument(Value):
    """What one version of a policy set says."""

    name: str
    version: str
    #: In how much detail the history stands.
    history: Level
    #: Every instruction in its place, instead of the newest of each scope at the front.
    instructions_in_place: bool = False

    @property
    def hash(self) -> Digest:
        """Changes with the content and with the version of any built-in rule."""
        rules = ",".join(f"{name}={version}" for name, version in sorted(RULE_VERSIONS.items()))
        return tagged_digest("policy-set", canonical(self), rules.encode())

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


REPLAY = PolicySetDocument(name="replay", version="1", history=Level.RAW, instructions_in_place=True)
"""Everything verbatim, every instruction in its place: plain replay of the history as one policy among others."""

BUILT_IN: Mapping[str, PolicySetDocument] = {REPLAY.name: REPLAY}

DEFAULT = REPLAY.name


def policy_set(name: str) -> PolicySetDocument:
    """The built-in policy set with this name. Raises `PolicyError` that lists those there are."""
    found = BUILT_IN.get(name)
    if found is None:
        raise PolicyError(f"no policy set {name!r}; there are: {', '.join(sorted(BUILT_IN))}")
    return found
