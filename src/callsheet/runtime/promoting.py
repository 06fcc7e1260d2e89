"""Promotion: a recorded decision that results become a memory, or that one does not, and the checking of memories."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from msgspec.structs import replace as changed

from callsheet.errors import InvalidOption
from callsheet.graph.changes import Promoted, Superseded
from callsheet.graph.enums import Policy, Reason, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import PolicyDecision
from callsheet.graph.values import Digest, Scope
from callsheet.policy.promotion import Promotable
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime import relating
from callsheet.runtime.admitting import policy_of
from callsheet.runtime.checking import Checked, check
from callsheet.runtime.contradicting import Between, contradictions
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.memorising import Made, Promotion, made, result_of
from callsheet.runtime.options import shown
from callsheet.runtime.seeing import Sight, sight
from callsheet.runtime.session import Session, View

__all__ = ["Checked", "Promotion", "check", "demote", "promote", "promotes"]

_CODE = re.compile(r"[a-z0-9][a-z0-9_.:-]{0,63}")

_VERDICTS: Mapping[Promotable, str] = {
    Promotable.MEMORY: "promoted",
    Promotable.METADATA: "promoted_metadata",
    Promotable.AUDIT_ONLY: "promoted_audit_only",
}


def promote(session: Session, view: View, promotion: Promotion) -> RecordId:
    """Record a memory with the decisions that made it, in one transaction. See `Conversation.promote`."""
    promoting = promotes(session, view, promotion)
    ids: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        ids[:] = [promoting(drafting)]

    session.append(view, draft)
    return ids[0]


def promotes(session: Session, view: View, promotion: Promotion) -> Callable[[Drafting], RecordId]:
    """What drafts the records of a promotion, in whichever transaction it is called. Returns the id of the memory."""
    if not promotion.references:
        raise InvalidOption("promote needs at least one reference")
    policy = policy_of(session, promotion.policy_set)

    def draft(drafting: Drafting) -> RecordId:
        # What it bears on is looked up as of the position that it is appended at.
        seen = sight(session, view)
        new = made(seen, policy, promotion)
        new = replace(new, scope=_scope(seen, new, promotion))
        related = _related(seen, policy, new, promotion)
        return _drafted(drafting, new, related, promotion)

    return draft


def _scope(seen: Sight, new: Made, promotion: Promotion) -> Scope:
    """Where the memory may be seen; the word in it about what is not the participant's own holds for that one alone."""
    about = [relating.owned(seen, one).header.scope for one in (*promotion.supersedes, *promotion.conflicts_with)]
    if seen.view.participant is None or new.scope.visibility is not Visibility.BRANCH:
        return new.scope
    return relating.scope_of_word(seen.view, about) if about else new.scope


def _drafted(drafting: Drafting, new: Made, related: "_Related", promotion: Promotion) -> RecordId:
    memory = changed(new.memory, supersedes=related.supersedes, conflicts_with=related.conflicts)
    id = drafting.add(memory, kind="tool_memory", scope=new.scope, privacy=new.privacy)
    decision = PolicyDecision(
        policy=Policy.PROMOTION,
        verdict=_VERDICTS[new.form.as_],
        rule=f"promotion.{memory.extractor}" if new.form.as_ is Promotable.MEMORY else new.form.rule,
        policy_set=promotion.policy_set,
        governs=(id, *memory.sources),
    )
    made_by = drafting.add(decision, kind="decision", scope=new.scope)
    for source in memory.sources:
        drafting.add(Promoted(artifact=source, memory=id, decision=made_by), kind="promoted", scope=new.scope)
    for one in related.decided:
        verdict = "contradicted" if one.wins is None else "superseded"
        pair = (one.other, id) if one.wins is False else (id, one.other)
        why = Reason.CONFLICT if one.wins is None else Reason.SUPERSEDED
        relating.decided(
            drafting,
            new.scope,
            verdict=verdict,
            reason=why,
            governs=pair,
            policy_set=promotion.policy_set,
            by=one.by,
        )
        if one.wins is False:
            replaced = Superseded(current=one.other, replaced=(id,), reason=one.by)
            drafting.add(replaced, kind="superseded", scope=new.scope)
    return id


@dataclass(frozen=True, kw_only=True, slots=True)
class _Related:
    """What a new memory bears on: as it was declared, and as it was decided."""

    supersedes: tuple[RecordId, ...] = ()
    conflicts: tuple[RecordId, ...] = ()
    decided: tuple[Between, ...] = ()


def _related(seen: Sight, policy: PolicySetDocument, new: Made, promotion: Promotion) -> _Related:
    replaced = tuple(dict.fromkeys(relating.owned(seen, one).id for one in promotion.supersedes))
    against = tuple(dict.fromkeys(relating.owned(seen, one).id for one in promotion.conflicts_with))
    for id in (*replaced, *against):
        if id in new.memory.sources:
            raise InvalidOption(f"the memory rests on {id}, so it can neither replace nor contradict it")
    for id in replaced:
        if id in against:
            raise InvalidOption(f"{id} is to be replaced and contradicted at once; only one of the two can be")
    if new.form.as_ is not Promotable.MEMORY:
        return _Related(supersedes=replaced, conflicts=against)
    found = contradictions(seen, new.memory, new.scope, policy, but=frozenset((*replaced, *against)))
    return _Related(
        supersedes=(*replaced, *(one.other for one in found if one.wins is True)),
        conflicts=(*against, *(one.other for one in found if one.wins is None)),
        decided=found,
    )


def demote(session: Session, view: View, reference: str, reason: str, policy_set: Digest) -> RecordId:
    """Record the decision that a result becomes no memory. See `Conversation.demote`."""
    if _CODE.fullmatch(reason) is None:
        raise InvalidOption(f"reason is {shown(reason)}; it must be a code of a-z, 0-9 and _ . : - such as 'too_old'")
    record, _ = result_of(sight(session, view), reference)
    relating.check_owner(view, record)
    scope = relating.scope_of_word(view, [record.header.scope])
    ids: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        decision = PolicyDecision(
            policy=Policy.PROMOTION,
            verdict="demoted",
            reason=Reason.NOT_PROMOTED,
            rule=f"promotion.{reason}",
            policy_set=policy_set,
            governs=(record.id,),
        )
        ids[:] = [drafting.add(decision, kind="decision", scope=scope)]
        drafting.add(Promoted(artifact=record.id, decision=ids[0]), kind="promoted", scope=scope)

    session.append(view, draft)
    return ids[0]
