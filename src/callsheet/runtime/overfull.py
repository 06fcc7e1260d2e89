"""Results that hold more names than an index lists: read themselves, newest first, for a name that no index has."""

from collections.abc import Sequence

from callsheet.assemble.contents import result_text
from callsheet.assemble.naming import occurrences
from callsheet.derive.derived import MORE
from callsheet.graph.ids import RecordId
from callsheet.graph.index import PostingQuery
from callsheet.graph.nodes import ToolArtifact
from callsheet.graph.record import Record
from callsheet.recall.exact import fold
from callsheet.runtime.ground import Ground
from callsheet.runtime.occurring import Occurring

READ = 4
"""Results that are read, the newest."""

LONGEST = 8_000_000
"""Bytes of a result beyond which it is not read."""

SHORTEST = 4
"""Characters of a name that is looked for: a shorter one stands in any long text."""


def holding(ground: Ground, occurring: Occurring, names: Sequence[str], before: int) -> list[RecordId]:
    """The newest of the overfull results before a position that hold any of these names, the newest first."""
    wanted = [name for name in names if len(name) >= SHORTEST]
    if not wanted:
        return []
    query = PostingQuery(entities=(MORE,), lineage=ground.lineage, before=before, limit=READ)
    ids = [posting.record for posting in occurring.postings(query)]
    ground.desk.fetch(ground.ledger, ground.key, ids)
    records = [ground.desk.records[id] for id in ids if ground.is_there(id) and ground.shows(ground.desk.records[id])]
    return [record.id for record in records if _holds(ground, record, wanted)]


def _holds(ground: Ground, record: Record, names: Sequence[str]) -> bool:
    body = record.body
    if not isinstance(body, ToolArtifact) or body.size > LONGEST:
        return False
    text = fold(result_text(body, ground.read))
    return any(next(occurrences(text, fold(name)), None) is not None for name in names)
