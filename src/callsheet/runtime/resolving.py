"""Which record a reference means: its id, the beginning of one, or the turns that an episode tells of.

What a view may not see is no candidate, so that no error tells of it.
"""

from itertools import islice

from callsheet.assemble.forms import reference
from callsheet.derive.redaction import Redaction
from callsheet.errors import NotFound
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Episode, ToolArtifact
from callsheet.graph.record import Record
from callsheet.runtime.episodes import Compactions
from callsheet.runtime.naming import AROUND, exactly, means, turns_of
from callsheet.runtime.releasing import Reader
from callsheet.runtime.seeing import READ, Sight

_CANDIDATES = 5
"""References that an error about an ambiguous one names."""

_SCANNED = 20_000
"""Records, the newest that the view may see, among which the beginning of an id is looked for."""

_UNMARKED = Redaction()

_FOLLOWED = 8
"""How often the answer of a recall is followed to what it recalled."""


def resolve(seen: Sight, reference: str) -> Record:
    """The message, artifact or episode that a reference means: its id, or a beginning that only one visible id has.

    ``turns 3 to 17`` or ``turn 12``, as the lines of episodes say it, means the reader's episode of these turns.

    The kind's prefix may be left out, so the short forms that requests show are references. An id is one look-up. A
    beginning is looked for among the records of the newest sheet, then, newest first, among the 20,000 newest records
    that may be seen, which takes time in proportion to those. What answers a recall without content of its own means
    what it recalled. Raises `NotFound`.
    """
    wanted = reference.strip(AROUND)
    turns = turns_of(wanted)
    if turns is not None:
        return _of_turns(seen, *turns)
    record = seen.get(RecordId(wanted)) if _storable(wanted) else None
    if record is None:
        record = _listed(seen, wanted) or _beginning(seen, wanted)
    for _ in range(_FOLLOWED):
        body = record.body
        original = body.recalls if isinstance(body, ToolArtifact) and not body.content else None
        found = seen.get(original) if original is not None else None
        if found is None:
            break
        record = found
    if record.header.kind not in ("message", "artifact", "episode"):
        raise _unknown(wanted)
    return record


def _of_turns(seen: Sight, first: int, last: int) -> Record:
    """The episode of the reader that tells of these turns."""
    reader = Reader(seen.boundary.participant, seen.boundary.run)
    key = seen.session.conversation.key
    known = Compactions(ledger=seen.session.ledger, key=key, lineage=seen.lineage, reader=reader)
    found = known.telling(first, last)
    exact = [one for one in found if isinstance(one.body, Episode) and one.body.turns == (first, last)]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if not found:
        raise NotFound(f"no episode tells of turn {first:,}; a query finds references")
    named = ", ".join(reference(one.id) for one in found[:_CANDIDATES])
    others = ", ..." if len(found) > _CANDIDATES else ""
    raise NotFound(f"{len(found)} episodes tell of turns {first:,} to {last:,}: {named}{others}")


def _listed(seen: Sight, wanted: str) -> Record | None:
    """The record of the newest sheet that is meant; None where none is, or several are."""
    found = [id for id in seen.listed() if means(id, wanted)]
    meant = [id for id in found if exactly(id, wanted)] or found
    return seen.get(meant[0]) if len(meant) == 1 else None


def _beginning(seen: Sight, wanted: str) -> Record:
    scanned = islice(seen.newest("message", "artifact", "episode"), _SCANNED)
    found = [record for record in scanned if means(record.id, wanted)]
    known = {record.id for record in found}
    given = [id for id in sorted(seen.opened()) if means(id, wanted) and id not in known]
    found += [record for record in map(seen.get, given) if record is not None]
    meant = [record for record in found if exactly(record.id, wanted)] or found
    if not meant:
        raise _unknown(wanted)
    if len(meant) > 1:
        named = ", ".join(record.id for record in reversed(meant[:_CANDIDATES]))
        others = ", ..." if len(meant) > _CANDIDATES else ""
        raise NotFound(f"{len(meant)} references begin with {_short(wanted)!r}: {named}{others}")
    return meant[0]


def _unknown(wanted: str) -> NotFound:
    return NotFound(f"there is no reference {_short(wanted)!r}; a query finds references")


def _storable(text: str) -> bool:
    return bool(text) and "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _short(text: str) -> str:
    shown = _UNMARKED.text(text[:READ])
    return shown if len(shown) <= 80 else shown[:80] + "…"
