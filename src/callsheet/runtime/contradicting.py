"""Memories of one subject that contradict each other: which is to be believed, by provenance and confidence.

When they were recorded decides nothing. Only where both were read by a tool whose owner declares that it reads how
things are now, the later observation replaces the earlier one: then the declaration decides. That values of the later
one were not found in its sources is doubt, and no proof of the earlier one: then both stand.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from callsheet.assemble.contents import text_of
from callsheet.errors import BodyErased
from callsheet.graph.enums import ConfidenceSource, Relation, StateField, Visibility
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import ToolMemory
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.times import Instant
from callsheet.graph.values import Attribute, Payload, Scope
from callsheet.policy.conflict import Precedence, Standing, precedence
from callsheet.policy.contracts import contracts
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime.deciding import LIFETIME, read_standings
from callsheet.runtime.seeing import Sight

LOOKED_AT = 1_000
"""Memories, the newest that may be seen, among which those of the same subject are looked for."""

ENTITY = "entity"
ATTRIBUTE = "attribute"
DOCUMENT, VERSION, PROVIDER = "document", "version", "provider"
_OF_THE_SOURCE = frozenset({DOCUMENT, VERSION, PROVIDER, LIFETIME})
"""Attributes that say where a memory comes from; all others say what it is about."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Between:
    """A contradiction with an older memory, and what was decided."""

    other: RecordId
    #: True: the new memory replaces the other; False: the other replaces it; None: both stand.
    wins: bool | None
    by: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Side:
    standing: Standing
    tools: frozenset[str]
    provider: str | None
    observed: Instant
    #: Some of what it states was not found in its sources, which made it less sure.
    doubtful: bool
    #: It stands on the branch at hand, not on one that this inherits.
    here: bool


def contradictions(
    seen: Sight, body: ToolMemory, scope: Scope, policy: PolicySetDocument, *, but: frozenset[RecordId]
) -> tuple[Between, ...]:
    """The standing memories of the same subject that say otherwise than a new one; `but` are decided on already.

    Those that others may not see are left alone by a memory that they may.
    """
    if subject(body.attributes) is None:
        return ()
    says = _Saying(read=seen.session.read)
    private = _private(scope)
    mine = _side(RecordId(""), body, here=True)
    return tuple(
        _between(record.id, mine, _side(record.id, other, here=record.branch == seen.view.branch), policy)
        for record, other in _same_subject(seen, body)
        if record.id not in but and (private or not _private(record.header.scope)) and says.otherwise(body, other)
    )


def subject(attributes: tuple[Attribute, ...]) -> Mapping[str, str] | None:
    """What a memory is about, by its attributes; None: none of them names an entity."""
    about = {one.name: one.value.strip().casefold() for one in attributes if one.name not in _OF_THE_SOURCE}
    return about if about.get(ENTITY) else None


def _private(scope: Scope) -> bool:
    return scope.visibility is Visibility.PARTICIPANT or scope.sub_agent is not None


def _same_subject(seen: Sight, body: ToolMemory) -> Iterator[tuple[Record, ToolMemory]]:
    session, key = seen.session, seen.session.conversation.key
    query = NodeQuery(kinds=("tool_memory",), lineage=seen.lineage, newest=True, limit=LOOKED_AT)
    about = subject(body.attributes)
    same = [
        (record, record.body)
        for record in session.ledger.nodes(key, query)
        if isinstance(record.body, ToolMemory) and seen.shows(record) and subject(record.body.attributes) == about
    ]
    ids = tuple(record.id for record, _ in same)
    standings = read_standings(session.ledger, key, seen.lineage, ids, seen.shows)
    for record, other in same:
        gone = standings.state(StateField.ERASED, record.id) is not None
        if not gone and not standings.linked(Relation.SUPERSEDES, record.id):
            yield record, other


# ---------------------------------------------------------------------------------------------- what they say


@dataclass(frozen=True, slots=True)
class _Saying:
    """Compares what two memories of one subject say."""

    read: Callable[[Payload], bytes]

    def otherwise(self, one: ToolMemory, other: ToolMemory) -> bool:
        """Whether they contradict: by the values under keys that both have, or else by what they say of one attribute.

        Without structured content on both sides, and without an attribute that names the one thing that both are
        about, other words are no contradiction.
        """
        try:
            mine, theirs = self._payload(one), self._payload(other)
            if mine is None or theirs is None:
                named = any(attribute.name == ATTRIBUTE for attribute in one.attributes)
                return named and self._words(one) != self._words(other)
            if isinstance(mine, dict) and isinstance(theirs, dict):
                return any(mine[key] != theirs[key] for key in mine.keys() & theirs.keys())
            return mine != theirs
        except (BodyErased, RecursionError):
            return False

    def _payload(self, body: ToolMemory) -> object:
        if body.payload is None:
            return None
        try:
            value: object = json.loads(self.read(body.payload))
        except (ValueError, RecursionError):
            return None
        return value

    def _words(self, body: ToolMemory) -> str:
        return " ".join(text_of(self.read(body.summary)).split()).casefold()


# ---------------------------------------------------------------------------------------------- which is believed


def _side(id: RecordId, body: ToolMemory, *, here: bool) -> _Side:
    said = {one.name: one.value for one in body.attributes}
    return _Side(
        standing=Standing(
            record=id,
            confidence=body.confidence,
            source=body.confidence_source,
            tainted=body.tainted,
            document=said.get(DOCUMENT),
            version=said.get(VERSION),
        ),
        tools=frozenset(body.tools),
        provider=said.get(PROVIDER),
        observed=body.observed,
        doubtful=body.unlocated > 0 and body.confidence_source is not ConfidenceSource.MODEL_SUMMARY,
        here=here,
    )


def _between(other: RecordId, mine: _Side, theirs: _Side, policy: PolicySetDocument) -> Between:
    """By the version of one document, the provider, the way of extraction and confidence, and last by branch."""
    found = precedence(mine.standing, theirs.standing)
    if found.by != "document_version":
        later = _later(mine, theirs, policy)
        if later is not None:
            return Between(other=other, wins=later, by="provider")
    if found.replaces is not None and not _merely_doubted(found, mine, theirs):
        return Between(other=other, wins=found.replaces == mine.standing.record, by=found.by)
    if mine.here != theirs.here:
        return Between(other=other, wins=mine.here, by="branch")
    return Between(other=other, wins=None, by=Precedence().by)


def _merely_doubted(found: Precedence, mine: _Side, theirs: _Side) -> bool:
    """Whether an earlier observation would replace a later one merely because values of that were not found."""
    earlier, later = (mine, theirs) if found.replaces == mine.standing.record else (theirs, mine)
    by_doubt = found.by in ("confidence_source", "confidence") and later.doubtful
    return by_doubt and earlier.observed < later.observed


def _later(mine: _Side, theirs: _Side, policy: PolicySetDocument) -> bool | None:
    """Whether the new one is the later reading of the present by one provider; None: nobody declared that it is one."""
    declared = contracts((), policy.tools)
    same = mine.tools == theirs.tools or (mine.provider is not None and mine.provider == theirs.provider)
    tools = mine.tools | theirs.tools
    reads = bool(tools) and all(name in declared and declared[name].reads_current_state for name in tools)
    if not same or not reads or mine.observed == theirs.observed:
        return None
    return mine.observed > theirs.observed
