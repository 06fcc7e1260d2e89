"""Routing: which provider may serve the next request of a view, judged from the classes of data that it rests on."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from callsheet.derive.classify import STRICTNESS
from callsheet.derive.derived import Derived, unpack
from callsheet.errors import InvalidOption
from callsheet.graph.enums import INSTRUCTING, Level, Policy, Privacy, Reason, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, Message, PolicyDecision, ToolArtifact, ToolCall
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.policy.conditions import written
from callsheet.policy.sets import PolicySetDocument
from callsheet.policy.verdict import Decision
from callsheet.runtime.deciding import Deciding, Standings, read_standings
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.options import label, shown
from callsheet.runtime.redacting import shows_secrets
from callsheet.runtime.seeing import Sight, sight
from callsheet.runtime.session import Session, View

Provider: TypeAlias = tuple[str, str]
"""A provider and one of its models."""

_NAMED = 64
"""Records that a recorded decision names at most."""

_FINAL = (Policy.ATTRIBUTION, Policy.VISIBILITY)

_NAMES_PROVIDER = re.compile(r"\bboundary\s*\.\s*(?:provider|model)\b")
"""In a rule's condition: what it leaves out depends on where the request goes."""


class Serving(StrEnum):
    """Whether a provider may serve a request."""

    ALLOWED = "allowed"
    #: It may; some of what the request rests on is withheld from it.
    WITH_OMISSIONS = "allowed_with_omissions"
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """What is said of one provider. Holds classes, counts and names of tools, never content."""

    provider: str
    model: str
    serving: Serving
    #: In sentences.
    reasons: tuple[str, ...]
    #: Records that may not go there with their values, by class, the strictest first.
    withheld: tuple[tuple[Privacy, int], ...] = ()
    #: Records that rules of the policy set leave out, by rule.
    left_out: tuple[tuple[str, int], ...] = ()
    #: The tools whose results are among them.
    tools: tuple[str, ...] = ()
    #: Results that go there with markers in the place of secrets.
    marked: int = 0

    @property
    def allowed(self) -> bool:
        """Whether it may serve the request at all."""
        return self.serving is not Serving.REFUSED


@dataclass(frozen=True, kw_only=True, slots=True)
class _Seen:
    """One record that the request may rest on."""

    record: Record
    derived: Derived | None


def route(
    session: Session,
    view: View,
    providers: Sequence[Provider],
    policy: PolicySetDocument,
    scopes: tuple[str, ...] = (),
) -> tuple[Route, ...]:
    """What may be said of each provider, the best first; recorded as decisions. See `Conversation.route`."""
    asked = _checked(providers)
    seen = sight(session, view)
    records = _records(seen)
    ids = tuple(one.record.id for one in records)
    standings = read_standings(session.ledger, session.conversation.key, seen.lineage, ids, seen.shows)
    judged = [_judge(seen, records, standings, policy, _boundary(seen, provider, scopes)) for provider in asked]
    _record(session, view, [(one, ids) for one, ids in judged], policy)
    order = list(Serving)
    return tuple(sorted((one for one, _ in judged), key=lambda one: (order.index(one.serving), _kept(one))))


def _kept(made: Route) -> int:
    return sum(count for _, count in (*made.withheld, *made.left_out))


def keeps_nothing(
    session: Session, view: View, provider: Provider, policy: PolicySetDocument, scopes: tuple[str, ...] = ()
) -> bool:
    """Whether a policy set lets a provider have all that a view sees, each record with its values.

    Marks in the place of secrets apart: results alone are known by their secrets here. Nothing is recorded.
    """
    seen = sight(session, view)
    records = _records(seen)
    ids = tuple(one.record.id for one in records)
    standings = read_standings(session.ledger, session.conversation.key, seen.lineage, ids, seen.shows)
    made, _ = _judge(seen, records, standings, policy, _boundary(seen, provider, scopes))
    return made.serving is Serving.ALLOWED


def _checked(providers: Sequence[Provider]) -> list[Provider]:
    wrong = "it must be pairs of a provider and a model"
    if not providers:
        raise InvalidOption(f"providers is {shown(providers)}; {wrong}")
    given: list[object] = list(providers)
    found: list[Provider] = []
    for pair in given:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidOption(f"providers holds {shown(pair)}; {wrong}")
        found.append((label(pair[0], "provider"), label(pair[1], "model")))
    return found


def _records(seen: Sight) -> list[_Seen]:
    ledger, key = seen.session.ledger, seen.session.conversation.key
    found = ledger.nodes(key, NodeQuery(kinds=("message", "artifact"), lineage=seen.lineage))
    visible = [record for record in found if record.body is not None and seen.shows(record)]
    results = [record.position for record in visible if isinstance(record.body, ToolArtifact)]
    indexes = ledger.indexed(key, results) if results else {}
    return [
        _Seen(record=record, derived=unpack(indexes[record.position].derived) if record.position in indexes else None)
        for record in visible
    ]


def _judge(
    seen: Sight,
    records: Sequence[_Seen],
    standings: Standings,
    policy: PolicySetDocument,
    boundary: Boundary,
) -> tuple[Route, tuple[RecordId, ...]]:
    provider, model = boundary.provider, boundary.model
    calls: Mapping[RecordId, ToolCall] = {}
    deciding = Deciding(
        boundary=boundary,
        policy=policy,
        standings=standings,
        calls=calls,
        open=frozenset(),
        turn=len(records),
        opened=seen.opened(),
    )
    newest = max((one.record.position for one in records if _asks(one.record)), default=0)
    conditions = {rule.name: rule.when for rule in policy.rules}
    withheld: dict[RecordId, Privacy] = {}
    tools: dict[str, None] = {}
    needed: list[str] = []
    marked = 0
    ruled: dict[RecordId, str] = {}
    for place, one in enumerate(records):
        decision = deciding.decide(
            one.record, place, derived=one.derived, resolved=False, newest=one.record.position == newest
        )
        rule = _rule(decision)
        if rule is not None:
            ruled[one.record.id] = rule
            if one.record.position == newest:
                needed.append(f"rule {rule!r} leaves out the newest question")
            elif _is_instruction(one.record) and _NAMES_PROVIDER.search(conditions[rule]):
                needed.append(f"rule {rule!r} leaves out an instruction")
            continue
        form = _form(decision)
        if form is None:
            continue
        if form is Level.RAW:
            marked += one.derived is not None and one.derived.secrets
            continue
        kind = deciding.class_of(one.record, one.derived)
        withheld[one.record.id] = kind
        body = one.record.body
        if isinstance(body, ToolArtifact):
            tools[body.tool or "a tool"] = None
        elif isinstance(body, Message) and (one.record.position == newest or body.role in INSTRUCTING):
            what = "an instruction" if body.role in INSTRUCTING else "the newest question"
            needed.append(f"{what} is of class {kind.value}, which may not go to {provider}")
    made = Route(
        provider=provider,
        model=model,
        serving=Serving.REFUSED if needed else Serving.WITH_OMISSIONS if withheld or ruled else Serving.ALLOWED,
        reasons=(*dict.fromkeys(needed), *_reasons(withheld, ruled, provider, policy)),
        withheld=_counted(withheld),
        left_out=tuple(Counter(ruled.values()).most_common()),
        tools=tuple(tools),
        marked=0 if shows_secrets(policy, provider) else marked,
    )
    return made, (*withheld, *ruled)


def _rule(decision: Decision) -> str | None:
    """The user's rule by which a record does not exist for this request."""
    refusing = (verdict for verdict in decision.verdicts if verdict.policy in _FINAL and verdict.refuses)
    return next(filter(None, (written(verdict.rule) for verdict in refusing)), None)


def _form(decision: Decision) -> Level | None:
    """In which form privacy lets a record go there; None: it would not stand in the request whatever the provider."""
    for verdict in decision.verdicts:
        if verdict.policy in _FINAL and verdict.refuses:
            return None
        if verdict.policy is Policy.PRIVACY:
            return verdict.most or Level.RAW
    return None


def _counted(withheld: Mapping[RecordId, Privacy]) -> tuple[tuple[Privacy, int], ...]:
    counts = Counter(withheld.values())
    return tuple((kind, counts[kind]) for kind in reversed(STRICTNESS) if counts[kind])


def _reasons(
    withheld: Mapping[RecordId, Privacy], ruled: Mapping[RecordId, str], provider: str, policy: PolicySetDocument
) -> tuple[str, ...]:
    if not withheld and not ruled:
        return (f"{policy} withholds nothing from {provider}",)
    classes = (
        f"{_records_said(count)} of class {kind.value} may not go to {provider} under {policy}"
        for kind, count in _counted(withheld)
    )
    rules = (
        f"{_records_said(count)} {'is' if count == 1 else 'are'} left out by rule {rule!r} of {policy}"
        for rule, count in Counter(ruled.values()).most_common()
    )
    return (*classes, *rules)


def _records_said(count: int) -> str:
    return f"{count} {'record' if count == 1 else 'records'}"


def _is_instruction(record: Record) -> bool:
    return isinstance(record.body, Message) and record.body.role in INSTRUCTING


def _asks(record: Record) -> bool:
    return isinstance(record.body, Message) and record.body.role is Role.USER


def _boundary(seen: Sight, asked: Provider, scopes: tuple[str, ...]) -> Boundary:
    own = seen.boundary
    return Boundary(
        conversation=own.conversation,
        branch=own.branch,
        participant=own.participant,
        run=own.run,
        provider=asked[0],
        model=asked[1],
        scopes=scopes,
        budget=own.budget,
        now=own.now,
    )


def _record(
    session: Session, view: View, judged: Sequence[tuple[Route, tuple[RecordId, ...]]], policy: PolicySetDocument
) -> None:
    def draft(drafting: Drafting) -> None:
        for made, withheld in judged:
            decision = PolicyDecision(
                policy=Policy.PRIVACY,
                kind="routing",
                verdict=made.serving.value,
                reason=Reason.PRIVACY_CLASS if withheld else Reason.INCLUDED,
                rule=f"routing.{made.provider}/{made.model}",
                policy_set=policy.hash,
                governs=withheld[:_NAMED],
            )
            drafting.add(decision, kind="decision")

    session.append(view, draft)
