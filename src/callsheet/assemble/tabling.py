"""Results of one shape in a note, as one table: what each repeats of its fields' names is told once."""

import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from callsheet.derive.notation import indented, tool_name
from callsheet.derive.reading import read
from callsheet.graph.ids import RecordId

REFERENCE: Final = "ref"
"""The column of the references under which the results are kept."""

ASKED: Final = "asked"
"""The column of what was asked, as far as no field of the result repeats it."""

LARGEST: Final = 4_000
"""Characters of a result beyond which its row could not be followed."""

WORTH: Final = 0.9
"""How long a table may be of what its results take one by one; else the order in which they came is worth more."""


class Row(NamedTuple):
    """A result that could stand in a table."""

    #: Empty where references are not shown.
    reference: str
    tool: str
    #: What was asked, as JSON.
    arguments: str
    raw: str
    #: The day on which it was observed.
    day: str


def tables(rows: Mapping[RecordId, Row], lines: Mapping[RecordId, str]) -> tuple[dict[RecordId, str], set[RecordId]]:
    """Texts of tables by the first result of each, and the results that stand in the table of an earlier one.

    Results of one tool, one day and the same fields share a table, where it is shorter than their `lines`.
    """
    alike: dict[tuple[str, str, tuple[str, ...]], list[RecordId]] = {}
    objects: dict[RecordId, str] = {}
    for id, row in rows.items():
        read_in = _object(row)
        if read_in is not None:
            shape, objects[id] = read_in
            alike.setdefault((row.tool, row.day, shape), []).append(id)
    told: dict[RecordId, str] = {}
    within: set[RecordId] = set()
    for (tool, _, _), ids in alike.items():
        text = _table(tool, [objects[id] for id in ids]) if len(ids) > 1 else None
        if text is not None and len(text) < WORTH * sum(len(lines[id]) for id in ids):
            told[ids[0]] = text
            within.update(ids[1:])
    return told, within


def _table(tool: str, objects: Sequence[str]) -> str | None:
    """The table of JSON objects; None where their values have too little in common for one."""
    dense = read(f"[{','.join(objects)}]", "").dense()
    head = f"[{len(objects)}]{{"
    return indented(f"[{len(objects)} results] {tool_name(tool)}:\n{dense}") if dense.startswith(head) else None


def _object(row: Row) -> tuple[tuple[str, ...], str] | None:
    """The names of a result's fields, and the result with what stands before them; None for what is no object."""
    raw = row.raw.strip()
    if len(raw) > LARGEST or not raw.startswith("{"):
        return None
    try:
        value, asked = json.loads(raw), json.loads(row.arguments or "{}")
    except (ValueError, RecursionError):
        return None
    if not isinstance(asked, dict) or not value or REFERENCE in value or ASKED in value:
        return None
    unsaid = {name: given for name, given in asked.items() if name not in value or value[name] != given}
    before = ({REFERENCE: row.reference} if row.reference else {}) | ({ASKED: unsaid} if unsaid else {})
    head = json.dumps(before, ensure_ascii=False)[1:-1]
    return tuple(value), "{" + (f"{head}," if head else "") + raw[1:]
