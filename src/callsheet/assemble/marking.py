"""What stands beside a result: replaced, observed otherwise, out of date, or to be tried again on some terms."""

from collections.abc import Mapping
from dataclasses import dataclass

from callsheet.assemble import standins
from callsheet.assemble.material import Material
from callsheet.graph.enums import ArtifactStatus, Level, Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection, ToolArtifact
from callsheet.graph.times import Instant, to_datetime

_TOLD = frozenset({Level.RAW, Level.DENSE, Level.FOCUS, Level.GIST})

_NOTHING_TO_RETRY = frozenset({ArtifactStatus.OK, ArtifactStatus.PARTIAL, ArtifactStatus.CANCELLED})


@dataclass(frozen=True, kw_only=True, slots=True)
class Marks:
    """The marks of the results of one request."""

    material: Material
    #: Of results that differ from another one of the same call above them: which of the two they are.
    observed: Mapping[RecordId, str]

    def before(self, selection: Selection) -> str:
        """What stands before a result: that it was replaced, or which of two observations it is."""
        record = self.material.records[selection.record]
        told = selection.level in _TOLD
        if selection.reason is Reason.SUPERSEDED and told and isinstance(record.body, ToolArtifact):
            return standins.as_it_was(day(record.header.at))
        # A line that tells nothing needs none, also where the same result is told above it.
        return self.observed.get(selection.record, "") if told else ""

    def behind(self, selection: Selection) -> str:
        """Behind the line of a result in a note: how to learn how it is now, or on what terms it may be tried again."""
        body = self.material.records[selection.record].body
        if not isinstance(body, ToolArtifact) or selection.level is Level.SAFE:
            return ""
        tools = self.material.rechecks_of(body) if selection.level is Level.STALE else ()
        return f"; {standins.check_again(tools)}" if tools else f" {terms}" if (terms := retry_terms(body)) else ""


def retry_terms(body: ToolArtifact) -> str:
    """On what terms a result that is no success may be tried again; empty where none are known."""
    retry = body.retry
    if retry is None or body.status in _NOTHING_TO_RETRY:
        return ""
    after = f"{to_datetime(retry.retry_after):%Y-%m-%d %H:%M} UTC" if retry.retry_after is not None else None
    return standins.terms(retry.attempts, retry.limit, after, safe=retry.safe)


def day(moment: Instant) -> str:
    """The day of a moment, as it stands in a request."""
    return f"{to_datetime(moment):%Y-%m-%d}"
