"""Making a memory of results: what it tells and holds, how sure, how long it holds, and as what it may be kept."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from callsheet.derive import classify
from callsheet.derive.derived import Derived, unpack
from callsheet.derive.redaction import Redaction
from callsheet.errors import BodyErased, InvalidOption, NotFound
from callsheet.graph.enums import ConfidenceSource, Freshness, Level, Privacy, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolArtifact, ToolMemory
from callsheet.graph.record import Record
from callsheet.graph.times import Instant, instant, isoformat
from callsheet.graph.values import Attribute, Digest, Scope
from callsheet.policy.candidate import Candidate
from callsheet.policy.freshness import SECOND, recheck
from callsheet.policy.promotion import METADATA_ONLY, Promotable, PromotionVerdict, promotable
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime import relating
from callsheet.runtime.admitting import Admitting
from callsheet.runtime.checking import parts_of
from callsheet.runtime.deciding import LIFETIME, SHORT_LIVED
from callsheet.runtime.drafting import text_bytes
from callsheet.runtime.labels import strictest
from callsheet.runtime.options import Time, label, shown
from callsheet.runtime.resolving import resolve
from callsheet.runtime.seeing import Sight
from callsheet.runtime.session import Session
from callsheet.runtime.stating import located, stated

RULE_VERSION = "2"
"""Of the extractor ``rule``: which summary and which locators come of the same sources."""

_UNSURE = 0.6

_ACCOUNTS = frozenset({Privacy.CONNECTED_ACCOUNT, Privacy.GOOGLE_DERIVED})


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
    #: References of what it replaces, and of what it contradicts.
    supersedes: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()
    #: When it was observed; None: with the oldest of its results.
    observed: Time | None = None
    #: How it ages; None: as the shortest-lived of its results, or for its session where its attributes say so.
    freshness: Freshness | None = None
    #: When it goes out of date at the latest; None: by its class and its tools.
    stale_after: Time | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Source:
    """One result that a memory rests on."""

    record: Record
    body: ToolArtifact
    privacy: Privacy
    freshness: Freshness
    #: How its tool's owner declares that it ages, and when it is out of date by that.
    declared: Freshness | None
    stale: Instant | None
    recheck: tuple[str, ...]
    gist: str
    #: As what it may become a memory.
    form: PromotionVerdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """A memory as it is to be recorded, but for what it bears on."""

    memory: ToolMemory
    privacy: Privacy
    scope: Scope
    form: PromotionVerdict


# ---------------------------------------------------------------------------------------------- sources


def result_of(seen: Sight, reference: str) -> tuple[Record, ToolArtifact]:
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
    records = {record.id: (record, body) for record, body in (result_of(seen, one) for one in references)}
    admitting = Admitting(seen=seen, policy=policy)
    session = seen.session
    indexes = session.ledger.indexed(session.conversation.key, [record.position for record, _ in records.values()])
    found: list[_Source] = []
    for record, body in records.values():
        index = indexes.get(record.position)
        derived = unpack(index.derived) if index is not None else None
        candidate = replace(admitting.judged(record).candidate, outcome=body.status)
        contract = candidate.contract
        privacy = strictest([candidate.privacy, *([derived.privacy] if derived is not None else [])])
        form = promotable(replace(candidate, privacy=privacy), policy)
        if form.as_ is Promotable.NONE:
            raise InvalidOption(f"{record.id} becomes no memory ({form.rule}); it stays recallable as it is")
        freshness = candidate.freshness or _ages(privacy, derived)
        found.append(
            _Source(
                record=record,
                body=body,
                privacy=privacy,
                freshness=freshness,
                declared=contract.freshness if contract is not None else None,
                stale=candidate.stale_after,
                recheck=recheck(replace(candidate, freshness=freshness)),
                gist=derived.gist if derived is not None else f"{body.tool or 'a tool'}: {body.size:,} bytes",
                form=form,
            )
        )
    return tuple(found)


def _ages(privacy: Privacy, derived: Derived | None) -> Freshness:
    """How a result ages of which no contract says so: what is merely old is the newest that is known, with its date.

    Only clear signs of change in it, or that it is a snapshot of somebody's account, make it go out of date by itself.
    """
    if derived is None or privacy in _ACCOUNTS:
        return Freshness.TIME_BOUNDED
    return Freshness.DURABLE if derived.freshness is Freshness.TIME_BOUNDED else derived.freshness


# ---------------------------------------------------------------------------------------------- the memory


def made(seen: Sight, policy: PolicySetDocument, promotion: Promotion) -> Made:
    """The memory that a promotion comes to, as of what is seen. Raises `InvalidOption`, `NotFound`, `BodyErased`."""
    sources = _sources(seen, policy, promotion.references)
    memory, told = _memory(seen, policy, sources, promotion)
    privacy = strictest([*(source.privacy for source in sources), classify.privacy(told)])
    forms = [source.form for source in sources]
    if policy.privacy.of(privacy) is not Level.RAW:
        # What the caller tells may be of a stricter class than what it rests on.
        own = Candidate(record=RecordId(""), kind="artifact", privacy=privacy)
        forms.append(promotable(own, policy))
    form = max(forms, key=lambda one: list(Promotable).index(one.as_))
    scope = relating.scope_over(seen.view, [source.record.header.scope for source in sources])
    if form.as_ is Promotable.AUDIT_ONLY:
        scope = replace(scope, visibility=Visibility.AUDIT)
    if form.as_ is Promotable.METADATA:
        memory = _bare(seen, memory, sources)
    return Made(memory=memory, privacy=privacy, scope=scope, form=form)


def _bare(seen: Sight, memory: ToolMemory, sources: Sequence[_Source]) -> ToolMemory:
    """The memory with nothing of what its results say: which tools gave how much, and of which class."""
    told = "; ".join(
        f"{source.body.tool or 'a tool'}: {source.body.size:,} bytes, {source.privacy.value.replace('_', ' ')}"
        for source in sources
    )
    return replace(
        memory,
        summary=seen.session.ledger.stash(seen.session.owner, text_bytes(told)),
        payload=None,
        locators=(),
        attributes=(),
        limits=(METADATA_ONLY,),
        confidence_reason="nothing of what the sources say is stated",
        unlocated=0,
    )


def _memory(
    seen: Sight, policy: PolicySetDocument, sources: Sequence[_Source], promotion: Promotion
) -> tuple[ToolMemory, str]:
    """The memory, and all that it tells as text."""
    session = seen.session
    summary = promotion.summary
    if summary is not None and (not isinstance(summary, str) or not summary.strip()):
        raise InvalidOption(f"summary is {shown(summary)}; it must be text and not empty")
    redaction = session.redacting.redaction
    text = redaction.text(summary) if summary is not None else "\n".join(source.gist for source in sources)
    payload = _payload(promotion.payload, redaction)
    values = stated(text, json.loads(payload) if payload is not None else None)
    parts = tuple(part for source in sources for part in parts_of(session, source.record))
    found = located(values, parts)
    extractor, _, version = promotion.extractor.partition("@")
    source, confidence = _confidence(promotion, extractor, len(found), len(values))
    attributes = _attributes({name: redaction.text(value) for name, value in promotion.attributes.items()})
    observed = _observed(session, sources, promotion)
    freshness = _freshness(sources, promotion)
    memory = ToolMemory(
        sources=tuple(source.record.id for source in sources),
        tools=tuple(dict.fromkeys(source.body.tool for source in sources if source.body.tool)),
        summary=session.ledger.stash(session.owner, text_bytes(text)),
        payload=session.ledger.stash(session.owner, payload) if payload is not None else None,
        confidence=confidence,
        confidence_source=source,
        confidence_reason=f"{len(found)} of {len(values)} stated values stand in the sources",
        unlocated=len(values) - len(found) if promotion.confidence is None else 0,
        extractor=extractor,
        extractor_version=version or (RULE_VERSION if extractor == "rule" else ""),
        freshness=freshness,
        observed=observed,
        stale_after=_stale_after(observed, freshness, policy, sources, promotion),
        recheck_tools=tuple(dict.fromkeys(tool for source in sources for tool in source.recheck)),
        locators=tuple(dict.fromkeys(locator for _, locator in found)),
        promotion_policy=str(policy),
        tainted=True,
        attributes=attributes,
    )
    return memory, text if payload is None else f"{text}\n{payload.decode('utf-8', 'replace')}"


def _payload(value: object, redaction: Redaction) -> bytes | None:
    if value is None:
        return None
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidOption(f"payload is no JSON data ({type(error).__name__}: {shown(str(error))})") from None
    return redaction.content(written)


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


def _observed(session: Session, sources: Sequence[_Source], promotion: Promotion) -> Instant:
    newest = max(source.record.header.at for source in sources)
    if promotion.observed is None:
        return min(source.record.header.at for source in sources)
    observed = instant(promotion.observed)
    if observed > max(newest, session.clock.now()):
        raise InvalidOption(f"observed is {isoformat(observed)}, which is yet to come")
    return observed


def _freshness(sources: Sequence[_Source], promotion: Promotion) -> Freshness:
    """How it ages: what was declared of its tools may be made shorter, never longer."""
    lives = list(Freshness).index
    given = promotion.freshness
    if given is None and promotion.attributes.get(LIFETIME) in SHORT_LIVED:
        given = Freshness.SESSION
    own = min((source.freshness for source in sources), key=lives)
    if given is None:
        return own
    declared = min((source.declared for source in sources if source.declared is not None), key=lives, default=None)
    if declared is None or lives(given) <= lives(declared):
        return given
    if promotion.freshness is None:
        return declared
    raise InvalidOption(f"freshness is {given.value!r}; the tools of its results declare {declared.value!r}, at most")


def _stale_after(
    observed: Instant,
    freshness: Freshness,
    policy: PolicySetDocument,
    sources: Sequence[_Source],
    promotion: Promotion,
) -> Instant | None:
    """The first time at which it is out of date by its class, by what its tools declare, or as it was given."""
    seconds = policy.freshness.of(freshness)
    due = [source.stale for source in sources if source.stale is not None]
    if promotion.stale_after is not None:
        due.append(instant(promotion.stale_after))
        if due[-1] < observed:
            raise InvalidOption(f"stale_after is {isoformat(due[-1])}, before it was observed, {isoformat(observed)}")
    elif seconds is not None:
        due.append(Instant(observed + seconds * SECOND))
    return min(due, default=None)


def _attributes(given: Mapping[str, str]) -> tuple[Attribute, ...]:
    return tuple(
        Attribute(name=label(name, "the name of an attribute"), value=label(value, f"attribute {name!r}"))
        for name, value in given.items()
    )
