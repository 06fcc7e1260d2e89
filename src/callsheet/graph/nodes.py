"""The kinds of record that are things: what was said, done, kept and decided.

Each is the *body* of a record. Who owns it, where it may be seen, when and where it stands is in the header
(`callsheet.graph.record`). Nothing here mints an id or reads a clock.
"""

from typing import TypeAlias

from callsheet.graph.enums import (
    ArtifactStatus,
    Defect,
    ForkReason,
    InstructionScope,
    Policy,
    Reason,
    Role,
    RunStatus,
)
from callsheet.graph.ids import RecordId, UserId
from callsheet.graph.remembered import (
    Episode,
    Fact,
    KnowledgeChunk,
    KnowledgeDocument,
    Milestone,
    ToolMemory,
    UserMemory,
)
from callsheet.graph.sheets import Boundary, ContextAssembly, Pins, Selection
from callsheet.graph.times import Instant
from callsheet.graph.values import (
    Attribute,
    Content,
    Count,
    Digest,
    Part,
    Payload,
    RetryContract,
    Usage,
    Value,
)

__all__ = [
    "Boundary",
    "Branch",
    "ContextAssembly",
    "ContinuationCheckpoint",
    "Conversation",
    "Episode",
    "Fact",
    "KnowledgeChunk",
    "KnowledgeDocument",
    "Message",
    "Milestone",
    "ModelRun",
    "Node",
    "Participant",
    "Pins",
    "PolicyDecision",
    "PolicySet",
    "Selection",
    "Skill",
    "SkillState",
    "ToolArtifact",
    "ToolCall",
    "ToolMemory",
    "UserMemory",
]

# --------------------------------------------------------------------------- who and where


class Conversation(Value, tag="conversation"):
    """A container owned by a user; also the session with its life cycle."""

    name: str
    user: UserId
    attributes: tuple[Attribute, ...] = ()


class Branch(Value, tag="branch"):
    """An ordered path through a conversation; inherits its parent up to the fork, without copying."""

    name: str
    #: None for the root branch alone.
    parent: RecordId | None = None
    #: Last position of the parent's lineage that is inherited.
    fork: Count = 0
    #: The last inherited message or artifact; None: it forks before the first.
    fork_record: RecordId | None = None
    reason: ForkReason = ForkReason.FORK


class Participant(Value, tag="participant"):
    """A model or persona configuration."""

    name: str
    provider: str | None = None
    model: str | None = None
    persona: Payload | None = None
    tool_profile: str | None = None


# --------------------------------------------------------------------------- what was said and done


class Message(Value, tag="message"):
    """Something said. What a tool answered is a `ToolArtifact` in the same order of positions."""

    role: Role
    parts: tuple[Part, ...] = ()
    #: How the content stood in its provider's shape: ``string``, ``parts``, ``null`` or ``absent``; ``parts@1,2`` for
    #: parts among which results stood at these places.
    form: str = "string"
    #: The provider format it came in, such as ``openai`` or ``anthropic``.
    wire: str = ""
    #: The speaker's name where the sender gave one.
    name: str | None = None
    #: For system and developer messages: whom it governs.
    instruction: InstructionScope | None = None
    #: Documents and files that it names or generated.
    cites: tuple[RecordId, ...] = ()
    files: tuple[RecordId, ...] = ()
    #: Given by the sender so that sending twice records once.
    event: str | None = None
    #: Unknown keys of the sender's message, as a JSON object.
    extras: bytes = b""
    defects: tuple[Defect, ...] = ()


class ModelRun(Value, tag="run"):
    """One generation attempt: the route that was requested, the model that answered, and how it ended."""

    status: RunStatus
    requested_provider: str | None = None
    requested_model: str | None = None
    answered_model: str | None = None
    #: The assembly it was shown; None: the request was not made by Callsheet.
    sheet: RecordId | None = None
    trigger: RecordId | None = None
    attempt: Count = 1
    usage: Usage | None = None
    finish: str | None = None
    #: The provider's own id of the response.
    response: str | None = None
    error: str | None = None
    started: Instant | None = None
    finished: Instant | None = None
    #: Provider and runtime metadata, as a JSON object.
    metadata: bytes = b""


class ToolCall(Value, tag="call"):
    """What a model asked a tool to do."""

    message: RecordId
    #: Place among the calls of its message, from 0.
    index: Count = 0
    tool: str
    #: As received, parsed or not; the digest is over exactly these bytes.
    arguments: Payload
    o200k: Count = 0
    #: The provider's id: an attribute, not a key.
    provider_id: str | None = None
    #: ``function``, ``custom``, or a provider's own kind.
    kind: str = "function"
    wire: str = ""
    extras: bytes = b""
    defects: tuple[Defect, ...] = ()


class ToolArtifact(Value, tag="artifact"):
    """The raw evidence of one tool execution, captured before anything is cut."""

    #: None for a result whose call was never seen.
    call: RecordId | None = None
    provider_id: str | None = None
    tool: str | None = None
    tool_version: str | None = None
    #: Hash and bytes of the arguments; the bytes themselves are in the call.
    arguments_digest: Digest | None = None
    arguments_size: Count = 0
    content: tuple[Content, ...] = ()
    #: How the content stood in its provider's shape: ``string``, ``parts``, ``null`` or ``absent``.
    form: str = "string"
    #: Hash and bytes of the whole result, parts in order.
    digest: Digest | None = None
    size: Count = 0
    status: ArtifactStatus = ArtifactStatus.OK
    started: Instant | None = None
    finished: Instant | None = None
    #: The assistant message that asked.
    message: RecordId | None = None
    skills: tuple[str, ...] = ()
    tool_profiles: tuple[str, ...] = ()
    retry: RetryContract | None = None
    #: For the answer of a recall: the original; the bytes are not captured again.
    recalls: RecordId | None = None
    #: Records whose words it gives again: what was merged, reported or handed on. They are erased together.
    copies: tuple[RecordId, ...] = ()
    wire: str = ""
    event: str | None = None
    #: Unknown keys of the sender's message, as a JSON object.
    extras: bytes = b""
    #: Provider and runtime metadata, as a JSON object.
    metadata: bytes = b""
    defects: tuple[Defect, ...] = ()


# --------------------------------------------------------------------------- skills, checkpoints, policies


class Skill(Value, tag="skill"):
    """Instructions and tools that load only when activated."""

    name: str
    version: str
    summary: str
    instructions: Payload
    #: Tool schemas, as a JSON array.
    tools: Payload | None = None


class SkillState(Value, tag="skill_state"):
    """What is loaded for a run: skills, profiles, direct tools, integrations."""

    skills: tuple[RecordId, ...] = ()
    profiles: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    integrations: tuple[str, ...] = ()


class ContinuationCheckpoint(Value, tag="checkpoint"):
    """Runtime state to resume from; restores state, not messages."""

    run: RecordId | None = None
    open_calls: tuple[RecordId, ...] = ()
    retries: tuple[tuple[RecordId, RetryContract], ...] = ()
    skill_state: RecordId | None = None
    #: The batch of sub-agents that is being waited for.
    batch: RecordId | None = None
    children: tuple[RecordId, ...] = ()
    sheets: tuple[RecordId, ...] = ()
    references: tuple[RecordId, ...] = ()
    reason: str = ""


class PolicySet(Value, tag="policy_set"):
    """One immutable version of a policy set, under the hash of its content and of its rules' versions."""

    name: str
    version: str
    hash: Digest
    document: Payload


class PolicyDecision(Value, tag="decision"):
    """One verdict, linked to the run or action that it governs. Holds ids, classes, counts and codes, never content."""

    policy: Policy | None = None
    #: For the kinds beside the nine policies: ``level``, ``routing``, ``release``.
    kind: str = ""
    verdict: str
    reason: Reason | None = None
    rule: str = ""
    policy_set: Digest
    governs: tuple[RecordId, ...] = ()
    run: RecordId | None = None


Node: TypeAlias = (
    Conversation
    | Branch
    | Participant
    | Message
    | ModelRun
    | ToolCall
    | ToolArtifact
    | ToolMemory
    | UserMemory
    | Fact
    | Milestone
    | Episode
    | KnowledgeDocument
    | KnowledgeChunk
    | Skill
    | SkillState
    | ContinuationCheckpoint
    | PolicySet
    | PolicyDecision
    | ContextAssembly
)
