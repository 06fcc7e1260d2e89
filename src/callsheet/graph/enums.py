"""The closed sets of the graph. Values are stored; a member may be added, never renamed."""

from enum import StrEnum


class StreamKind(StrEnum):
    """What one ordered history belongs to."""

    CONVERSATION = "conversation"
    #: The assemblies of one conversation; never part of a cut.
    SHEETS = "sheets"
    #: User memories.
    USER = "user"
    #: Skills, knowledge, policy sets.
    WORKSPACE = "workspace"


class Role(StrEnum):
    """Who speaks in a message. Results of tools are artifacts, not messages."""

    SYSTEM = "system"
    #: A system message under the name that newer OpenAI models give it; kept apart so that it renders as it came.
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"


INSTRUCTING = frozenset({Role.SYSTEM, Role.DEVELOPER})
"""Roles whose messages are instructions, not turns."""


class InstructionScope(StrEnum):
    """Whom an instruction governs; the newest visible text of each scope applies."""

    CONVERSATION = "conversation"
    PARTICIPANT = "participant"
    MODERATOR = "moderator"
    SUB_AGENT = "sub_agent"
    #: The list of skills that can be activated.
    CATALOGUE = "catalogue"
    #: The instructions of one active skill.
    SKILL = "skill"


class Visibility(StrEnum):
    """Where a record may be seen, before share lists and releases widen it."""

    #: By its owner alone: notes, tool errors, raw results.
    PARTICIPANT = "participant"
    #: On its branch and the branches that inherit from it.
    BRANCH = "branch"
    #: Everywhere in its conversation.
    CONVERSATION = "conversation"
    #: By the auditor role alone, never by a model.
    AUDIT = "audit"


class Isolation(StrEnum):
    """How runtime state of a participant behaves towards others."""

    ISOLATED = "isolated"
    #: Seen by the participants in ``shared_with``.
    SHARE_LIST = "share_list"
    #: Seen by everyone who sees the branch.
    OPEN = "open"


class RuntimeMode(StrEnum):
    """On what occasion something is generated."""

    CHAT = "chat"
    COMPARISON = "comparison"
    DISCUSSION = "discussion"
    SUB_AGENT = "sub_agent"
    CONTINUATION = "continuation"
    SCHEDULED = "scheduled"
    BRANCH_SEND = "branch_send"


class Privacy(StrEnum):
    """What class of data a record holds; decides which provider may get it, and in which form."""

    PUBLIC = "public"
    INTERNAL = "internal"
    PERSONAL = "personal"
    CONNECTED_ACCOUNT = "connected_account"
    GOOGLE_DERIVED = "google_derived"
    DOCUMENT = "document"
    RUNTIME_FILE = "runtime_file"
    SECRET = "secret"


class Freshness(StrEnum):
    """How an observation ages."""

    VOLATILE = "volatile"
    SESSION = "session"
    TIME_BOUNDED = "time_bounded"
    DURABLE = "durable"
    PERMANENT = "permanent"


class ConfidenceSource(StrEnum):
    """How a memory came to its content, from surest to least sure."""

    EXACT_VALUE = "exact_value"
    RULE = "rule"
    MODEL_SUMMARY = "model_summary"


class ArtifactStatus(StrEnum):
    """How a tool execution ended, as far as is known."""

    OK = "ok"
    FAILED = "failed"
    PARTIAL = "partial"
    PENDING = "pending"
    DEFERRED = "deferred"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    #: It may or may not have taken effect, such as after a crash.
    UNKNOWN = "unknown"
    #: It has not been run, and is not before a person says so.
    AWAITING_APPROVAL = "awaiting_approval"


FAILURES = frozenset({ArtifactStatus.FAILED, ArtifactStatus.TIMED_OUT, ArtifactStatus.CANCELLED})
"""How executions end that brought no result, whatever their content tells."""


class AttemptPhase(StrEnum):
    """How far one attempt to execute a call has come."""

    #: A process has taken the call on; nothing has happened outside.
    CLAIMED = "claimed"
    #: It began or was about to; without an end it is not known whether it took effect.
    STARTED = "started"
    ENDED = "ended"
    #: Let go before it began.
    RELEASED = "released"


class CallStatus(StrEnum):
    """Whether a tool call has its answer."""

    OPEN = "open"
    ANSWERED = "answered"
    #: Given up on: a stand-in answers it in requests, the record stays as it is.
    ABANDONED = "abandoned"


class RunStatus(StrEnum):
    """How one generation attempt ended."""

    STARTED = "started"
    COMPLETED = "completed"
    #: Cut off at the token limit.
    TRUNCATED = "truncated"
    REFUSED = "refused"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


class Lifecycle(StrEnum):
    """Where a conversation stands."""

    OPENED = "opened"
    ACTIVE = "active"
    COMPACTED = "compacted"
    ARCHIVED = "archived"


class ForkReason(StrEnum):
    """Why a branch was begun."""

    FORK = "fork"
    EDIT = "edit"
    REGENERATE = "regenerate"
    SEND = "send"
    #: For a sub-agent: it inherits nothing.
    SPAWN = "spawn"


class Level(StrEnum):
    """In how much detail a record stands in a request, from most to least."""

    RAW = "raw"
    DENSE = "dense"
    FOCUS = "focus"
    GIST = "gist"
    STALE = "stale"
    SAFE = "safe"
    REF = "ref"
    NONE = "none"


class Policy(StrEnum):
    """The nine policies, in the order in which they speak."""

    ATTRIBUTION = "attribution"
    VISIBILITY = "visibility"
    PRIVACY = "privacy"
    RECOVERY = "recovery"
    FRESHNESS = "freshness"
    CONFLICT = "conflict"
    PROMOTION = "promotion"
    REHYDRATION = "rehydration"
    RETENTION = "retention"


class Reason(StrEnum):
    """Why a record stands in a request, or does not."""

    INCLUDED = "included"
    STALE = "stale"
    OVER_BUDGET = "over_budget"
    BRANCH = "branch"
    PARTICIPANT_PRIVATE = "participant_private"
    AUDIT_ONLY = "audit_only"
    NOT_RELEASED = "not_released"
    PRIVACY_CLASS = "privacy_class"
    PROVIDER = "provider"
    #: A rule that users wrote into the policy set.
    RULE = "rule"
    SUPERSEDED = "superseded"
    CONFLICT = "conflict"
    NOT_PROMOTED = "not_promoted"
    RAW_REFUSED = "raw_refused"
    NOT_RELEVANT = "not_relevant"
    #: A memory stands in its place.
    REMEMBERED = "remembered"
    ERASED = "erased"


class Defect(StrEnum):
    """What was odd about an input that was recorded all the same, exactly as it came."""

    ORPHAN_RESULT = "orphan_result"
    MISSING_ID = "missing_id"
    REPEATED_ID = "repeated_id"
    #: A second result for a call that had its answer.
    REPEATED_RESULT = "repeated_result"
    #: The result came after another message, not directly behind its call.
    LATE_RESULT = "late_result"
    EMPTY_CONTENT = "empty_content"
    NUL = "nul"
    LONE_SURROGATES = "lone_surrogates"
    INVALID_UTF8 = "invalid_utf8"
    #: Arguments that are not a JSON object.
    INVALID_ARGUMENTS = "invalid_arguments"
    #: The model's output ended inside the call.
    CUT_OFF_ARGUMENTS = "cut_off_arguments"
    MISSING_NAME = "missing_name"


class Relation(StrEnum):
    """How one record bears on another. Read as: source RELATION target."""

    #: artifact → call
    ANSWERS = "answers"
    #: run → message that set it off
    TRIGGERED_BY = "triggered_by"
    #: run → sheet that it was shown
    SHOWN = "shown"
    #: memory, fact, episode, milestone → its evidence
    DERIVED_FROM = "derived_from"
    #: artifact of a recall → the original artifact
    RECALLS = "recalls"
    #: the newer → the older
    SUPERSEDES = "supersedes"
    #: mutual; stored once in each direction
    CONFLICTS_WITH = "conflicts_with"
    #: record → participant, run or branch that may see it
    SHARED_WITH = "shared_with"
    #: episode → each record of its span
    SUMMARISES = "summarises"
    #: message → document or file that it names
    CITES = "cites"
    #: branch → branch
    INHERITS = "inherits"
    #: branch → branch whose released results were merged
    MERGES = "merges"
    #: decision → what it governs
    CONSTRAINS = "constrains"
    #: checkpoint → run or sheet that it restores
    RESTORES = "restores"


class StateField(StrEnum):
    """What about a record can change, always by another record. One value at a time."""

    #: A `CallStatus`, `RunStatus`, `Lifecycle` or memory status, by kind of record.
    STATUS = "status"
    #: An `InstructionScope`, with its owner where it has one.
    INSTRUCTION = "instruction"
    PINNED = "pinned"
    STALE = "stale"
    PRIVACY = "privacy"
    PROMOTION = "promotion"
    RETENTION = "retention"
    #: The record that holds the current locators.
    LOCATORS = "locators"
    CALIBRATION = "calibration"
    #: The names and hash of the tools now offered.
    TOOLS = "tools"
    INDEX = "index"
    APPROVAL = "approval"
    #: Of a call: the record that says how far its execution has come.
    EXECUTION = "execution"
    #: Of a record and the one it is released to: the release, or nothing once withdrawn.
    RELEASE = "release"
    #: Positions that an episode stands for.
    SPAN = "span"
    #: Of an event id given by a sender: the record that came of it.
    EVENT = "event"
    #: How far a file has been imported.
    IMPORT = "import"
    #: The record that says that the body is gone.
    ERASED = "erased"
    #: Of a branch: the record of what it has come to.
    COUNTED = "counted"
    #: Of a conversation: the record that put it away last, also after it was taken up again.
    ARCHIVED = "archived"
    #: From when on a memory holds no more, in microseconds.
    UNTIL = "until"
