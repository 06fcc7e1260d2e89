"""Which documents may be read at a boundary: judged from class, scope and attributes, before any text is read."""

from dataclasses import dataclass, field
from functools import cached_property

from callsheet.graph.enums import Policy
from callsheet.graph.nodes import Boundary
from callsheet.graph.values import Attribute
from callsheet.policy.candidate import Candidate
from callsheet.policy.conditions import Ruling
from callsheet.policy.deciding import decide
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.verdict import Verdict
from callsheet.runtime.documenting.shelf import KINDS, Version
from callsheet.runtime.ruling import ruling

_FINAL = (Policy.ATTRIBUTION, Policy.VISIBILITY, Policy.PRIVACY, Policy.RETENTION)


@dataclass(frozen=True, kw_only=True)
class Admission:
    """What a policy set says of documents at one boundary. Keeps what it said for one search or recall."""

    boundary: Boundary
    policy: PolicySetDocument
    #: By what it depends on: without rules, class and scope alone.
    _said: dict[object, Verdict | None] = field(default_factory=dict)

    def admits(self, version: Version) -> bool:
        """Whether its content may be given."""
        return self.refusing(version) is None

    def refusing(self, version: Version) -> Verdict | None:
        """The verdict by which its content may not be given; None: it may."""
        key = version.id if self.policy.rules else (version.privacy, version.scope)
        if key not in self._said:
            self._said[key] = self._refusing(version)
        return self._said[key]

    def _refusing(self, version: Version) -> Verdict | None:
        # A rule may speak of documents or of their chunks: what holds of one holds of the other.
        for kind in KINDS:
            candidate = self.candidate(version, kind)
            decision = decide(candidate, self.boundary, self.policy, self._ruling)
            for verdict in decision.verdicts:
                if verdict.policy in _FINAL and verdict.hard and verdict.most is not None:
                    return verdict
        return None

    @cached_property
    def _ruling(self) -> Ruling | None:
        return ruling(self.policy, self.boundary)

    def candidate(self, version: Version, kind: str) -> Candidate:
        """A document, or its chunks, as the policies see them."""
        return Candidate(
            record=version.id,
            kind=kind,
            scope=version.scope,
            privacy=version.privacy,
            attributes=tuple(Attribute(name=name, value=value) for name, value in version.attributes.items()),
            tainted=False,
            bytes=version.body.text.size,
            exact_wanted=True,
        )
