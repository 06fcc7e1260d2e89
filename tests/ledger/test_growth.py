"""A store grows with what is new in it, and reading from it does not slow down with what is old."""

import random
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from callsheet.graph.nodes import ContinuationCheckpoint, ToolArtifact
from callsheet.graph.ports import Append
from callsheet.graph.values import Text
from callsheet.ledger.contract.making import Making
from callsheet.ledger.prepare import owner_of
from callsheet.ledger.sqlite import Durability, SqliteLedger
from callsheet.ledger.sqlite.queries import queries, query

STEPS = 500
MEGABYTE = 1_000_000


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def test_equal_results_are_stored_once_and_the_file_grows_with_the_steps(tmp_path: Path) -> None:
    ledger, making = SqliteLedger.open(tmp_path / "store.db", durability=Durability.NORMAL), Making()
    stream = making.stream()
    same = random.Random(1).randbytes(2 * MEGABYTE)
    sizes: dict[int, int] = {}
    for step in range(1, STEPS + 1):
        drafts = [
            making.said(f"{step} " + random.Random(step).randbytes(500).hex()),
            making.draft(ContinuationCheckpoint(reason=f"step {step}")),
        ]
        if step % 10 == 0:
            payload = ledger.stash(owner_of(stream), same)
            drafts.append(making.draft(ToolArtifact(content=(Text(text=payload),))))
        ledger.append([Append(stream=stream, drafts=tuple(drafts))])
        if step in (STEPS // 2, STEPS):
            ledger._connections.empty_log()
            sizes[step] = size(tmp_path)
    assert sizes[STEPS] <= 2.3 * sizes[STEPS // 2]
    assert sizes[STEPS] < 12 * MEGABYTE
    assert len(list((tmp_path / "store.db.blobs").glob("??/*"))) == 1


READING = (
    "stream_by_id",
    "stream_by_name",
    "records",
    "records_by_row",
    "records_by_id",
    "root_branch",
    "record_anywhere",
    "series_oldest",
    "series_newest",
    "series_oldest_anywhere",
    "series_newest_anywhere",
    "states_of_targets",
    "states_of_field",
    "targets_with_value",
    "links_by_source",
    "links_by_target",
    "indexes_between",
    "indexes_at",
    "ids_at",
    "postings_of_name",
    "stream_place",
    "blocks",
    "key_row",
    "blob",
)


@pytest.mark.parametrize("name", READING)
def test_reading_never_scans_a_table(tmp_path: Path, name: str) -> None:
    path = tmp_path / "store.db"
    SqliteLedger.open(path).close()
    text = query(name, 4)
    named = dict.fromkeys(re.findall(r":(\w+)", text), "x")
    numbered = max(map(int, re.findall(r"\?(\d+)", text)), default=text.count("?"))
    with closing(sqlite3.connect(path)) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {text}", named or ("x",) * numbered).fetchall()
    tables = "stream|record|state|earlier|link|posting|block|blob|keyring"
    steps = [step for _, _, _, step in plan if re.match(rf"(SCAN|SEARCH) ({tables})\b", step)]
    assert steps
    assert [step for step in steps if step.startswith("SCAN")] == []
    if name in {"indexes_between", "postings_of_name"} or (name.startswith("series") and not name.endswith("anywhere")):
        assert [step for _, _, _, step in plan if "TEMP B-TREE" in step] == []


def test_every_query_has_a_purpose_and_a_user() -> None:
    folder = Path(__file__).parents[2] / "src" / "callsheet" / "ledger" / "sqlite"
    code = "".join(path.read_text() for path in folder.glob("*.py"))
    composed = {f"series_{end}{where}" for end in ("oldest", "newest") for where in ("", "_anywhere")}
    composed |= {"links_by_source", "links_by_target"}
    names = queries().keys()
    assert composed < names
    assert [name for name in names - composed if f'"{name}"' not in code] == []
    assert (folder / "queries.sql").read_text().count("\n-- ") + 1 == 2 * len(names)
