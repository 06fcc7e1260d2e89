"""Assembling one request: read the records of a cut, let the pure rooms decide and compose, render, store the sheet."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from callsheet.assemble import blocks, sizes
from callsheet.assemble.compose import INSTRUCTING, Composed, compose
from callsheet.assemble.delta import Whole, common_prefix, delta, whole
from callsheet.assemble.select import Selected, raw_artifacts, select
from callsheet.errors import Damaged, EmptyRequest
from callsheet.graph.canonical import content_digest
from callsheet.graph.cut import Lineage, alone
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, ContextAssembly, Message, Pins, ToolCall
from callsheet.graph.ports import Append, Ids, Ledger, Owner
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Draft, Record, Stream
from callsheet.graph.values import Cut, Payload, Scope, TokenParts
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.visibility import refusal
from callsheet.runtime.calibrating import calibrated_counter
from callsheet.runtime.sheet import Sheet
from callsheet.wire import formats
from callsheet.wire.catalogue import catalogue
from callsheet.wire.tokens import TokenCounter

ASSEMBLER = "1"
"""The version of assembly: raised whenever the same pins over the same cut would give another selection."""

CACHED_SHARE = 0.1
"""What a cached token costs as a share of a fresh one, in billed-equivalent tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where sheets are read from and written to."""

    ledger: Ledger
    ids: Ids
    owner: Owner
    conversation: Stream
    sheets: Stream

    def read(self, payload: Payload) -> bytes:
        """The bytes of a payload, wherever they lie."""
        return payload.inline if payload.inline is not None else self.ledger.fetch(self.owner, payload)


@dataclass(frozen=True, kw_only=True, slots=True)
class Material:
    """Everything that one assembly reads, before anything is decided."""

    candidates: tuple[Record, ...]
    calls: Mapping[RecordId, ToolCall]


def gather(place: Place, lineage: Lineage, boundary: Boundary) -> Material:
    """Read the candidates along a lineage, and the calls that may be seen."""
    key = place.conversation.key
    candidates = place.ledger.nodes(key, NodeQuery(kinds=("message", "artifact"), lineage=lineage))
    calls = {
        record.id: record.body
        for record in place.ledger.nodes(key, NodeQuery(kinds=("call",), lineage=lineage))
        if isinstance(record.body, ToolCall) and refusal(record.header, boundary) is None
    }
    return Material(candidates=tuple(candidates), calls=calls)


def last_sheet(place: Place, lineage: Lineage, participant: RecordId | None) -> Whole | None:
    """The newest sheet of a branch and participant, in full; for a branch without any, of the branch it came from."""
    head = place.ledger.head(place.sheets.key)
    if head is None:
        return None
    for segment in reversed(lineage.segments):
        own = alone(segment.branch, head.position)
        newest = place.ledger.nodes(place.sheets.key, NodeQuery(kinds=("assembly",), lineage=own, newest=True, limit=8))
        for record in reversed(newest):
            if record.header.scope.owner == participant:
                return read_sheet(place, record)
    return None


def read_sheet(place: Place, record: Record) -> Whole:
    """A sheet in full, walking back over the sheets that it extends. Raises `Damaged` where one is missing."""
    chain: list[tuple[RecordId, ContextAssembly]] = []
    current: Record | None = record
    while current is not None and isinstance(current.body, ContextAssembly):
        chain.append((current.id, current.body))
        if current.body.base is None:
            break
        found = place.ledger.get(place.sheets.key, (current.body.base,))
        current = found[0] if found else None
    if not chain or chain[-1][1].base is not None:
        raise Damaged(f"sheet {record.id} extends a sheet that is missing")
    result: Whole | None = None
    for id, body in reversed(chain):
        result = whole(id, body, result)
    assert result is not None
    return result


def assemble(
    place: Place,
    lineage: Lineage,
    boundary: Boundary,
    *,
    policy: PolicySetDocument,
    tools: Sequence[Mapping[str, object]],
    before: Whole | None,
) -> tuple[Sheet, Whole]:
    """Assemble, store and return one sheet; also in full, for the sheet that will extend it."""
    started = time.perf_counter_ns()
    counter, calibration = calibrated_counter(place.ledger, place.conversation.key, lineage, boundary)
    material = gather(place, lineage, boundary)
    queried = time.perf_counter_ns()
    selected = select(material.candidates, material.calls, boundary, policy)
    if not any(_is_turn(record) for record in selected.records):
        raise EmptyRequest
    # Only what was selected is ever read: policy chooses first, storage is read second.
    composed = compose(selected.records, material.calls, place.read)
    body = _render(composed, boundary, tools)
    measured = _measure(composed, selected, material.calls, counter, body.get("tools"))
    sizes.check_budget(measured.parts, boundary.budget, counter, str(policy))
    decided = time.perf_counter_ns()
    rendered = _blocks(body)
    addresses = tuple(place.ledger.address(place.owner, block) for block in rendered)
    change = delta(selected.selections, addresses, before)
    record = ContextAssembly(
        boundary=boundary,
        pins=Pins(
            policy_set=policy.hash,
            assembler=ASSEMBLER,
            counter=counter.name,
            calibration=calibration,
            prices=catalogue().name,
        ),
        cut=Cut(positions=((place.conversation.id, lineage.upto),)),
        base=change.base,
        kept=change.kept,
        kept_blocks=change.kept_blocks,
        selected=change.selected,
        blocks=change.blocks,
        tools=content_digest(msgspec.json.encode(body["tools"])) if tools else None,
        messages_replayed=len(material.candidates),
        messages_assembled=len(rendered) - 1,
        tokens_replayed=measured.parts.total,
        tokens=measured.parts,
        tokens_billed=_billed(composed, measured, selected, before if _same_cache(before, addresses) else None),
        exact=counter.exact,
        artifacts=raw_artifacts(selected),
        omitted=tuple(sorted(selected.omitted.items())),
        timings=_timings(query=queried - started, policy=decided - queried, serialise=time.perf_counter_ns() - decided),
    )
    id = place.ids.record("assembly")
    new = dict(zip(addresses[change.kept_blocks :], rendered[change.kept_blocks :], strict=True))
    scope = Scope(branch=boundary.branch, owner=boundary.participant)
    made = Draft(id=id, at=boundary.now, body=record, nonce=place.ids.nonce(), scope=scope)
    place.ledger.append([Append(stream=place.sheets, drafts=(made,), blocks=new)])
    full = whole(id, record, before if change.base is not None else None)
    return Sheet(id=id, record=record, selections=full.selected, blocks=rendered, _composed=composed), full


def _is_turn(record: Record) -> bool:
    return not isinstance(record.body, Message) or record.body.role not in INSTRUCTING


@dataclass(frozen=True, kw_only=True, slots=True)
class _Measured:
    by_block: Sequence[int]
    parts: TokenParts


def _measure(
    composed: Sequence[Composed],
    selected: Selected,
    calls: Mapping[RecordId, ToolCall],
    counter: TokenCounter,
    tools: object,
) -> _Measured:
    recorded = {record.id: sizes.recorded_tokens(record, calls) for record in selected.records}
    by_block = sizes.count(composed, recorded, counter)
    said = [item.block for item in composed if isinstance(item.block, blocks.Said)]
    framing = counter.framing.around(
        messages=len(composed),
        names=sum(block.name is not None for block in said),
        calls=sum(len(block.calls) for block in said),
        results=len(composed) - len(said),
    )
    # As they are sent: a format may reshape them, and Anthropic's offers those that the history calls.
    offered = tools if isinstance(tools, list) else []
    toolset = counter.count_tools(msgspec.json.encode(tool).decode() for tool in offered)
    return _Measured(by_block=by_block, parts=sizes.by_part(composed, by_block, framing=framing, tools=toolset))


def _render(
    composed: Sequence[Composed], boundary: Boundary, tools: Sequence[Mapping[str, object]]
) -> dict[str, object]:
    return formats.render(
        [item.block for item in composed],
        formats.wire_of(boundary.provider),
        model=boundary.model,
        tools=tools,
        max_tokens=boundary.reserve or None,
    )


def _blocks(body: Mapping[str, object]) -> tuple[bytes, ...]:
    """The envelope of a request without its messages, then each message."""
    messages = body["messages"]
    assert isinstance(messages, list)
    envelope = {key: value for key, value in body.items() if key != "messages"}
    return (msgspec.json.encode(envelope), *map(msgspec.json.encode, messages))


def _same_cache(before: Whole | None, addresses: Sequence[str]) -> bool:
    """Whether the provider can have the previous request in its cache: the same model with the same tools."""
    return before is not None and before.blocks[:1] == addresses[:1]


def _billed(composed: Sequence[Composed], measured: _Measured, selected: Selected, before: Whole | None) -> int:
    """What the request costs when the part that the previous request began with too is read from the cache."""
    if before is None:
        return measured.parts.total
    kept = common_prefix(selected.selections, before.selected)
    shown_before = {selection.record for selection in selected.selections[:kept]}
    prefix = measured.parts.tools
    for item, size in zip(composed, measured.by_block, strict=True):
        if item.source is not None and item.source not in shown_before:
            break
        prefix += size
    return measured.parts.total - round((1 - CACHED_SHARE) * prefix)


def _timings(**nanoseconds: int) -> tuple[tuple[str, int], ...]:
    return tuple((phase, spent // 1000) for phase, spent in nanoseconds.items())
