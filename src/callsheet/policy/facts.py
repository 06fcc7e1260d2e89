"""What conditions may ask of a record and of a boundary: facts, what each means, and what values it can have.

Classes, sizes, times and names, never content.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple, get_args

from callsheet.graph.enums import ArtifactStatus, CallStatus, Freshness, Privacy, Role, RuntimeMode, Visibility
from callsheet.graph.nodes import Boundary, Node
from callsheet.policy.attribution import SHOWABLE
from callsheet.policy.candidate import Candidate

_SECOND = 1_000_000
_TURN = 60
"""Seconds that a turn counts for where a time is not known."""

MOST_ITEMS = 100
"""Entries of a list or map that a condition is given; a longer one is missing, so that asking ends soon."""


class Kind(StrEnum):
    """What a condition is given, in the words of the errors."""

    TEXT = "text"
    NUMBER = "a number"
    FLAG = "true or false"
    TEXTS = "a list of texts"
    MAP = "a map of texts"


class Fact(NamedTuple):
    """What a fact is, whatever it is of."""

    kind: Kind
    #: What it says, without its kind.
    about: str
    #: All that it can be; empty: that is open.
    members: tuple[str, ...]

    @property
    def means(self) -> str:
        """What it is, in words, with all that it can be."""
        if not self.members:
            return f"{self.kind}: {self.about}"
        named = ", ".join(member for member in self.members if member)
        return f"{self.kind}: {self.about}; one of: {named}{', or empty' if '' in self.members else ''}"


class RecordFact(NamedTuple):
    """A fact of a record. What gives None is missing."""

    fact: Fact
    of: Callable[[Candidate, Boundary], object]


class BoundaryFact(NamedTuple):
    """A fact of a boundary. What gives None is missing."""

    fact: Fact
    of: Callable[[Boundary], object]


def _age(candidate: Candidate, boundary: Boundary) -> int:
    if candidate.observed is None or candidate.observed > boundary.now:
        return candidate.turn_age * _TURN
    return (boundary.now - candidate.observed) // _SECOND


def _owner(candidate: Candidate, boundary: Boundary) -> str:
    owner = candidate.scope.owner
    if owner is None:
        return "nobody"
    return "mine" if owner == boundary.participant else "other"


def _branch(candidate: Candidate, boundary: Boundary) -> str:
    return "mine" if candidate.scope.branch in (None, boundary.branch) else "inherited"


def _listed(values: tuple[str, ...]) -> list[str] | None:
    return list(values) if len(values) <= MOST_ITEMS else None


def _tool(candidate: Candidate, boundary: Boundary) -> str | None:
    return candidate.tool if candidate.tool is not None or candidate.kind in ("artifact", "call") else ""


def _status(candidate: Candidate, boundary: Boundary) -> str:
    status = candidate.outcome or candidate.call
    return status.value if status is not None else ""


def _tags(candidate: Candidate, boundary: Boundary) -> dict[str, str] | None:
    attributes = candidate.attributes
    return {tag.name: tag.value for tag in attributes} if len(attributes) <= MOST_ITEMS else None


def _tainted(candidate: Candidate, boundary: Boundary) -> bool | None:
    if candidate.tainted is not None:
        return candidate.tainted
    if candidate.kind == "artifact":
        return True
    return False if candidate.role in (Role.SYSTEM, Role.DEVELOPER, Role.USER) else None


def _open(kind: Kind, about: str) -> Fact:
    return Fact(kind, about, ())


def _closed(about: str, *sets: type[StrEnum], more: tuple[str, ...] = ()) -> Fact:
    members = dict.fromkeys([*more, *(member.value for members in sets for member in members)])
    return Fact(Kind.TEXT, about, tuple(members))


_TAGS = [str(node.__struct_config__.tag) for node in get_args(Node)]
_KINDS = tuple(tag for tag in _TAGS if tag in SHOWABLE)

RECORD: Mapping[str, RecordFact] = {
    "kind": RecordFact(
        _closed("what it is (artifact: a result of a tool)", more=_KINDS),
        lambda c, _: c.kind,
    ),
    "role": RecordFact(
        _closed("who speaks in a message", Role, more=("",)), lambda c, _: c.role.value if c.role is not None else ""
    ),
    "tool": RecordFact(_open(Kind.TEXT, "the tool of a call or result; empty for what comes of none"), _tool),
    "privacy": RecordFact(_closed("its privacy class now", Privacy), lambda c, _: c.privacy.value),
    "freshness": RecordFact(
        _closed("its class of freshness (empty: it does not age)", Freshness, more=("",)),
        lambda c, _: c.freshness.value if c.freshness is not None else "",
    ),
    "stale": RecordFact(_open(Kind.FLAG, "it was marked stale"), lambda c, _: c.marked_stale),
    "status": RecordFact(_closed("how a call or result stands", ArtifactStatus, CallStatus, more=("",)), _status),
    "age": RecordFact(
        _open(
            Kind.NUMBER,
            "whole seconds since it was said or observed; a turn counts as a minute where no such time is known",
        ),
        _age,
    ),
    "turns": RecordFact(_open(Kind.NUMBER, "turns since; 0 is the newest"), lambda c, _: c.turn_age),
    "tags": RecordFact(_open(Kind.MAP, "its attributes, name to text; one that it does not have is missing"), _tags),
    "size": RecordFact(_open(Kind.NUMBER, "bytes of a result, else 0"), lambda c, _: c.bytes),
    "tainted": RecordFact(_open(Kind.FLAG, "it rests on output of tools; missing where that is not known"), _tainted),
    "owner": RecordFact(
        _closed("whose it is (other: another participant's)", more=("mine", "other", "nobody")), _owner
    ),
    "branch": RecordFact(
        _closed(
            "where it was recorded (inherited: on a branch that this one was forked off)", more=("mine", "inherited")
        ),
        _branch,
    ),
    "visibility": RecordFact(_closed("who may see it", Visibility), lambda c, _: c.scope.visibility.value),
    "mode": RecordFact(_closed("the runtime mode in which it was made", RuntimeMode), lambda c, _: c.scope.mode.value),
    "task": RecordFact(_open(Kind.TEXT, "the task that it was made for; else empty"), lambda c, _: c.scope.task or ""),
    "pinned": RecordFact(_open(Kind.FLAG, "it was pinned"), lambda c, _: c.pinned),
}
"""What a condition may ask of a record."""

BOUNDARY: Mapping[str, BoundaryFact] = {
    "provider": BoundaryFact(_open(Kind.TEXT, "who the request is for"), lambda b: b.provider),
    "model": BoundaryFact(_open(Kind.TEXT, "the model"), lambda b: b.model),
    "mode": BoundaryFact(_closed("the runtime mode", RuntimeMode), lambda b: b.mode.value),
    "participant": BoundaryFact(
        _open(Kind.TEXT, "the id of the participant that speaks next; else empty"), lambda b: b.participant or ""
    ),
    "task": BoundaryFact(_open(Kind.TEXT, "the task; else empty"), lambda b: b.task or ""),
    "scopes": BoundaryFact(
        _open(Kind.TEXTS, "what the request is entitled to, as assemble(scopes=...) says"), lambda b: _listed(b.scopes)
    ),
    "skills": BoundaryFact(_open(Kind.TEXTS, "the skills in use"), lambda b: _listed(b.skills)),
    "tools": BoundaryFact(_open(Kind.TEXTS, "the tools on offer"), lambda b: _listed(b.tools)),
    "budget": BoundaryFact(_open(Kind.NUMBER, "tokens that the request may take"), lambda b: b.budget),
}
"""What a condition may ask of the boundary."""


def fact(variable: str, name: str) -> Fact | None:
    """What ``variable.name`` is; None: there is no such fact."""
    found = (RECORD if variable == "record" else BOUNDARY).get(name)
    return found.fact if found is not None else None
