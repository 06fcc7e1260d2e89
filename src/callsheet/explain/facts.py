"""What an explanation may know of a record: ids, classes, counts and the names of tools. Content has no place here."""


from callsheet.assemble.items import Item
from callsheet.assemble.needed import Needed
from callsheet.assemble.worth import age_of, chance, fullest
from callsheet.graph.enums import Level, Privacy, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Episode, Fact, Message, Milestone, ToolArtifact, ToolCall, ToolMemory
from callsheet.graph.record import Record
from callsheet.graph.values import DEFAULT_PRIVACY, Count, Value
from callsheet.policy.sets import PolicySetDocument


class Known(Value):
    """One record, without what it says."""

    record: RecordId
    #: The tag of its body, such as ``message`` or ``artifact``.
    kind: str
    position: Count = 0
    role: Role | None = None
    tool: str | None = None
    #: Where it was recorded; None: it belongs to the whole conversation.
    branch: RecordId | None = None
    #: The participant that it belongs to; None: everybody's.
    owner: RecordId | None = None
    privacy: Privacy = DEFAULT_PRIVACY
    #: What it was derived from.
    sources: tuple[RecordId, ...] = ()


def known(record: Record) -> Known:
    """The facts of a record; one whose body was erased has its header left."""
    header, body = record.header, record.body
    role = body.role if isinstance(body, Message) else None
    tool = body.tool if isinstance(body, ToolArtifact | ToolCall) else None
    sources: tuple[RecordId, ...] = ()
    if isinstance(body, ToolMemory | Fact | Milestone | Episode):
        sources = body.sources
    return Known(
        record=record.id,
        kind=header.kind,
        position=header.position,
        role=role,
        tool=tool,
        branch=header.scope.branch,
        owner=header.scope.owner,
        privacy=header.privacy,
        sources=sources,
    )


class Worth(Value):
    """What standing in view was worth to a result when it was last chosen, in billed-equivalent tokens."""

    #: The probability that one of the next requests needs it.
    needed: float
    #: Turns since it was last used.
    age: Count
    #: Tokens of the smallest form that tells all of it.
    size: Count
    #: What it would cost to fetch it back, times how likely that is.
    saves: float
    #: What it costs to stand in view for the requests that are looked ahead.
    costs: float

    @property
    def pays(self) -> bool:
        """Whether standing costs no more than it is expected to save."""
        return self.costs <= self.saves


def worth(
    item: Item, *, needed: Needed, turn: int, reuse: float, episode: int, cached: float, policy: PolicySetDocument
) -> Worth:
    """What a result is worth in its fullest form in a note, as planning weighs it.

    `turn` is the turn that the request answers, `reuse` the share of earlier results that were used again, `cached`
    what a token that the provider has seen costs, in fresh ones, `episode` the turn in which the present task began.
    """
    told = item.noted.get(Level.DENSE, item.noted.get(Level.RAW, item.noted.get(Level.GIST, 0) if item.covers else 0))
    size = told or fullest(item)
    likely = chance(item, needed=needed, turn=turn, turns=policy.turns, reuse=reuse, episode=episode)
    each = (1 - cached) + cached * policy.horizon
    age = age_of(item, turn, policy.turns)
    return Worth(needed=likely, age=age, size=size, saves=likely * policy.miss, costs=size * each)
