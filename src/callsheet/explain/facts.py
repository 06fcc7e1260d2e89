"""What an explanation may know of a record: ids, classes, counts and the names of tools. Content has no place here."""

import re

import msgspec

from callsheet.assemble.items import Item
from callsheet.assemble.needed import Habit, Needed
from callsheet.assemble.worth import age_of, chance, fullest
from callsheet.graph.enums import ArtifactStatus, InstructionScope, Level, Privacy, Role
from callsheet.graph.ids import ROOT_BRANCH, RecordId
from callsheet.graph.nodes import Episode, Fact, Message, Milestone, ToolArtifact, ToolCall, ToolMemory
from callsheet.graph.record import Record
from callsheet.graph.values import DEFAULT_PRIVACY, Count, Value
from callsheet.policy.sets import PolicySetDocument

KEPT = "user_memory"
"""The kind of what is kept of the user in a stream of its own: requests show it, too."""

MEMORY = "memory."
"""Before the reason in the counts of memories of the user that were looked at and do not stand in the request."""

SHOWN = frozenset({"message", "artifact", "tool_memory", "episode", "milestone", "fact"})
"""The kinds of record that requests show. A call stands and falls with its message."""


class Gift(Value):
    """How a record that is not the reader's own came to be open to it, or was taken back."""

    #: ``released``, ``shared`` or ``withdrawn``.
    how: str
    #: The record that says so.
    by: RecordId


class Known(Value):
    """One record, without what it says."""

    record: RecordId
    #: The tag of its body, such as ``message`` or ``artifact``.
    kind: str
    position: Count = 0
    role: Role | None = None
    tool: str | None = None
    #: Of an instruction: whom it governs.
    instruction: InstructionScope | None = None
    #: The skills that an instruction is about.
    skills: tuple[RecordId, ...] = ()
    #: Of a result: how it ended.
    status: ArtifactStatus | None = None
    #: Where it was recorded; None: it belongs to the whole conversation.
    branch: RecordId | None = None
    #: The participant that it belongs to; None: everybody's.
    owner: RecordId | None = None
    #: The run of the sub-agent whose work it is.
    sub_agent: RecordId | None = None
    privacy: Privacy = DEFAULT_PRIVACY
    #: What it was derived from.
    sources: tuple[RecordId, ...] = ()
    #: Of a report: the run of the sub-agent that gave it.
    report_of: RecordId | None = None
    #: Of what was merged here: the branch that it was brought from, and the record there.
    merged_from: RecordId | None = None
    original: RecordId | None = None
    #: Of the answer of a recall: what it gave again.
    recalls: RecordId | None = None

    # ------------------------------------------------------------ as of one request

    #: It stands on no branch that the reader inherits from.
    elsewhere: bool = False
    gift: Gift | None = None
    #: What replaces it, as far as the reader sees it.
    replaced_by: tuple[RecordId, ...] = ()
    #: Calls of it whose arguments may not be shown.
    withheld: Count = 0
    #: Secrets in it are shown as marks.
    marked: bool = False
    #: What was said of how useful it is, from -1 to 1; None: nothing.
    feedback: float | None = None
    #: Who asked for its exact bytes: ``caller`` or ``user``; empty: nobody. And in which request, if an earlier one.
    exact: str = ""
    exact_since: RecordId | None = None


def known(record: Record) -> Known:
    """The facts of a record; one whose body was erased has its header left."""
    header, body = record.header, record.body
    message = body if isinstance(body, Message) else None
    artifact = body if isinstance(body, ToolArtifact) else None
    origin = _origin(artifact.metadata) if artifact is not None else {}
    return Known(
        record=record.id,
        kind=header.kind,
        position=header.position,
        role=message.role if message is not None else None,
        tool=body.tool if isinstance(body, ToolArtifact | ToolCall) else None,
        instruction=message.instruction if message is not None else None,
        skills=message.cites if message is not None and message.instruction in _OF_SKILLS else (),
        status=artifact.status if artifact is not None else None,
        branch=header.scope.branch,
        owner=header.scope.owner,
        sub_agent=header.scope.sub_agent,
        privacy=header.privacy,
        sources=body.sources if isinstance(body, ToolMemory | Fact | Milestone | Episode) else (),
        report_of=origin.get("sub_agent"),
        merged_from=origin.get("branch"),
        original=origin.get("record"),
        recalls=artifact.recalls if artifact is not None else None,
    )


_OF_SKILLS = (InstructionScope.SKILL, InstructionScope.CATALOGUE)

_ID = re.compile(rf"{ROOT_BRANCH}|[a-z_]{{1,20}}_[0-9A-Za-z-]{{1,40}}")


def _origin(metadata: bytes) -> dict[str, RecordId]:
    """Where a result was made that stands for work done elsewhere; what is no id is not told."""
    if not metadata or len(metadata) > _LONGEST_ORIGIN:
        return {}
    try:
        found = msgspec.json.decode(metadata)
    except (msgspec.DecodeError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: RecordId(id) for name, id in found.items() if isinstance(id, str) and _ID.fullmatch(id)}


_LONGEST_ORIGIN = 1_000
"""Bytes of metadata beyond which it is none of ours."""


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


def worth(item: Item, *, needed: Needed, turn: int, habit: Habit, cached: float, policy: PolicySetDocument) -> Worth:
    """What a result is worth in its fullest form in a note, as planning weighs it.

    `turn` is the turn that the request answers, `habit` how the conversation used its results before, `cached` what a
    token that the provider has seen costs, in fresh ones.
    """
    told = item.noted.get(Level.DENSE, item.noted.get(Level.RAW, item.noted.get(Level.GIST, 0) if item.covers else 0))
    size = told or fullest(item)
    likely = chance(item, needed=needed, turn=turn, turns=policy.turns, habit=habit, horizon=policy.horizon)
    each = (1 - cached) + cached * policy.horizon
    age = age_of(item, turn, policy.turns)
    return Worth(needed=likely, age=age, size=size, saves=likely * policy.miss, costs=size * each)
