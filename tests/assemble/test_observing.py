"""Which of two observations is marked: by what stands above it alone."""

from msgspec.structs import replace

from callsheet.assemble import standins
from callsheet.assemble.observing import observed
from callsheet.graph.canonical import content_digest
from callsheet.graph.enums import ArtifactStatus, Level, Role
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection, ToolArtifact
from callsheet.graph.record import Record
from callsheet.graph.times import Instant
from tests.assemble.history import History, stands

HOUR = 3_600_000_000


def watched(*readings: str, failed: frozenset[int] = frozenset()) -> tuple[History, dict[RecordId, Record]]:
    """The same call again and again, an hour apart, with these results; those whose place is in `failed` failed."""
    history = History()
    for place, reading in enumerate(readings):
        (call,) = history.said(Role.ASSISTANT, None, (f"w{place}", "tide"))
        history.result(call, reading, ArtifactStatus.FAILED if place in failed else ArtifactStatus.OK)
    records: dict[RecordId, Record] = {}
    for record in history.records:
        body = record.body
        if isinstance(body, ToolArtifact):
            same = content_digest(b"{}")
            digest = content_digest(readings[len(records)].encode())
            header = replace(record.header, at=Instant(len(records) * HOUR))
            record = Record(header=header, body=replace(body, arguments_digest=same, digest=digest))  # noqa: PLW2901
            records[record.id] = record
    return history, records


def marks(readings: tuple[str, ...], *order: int, level: Level = Level.DENSE, failed: int = -1) -> list[str]:
    history, records = watched(*readings, failed=frozenset({failed}))
    ids = list(records)
    found = observed([stands(ids[place], level) for place in order], records, history.calls)
    return [found.get(ids[place], "") for place in order]


TIDES = ("low", "high", "high")


def test_a_result_below_an_older_one_is_newer_and_below_a_newer_one_older() -> None:
    assert ["", standins.newer("01:00", "00:00")] == marks(TIDES, 0, 1)
    assert ["", standins.older("00:00", "01:00")] == marks(TIDES, 1, 0)


def test_what_is_equal_or_verbatim_or_withheld_or_failed_is_not_marked() -> None:
    assert ["", ""] == marks(TIDES, 1, 2)
    for level in (Level.RAW, Level.SAFE, Level.REF, Level.STALE):
        assert ["", ""] == marks(TIDES, 0, 1, level=level)
    assert ["", ""] == marks(TIDES, 0, 1, failed=1)


def test_appending_changes_no_mark() -> None:
    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        whole = marks(TIDES, *order)
        assert all(marks(TIDES, *order[:length]) == whole[:length] for length in (1, 2))


def test_days_apart_are_told_by_their_days() -> None:
    history, records = watched("low", "high")
    first, second = records.values()
    later = replace(second.header, at=Instant(second.header.at + 40 * 24 * HOUR))
    both = {first.id: first, second.id: Record(header=later, body=second.body)}
    shown: list[Selection] = [stands(id, Level.GIST) for id in both]
    assert {second.id: standins.newer("1970-02-10", "1970-01-01")} == observed(shown, both, history.calls)
