"""The kinds of record that change the standing of other records. History itself is never edited."""

from typing import TypeAlias

from callsheet.graph.enums import ArtifactStatus, AttemptPhase, CallStatus, Lifecycle, Privacy, RunStatus
from callsheet.graph.ids import RecordId, StreamId
from callsheet.graph.times import Instant
from callsheet.graph.values import Count, Digest, Locator, Usage, Value


class Superseded(Value, tag="superseded"):
    """``current`` replaces ``replaced``; counts only where this record itself is visible."""

    current: RecordId
    replaced: tuple[RecordId, ...]
    reason: str = ""
    #: From when on the replaced ones hold no more, where that is another time than that of this record.
    at: Instant | None = None


class Conflicted(Value, tag="conflicted"):
    """Two records contradict each other; neither is preferred."""

    one: RecordId
    other: RecordId
    reason: str = ""


class Released(Value, tag="released"):
    """A private record may be seen by others from here on."""

    records: tuple[RecordId, ...]
    to: tuple[RecordId, ...]
    reason: str = ""


class Withdrawn(Value, tag="withdrawn"):
    """A release is taken back."""

    records: tuple[RecordId, ...]
    from_: tuple[RecordId, ...]
    reason: str = ""


class Shared(Value, tag="shared"):
    """A record is put on the share list of participants."""

    records: tuple[RecordId, ...]
    participants: tuple[RecordId, ...]


class CallResolved(Value, tag="call_resolved"):
    """A call's status changed without a new result: given up on, reconciled, reopened."""

    call: RecordId
    status: CallStatus
    reason: str = ""


class RunEnded(Value, tag="run_ended"):
    """A run that was recorded as started has ended."""

    run: RecordId
    status: RunStatus
    answered_model: str | None = None
    usage: Usage | None = None
    finish: str | None = None
    error: str | None = None
    finished: Instant | None = None


class LocatorsRepaired(Value, tag="locators_repaired"):
    """Locators were found again in the same source, or given up on (then the memory is stale)."""

    memory: RecordId
    locators: tuple[Locator, ...]
    attempt: Count
    found: bool


class MarkedStale(Value, tag="marked_stale"):
    """Records no longer speak for the present."""

    records: tuple[RecordId, ...]
    cause: RecordId | None = None
    reason: str = ""


class Promoted(Value, tag="promoted"):
    """Whether an artifact became a memory, or a proposal of a user memory was accepted, and which it became."""

    artifact: RecordId
    #: None: it was not promoted; it stays recallable.
    memory: RecordId | None = None
    decision: RecordId | None = None
    #: Who said so, where a person did.
    by: str = ""


class Compacted(Value, tag="compacted"):
    """A span is represented by an episode from here on; nothing in it is lost."""

    episode: RecordId
    first: Count
    last: Count
    #: The last turn of the span, as its reader counts them.
    turn: Count = 0
    #: Tokens in o200k_base, messages and results, and of these results: of all dealt with for its reader so far.
    tokens: Count = 0
    records: Count = 0
    results: Count = 0
    #: Records of this span and earlier ones that no episode stands for yet: calls that wait, and what stands with them.
    left: tuple[RecordId, ...] = ()
    #: Somebody asked for it: the next request is written anew, where else it is when that pays.
    asked: bool = False


class Calibrated(Value, tag="calibrated"):
    """What the usage reported in this conversation says about a token estimate, as of one run."""

    #: The name of the counter as it was before anything was learned.
    counter: str
    first_factor: float
    first_margin: float
    #: Tokens reported per token of the encoding, the newest last.
    recent: tuple[float, ...] = ()
    #: All usable reports so far.
    observations: Count = 0
    run: RecordId | None = None


class IndexAdvanced(Value, tag="index_advanced"):
    """How far a background index has come in a stream."""

    index: str
    stream: StreamId
    position: Count


class LifecycleChanged(Value, tag="lifecycle_changed"):
    """The conversation moved to another stage of its life."""

    status: Lifecycle
    reason: str = ""


class Counted(Value, tag="counted"):
    """What a branch had come to up to a position, its inherited part included, so that nothing is counted again."""

    upto: Count
    turns: Count = 0
    messages: Count = 0
    calls: Count = 0
    artifacts: Count = 0
    runs: Count = 0
    tokens_in: Count = 0
    tokens_out: Count = 0
    cached_in: Count = 0
    #: When the newest turn began.
    last_turn: Instant | None = None


class Reclassified(Value, tag="reclassified"):
    """Records belong to another privacy class from here on."""

    records: tuple[RecordId, ...]
    privacy: Privacy
    reason: str = ""


class RetentionApplied(Value, tag="retention_applied"):
    """Retention changed what is kept: ``truncate``, ``archive``, ``redact``, ``hash_only``, ``offload``, ``delete``."""

    records: tuple[RecordId, ...]
    action: str
    reason: str = ""


class Erased(Value, tag="erased"):
    """The bodies of records are gone on purpose. Their headers stay, so the chain still holds."""

    #: Stream and position of each erased body.
    bodies: tuple[tuple[StreamId, int], ...]
    records: tuple[RecordId, ...]
    by: str = ""
    reason: str = ""
    #: Addresses of the rendered blocks that held their text and are gone with them.
    blocks: tuple[str, ...] = ()
    #: Of the results among them, those that had settled a call, each with that call: it stays answered.
    answered: tuple[tuple[RecordId, RecordId], ...] = ()


class Feedback(Value, tag="feedback"):
    """A judgement on a record, by a person or a program, from -1 to 1."""

    record: RecordId
    score: float
    by: str = ""


class Pinned(Value, tag="pinned"):
    """Records are kept in view, or let go again."""

    records: tuple[RecordId, ...]
    pinned: bool


class ToolsOffered(Value, tag="tools_offered"):
    """The set of tools on offer changed."""

    names: tuple[str, ...]
    #: Over the schemas as a JSON array.
    hash: Digest
    tokens: Count = 0


class Approval(Value, tag="approval"):
    """A person decided on a call, bound to its exact arguments."""

    call: RecordId
    approved: bool
    arguments: Digest
    by: str = ""


class CallAttempt(Value, tag="call_attempt"):
    """How far an attempt to execute a call has come. Its start is recorded before anything happens outside."""

    call: RecordId
    phase: AttemptPhase
    #: From 1; 0: none has begun.
    attempt: Count = 0
    #: The execution that took the call on; the only one that may run it while its holder lives.
    lease: RecordId
    #: Names the process that holds the lease.
    holder: str = ""
    #: After this time the holder counts as gone.
    until: Instant | None = None
    #: Of the arguments that it runs with.
    arguments: Digest | None = None
    side_effects: bool = True
    #: Whether running it again does no harm.
    repeatable: bool = False
    idempotency_key: str | None = None
    started: Instant | None = None
    finished: Instant | None = None
    #: How it ended.
    outcome: ArtifactStatus | None = None
    #: The class of the error, never its text.
    error: str = ""


class BranchMerged(Value, tag="branch_merged"):
    """Released results of a branch are seen on the branch that this record stands on."""

    branch: RecordId
    records: tuple[RecordId, ...]


class ImportProgress(Value, tag="import_progress"):
    """How far a file has been read into this conversation, so that an interrupted import resumes."""

    source: Digest
    line: Count
    messages: Count
    done: bool = False
    #: The hash of all messages so far, where the file may grow: what was read must still stand in it.
    read: Digest | None = None


Change: TypeAlias = (
    Superseded
    | Conflicted
    | Released
    | Withdrawn
    | Shared
    | CallResolved
    | RunEnded
    | LocatorsRepaired
    | MarkedStale
    | Promoted
    | Compacted
    | Calibrated
    | IndexAdvanced
    | LifecycleChanged
    | Counted
    | Reclassified
    | RetentionApplied
    | Erased
    | Feedback
    | Pinned
    | ToolsOffered
    | Approval
    | CallAttempt
    | BranchMerged
    | ImportProgress
)
