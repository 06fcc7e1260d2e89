"""The sheet of a request: where it was to stand, what it was pinned to, what was selected, and what came of it.

Read it by `callsheet.graph.nodes`, which has every kind of record.
"""

from callsheet.graph.enums import (
    Level,
    Reason,
    RuntimeMode,
)
from callsheet.graph.ids import RecordId, StreamId
from callsheet.graph.times import Instant
from callsheet.graph.values import (
    Count,
    Cut,
    Digest,
    TokenParts,
    Value,
)


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
    #: Results whose exact bytes were loaded for this request because they were asked for.
    rehydrated: Count = 0
    omitted: tuple[tuple[Reason, int], ...] = ()
    #: Safety and privacy verdicts, as codes with counts.
    decisions: tuple[tuple[str, int], ...] = ()
    #: Whether what is not shown in full could be referred to.
    recall: bool = False
    #: Whether the recall tool was said to take SQL.
    recall_sql: bool = False
    #: How many documents the recall tool was said to search, and the versions of those whose titles it named.
    documents: Count = 0
    titled: tuple[RecordId, ...] = ()
    #: Why everything was chosen anew; empty: what the sheet before had shown stands, and this was appended.
    rewritten: str = ""
    #: Records that could be shown and that no note lists, as of the last rewrite; the first note says so.
    unlisted: Count = 0
    #: Where the model takes its thoughts back only behind what it had them behind: up to this position of the
    #: conversation they are left out, since the request was written anew there.
    bare: Count = 0
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
