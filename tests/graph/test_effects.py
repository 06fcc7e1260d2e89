"""What each kind of record does to states and links, kind by kind."""

import pytest

from callsheet.graph.changes import (
    Approval,
    BranchMerged,
    Calibrated,
    CallAttempt,
    CallResolved,
    Compacted,
    Conflicted,
    Counted,
    Erased,
    Feedback,
    ImportProgress,
    IndexAdvanced,
    LifecycleChanged,
    LocatorsRepaired,
    MarkedStale,
    Pinned,
    Promoted,
    Reclassified,
    Released,
    RetentionApplied,
    RunEnded,
    Shared,
    Superseded,
    ToolsOffered,
    Withdrawn,
)
from callsheet.graph.codec import KINDS, kind_of
from callsheet.graph.effects import UNSETTLED, effects
from callsheet.graph.enums import (
    ArtifactStatus,
    AttemptPhase,
    CallStatus,
    InstructionScope,
    Lifecycle,
    Policy,
    Privacy,
    Reason,
    Relation,
    Role,
    RunStatus,
    StateField,
)
from callsheet.graph.ids import RecordId, StreamId, UserId
from callsheet.graph.nodes import (
    Branch,
    ContinuationCheckpoint,
    Conversation,
    Episode,
    Fact,
    KnowledgeDocument,
    Message,
    Milestone,
    ModelRun,
    PolicyDecision,
    ToolArtifact,
    ToolCall,
    ToolMemory,
    UserMemory,
)
from callsheet.graph.record import Body
from callsheet.graph.times import Instant
from callsheet.graph.values import Payload

NOW = Instant(0)
TEXT = Payload(size=1, inline=b"x")
R, A, B, C = (RecordId(id) for id in ("r", "a", "b", "c"))

States = dict[tuple[str, str], str | None]
Links = set[tuple[str, str, str]]

CASES: list[tuple[Body, States, Links]] = [
    (Conversation(name="n", user=UserId("u")), {("status", ""): "opened"}, set()),
    (Branch(name="main"), {}, set()),
    (Branch(name="b", parent=A), {}, {("inherits", "r", "a")}),
    (Message(role=Role.USER, cites=(A, B)), {}, {("cites", "r", "a"), ("cites", "r", "b")}),
    (Message(role=Role.SYSTEM, instruction=InstructionScope.MODERATOR), {("instruction", "r"): "moderator"}, set()),
    (Message(role=Role.USER, event="e1"), {("event", "e1"): "r"}, set()),
    (
        ModelRun(status=RunStatus.COMPLETED, sheet=A, trigger=B),
        {},
        {("shown", "r", "a"), ("triggered_by", "r", "b")},
    ),
    (ToolCall(message=A, tool="t", arguments=TEXT), {("status", "r"): "open"}, set()),
    (ToolArtifact(call=A), {("status", "a"): "answered"}, {("answers", "r", "a")}),
    (ToolArtifact(call=A, status=ArtifactStatus.PENDING), {}, {("answers", "r", "a")}),
    (ToolArtifact(status=ArtifactStatus.OK), {}, set()),
    (ToolArtifact(recalls=B, event="e2"), {("event", "e2"): "r"}, {("recalls", "r", "b")}),
    (
        ToolMemory(sources=(A,), tools=(), summary=TEXT, observed=NOW, supersedes=(B,), conflicts_with=(C,)),
        {},
        {
            ("derived_from", "r", "a"),
            ("supersedes", "r", "b"),
            ("conflicts_with", "r", "c"),
            ("conflicts_with", "c", "r"),
        },
    ),
    (
        UserMemory(kind="fact", entity="e", value=TEXT, source=A, observed=NOW, supersedes=(B,)),
        {},
        {("derived_from", "r", "a"), ("supersedes", "r", "b")},
    ),
    (
        UserMemory(kind="episode", entity="e", value=TEXT, source=A, sources=(A, B), observed=NOW),
        {},
        {("derived_from", "r", "a"), ("derived_from", "r", "b")},
    ),
    (
        Fact(subject="s", predicate="p", value=TEXT, sources=(A,), observed=NOW, supersedes=(B,)),
        {},
        {("derived_from", "r", "a"), ("supersedes", "r", "b")},
    ),
    (Milestone(kind="k", value=TEXT, sources=(A,), observed=NOW), {}, {("derived_from", "r", "a")}),
    (Episode(summary=TEXT, method="extractive", first=1, last=2, sources=(A,)), {}, {("summarises", "r", "a")}),
    (KnowledgeDocument(document="d", version="1", text=TEXT, supersedes=(A,)), {}, {("supersedes", "r", "a")}),
    (ContinuationCheckpoint(run=A, sheets=(B,)), {}, {("restores", "r", "a"), ("restores", "r", "b")}),
    (
        PolicyDecision(policy=Policy.PRIVACY, verdict="no", reason=Reason.PROVIDER, policy_set="h", governs=(A,)),
        {},
        {("constrains", "r", "a")},
    ),
    (Superseded(current=A, replaced=(B, C)), {}, {("supersedes", "a", "b"), ("supersedes", "a", "c")}),
    (Superseded(current=A, replaced=(B,), at=NOW), {("until", "b"): str(NOW)}, {("supersedes", "a", "b")}),
    (Conflicted(one=A, other=B), {}, {("conflicts_with", "a", "b"), ("conflicts_with", "b", "a")}),
    (Released(records=(A,), to=(B, C)), {("release", "a b"): "r", ("release", "a c"): "r"}, set()),
    (Withdrawn(records=(A,), from_=(B,)), {("release", "a b"): None}, set()),
    (Shared(records=(A, B), participants=(C,)), {}, {("shared_with", "a", "c"), ("shared_with", "b", "c")}),
    (CallResolved(call=A, status=CallStatus.ABANDONED), {("status", "a"): "abandoned"}, set()),
    (RunEnded(run=A, status=RunStatus.FAILED), {("status", "a"): "failed"}, set()),
    (LocatorsRepaired(memory=A, locators=(), attempt=1, found=True), {("locators", "a"): "r"}, set()),
    (
        LocatorsRepaired(memory=A, locators=(), attempt=3, found=False),
        {("locators", "a"): "r", ("stale", "a"): "r"},
        set(),
    ),
    (MarkedStale(records=(A, B)), {("stale", "a"): "r", ("stale", "b"): "r"}, set()),
    (Promoted(artifact=A, memory=B), {("promotion", "a"): "b"}, set()),
    (Promoted(artifact=A), {("promotion", "a"): ""}, set()),
    (Compacted(episode=A, first=3, last=9), {("span", "a"): "3-9"}, set()),
    (Calibrated(counter="c", first_factor=1.0, first_margin=0.1), {("calibration", "c"): "r"}, set()),
    (IndexAdvanced(index="i", stream=StreamId("s"), position=7), {("index", "i s"): "7"}, set()),
    (Counted(upto=7, turns=2), {("counted", ""): "r"}, set()),
    (LifecycleChanged(status=Lifecycle.COMPACTED), {("status", ""): "compacted"}, set()),
    (LifecycleChanged(status=Lifecycle.ARCHIVED), {("status", ""): "archived", ("archived", ""): "r"}, set()),
    (Reclassified(records=(A,), privacy=Privacy.SECRET), {("privacy", "a"): "secret"}, set()),
    (RetentionApplied(records=(A,), action="redact"), {("retention", "a"): "redact"}, set()),
    (Erased(bodies=((StreamId("s"), 1),), records=(A,)), {("erased", "a"): "r"}, set()),
    (Feedback(record=A, score=1.0), {}, set()),
    (Pinned(records=(A,), pinned=True), {("pinned", "a"): ""}, set()),
    (Pinned(records=(A,), pinned=False), {("pinned", "a"): None}, set()),
    (ToolsOffered(names=(), hash="h"), {("tools", ""): "r"}, set()),
    (Approval(call=A, approved=True, arguments="h"), {("approval", "a"): "approved"}, set()),
    (Approval(call=A, approved=False, arguments="h"), {("approval", "a"): "refused"}, set()),
    (CallAttempt(call=A, phase=AttemptPhase.STARTED, lease=B), {("execution", "a"): "r"}, set()),
    (BranchMerged(branch=A, records=(B,)), {}, {("merges", "r", "a"), ("merges", "r", "b")}),
    (ImportProgress(source="h", line=1, messages=1), {("import", "h"): "r"}, set()),
]

WITHOUT = {"participant", "chunk", "skill", "skill_state", "policy_set", "assembly"}
"""Kinds that do nothing beside existing."""


@pytest.mark.parametrize(("body", "states", "links"), CASES, ids=[kind_of(body) for body, _, _ in CASES])
def test_a_record_does_what_its_kind_does(body: Body, states: States, links: Links) -> None:
    done = effects(R, body)
    assert {(state.field.value, state.target): state.value for state in done.states} == states
    assert {(link.relation.value, link.source, link.target) for link in done.links} == links
    assert len(done.states) == len(states)
    assert len(done.links) == len(links)


def test_every_kind_is_in_the_table() -> None:
    assert {kind_of(body) for body, _, _ in CASES} | WITHOUT == KINDS.keys()


@pytest.mark.parametrize("status", ArtifactStatus)
def test_a_call_is_answered_by_what_settles_it(status: ArtifactStatus) -> None:
    done = effects(R, ToolArtifact(call=A, status=status))
    assert [state.value for state in done.states] == ([] if status in UNSETTLED else ["answered"])


def test_a_record_states_each_thing_once_and_its_last_word_counts() -> None:
    assert (
        effects(R, Message(role=Role.USER, cites=(A, A))).links == effects(R, Message(role=Role.USER, cites=(A,))).links
    )
    assert len(effects(R, Conflicted(one=A, other=A)).links) == 1
    repeated = effects(R, MarkedStale(records=(A, B, A)))
    assert sorted(state.target for state in repeated.states) == ["a", "b"]
    settling = ToolArtifact(call=A, event="e")
    assert {state.field for state in effects(R, settling).states} == {StateField.EVENT, StateField.STATUS}
    assert effects(R, settling).links[0].relation is Relation.ANSWERS
