"""Results of one call that differ: which of two observations in a request is the newer one, with their dates.

Nothing here supersedes anything: without a contract that says that a tool reads current state, both stand.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from callsheet.assemble import standins
from callsheet.graph.enums import ArtifactStatus, Level
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection, ToolArtifact, ToolCall
from callsheet.graph.record import Record
from callsheet.graph.times import Instant, to_datetime

Above: TypeAlias = dict[tuple[str, str], dict[RecordId, Record]]
"""The results that stand above, by tool and arguments."""

_TOLD = frozenset({Level.DENSE, Level.FOCUS, Level.GIST})


def observed(
    selections: Sequence[Selection],
    records: Mapping[RecordId, Record],
    calls: Mapping[RecordId, ToolCall],
    above: Above | None = None,
) -> dict[RecordId, str]:
    """What stands before a result where a request shows another one of the same tool and arguments above it.

    A function of what stands above a result alone, so that appending changes nothing. What is shown verbatim is left
    as it is, and what failed observed nothing. `above` is what stands above all of these, and is told of them.
    """
    above = {} if above is None else above
    marks: dict[RecordId, str] = {}
    for selection in selections:
        record = records[selection.record]
        body = record.body
        if not isinstance(body, ToolArtifact) or body.status is not ArtifactStatus.OK or selection.level not in _TOLD:
            continue
        call = calls.get(body.call) if body.call is not None else None
        if call is None or body.digest is None or body.arguments_digest is None:
            continue
        others = above.setdefault((call.tool, body.arguments_digest), {})
        differing = [other for other in others.values() if getattr(other.body, "digest", None) != body.digest]
        if differing:
            newest = max(differing, key=lambda other: other.position)
            own, other = _dates(record.header.at, newest.header.at)
            newer = record.position > newest.position
            if own != other:
                # Of the same minute, their order says as much.
                marks[record.id] = standins.newer(own, other) if newer else standins.older(own, other)
        others[record.id] = record
    return marks


def _dates(own: Instant, other: Instant) -> tuple[str, str]:
    """Both by their day, or on the same day by the time of it."""
    times = to_datetime(own), to_datetime(other)
    form = "%H:%M" if times[0].date() == times[1].date() else "%Y-%m-%d"
    return f"{times[0]:{form}}", f"{times[1]:{form}}"
