"""What a request holds and why: a sentence for each record, and the figures of the whole."""

from collections.abc import Iterator, Mapping, Sequence

from callsheet.assemble.paging import PagedOut, told
from callsheet.explain.facts import MEMORY, Known, Worth
from callsheet.explain.sentences import protection, stands
from callsheet.explain.words import NO_RULES, REWRITES
from callsheet.graph.enums import Level, Reason, RuntimeMode
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, ContextAssembly, Pins, Selection
from callsheet.graph.values import Count, TokenParts, Value
from callsheet.policy.verdict import Decision


class Standing(Value):
    """One record that stands in a request."""

    record: RecordId
    kind: str
    tool: str | None
    level: Level
    reason: Reason
    #: The rule that limits it, or else the one that protects it; empty: neither, or it is not known.
    rule: str
    turn: Count
    #: 0: it stands in its own place.
    note: Count
    worth: Worth | None
    sentence: str


class Explained(Value):
    """One request, explained. Holds ids, classes, counts and codes."""

    sheet: RecordId
    boundary: Boundary
    pins: Pins
    #: As ``name@version``, or its hash where it is not known any more.
    policy_set: str
    tokens: TokenParts
    tokens_replayed: Count
    tokens_billed: Count
    exact: bool
    messages: Count
    #: Tool results that stand verbatim.
    raw_results: Count
    #: Messages and results that plain replay would show.
    records_replayed: Count
    #: Why it was written anew, as a code; empty: it was appended to.
    rewritten: str
    rewritten_because: str
    levels: tuple[tuple[Level, int], ...]
    omitted: tuple[tuple[Reason, int], ...]
    #: Where it was written anew: what had stood in the request before and left, by why, as codes.
    paged_out: PagedOut
    #: Memories of the user that were looked at and do not stand in it, by reason.
    memories_left_out: tuple[tuple[Reason, int], ...]
    #: Records on branches that this one does not inherit; no budget had a part in it. None: not counted.
    other_branches: Count | None
    #: Of these, the work of sub-agents that they did not release.
    of_sub_agents: Count
    #: Microseconds by phase, as they were measured when it was assembled.
    timings: tuple[tuple[str, int], ...]
    recall: bool
    records: tuple[Standing, ...]


def explain(
    id: RecordId,
    assembly: ContextAssembly,
    selections: Sequence[Selection],
    *,
    policy: str = "",
    known: Mapping[RecordId, Known] | None = None,
    decisions: Mapping[RecordId, Decision] | None = None,
    worths: Mapping[RecordId, Worth] | None = None,
    rules: Mapping[str, str] = NO_RULES,
    other_branches: int | None = None,
    of_sub_agents: int = 0,
) -> Explained:
    """Explain one request.

    `selections` are all of it, in order. What is `known` of a record gives it a sentence; `decisions` and `worths`
    name the rules and the figures behind it, `rules` say why users wrote theirs. Records that are not known are counted
    and have no sentence.
    """
    facts, ruled, weighed = known or {}, decisions or {}, worths or {}
    named = policy or assembly.pins.policy_set
    counts: dict[Level, int] = {}
    for selection in selections:
        counts[selection.level] = counts.get(selection.level, 0) + 1
    return Explained(
        sheet=id,
        boundary=assembly.boundary,
        pins=assembly.pins,
        policy_set=named,
        tokens=assembly.tokens,
        tokens_replayed=assembly.tokens_replayed,
        tokens_billed=assembly.tokens_billed,
        exact=assembly.exact,
        messages=assembly.messages_assembled,
        raw_results=assembly.artifacts,
        records_replayed=assembly.messages_replayed,
        rewritten=assembly.rewritten,
        rewritten_because=REWRITES.get(assembly.rewritten, assembly.rewritten),
        levels=tuple((level, counts[level]) for level in Level if level in counts),
        omitted=tuple((reason, count) for reason, count in assembly.omitted if reason is not Reason.BRANCH),
        paged_out=assembly.paged_out,
        memories_left_out=tuple(
            (Reason(code.removeprefix(MEMORY)), count) for code, count in assembly.decisions if code.startswith(MEMORY)
        ),
        other_branches=other_branches,
        of_sub_agents=of_sub_agents,
        timings=assembly.timings,
        recall=assembly.recall,
        records=tuple(
            _standing(
                selection,
                facts[selection.record],
                ruled.get(selection.record),
                weighed.get(selection.record),
                stood=(assembly.boundary, named, rules),
            )
            for selection in selections
            if selection.record in facts
        ),
    )


def _standing(
    selection: Selection,
    known: Known,
    decision: Decision | None,
    worth: Worth | None,
    *,
    stood: tuple[Boundary, str, Mapping[str, str]],
) -> Standing:
    boundary, policy, rules = stood
    limited = decision.rule if decision is not None and decision.reason is selection.reason else ""
    return Standing(
        record=selection.record,
        kind=known.kind,
        tool=known.tool,
        level=selection.level,
        reason=selection.reason,
        rule=limited or protection(decision) or "",
        turn=selection.turn,
        note=selection.note,
        worth=worth,
        sentence=stands(selection, known, boundary, policy, decision=decision, worth=worth, rules=rules),
    )


def text(explained: Explained) -> str:
    """An explanation for people: the figures, then a line for each record that is known."""
    return "\n".join([*_figures(explained), *(f"- {standing.sentence}." for standing in explained.records)])


def _figures(explained: Explained) -> Iterator[str]:
    boundary, tokens, pins = explained.boundary, explained.tokens, explained.pins
    counted = "texts counted exactly" if explained.exact else "estimated"
    yield f"Sheet {explained.sheet} for {boundary.model} ({boundary.provider}) on branch {boundary.branch}."
    if _in_particular(boundary):
        yield reader(boundary)
    yield (
        f"It takes {tokens.total:,} of {boundary.budget:,} tokens ({counted}): {_parts(tokens)}; "
        f"{explained.tokens_billed:,} billed-equivalent. Plain replay takes {explained.tokens_replayed:,}."
    )
    levels = ", ".join(f"{count:,} {level.value}" for level, count in explained.levels)
    yield (
        f"{explained.messages:,} messages from {explained.records_replayed:,} records of the history, "
        f"{explained.raw_results:,} of them raw tool results; by level: {levels or 'nothing'}."
    )
    because = explained.rewritten_because
    yield f"{because[:1].upper()}{because[1:]}{f' ({explained.rewritten})' if explained.rewritten else ''}."
    yield (
        f"Pinned: policy set {explained.policy_set}, assembler {pins.assembler}, counter {pins.counter}, "
        f"prices {pins.prices or 'none'}{_analysers(pins)}."
    )
    if explained.other_branches:
        children = f", {explained.of_sub_agents:,} of them sub-agents' own work" if explained.of_sub_agents else ""
        yield f"Not inherited, whatever the budget: {explained.other_branches:,} (branch){children}."
    for reason, count in explained.omitted:
        yield f"Left out: {count:,} ({reason.value.replace('_', ' ')})."
    for line in told(explained.paged_out, _NAMED):
        yield f"Stood before and left: {line}."
    for reason, count in explained.memories_left_out:
        yield f"Left out of the memories of the user: {count:,} ({reason.value.replace('_', ' ')})."


_NAMED = 5
"""Records of one kind that a figure names; all are in `Explained`."""


def _in_particular(boundary: Boundary) -> bool:
    """Whether there is more to say of the reader than that it is the one of a plain chat."""
    particular = (boundary.participant, boundary.run, boundary.checkpoint, boundary.task)
    asks = (boundary.scopes, boundary.skills, boundary.exact)
    return boundary.mode is not RuntimeMode.CHAT or any(particular) or any(asks)


def reader(boundary: Boundary) -> str:
    """Who reads a request: as which participant, in which run and mode, from what, for which task."""
    as_ = f"participant {boundary.participant}" if boundary.participant is not None else "nobody in particular"
    told = (
        ("in the run of sub-agent", boundary.run),
        ("set off by", boundary.trigger),
        ("from checkpoint", boundary.checkpoint),
        ("for task", boundary.task),
        ("entitled to", ", ".join(boundary.scopes)),
        ("with skills", ", ".join(boundary.skills)),
        ("asking for the exact bytes of", ", ".join(boundary.exact)),
    )
    rest = "".join(f", {name} {value}" for name, value in told if value)
    return f"Read by {as_}, in mode {boundary.mode.value}{rest}."


def _analysers(pins: Pins) -> str:
    return f", {', '.join(pins.analysers)}" if pins.analysers else ""


def _parts(tokens: TokenParts) -> str:
    named = (
        ("instructions", tokens.instructions),
        ("tools", tokens.tools),
        ("history", tokens.window),
        ("memories", tokens.memories),
        ("protected", tokens.protected),
        ("skills", tokens.skills),
        ("raw results", tokens.raw),
    )
    always = ("instructions", "tools", "history")
    return ", ".join(f"{count:,} {name}" for name, count in named if count or name in always)
