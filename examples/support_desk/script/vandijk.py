"""C-1031, a bike rental that wants two dozen panniers: last night's export, live stock, a quote, reservations."""

import re

from examples.support_desk.desk import Desk
from examples.support_desk.script.words import count, day, hour
from examples.support_desk.shop.money import cents, euros, share
from examples.support_desk.toolset import (
    check_stock,
    get_order,
    get_ticket,
    list_orders,
    read_policy,
    read_stock_export,
    reserve_stock,
    search_log,
    search_products,
    update_ticket,
)

CUSTOMER = "C-1031"
BLACK, GREEN = "BIK-ROLLO20-BLK", "BIK-ROLLO20-GRN"
FIRST, SECOND, THIRD = "wadvaart-black-16", "wadvaart-green-6", "wadvaart-black-3"
TICKET = "T-2103"
DISCOUNT = 8


def _piece(desk: Desk) -> int:
    """The price of one pannier in cents, with the discount of the tier from 20 to 39 pieces."""
    hits = desk.seen(search_products, "pannier")
    full = cents(next(hit.price for hit in hits if hit.sku == BLACK))
    return full - share(full, DISCOUNT)


def _night(export: str) -> int:
    """The black panniers that last night's export had available in Hamburg."""
    row = next(line for line in export.splitlines() if line.startswith(BLACK) and ",HAM," in line)
    return int(row.split(",")[-3])


def on_paper(desk: Desk) -> None:
    desk.user("A business customer now: Wadvaart in Harlingen, C-1031, ticket T-2103. Can we do what she asks?")
    with desk.together() as step:
        step.call(get_ticket, ticket_id=TICKET)
        hits = step.call(search_products, query="pannier", category="Bike bags")
    export = desk.call(read_stock_export, category="Bike bags")
    night = _night(export)
    desk.say(
        f"What she describes is the Rollo 20 (watertight, 20 litres, EUR {hits[0].price}), in black or moss green. "
        f"By last night's export Hamburg alone has {night} black ones available, so 24 from one place look possible. "
        "That file is from 02:00, though, and I would not quote on it. Shall I read the live stock?"
    )


def live(desk: Desk) -> None:
    desk.user("Yes, better. We have burnt our fingers on that file before.")
    with desk.together() as step:
        black = step.call(check_stock, sku=BLACK)
        green = step.call(check_stock, sku=GREEN)
    blacks = {level.warehouse: level.available for level in black.warehouses}
    greens = {level.warehouse: level.available for level in green.warehouses}
    night = _night(desk.seen(read_stock_export, "Bike bags"))
    desk.say(
        f"And again we would have: live it is {blacks['HAM']} black in Hamburg, {count(night - blacks['HAM'])} fewer "
        "than the export says. The export is a picture of the night, the live figure is what can be picked, so I go "
        "by the live one.\n\n"
        "| | HAM | LEI | ROT |\n|---|--:|--:|--:|\n"
        f"| black | {blacks['HAM']} | {blacks['LEI']} | {blacks['ROT']} |\n"
        f"| green | {greens['HAM']} | {greens['LEI']} | {greens['ROT']} |\n\n"
        f"All 24 in one colour from one warehouse is not possible. {blacks['HAM']} black and {24 - blacks['HAM']} "
        "green from Hamburg is, in one parcel."
    )


def price(desk: Desk) -> None:
    desk.user("She would take the mix. What does it cost her?")
    desk.call(read_policy, code="B2B-06")
    piece = _piece(desk)
    desk.say(
        f"B2B-06 v2 counts the colours of one model together, so 24 pieces are in the tier from 20 to 39: {DISCOUNT} "
        f"% off. That is EUR {euros(piece)} apiece, **EUR {euros(24 * piece)}** in all incl. VAT, shipping to the "
        "Netherlands free. Invoice, 14 days net. We may hold them for her for five working days without payment."
    )


def quoted(desk: Desk) -> None:
    desk.user(
        "Quote is out. She wants to talk to her partner, he is on the boat until noon. Note it, no reservation yet."
    )
    desk.call(
        update_ticket,
        ticket_id=TICKET,
        idempotency_key="t2103-quote-24",
        note=f"Quoted 24 x Rollo 20 (19 black, 5 green, HAM) at EUR {euros(_piece(desk))} each, B2B-06 v2. Nothing "
        "reserved.",
        status="waiting",
    )
    desk.say("Noted. Until she answers, the 19 in Hamburg are anybody's.")


def reserved(desk: Desk) -> None:
    desk.user(
        "Noor van Dijk again, C-1031. It is 22 now, 16 black and 6 green, all from Hamburg. If they are still "
        "there, reserve them."
    )
    with desk.together() as step:
        black = step.call(check_stock, sku=BLACK)
        green = step.call(check_stock, sku=GREEN)
    with desk.together() as step:
        first = step.call(
            reserve_stock, sku=BLACK, warehouse="HAM", quantity=16, reference=TICKET, idempotency_key=FIRST
        )
        second = step.call(
            reserve_stock, sku=GREEN, warehouse="HAM", quantity=6, reference=TICKET, idempotency_key=SECOND
        )
    piece = _piece(desk)
    desk.say(
        f"They were: {black.warehouses[0].available} black and {green.warehouses[0].available} green a minute ago. "
        f"Reserved in Hamburg until {day(first.expires_at)}: {first.reservation_id} for the black ones, "
        f"{second.reservation_id} for the green. That empties the green shelf there.\n\n22 pieces keep the "
        f"{DISCOUNT} %: 22 x {euros(piece)} = **EUR {euros(22 * piece)}**."
    )


def invoice(desk: Desk) -> None:
    desk.user(
        "By the way, she says: her bookkeeper cannot find the February invoice for the bike lights. What did she "
        "pay per set?"
    )
    orders = desk.call(list_orders, customer_id=CUSTOMER)
    order = desk.call(get_order, order_id=orders[0].order_id)
    lights = order.lines[0]
    each = euros(cents(lights.total) // lights.quantity)
    desk.say(
        f"{lights.quantity} sets on {order.order_id} of {day(order.placed_at)}: EUR {lights.unit_price} list, "
        f"{lights.discount} discount on the line, so {lights.total} together and **EUR {each} a set**. With the tool "
        f"bags the whole invoice was EUR {order.total}. Her bookkeeper can search for "
        f"{order.payments[0].gateway_ref}, that is the reference on it."
    )


def four_more(desk: Desk) -> None:
    desk.user(
        "C-1031, Wadvaart, last time today I hope. Her partner wants four more in black, also from Hamburg. And she "
        "tried SPRING15 with us on Saturday and it failed: does she get those 15 % on top?"
    )
    stock = desk.call(check_stock, sku=BLACK)
    free = {level.warehouse: level.available for level in stock.warehouses}
    log = desk.seen(search_log, r"coupon SPRING15|\[deploy\]")
    tried = re.search(
        rf"(\S+Z) ERROR \[checkout\] (req_\w+) coupon SPRING15 failed customer={CUSTOMER} cart=([\d.]+)", log
    )
    assert tried is not None
    desk.say(
        f"Four no, {count(free['HAM'])} yes: the 19 of this morning are gone, 16 of them are her own. The next ones "
        f"are in Rotterdam ({free['ROT']}), which would mean a second parcel at no extra charge (B2B-06 section "
        "3).\n\n"
        f"SPRING15: she is right that it failed, the log has her on {day(tried[1])} at {hour(tried[1])} with a cart "
        f"of EUR {tried[3]} ({tried[2]}). But the volume discount is not combined with codes, section 1 names "
        "SPRING15 itself. So no, and it would not have worked on Saturday either."
    )


def three_more(desk: Desk) -> None:
    desk.user("Fair enough, she laughs. Three from Hamburg then, no second parcel. New total?")
    third = desk.call(reserve_stock, sku=BLACK, warehouse="HAM", quantity=3, reference=TICKET, idempotency_key=THIRD)
    first = desk.seen(reserve_stock, FIRST)
    second = desk.seen(reserve_stock, SECOND)
    piece, pieces = _piece(desk), first.quantity + second.quantity + third.quantity
    total = euros(pieces * piece)
    desk.call(
        update_ticket,
        ticket_id=TICKET,
        idempotency_key="t2103-reserved-25",
        note=f"Reserved in HAM: {first.reservation_id} (16 black), {second.reservation_id} (6 green), "
        f"{third.reservation_id} (3 black). {pieces} x EUR {euros(piece)} = EUR {total}, B2B-06 v2. Order to be "
        "placed against these.",
        status="open",
    )
    desk.say(
        f"{third.reservation_id}. Together {pieces} pieces: {pieces} x {euros(piece)} = **EUR {total}**. All three "
        "reservation numbers are on the ticket; the order has to be placed against them by Monday."
    )
