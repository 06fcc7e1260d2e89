"""What explanations know of the records of one past request: facts as they were for its reader, without content."""

from collections.abc import Container, Iterable, Mapping, Sequence

from msgspec.structs import replace

from callsheet.errors import PolicyError
from callsheet.explain.facts import Gift, Known, known
from callsheet.explain.sentences import CALLER, USER, WITHDRAWN
from callsheet.graph.changes import Released, Shared, Withdrawn
from callsheet.graph.enums import Level, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection, ToolArtifact
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.policy.visibility import hidden_from
from callsheet.runtime.attributing import anothers
from callsheet.runtime.judged import judged
from callsheet.runtime.recollecting import replacements
from callsheet.runtime.redacting import shows_secrets
from callsheet.runtime.releasing import Reader, readers
from callsheet.runtime.revisiting import Revisited
from callsheet.runtime.withholding import calls_of, withheld_calls

LOOKED_BACK = 2_000
"""Requests that are looked at to find the one in which something was decided."""


def plain(seen: Revisited, ids: Iterable[RecordId]) -> dict[RecordId, Known]:
    """What the records themselves tell; all that there is where the policy set is not known any more."""
    wanted = tuple(ids)
    return {record.id: known(record) for record in (*_records(seen, wanted), *seen.personal.records(wanted))}


def facts(seen: Revisited, ids: Iterable[RecordId]) -> dict[RecordId, Known]:
    """What is known of records, and what had become of them for the reader. Raises `PolicyError`."""
    ids = tuple(ids)
    records = _records(seen, ids)
    if not records:
        return seen.personal.known(ids)
    wanted = tuple(record.id for record in records)
    replaced = replacements(seen.standings(wanted), wanted)
    gifts, withheld = given(seen), _withheld(seen)
    exact = _exact(seen, records)
    judgements = judged(seen.place.ledger, seen.place.conversation.key, seen.lineage, seen.boundary)
    seen.desk.fetch(seen.place.ledger, seen.place.conversation.key, wanted)
    found: dict[RecordId, Known] = {}
    for record in records:
        who, since = exact.get(record.id, ("", None))
        found[record.id] = replace(
            known(record),
            elsewhere=not seen.lineage.sees(record.branch, record.position),
            gift=gifts.get(record.id),
            replaced_by=replaced.get(record.id, ()),
            withheld=_hidden_calls(seen, record, withheld),
            marked=_marked(seen, record),
            feedback=judgements.of(record.id),
            exact=who,
            exact_since=since,
        )
    return found | seen.personal.known(id for id in ids if id not in found)


def _records(seen: Revisited, ids: Iterable[RecordId]) -> list[Record]:
    wanted = tuple(dict.fromkeys(ids))
    return seen.place.ledger.get(seen.place.conversation.key, wanted) if wanted else []


def rules_of(seen: Revisited) -> Mapping[str, str]:
    """Why each rule that users wrote into the policy set is there, in their words, by its name."""
    return {rule.name: rule.reason for rule in seen.policy.rules}


# ---------------------------------------------------------------------------------------------- given and taken


def given(seen: Revisited) -> dict[RecordId, Gift]:
    """What was given to the reader by then and by which record, or taken back; the newest word counts."""
    query = NodeQuery(kinds=("released", "shared", "withdrawn"), lineage=seen.lineage)
    who = readers(Reader(seen.boundary.participant, seen.boundary.run), seen.lineage)
    found: dict[RecordId, Gift] = {}
    for record in seen.place.ledger.nodes(seen.place.conversation.key, query):
        if hidden_from(record.header.scope, seen.boundary.participant, seen.boundary.run) is not None:
            continue
        match record.body:
            case Released(records=ids, to=to):
                how = "released"
            case Shared(records=ids, participants=to):
                how = "shared"
            case Withdrawn(records=ids, from_=to):
                how = WITHDRAWN
            case _:
                continue
        if not who.isdisjoint(to):
            found |= dict.fromkeys(ids, Gift(how=how, by=record.id))
    return found


# ---------------------------------------------------------------------------------------------- held back


def _withheld(seen: Revisited) -> frozenset[RecordId]:
    place = seen.place
    return withheld_calls(place.ledger, place.conversation.key, seen.lineage, seen.boundary, seen.policy)


def _hidden_calls(seen: Revisited, record: Record, withheld: Container[RecordId]) -> int:
    """The calls that a record holds or answers and whose arguments the reader does not see."""
    calls = calls_of(record)
    return len(calls) if anothers(record, seen.boundary) else sum(call in withheld for call in calls)


def _marked(seen: Revisited, record: Record) -> bool:
    """Whether secrets stood in what it says or, of a result, in what was asked for."""
    if record.body is None or shows_secrets(seen.policy, seen.boundary.provider):
        return False
    derived = seen.desk.derived.get(record.id)
    if derived is not None:
        return derived.secrets
    return seen.place.redacting.marks(record, {})


# ---------------------------------------------------------------------------------------------- exact bytes


def wanted_exactly(seen: Revisited, selections: Iterable[Selection]) -> frozenset[RecordId]:
    """The results whose exact bytes somebody asked for, as far as the selections show it."""
    shows = (one.record for one in selections if one.level is Level.RAW or one.reason is Reason.RAW_REFUSED)
    return frozenset((*seen.boundary.exact, *shows))


def _exact(seen: Revisited, records: Sequence[Record]) -> dict[RecordId, tuple[str, RecordId | None]]:
    """Who asked for the exact bytes of each result that stands verbatim, and in which request where not in this one."""
    if seen.policy.verbatim:
        return {}
    results = {record.id for record in records if isinstance(record.body, ToolArtifact)}
    left = results & _verbatim(seen)
    found: dict[RecordId, tuple[str, RecordId | None]] = {}
    current: Revisited | None = seen
    for _ in range(LOOKED_BACK):
        if not left or current is None:
            break
        earlier = current.earlier
        new = left - (_verbatim(earlier) if earlier is not None else set())
        since = current.record.id if current is not seen else None
        for id in new:
            who = CALLER if id in current.boundary.exact else USER if _by_words(current, id) else ""
            if who:
                found[id] = (who, since)
        left -= new
        current = earlier
    return found


def _verbatim(seen: Revisited) -> set[RecordId]:
    return {one.record for one in seen.whole.selected if one.level is Level.RAW}


def _by_words(seen: Revisited, id: RecordId) -> bool:
    try:
        return id in seen.made.gathered.fresh.exact
    except PolicyError:  # an earlier request under a set that is not known any more
        return False
