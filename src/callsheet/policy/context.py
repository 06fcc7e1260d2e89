"""Context classes: what kind of context a record is, and how each kind is treated, as one table.

Every record has one. The class says the manner; the policies and the budget decide on the single record.
"""

from collections.abc import Mapping
from enum import StrEnum

from callsheet.graph.enums import ArtifactStatus, CallStatus
from callsheet.graph.values import Value


class ContextClass(StrEnum):
    """What kind of context a record is."""

    #: What people and models said.
    CONVERSATIONAL = "conversational"
    #: What tools did: calls, runs and their results.
    OPERATIONAL = "operational"
    #: What was learned from it: memories, facts, milestones.
    EPISTEMIC = "epistemic"
    #: What claims rest on: documents, decisions, sheets, and every change of a record.
    PROVENANCE = "provenance"
    #: Scopes and entitlements: what the boundary is made of.
    POLICY = "policy"
    #: What is open, failed or deferred, until it is settled; and checkpoints.
    RECOVERY = "recovery"
    #: Skills and their state: what the next steps go by.
    PLANNING = "planning"


class Treatment(Value):
    """How one class is treated, in a sentence each."""

    holds: str
    trim: str
    retention: str
    summary: str
    rehydration: str
    provision: str


TREATMENTS: Mapping[ContextClass, Treatment] = {
    ContextClass.CONVERSATIONAL: Treatment(
        holds="messages",
        trim="oldest first, behind the last turns",
        retention="kept",
        summary="verbatim while in view; then a line in a note, or an episode",
        rehydration="by its id, whole",
        provision="in its place in the history",
    ),
    ContextClass.OPERATIONAL: Treatment(
        holds="calls, runs, results of tools",
        trim="to a shorter form first, then by reference",
        retention="by age, where the set says so; the record that it happened stays",
        summary="derived forms, from lossless to a line",
        rehydration="exact bytes where they are asked for, within the byte budget",
        provision="behind its call, or in a note",
    ),
    ContextClass.EPISTEMIC: Treatment(
        holds="memories, facts, milestones, episodes",
        trim="replaced ones first; what is stale is marked",
        retention="while what it rests on is kept",
        summary="is one; compacted without losing ids, numbers and decisions",
        rehydration="its sources, by its locators",
        provision="with its confidence and when it was observed",
    ),
    ContextClass.PROVENANCE: Treatment(
        holds="documents and their chunks, decisions, sheets, changes",
        trim="never a source that a claim in view rests on",
        retention="as long as anything refers to it",
        summary="by reference",
        rehydration="when a claim depends on it",
        provision="as a citation, or when asked",
    ),
    ContextClass.POLICY: Treatment(
        holds="the conversation, participants, branches, policy sets, releases, shares",
        trim="does not stand in a request",
        retention="kept",
        summary="none",
        rehydration="none",
        provision="as part of the boundary, before any candidate is read",
    ),
    ContextClass.RECOVERY: Treatment(
        holds="open, failed, pending and deferred calls and results; checkpoints",
        trim="never while it is not settled",
        retention="kept until it is settled",
        summary="at least a line, with its retry contract",
        rehydration="weighed first",
        provision="in its place, and at each continuation",
    ),
    ContextClass.PLANNING: Treatment(
        holds="skills and their state",
        trim="with its run",
        retention="for the run or its continuation",
        summary="none: an instruction that is shortened is another",
        rehydration="whole, when the skill is used",
        provision="to the run that it is for",
    ),
}
"""The table of context classes."""

_CONVERSATIONAL, _OPERATIONAL = ContextClass.CONVERSATIONAL, ContextClass.OPERATIONAL
_EPISTEMIC, _POLICY, _PLANNING = ContextClass.EPISTEMIC, ContextClass.POLICY, ContextClass.PLANNING
_BY_KIND: Mapping[str, ContextClass] = {
    "message": _CONVERSATIONAL,
    "call": _OPERATIONAL,
    "run": _OPERATIONAL,
    "artifact": _OPERATIONAL,
    "tool_memory": _EPISTEMIC,
    "user_memory": _EPISTEMIC,
    "fact": _EPISTEMIC,
    "milestone": _EPISTEMIC,
    "episode": _EPISTEMIC,
    "conversation": _POLICY,
    "participant": _POLICY,
    "branch": _POLICY,
    "policy_set": _POLICY,
    "released": _POLICY,
    "withdrawn": _POLICY,
    "shared": _POLICY,
    "approval": _POLICY,
    "reclassified": _POLICY,
    "tools_offered": _POLICY,
    "checkpoint": ContextClass.RECOVERY,
    "skill": _PLANNING,
    "skill_state": _PLANNING,
}

UNSETTLED = frozenset(
    {
        ArtifactStatus.FAILED,
        ArtifactStatus.TIMED_OUT,
        ArtifactStatus.PENDING,
        ArtifactStatus.DEFERRED,
        ArtifactStatus.UNKNOWN,
        ArtifactStatus.AWAITING_APPROVAL,
    }
)
"""How a result stands that something may still have to follow."""


def context_class(
    kind: str, *, call: CallStatus | None = None, outcome: ArtifactStatus | None = None, resolved: bool = False
) -> ContextClass:
    """The class of a record, by its kind and how it stands. A kind that is not in the table is provenance.

    A call that is open, or a result that failed and is not settled, is recovery until it is; given up on is settled.
    """
    if not resolved and call is not CallStatus.ABANDONED and (call is CallStatus.OPEN or outcome in UNSETTLED):
        return ContextClass.RECOVERY
    return _BY_KIND.get(kind, ContextClass.PROVENANCE)
