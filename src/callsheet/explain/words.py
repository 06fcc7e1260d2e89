"""The words of explanations: one phrase for each level, reason, protecting rule and cause of a rewrite."""

from collections.abc import Mapping
from types import MappingProxyType

from callsheet.assemble.plans import Rewrite
from callsheet.graph.enums import InstructionScope, Level, Reason

REWRITES: Mapping[str, str] = {
    "": (
        "it was appended to: what the request before had shown stands as it stood, except at calls that have their "
        "result since, and what is new follows"
    ),
    Rewrite.FIRST: "it was written anew: nothing was shown before",
    Rewrite.HARD: "it was written anew: something that stood in view may no longer be shown, or not in that detail",
    Rewrite.CHANGED: (
        "it was written anew: the policy set, the assembler, the use of recall or what may go to the provider "
        "is other than before"
    ),
    Rewrite.UNCACHED: "it was written anew: model, provider or tools are other than before, so nothing was cached",
    Rewrite.EXPIRED: "it was written anew: the provider has forgotten the request before",
    Rewrite.COMPACTED: "it was written anew: a compaction was asked for, so episodes stand for what they tell",
    Rewrite.HIGH_WATER: "it was written anew: appending would have passed the high-water mark",
    Rewrite.PAYS: "it was written anew: keeping what it held had come to cost as much as writing it anew",
}
"""By the code of `callsheet.graph.nodes.ContextAssembly.rewritten`."""

REASONS: Mapping[Reason, str] = {
    Reason.INCLUDED: "nothing limits it",
    Reason.STALE: "it is out of date",
    Reason.OVER_BUDGET: "the last turns alone pass the budget",
    Reason.BRANCH: "it is on a branch that this one does not inherit",
    Reason.PARTICIPANT_PRIVATE: "it is another participant's own",
    Reason.AUDIT_ONLY: "it is bookkeeping, which no model sees",
    Reason.NOT_RELEASED: "the sub-agent's work was not released to this reader",
    Reason.PRIVACY_CLASS: "its class of data may not be shown in full",
    Reason.PROVIDER: "this provider may not get its class of data in full",
    Reason.RULE: "a rule of the policy set keeps it back",
    Reason.SUPERSEDED: "a newer record replaces it",
    Reason.CONFLICT: "another record contradicts it",
    Reason.NOT_PROMOTED: "it was decided not to promote it",
    Reason.RAW_REFUSED: "its exact bytes pass what one request may load",
    Reason.NOT_RELEVANT: "it was not worth its tokens",
    Reason.REMEMBERED: "a memory stands in its place",
    Reason.ERASED: "it was erased",
}

PROTECTED: Mapping[str, str] = {
    "recovery.instruction": "an instruction stands as it was written",
    "recovery.newest_user_turn": "it is the newest turn of the user",
    "recovery.verbatim": "the policy set shows everything verbatim",
    "recovery.unresolved": "it failed or is still open, and nothing later settled it",
    "recovery.retry": "it is to be tried again",
    "recovery.retry_over": "it failed, and its attempts are used up",
    "recovery.recent_turn": "it is among the last turns",
    "recovery.pinned": "it is pinned",
}
"""By the rule that protects a record."""

LEVELS: Mapping[Level, str] = {
    Level.RAW: "verbatim",
    Level.DENSE: "dense form",
    Level.FOCUS: "parts of it",
    Level.GIST: "in a line",
    Level.STALE: "a mark that it is out of date",
    Level.SAFE: "a mark that it is withheld",
    Level.REF: "a reference",
    Level.NONE: "not shown",
}

KINDS: Mapping[str, str] = {"tool_memory": "memory", "user_memory": "user memory", "artifact": "result"}
"""What a kind is called where its tag is not the word for it."""

INSTRUCTIONS: Mapping[InstructionScope, str] = {
    InstructionScope.CONVERSATION: "the instruction for the conversation",
    InstructionScope.PARTICIPANT: "the instruction for its participant",
    InstructionScope.MODERATOR: "the moderator's instruction",
    InstructionScope.SUB_AGENT: "the sub-agent's goal and constraints",
    InstructionScope.CATALOGUE: "the catalogue of skills",
    InstructionScope.SKILL: "the instructions of skill",
}
"""Whom an instruction governs."""

NO_RULES: Mapping[str, str] = MappingProxyType({})
"""Of a policy set in which nobody wrote rules."""
