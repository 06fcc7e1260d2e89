"""T-2107, the monthly close: questions answered from two exports, some of them hours later."""

import csv
import io

from examples.support_desk.desk import Desk
from examples.support_desk.script.words import day
from examples.support_desk.shop.money import cents, euros
from examples.support_desk.toolset import export_orders_csv, get_ticket, update_ticket

FEBRUARY, JANUARY, DECEMBER = "2026-02", "2026-01", "2025-12"
Rows = list[dict[str, str]]


def _rows(export: str, *states: str) -> Rows:
    rows = list(csv.DictReader(io.StringIO(export)))
    return [row for row in rows if not states or row["status"] in states]


def _sum(rows: Rows) -> str:
    return euros(sum(cents(row["total"]) for row in rows))


def _permille(part: Rows, whole: Rows) -> int:
    return (1000 * len(part) + len(whole) // 2) // len(whole)


def february(desk: Desk) -> None:
    desk.user(
        "Something internal while it is quiet: T-2107, Birgit and her February close. Can you work through her list?"
    )
    desk.call(get_ticket, ticket_id="T-2107")
    export = desk.call(export_orders_csv, month=FEBRUARY)
    returned, cancelled = _rows(export, "returned"), _rows(export, "cancelled")
    under_way = _rows(export, "processing", "shipped")
    table = "\n".join(
        f"| {row['order_id']} | {row['status']} | {row['total']} | {row['payment_id']} |" for row in under_way
    )
    desk.say(
        f"February has {len(_rows(export))} orders.\n\n"
        f"(1) Returned: {len(returned)}, together EUR {_sum(returned)}. Cancelled: {len(cancelled)}, together EUR "
        f"{_sum(cancelled)}.\n\n"
        f"(2) Not delivered yet: {len(under_way)}, together EUR {_sum(under_way)}.\n\n"
        f"| order | status | total | payment |\n|---|---|--:|---|\n{table}\n\n"
        "For the comparison with January I need a second export. Shall I?"
    )


def january(desk: Desk) -> None:
    desk.user("Yes, and put both answers on her ticket.")
    export = desk.call(export_orders_csv, month=JANUARY)
    february = desk.seen(export_orders_csv, FEBRUARY)
    then = _permille(_rows(export, "returned"), _rows(export))
    now = _permille(_rows(february, "returned"), _rows(february))
    trend = f"{'up' if now > then else 'down'} by {abs(now - then) / 10:.1f} points"
    desk.call(
        update_ticket,
        ticket_id="T-2107",
        idempotency_key="t2107-figures",
        note=f"Feb: returned {len(_rows(february, 'returned'))} / EUR {_sum(_rows(february, 'returned'))}, cancelled "
        f"{len(_rows(february, 'cancelled'))} / EUR {_sum(_rows(february, 'cancelled'))}. Share of returns "
        f"{now / 10:.1f} % against {then / 10:.1f} % in January, {trend}. List of open orders: see chat of the desk, "
        "2 March.",
        status="solved",
    )
    desk.say(
        f"January: {len(_rows(export, 'returned'))} returns in {len(_rows(export))} orders, {then / 10:.1f} %. "
        f"February: {now / 10:.1f} %. So {trend}. By number of orders, that is; late returns of February may still "
        "come, so the figure is one of today. It is all on T-2107."
    )


def largest(desk: Desk) -> None:
    desk.user("She is curious: what was the largest single return in February, and whose was it?")
    returned = _rows(desk.seen(export_orders_csv, FEBRUARY), "returned")
    top = max(returned, key=lambda row: cents(row["total"]))
    desk.say(
        f"{top['order_id']} of {day(top['placed_at'])}: EUR {top['total']}, {top['pieces']} pieces, customer "
        f"{top['customer_id']} in {top['country']}. The payment it was taken from is {top['payment_id']}."
    )


def british(desk: Desk) -> None:
    desk.user(
        "Birgit once more (T-2107): customs wants the orders to the UK for the three months, December too, number "
        "and goods value without shipping."
    )
    desk.call(export_orders_csv, month=DECEMBER)
    parts: list[str] = []
    ids: list[str] = []
    for name, month in (("December", DECEMBER), ("January", JANUARY), ("February", FEBRUARY)):
        rows = [row for row in _rows(desk.seen(export_orders_csv, month)) if row["country"] == "GB"]
        kept = [row for row in rows if row["status"] != "cancelled"]
        goods = euros(sum(cents(row["goods"]) for row in kept))
        parts.append(f"- {name}: {len(kept)} orders, goods EUR {goods}")
        ids.extend(f"{row['order_id']} ({row['goods']})" for row in kept)
    desk.say(
        "December is fresh, the other two months are from the exports of this afternoon. Cancelled orders left "
        "out:\n\n"
        + "\n".join(parts)
        + f"\n\nThe orders one by one: {', '.join(ids)}. The replacement for Mrs Okonkwo is not among them, it leaves "
        "in March and without value for sale."
    )
