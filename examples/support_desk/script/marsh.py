"""C-1023, a burgled shed: what an insurance and then the police want to know about four old orders."""

from examples.support_desk.desk import Desk
from examples.support_desk.script.words import count, day
from examples.support_desk.shop.money import cents, euros
from examples.support_desk.tools.orders import Order
from examples.support_desk.toolset import find_customer, get_order, get_product, list_orders

CUSTOMER = "C-1023"
STOLEN = ("BIK-BAR8-BLK", "NAV-TOUR-BLK", "STV-KOCH2-TI", "STV-KOCH2-CER", "LGT-NOVA400-GRN")
COMPUTER = "NAV-TOUR-BLK"


def _orders(desk: Desk) -> list[Order]:
    """The orders that hold what was stolen, newest first, as they were read this morning."""
    listed = desk.seen(list_orders, CUSTOMER)
    wanted = [one.order_id for one in listed if any(article.split()[-1] in STOLEN for article in one.articles)]
    return [desk.seen(get_order, order_id) for order_id in wanted]


def burgled(desk: Desk) -> None:
    desk.user(
        "Sad one. Helen Marsh from Betws-y-Coed, a regular, was burgled: bike computer, handlebar bag, the cook "
        "sets and a head torch are gone from her shed. Her insurance wants proof of purchase. Which orders are "
        "those?"
    )
    customer = desk.call(find_customer, query="Helen Marsh")[0]
    listed = desk.call(list_orders, customer_id=customer.customer_id)
    with desk.together() as step:
        for one in listed:
            if any(article.split()[-1] in STOLEN for article in one.articles):
                step.call(get_order, order_id=one.order_id)
    rows = [
        f"| {order.order_id} | {day(order.placed_at)} | {line.quantity} x {line.name} |"
        for order in _orders(desk)
        for line in order.lines
        if line.sku in STOLEN
    ]
    desk.say(
        f"She is {customer.customer_id}. The things are spread over {count(len(_orders(desk)))} of her orders:\n\n"
        "| order | placed | article |\n|---|---|---|\n" + "\n".join(rows) + "\n\n"
        "There is a cancelled order among the others; nothing of it was ever sent, so it does not count. Shall I "
        "add up what she paid?"
    )


def value(desk: Desk) -> None:
    desk.user("Yes, what she really paid, with discounts. And is there a serial number for the computer?")
    lines = [line for order in _orders(desk) for line in order.lines if line.sku in STOLEN]
    serials = [line.serial for line in lines if line.serial]
    desk.say(
        f"EUR **{euros(sum(cents(line.total) for line in lines))}** for the {count(len(lines))} lines together, "
        "discounts taken off, shipping left out: " + ", ".join(f"{line.sku} {line.total}" for line in lines) + ".\n\n"
        f"The computer has one, {', '.join(serials)}. It stands on the order line and nowhere else that I can see, "
        "so I would send it to her with the list."
    )


def police(desk: Desk) -> None:
    desk.user(
        "Helen Marsh (C-1023) again, from the police station this time. For the list of stolen goods they want the "
        "bar code of the computer, its serial once more, and when she got it."
    )
    product = desk.call(get_product, sku=COMPUTER)
    order = next(one for one in _orders(desk) if any(line.sku == COMPUTER for line in one.lines))
    line = next(line for line in order.lines if line.sku == COMPUTER)
    sent = order.shipments[0]
    desk.say(
        f"EAN {product.ean}, serial {line.serial}. It came with {order.order_id}, {sent.carrier} "
        f"{sent.tracking_number}, delivered on {day(sent.delivered_at or '')}. If they ask for the payment: "
        f"{order.payments[0].payment_id}, {order.payments[0].method}."
    )
