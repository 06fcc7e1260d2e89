"""The kinds of record that are things: what was said, done, kept and decided.

Each is the *body* of a record. Who owns it, where it may be seen, when and where it stands is in the header
(`callsheet.graph.record`). Nothing here mints an id or reads a clock.
"""

from typing import TypeAlias

from callsheet.graph.enums import (
    ArtifactStatus,
    ConfidenceSource,
    Defect,
    ForkReason,
    Freshness,
    InstructionScope,
    Level,
    Policy,
    Reason,
    Role,
    RunStatus,
    RuntimeMode,
)
from callsheet.graph.ids import RecordId, StreamId, UserId
from callsheet.graph.times import Instant
from callsheet.graph.values import (
    Attribute,
    Content,
    Count,
    Cut,
    Digest,
    Locator,
    Part,
    Payload,
    RetryContract,
    TokenParts,
    Usage,
    Value,
)

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


# --------------------------------------------------------------------------- what is remembered


class ToolMemory(Value, tag="tool_memory"):
    """A compact, model-facing memory derived from one or more artifacts. Never becomes a user memory by itself."""

    sources: tuple[RecordId, ...]
    tools: tuple[str, ...]
    summary: Payload
    #: Structured content, as JSON.
    payload: Payload | None = None
    confidence: float = 1.0
    confidence_source: ConfidenceSource = ConfidenceSource.EXACT_VALUE
    confidence_reason: str = ""
    #: Stated values that were not found in the sources, where its confidence was lowered for them.
    unlocated: Count = 0
    extractor: str = ""
    extractor_version: str = ""
    ambiguities: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    freshness: Freshness = Freshness.DURABLE
    observed: Instant
    stale_after: Instant | None = None
    recheck_tools: tuple[str, ...] = ()
    locators: tuple[Locator, ...] = ()
    last_resolution: str | None = None
    repair_attempts: Count = 0
    conflicts_with: tuple[RecordId, ...] = ()
    supersedes: tuple[RecordId, ...] = ()
    promotion_policy: str = ""
    #: True where it rests on untrusted tool output.
    tainted: bool = False
    attributes: tuple[Attribute, ...] = ()


class UserMemory(Value, tag="user_memory"):
    """A personal fact, preference or episodic summary, across conversations."""

    #: ``preference``, ``fact`` or ``episode``.
    kind: str
    #: Whom or what it is about; with `attribute`, what it says of that: of the same two only one holds at a time.
    entity: str
    value: Payload
    #: The message, or for a proposal the result or call, that it was taken from.
    source: RecordId | None = None
    confidence: float = 1.0
    confidence_source: ConfidenceSource = ConfidenceSource.EXACT_VALUE
    observed: Instant
    freshness: Freshness = Freshness.DURABLE
    stale_after: Instant | None = None
    #: Known from the beginning; that something newer ended it is said by a `Superseded`.
    valid_until: Instant | None = None
    supersedes: tuple[RecordId, ...] = ()
    #: True where it rests on what a tool or a model said.
    tainted: bool = False
    attributes: tuple[Attribute, ...] = ()
    attribute: str | None = None
    #: Other memories, or records, that it was made from; for one that was proposed, the proposal.
    sources: tuple[RecordId, ...] = ()
    #: The name of the only participant that may see it; None: every one.
    participant: str | None = None
    #: A model or tool would have it kept; no request shows it unless somebody accepts it.
    proposed: bool = False


class Fact(Value, tag="fact"):
    """One statement of the semantic level, with its evidence."""

    subject: str
    predicate: str
    value: Payload
    sources: tuple[RecordId, ...]
    locators: tuple[Locator, ...] = ()
    confidence: float = 1.0
    confidence_source: ConfidenceSource = ConfidenceSource.EXACT_VALUE
    observed: Instant
    freshness: Freshness = Freshness.DURABLE
    stale_after: Instant | None = None
    supersedes: tuple[RecordId, ...] = ()
    tainted: bool = False


class Milestone(Value, tag="milestone"):
    """Facts, ids, numbers and decisions of a span as structured data; never degraded by compaction."""

    kind: str
    value: Payload
    sources: tuple[RecordId, ...]
    locators: tuple[Locator, ...] = ()
    observed: Instant
    freshness: Freshness = Freshness.DURABLE
    tainted: bool = False


class Episode(Value, tag="episode"):
    """A note that stands for an older span; the span itself stays readable."""

    summary: Payload
    #: ``extractive``, ``pruned`` (an extract without some of its words) or ``abstractive``.
    method: str
    first: Count
    last: Count
    sources: tuple[RecordId, ...]
    milestones: tuple[RecordId, ...] = ()
    freshness: Freshness = Freshness.DURABLE
    tainted: bool = False
    o200k: Count = 0
    #: The first and the last turn of it, as its reader counts them.
    turns: tuple[Count, Count] = (0, 0)
    #: When the last of it was recorded; None: unknown.
    observed: Instant | None = None
    #: What wrote an abstractive one, or left words out of an extract, such as a model; empty for an extract.
    by: str = ""


class KnowledgeDocument(Value, tag="document"):
    """A versioned document of the knowledge base."""

    document: str
    version: str
    title: str = ""
    text: Payload
    locale: str | None = None
    attributes: tuple[Attribute, ...] = ()
    supersedes: tuple[RecordId, ...] = ()
    #: How many chunks it was cut into; they are the records behind it.
    chunks: Count = 0
    #: What cut it, with its version.
    chunker: str = ""


class KnowledgeChunk(Value, tag="chunk"):
    """A piece of a document that can be found on its own."""

    document: RecordId
    index: Count
    #: The headings that it stands under, the outermost first.
    heading: str = ""
    #: In the text of the document.
    byte_range: tuple[int, int]
    digest: Digest


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


# --------------------------------------------------------------------------- the sheet


class Boundary(Value):
    """Who is about to generate, and on what terms."""

    conversation: StreamId
    branch: RecordId
    trigger: RecordId | None = None
    participant: RecordId | None = None
    run: RecordId | None = None
    mode: RuntimeMode = RuntimeMode.CHAT
    checkpoint: RecordId | None = None
    task: str | None = None
    provider: str
    model: str
    scopes: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    #: Names of the tools on offer, in the order of the request.
    tools: tuple[str, ...] = ()
    #: Tokens that the request may take.
    budget: Count
    #: Tokens kept free for the reply; already taken off the budget.
    reserve: Count = 0
    now: Instant
    #: Results whose exact bytes the caller asked for.
    exact: tuple[RecordId, ...] = ()
    #: Whether the model takes pictures; else words stand in their place.
    vision: bool = True


class Pins(Value):
    """Everything beside the records that an assembly depends on."""

    policy_set: Digest
    assembler: str
    counter: str
    #: The calibration record that the counter used.
    calibration: RecordId | None = None
    prices: str = ""
    embedding: str = ""
    analysers: tuple[str, ...] = ()
    index_positions: tuple[tuple[StreamId, int], ...] = ()


class Selection(Value, array_like=True):
    """One record's place in a request. Selections stand in the order of the request."""

    record: RecordId
    level: Level
    reason: Reason = Reason.INCLUDED
    #: The turn it belongs to, counted from 1 along the branch as its reader sees it.
    turn: Count = 0
    #: The note that it stands in, counted from 1; 0: in its own place.
    note: Count = 0
    #: Of `Level.FOCUS`: the segments that are shown.
    segments: tuple[int, ...] = ()
    #: An earlier result that stands in its place: of this one, what differs from it is shown.
    against: RecordId | None = None
    #: The stream that the record is of; None: the conversation's own.
    stream: StreamId | None = None


class ContextAssembly(Value, tag="assembly"):
    """What went into one request and why; the bytes that were sent are its blocks in order."""

    boundary: Boundary
    pins: Pins
    #: What it saw.
    cut: Cut
    #: The sheet that this one extends: its first ``kept`` selections and ``kept_blocks`` blocks stand before these.
    base: RecordId | None = None
    kept: Count = 0
    kept_blocks: Count = 0
    selected: tuple[Selection, ...] = ()
    #: Hash of the tool schemas on offer, as a JSON array; None: no tools.
    tools: Digest | None = None
    #: Addresses of rendered blocks, in the order of the request.
    blocks: tuple[str, ...] = ()
    messages_replayed: Count = 0
    messages_assembled: Count = 0
    tokens_replayed: Count = 0
    #: Tokens of all that plain replay would show, in o200k_base, without framing.
    history_o200k: Count = 0
    tokens: TokenParts
    #: Billed-equivalent tokens under the price model that is pinned.
    tokens_billed: Count = 0
    exact: bool = True
    artifacts: Count = 0
    memories: Count = 0
    rehydrated: Count = 0
    omitted: tuple[tuple[Reason, int], ...] = ()
    #: Safety and privacy verdicts, as codes with counts.
    decisions: tuple[tuple[str, int], ...] = ()
    #: Whether what is not shown in full could be referred to.
    recall: bool = False
    #: Whether the recall tool was said to take SQL.
    recall_sql: bool = False
    #: Why everything was chosen anew; empty: what the sheet before had shown stands, and this was appended.
    rewritten: str = ""
    #: Records that could be shown and that no note lists, as of the last rewrite; the first note says so.
    unlisted: Count = 0
    #: The turn in which the present task began: a user's turn that went on with nothing in view.
    episode: Count = 0
    #: Positions where tasks began, the newest 64, ascending.
    tasks: tuple[Count, ...] = ()
    #: Turns so far, and finished results among their records.
    turns: Count = 0
    results: Count = 0
    #: Results that were used again after they had been out of the newest turns.
    reused: Count = 0
    #: Uses of results by how long they had not been used: see `callsheet.assemble.needed.AGES`.
    uses: tuple[Count, ...] = ()
    #: Billed-equivalent tokens that were spent since the last rewrite on what a rewrite would have left out.
    carried: Count = 0
    #: Of a request that was written anew: what had stood in view and left, by why, as codes: see
    #: `callsheet.assemble.paging.PageOut`.
    paged_out: tuple[tuple[str, tuple[RecordId, ...]], ...] = ()
    #: The turn in which a record in view was last used, where that is later than its own; what changed since `base`.
    used: tuple[tuple[RecordId, int], ...] = ()
    #: Microseconds by phase: graph query, policy, serialisation. Not part of what must be reproducible.
    timings: tuple[tuple[str, int], ...] = ()


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
