"""Promotion: a recorded decision that results become a memory, or that one does not, and the checking of memories."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from callsheet.derive import classify
from callsheet.derive.derived import unpack
from callsheet.errors import BodyErased, InvalidOption, NotFound
from callsheet.graph.changes import Promoted
from callsheet.graph.enums import ConfidenceSource, Freshness, Isolation, Policy, Privacy, Reason, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import PolicyDecision, ToolArtifact, ToolMemory
from callsheet.graph.record import Record
from callsheet.graph.times import Instant
from callsheet.graph.values import Attribute, Digest, Scope
from callsheet.policy.freshness import SECOND
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime.admitting import Admitting, policy_of
from callsheet.runtime.checking import Checked, check, parts_of
from callsheet.runtime.drafting import Drafting, text_bytes
from callsheet.runtime.labels import strictest
from callsheet.runtime.options import label, shown
from callsheet.runtime.seeing import Sight, resolve, sight
from callsheet.runtime.session import Session, View
from callsheet.runtime.stating import located, stated

__all__ = ["Checked", "Promotion", "check", "demote", "promote"]

RULE_VERSION = "1"
"""Of the extractor ``rule``: which summary and which locators come of the same sources."""

_CODE = re.compile(r"[a-z0-9][a-z0-9_.:-]{0,63}")
_UNSURE = 0.6


@dataclass(frozen=True, kw_only=True, slots=True)
class Promotion:
    """What a memory is to hold, and on whose word."""

    references: tuple[str, ...]
    #: None: the gists of the results.
    summary: str | None
    #: JSON data; None: none.
    payload: object
    #: What made the content; ``model:...`` for a model's summary. A version may follow behind ``@``.
    extractor: str
    #: From 0 to 1; None: by where the content comes from.
    confidence: float | None
    attributes: Mapping[str, str]
    #: The set under which it is decided.
    policy_set: Digest


@dataclass(frozen=True, kw_only=True, slots=True)
class _Source:
    """One result that a memory rests on."""

    record: Record
    body: ToolArtifact
    privacy: Privacy
    freshness: Freshness
    recheck: tuple[str, ...]
    gist: str


def promote(session: Session, view: View, promotion: Promotion) -> RecordId:
    """Record a memory with the decision that made it, in one transaction. See `Conversation.promote`."""
    if not promotion.references:
        raise InvalidOption("promote needs at least one reference")
    seen = sight(session, view)
    policy = policy_of(session, promotion.policy_set)
    sources = _sources(seen, policy, promotion.references)
    memory, privacy = _memory(seen, policy, sources, promotion)
    scope = _scope(view, [source.record.header.scope for source in sources])
    ids: list[RecordId] = []

    def draft(drafting: Drafting) -> None:
        ids[:] = [drafting.add(memory, kind="tool_memory", scope=scope, privacy=privacy)]
        decision = PolicyDecision(
            policy=Policy.PROMOTION,
            verdict="promoted",
            rule=f"promotion.{memory.extractor}",
            policy_set=promotion.policy_set,
            governs=(*ids, *memory.sources),
        )
        decided = drafting.add(decision, kind="decision", scope=scope)
        for source in memory.sources:
            drafting.add(Promoted(artifact=source, memory=ids[0], decision=decided), kind="promoted", scope=scope)

    session.append(view, draft)
    return ids[0]


def demote(session: Session, view: View, reference: str, reason: str, policy_set: Digest) -> RecordId:
    """Record the decision that a result becomes no memory. See `Conversation.demote`."""
    if _CODE.fullmatch(reason) is None:
        raise InvalidOption(f"reason is {shown(reason)}; it must be a code of a-z, 0-9 and _ . : - such as 'too_old'")
    record, _ = _result(sight(session, view), reference)
    scope = _scope(view, [record.header.scope])
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


# ---------------------------------------------------------------------------------------------- sources


def _result(seen: Sight, reference: str) -> tuple[Record, ToolArtifact]:
    """The result that a reference means; for the answer of a recall, what it recalled."""
    record = resolve(seen, reference)
    if isinstance(record.body, ToolArtifact) and record.body.recalls is not None:
        record = seen.get(record.body.recalls) or record
    if record.body is None:
        raise BodyErased(f"the content of {record.id} was erased")
    if not isinstance(record.body, ToolArtifact):
        raise NotFound(f"{record.id} is no tool result: tool memories rest on results of tools alone")
    return record, record.body


def _sources(seen: Sight, policy: PolicySetDocument, references: Sequence[str]) -> tuple[_Source, ...]:
    records = {record.id: (record, body) for record, body in (_result(seen, one) for one in references)}
    admitting = Admitting(seen=seen, policy=policy)
    session = seen.session
    indexes = session.ledger.indexed(session.conversation.key, [record.position for record, _ in records.values()])
    found: list[_Source] = []
    for record, body in records.values():
        index = indexes.get(record.position)
        derived = unpack(index.derived) if index is not None else None
        candidate = admitting.judged(record).candidate
        contract = candidate.contract
        found.append(
            _Source(
                record=record,
                body=body,
                privacy=strictest([candidate.privacy, *([derived.privacy] if derived is not None else [])]),
                freshness=candidate.freshness or (derived.freshness if derived is not None else Freshness.TIME_BOUNDED),
                recheck=(contract.recheck or ()) if contract is not None else (),
                gist=derived.gist if derived is not None else f"{body.tool or 'a tool'}: {body.size:,} bytes",
            )
        )
    return tuple(found)


def _scope(view: View, scopes: Sequence[Scope]) -> Scope:
    """Where a memory may be seen: nowhere where one of its sources may not."""
    private = [scope for scope in scopes if scope.visibility is Visibility.PARTICIPANT or scope.sub_agent is not None]
    if not private:
        return Scope(branch=view.branch, owner=view.participant, visibility=Visibility.BRANCH)
    if len(private) == 1:
        return replace(private[0], branch=view.branch)
    return replace(
        private[0],
        branch=view.branch,
        owner=view.participant,
        visibility=Visibility.PARTICIPANT,
        isolation=Isolation.ISOLATED,
        shared_with=(),
        releases=(),
    )


# ---------------------------------------------------------------------------------------------- the memory


def _memory(
    seen: Sight, policy: PolicySetDocument, sources: Sequence[_Source], promotion: Promotion
) -> tuple[ToolMemory, Privacy]:
    session = seen.session
    summary = promotion.summary
    if summary is not None and (not isinstance(summary, str) or not summary.strip()):
        raise InvalidOption(f"summary is {shown(summary)}; it must be text and not empty")
    redaction = session.redacting.redaction
    text = redaction.text(summary) if summary is not None else "\n".join(source.gist for source in sources)
    payload = _payload(promotion.payload)
    if payload is not None:
        payload = redaction.content(payload)
    values = stated(text, json.loads(payload) if payload is not None else None)
    parts = tuple(part for source in sources for part in parts_of(session, source.record))
    found = located(values, parts)
    extractor, _, version = promotion.extractor.partition("@")
    source, confidence = _confidence(promotion, extractor, len(found), len(values))
    observed = min(source.record.header.at for source in sources)
    freshness = min((source.freshness for source in sources), key=list(Freshness).index)
    memory = ToolMemory(
        sources=tuple(source.record.id for source in sources),
        tools=tuple(dict.fromkeys(source.body.tool for source in sources if source.body.tool)),
        summary=session.ledger.stash(session.owner, text_bytes(text)),
        payload=session.ledger.stash(session.owner, payload) if payload is not None else None,
        confidence=confidence,
        confidence_source=source,
        confidence_reason=f"{len(found)} of {len(values)} stated values stand in the sources at one place",
        extractor=extractor,
        extractor_version=version or (RULE_VERSION if extractor == "rule" else ""),
        freshness=freshness,
        observed=observed,
        stale_after=_stale_after(observed, freshness, policy),
        recheck_tools=tuple(dict.fromkeys(tool for source in sources for tool in source.recheck)),
        locators=tuple(dict.fromkeys(locator for _, locator in found)),
        promotion_policy=str(policy),
        tainted=True,
        attributes=_attributes({name: redaction.text(value) for name, value in promotion.attributes.items()}),
    )
    told = text if payload is None else f"{text}\n{payload.decode('utf-8', 'replace')}"
    return memory, strictest([*(source.privacy for source in sources), classify.privacy(told)])


def _payload(value: object) -> bytes | None:
    if value is None:
        return None
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidOption(f"payload is no JSON data ({type(error).__name__}: {shown(str(error))})") from None


def _confidence(promotion: Promotion, extractor: str, found: int, stated: int) -> tuple[ConfidenceSource, float]:
    """Where the content comes from, surest first, and how sure that is: the share of its values that stand there."""
    share = found / stated if stated else 1.0
    given = promotion.confidence
    if extractor == "model" or extractor.startswith("model:"):
        source, own = ConfidenceSource.MODEL_SUMMARY, _UNSURE * share
    elif promotion.payload is not None and found == stated:
        source, own = ConfidenceSource.EXACT_VALUE, 1.0
    else:
        source, own = ConfidenceSource.RULE, share
    if given is None:
        return source, round(own, 4)
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        raise InvalidOption(f"confidence is {shown(given)}; it must be a number from 0 to 1")
    return source, float(given)


def _stale_after(observed: Instant, freshness: Freshness, policy: PolicySetDocument) -> Instant | None:
    seconds = policy.freshness.of(freshness)
    return Instant(observed + seconds * SECOND) if seconds is not None else None


def _attributes(given: Mapping[str, str]) -> tuple[Attribute, ...]:
    return tuple(
        Attribute(name=label(name, "the name of an attribute"), value=label(value, f"attribute {name!r}"))
        for name, value in given.items()
    )
