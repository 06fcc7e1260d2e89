"""C-1026, a mountain guide with a dead watch: warranty, a serial number read twice, a successor sent."""

from examples.support_desk.desk import Desk
from examples.support_desk.script.words import day
from examples.support_desk.toolset import (
    check_stock,
    find_customer,
    get_order,
    get_product,
    get_ticket,
    list_orders,
    read_policy,
    reserve_stock,
    update_ticket,
)

CUSTOMER, ORDER, TICKET = "C-1026", "SO-20417", "T-2105"
OLD, NEW = "NAV-KOMPASS2-SND", "NAV-KOMPASS3-SND"
KEY = "reid-watch-successor"


def warranty(desk: Desk) -> None:
    desk.user(
        "T-2105, a mountain guide from Inverness with a dead watch. Is that under warranty? I only have his mail "
        "address, callum.reid@..."
    )
    with desk.together() as step:
        step.call(get_ticket, ticket_id=TICKET)
        customer = step.call(find_customer, query="callum.reid@")[0]
    orders = desk.call(list_orders, customer_id=customer.customer_id)
    watch = next(order for order in orders if any("KOMPASS" in article for article in order.articles))
    with desk.together() as step:
        order = step.call(get_order, order_id=watch.order_id)
        product = step.call(get_product, sku=OLD)
        step.call(read_policy, code="WAR-03", version=1)
    desk.say(
        f"Yes. The watch is on {order.order_id}, delivered on {day(order.shipments[0].delivered_at or '')}, so "
        f"WAR-03 version 2 applies (deliveries since June 2025): {product.warranty_months} months, displays included "
        "unless the glass is broken. Version 1 would have given the display twelve, which would have been enough "
        "too.\n\n"
        "We need two pictures: the fault and the serial on the back. There is a serial on the order; let him send "
        f"his before we name it. The model ran out on {day(product.discontinued or '')}, and section 4 gives him the "
        f"successor at no cost, {product.successor}, in the same colour."
    )


def pictures_asked(desk: Desk) -> None:
    desk.user("Asked him for both, he is out with a group until two. He is C-1026 when he comes back.")
    desk.call(
        update_ticket,
        ticket_id=TICKET,
        idempotency_key="t2105-pictures",
        note="Display fault, inside warranty (WAR-03 v2 s1). Asked for pictures of fault and serial. Successor if "
        "confirmed.",
        status="waiting",
    )
    desk.say(
        "Noted and waiting. When the picture comes, please read the serial to me digit by digit; I compare it with "
        "the order."
    )


def letter_o(desk: Desk) -> None:
    desk.user(
        "C-1026, Callum Reid, pictures are in. Lower half blank, glass is whole. On the back I read KO2-2544-O7713, "
        "with a capital O after the second dash. Is that our watch?"
    )
    serial = desk.seen(get_order, ORDER).lines[0].serial
    desk.say(
        f"Almost. {ORDER} has {serial}, with a zero where you read an O; the rest agrees. WAR-03 section 3 wants the "
        "same serial, not nearly the same, so I would not wave it through on a guess. Could you zoom in, or ask him "
        "what it says in the watch under *About*?"
    )


def zero(desk: Desk) -> None:
    desk.user("Zoomed in. There is a slash through it, so it is a zero. Sorry, my eyes. Do we have the successor?")
    stock = desk.call(check_stock, sku=NEW)
    free = {level.warehouse: level.available for level in stock.warehouses}
    ham = next(level for level in stock.warehouses if level.warehouse == "HAM")
    desk.say(
        f"Then it is ours. Kompass 3 in sand: {free['ROT']} in Rotterdam, {free['LEI']} in Leipzig, Hamburg gets "
        f"{ham.next_quantity} on {day(ham.next_delivery or '')}. His order went standard, so does the replacement: "
        "usually three to four working days from Rotterdam, five to seven from Leipzig (SHP-02). Rotterdam?"
    )


def successor(desk: Desk) -> None:
    desk.user("Rotterdam, yes. And he asks whether his expensive strap fits the new one.")
    serial = desk.seen(get_order, ORDER).lines[0].serial
    with desk.together() as step:
        held = step.call(reserve_stock, sku=NEW, warehouse="ROT", quantity=1, reference=ORDER, idempotency_key=KEY)
        product = step.call(get_product, sku=NEW)
    desk.call(
        update_ticket,
        ticket_id=TICKET,
        idempotency_key="t2105-successor",
        note=f"Serial in picture {serial} = order. Fault plain. Successor {NEW}, {held.reservation_id}, ROT. New "
        "serial to be added at packing. WAR-03 v2 s4.",
        status="open",
        add_tags=["replacement", "label"],
    )
    fits = "22 mm strap" in product.description
    desk.say(
        f"Reserved: {held.reservation_id}. And {'yes, his strap fits' if fits else 'no, his strap does not fit'}: "
        "the catalogue says *same 22 mm strap*. The warranty goes on from the first delivery; it does not start "
        "again (section 4), in case he asks. Battery, if he wants something to look forward to: "
        f"{product.specs['battery']}."
    )


def form(desk: Desk) -> None:
    desk.user(
        "Last one for C-1026: the form for his return label wants tracking number and delivery day of the faulty "
        "watch, and its value."
    )
    order = desk.seen(get_order, ORDER)
    first = order.shipments[0]
    desk.say(
        f"Tracking {first.tracking_number} ({first.carrier}), delivered 2025-12-03, value EUR "
        f"{order.lines[0].total}. If it asks for the shipment as well: {first.shipment_id}. The map case on the same "
        "order is not part of the claim."
    )
