"""Two short ones from the phone: an order number that does not exist, and somebody whose coupon failed."""

import re

from examples.support_desk.desk import Desk
from examples.support_desk.script.words import day, hour
from examples.support_desk.toolset import find_customer, get_order, list_orders, search_log, track_parcel

COUPON_LOG = r"coupon SPRING15|\[deploy\]"


def wrong_number(desk: Desk) -> None:
    desk.user("Quick one on the phone: Bram from Utrecht, order SO-21701, has it left?")
    desk.failing(get_order, order_id="SO-21701")
    with desk.together("No such order. Let me find him by name.") as step:
        customers = step.call(find_customer, query="Bram")
    orders = desk.call(list_orders, customer_id=customers[0].customer_id, limit=5)
    newest = orders[0]
    desk.say(
        "SO-21701 does not exist, our numbers have not got that far. There is one Bram in Utrecht, "
        f"{customers[0].name} ({customers[0].customer_id}); his newest order is {newest.order_id} of "
        f"{day(newest.placed_at)}, *{newest.status}*. Before you tell him more, let him give you his e-mail or "
        "postcode."
    )


def depot(desk: Desk) -> None:
    desk.user("Postcode 3511 NK, that is him, he took a zero for a one. Where is the parcel?")
    customer = desk.seen(find_customer, "Bram")[0]
    newest = desk.seen(list_orders, customer.customer_id)[0]
    parcel = desk.call(track_parcel, tracking_number=newest.tracking_number or "")
    last = parcel.events[-1]
    desk.say(
        f"With {parcel.carrier}, {parcel.tracking_number}: *{last.text}*, {last.place}, {day(last.at)} at "
        f"{hour(last.at)}. So it has left, and is nearly there. What is missing is *out for delivery*; until that "
        "comes I would not name a day."
    )


def kowalke(desk: Desk) -> None:
    desk.user(
        "Sabine Kowalke, C-1003, on the phone: she tried SPRING15 twice on Saturday. Is she on our list, and did "
        "she buy anyway?"
    )
    log = desk.seen(search_log, COUPON_LOG)
    carts = re.findall(r"(req_\w+) coupon SPRING15 failed customer=C-1003 cart=([\d.]+)", log)
    orders = desk.call(list_orders, customer_id="C-1003", limit=3)
    tries = " and ".join(f"EUR {cart} ({request})" for request, cart in carts)
    desk.say(
        f"She is, with {len(carts)} attempts: {tries}. She has not bought since: her newest order is "
        f"{orders[0].order_id} of {day(orders[0].placed_at)}, EUR {orders[0].total}, *{orders[0].status}*. So "
        "nothing to correct on our side, the code works now and she can simply try again."
    )


def cart(desk: Desk) -> None:
    desk.user(
        "Frau Kowalke, C-1003, again. She asks what exactly was the cart that failed last, so that she can put it "
        "together once more."
    )
    log = desk.seen(search_log, COUPON_LOG)
    request, value = re.findall(r"(req_\w+) coupon SPRING15 failed customer=C-1003 cart=([\d.]+)", log)[-1]
    lines = desk.call(search_log, pattern=request, since="2026-02-28")
    count = lines.splitlines()[0]
    desk.say(
        f"The log knows the value, EUR {value}, but not what was in it: for {request} there is only the failed attempt "
        f"({count.split(': ')[1]}). Her browser may still have the cart. If it does not, she has to start over, and "
        "I would say so plainly."
    )
