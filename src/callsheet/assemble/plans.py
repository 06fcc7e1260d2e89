"""What planning goes on from, what it is told has come since, and the plan that comes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from callsheet.graph.enums import Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection


class Rewrite(StrEnum):
    """Why everything is chosen anew."""

    #: Nothing was shown before.
    FIRST = "first"
    #: A record that stands in view may no longer, or not in this detail.
    HARD = "hard"
    #: Somebody asked for a compaction: what episodes stand for leaves its place.
    COMPACTED = "compacted"
    #: Another policy set or version of assembly: what was chosen was chosen by other rules.
    CHANGED = "changed"
    #: Another provider, model or set of tools: nothing of the last request is cached.
    UNCACHED = "uncached"
    #: The provider has forgotten the last request.
    EXPIRED = "expired"
    #: It would be larger than the high-water mark.
    HIGH_WATER = "high_water"
    #: What was spent on keeping it has reached what it costs to rewrite.
    PAYS = "pays"


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """What the last request showed, and what keeping it has cost."""

    selections: tuple[Selection, ...]
    #: Spent since the last rewrite on what a rewrite would have left out, in fresh tokens.
    carried: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Fresh:
    """What has come since: new records in order of position, and older ones brought back."""

    records: tuple[RecordId, ...] = ()
    brought: tuple[RecordId, ...] = ()
    #: Of these, messages from before a history's newest part, which is all that its first request looks at.
    behind: frozenset[RecordId] = frozenset()
    #: Records in view that a soft verdict caps since they were shown.
    notices: tuple[RecordId, ...] = ()
    #: Of these, what was just pinned.
    pinned: frozenset[RecordId] = frozenset()
    #: Results whose exact bytes are wanted.
    exact: tuple[RecordId, ...] = ()
    #: Memories of what is in view, new or brought back; and those of them that replace one in view.
    memories: tuple[RecordId, ...] = ()
    replacing: tuple[RecordId, ...] = ()
    #: What replaces each of the records that something visible replaces.
    replaced_by: Mapping[RecordId, Sequence[RecordId]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What stands in the request, in its order, and why it was chosen."""

    selections: tuple[Selection, ...]
    rewrite: Rewrite | None
    carried: float
    #: Of each candidate in view before that stands no more, why.
    left_out: Mapping[RecordId, Reason]
