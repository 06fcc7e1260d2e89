"""Questions from the house: what has run out, and which printer it was."""

import csv
import io
import re

from examples.support_desk.desk import Desk
from examples.support_desk.script.words import count, day, hour
from examples.support_desk.toolset import read_stock_export, search_log

Rows = list[dict[str, str]]


def _rows(export: str) -> Rows:
    return list(csv.DictReader(io.StringIO(export)))


def _empty(rows: Rows) -> list[str]:
    """Articles with nothing available in any warehouse."""
    left: dict[str, int] = {}
    for row in rows:
        left[row["sku"]] = left.get(row["sku"], 0) + int(row["available"])
    return sorted(sku for sku, available in left.items() if available == 0)


def printer(desk: Desk) -> None:
    desk.user(
        "Leipzig rings: do we know since when their label printer is acting up? They need it for the service contract."
    )
    log = desk.seen(search_log, "ERROR|WARN")
    offline = re.findall(r"(\S+Z) WARN  \[labels\] printer (LEI-\d) offline, job moved to (LEI-\d)", log)
    (first, name, other), (last, _, _) = offline[0], offline[-1]
    desk.say(
        f"From what I read this morning: {name} went offline {count(len(offline))} times over the weekend, first on "
        f"{day(first)} at {hour(first)}, last on {day(last)} at {hour(last)}. Each time the job moved to {other}, so "
        "no label was lost. Before Saturday the log does not reach."
    )


def run_out(desk: Desk) -> None:
    desk.user(
        "Ida from purchasing, over lunch: which tents and sleeping bags have run out completely? Last night's file "
        "is good enough for her."
    )
    with desk.together() as step:
        tents = _rows(step.call(read_stock_export, category="Tents"))
        bags = _rows(step.call(read_stock_export, category="Sleeping bags"))
    gone = _empty(tents) + _empty(bags)
    lines = []
    for sku in gone:
        due = [row for row in tents + bags if row["sku"] == sku and row["next_delivery"]]
        dates = ", ".join(f"{row['warehouse']} {row['next_delivery'][5:]} ({row['next_quantity']})" for row in due)
        lines.append(f"- {sku}: {dates or 'no delivery planned'}")
    desk.say(
        f"By the file of 02:00, {count(len(gone))} of {len({row['sku'] for row in tents + bags})} articles. What is "
        "on the way "
        "(warehouse, day, pieces):\n\n" + "\n".join(lines) + "\n\n"
        "Everything else has at least one piece somewhere. The file knows nothing of today's reservations."
    )


def thin(desk: Desk) -> None:
    desk.user("She asks back: and of which is there exactly one piece left in the whole company, and where?")
    rows = [row for name in ("Tents", "Sleeping bags") for row in _rows(desk.seen(read_stock_export, name))]
    total: dict[str, int] = {}
    for row in rows:
        total[row["sku"]] = total.get(row["sku"], 0) + int(row["available"])
    last = [row for row in rows if total[row["sku"]] == 1 and row["available"] == "1"]
    found = [
        f"{row['sku']}, in {row['warehouse']} (next delivery there: {row['next_delivery'] or 'none'})" for row in last
    ]
    desk.say(f"From the same two lists, {count(len(last))}: {'; '.join(found)}.")


def low_tents(desk: Desk) -> None:
    desk.user(
        "Ida, last question for today: how many Skarv 3 in sand did we have per warehouse, and is any coming? She "
        "has lost the list."
    )
    rows = [row for row in _rows(desk.seen(read_stock_export, "Tents")) if row["sku"] == "TNT-SKARV3-SND"]
    held = ", ".join(
        f"{row['warehouse']} {row['available']} ({row['on_hand']} less {row['reserved']} reserved)" for row in rows
    )
    coming = [row["next_delivery"] for row in rows if row["next_delivery"]]
    desk.say(
        f"TNT-SKARV3-SND, by last night's file: {held}. "
        f"{'Next: ' + ', '.join(coming) if coming else 'No delivery is planned'}, and with that stock none is "
        "needed."
    )
