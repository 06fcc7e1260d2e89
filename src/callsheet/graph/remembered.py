"""The kinds of record that are kept of what was said and done: memories, facts, milestones, episodes, documents.

Read them by `callsheet.graph.nodes`, which has every kind.
"""

from callsheet.graph.enums import (
    ConfidenceSource,
    Freshness,
)
from callsheet.graph.ids import RecordId
from callsheet.graph.times import Instant
from callsheet.graph.values import (
    Attribute,
    Count,
    Digest,
    Locator,
    Payload,
    Value,
)


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
