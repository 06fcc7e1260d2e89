"""C-1035, a sleeping bag in the wrong colour: exchange, keep or return, and what that is in kroner."""

from examples.support_desk.desk import Desk
from examples.support_desk.script.words import day
from examples.support_desk.shop.money import cents, euros, share
from examples.support_desk.toolset import (
    check_stock,
    convert_currency,
    create_refund,
    find_customer,
    get_order,
    get_product,
    get_ticket,
    list_orders,
    read_policy,
    update_ticket,
)

CUSTOMER, ORDER, TICKET = "C-1035", "SO-20665", "T-2108"
ORDERED, SENT = "SLP-VARM0-RST-R", "SLP-VARM0-BLU-R"
PERCENT = 15


def _goodwill(desk: Desk) -> str:
    return euros(share(cents(desk.seen(get_order, ORDER).lines[0].total), PERCENT))


def blue(desk: Desk) -> None:
    desk.user("T-2108, Henrik Lund from Aarhus, C-1035: ordered rust, got blue. What do we offer?")
    with desk.together() as step:
        step.call(get_ticket, ticket_id=TICKET)
        newest = step.call(list_orders, customer_id=CUSTOMER)[0]
    with desk.together() as step:
        order = step.call(get_order, order_id=newest.order_id)
        step.call(read_policy, code="EXC-09")
        stock = step.call(check_stock, sku=ORDERED)
    free = {level.warehouse: level.available for level in stock.warehouses}
    desk.say(
        f"The order and the slip say {order.lines[0].sku}, the bag says otherwise: Hamburg picked wrongly. EXC-09 "
        "leaves the choice to him, and we do not push:\n\n"
        f"1. **Exchange.** The rust one first, label for the blue one by mail. Hamburg has {free['HAM'] or 'none'}, "
        f"Rotterdam {free['ROT']}, Leipzig {free['LEI']}. He need not wait for his parcel to arrive here.\n"
        "2. **Keep it**, with goodwill under GDW-04.\n"
        "3. **Return it** for a refund under RET-01, with a label."
    )


def kroner(desk: Desk) -> None:
    desk.user("He likes number two. How much would that be, and in kroner please, his card is Danish.")
    desk.call(read_policy, code="GDW-04")
    amount = _goodwill(desk)
    converted = desk.call(convert_currency, amount=amount, to="DKK")
    desk.say(
        f"GDW-04 v1 allows up to {PERCENT} % of the line as paid when a customer keeps a wrong colour: EUR {amount} "
        f"at most. At the reference rate of {day(converted.day)} ({converted.rate}) that is DKK {converted.amount}; "
        "his bank may use another one, so please say *about*. With the goodwill his right to return the bag ends."
    )


def sleeping_on_it(desk: Desk) -> None:
    desk.user(
        "He wants to look at the blue one in daylight first and writes again this afternoon. Note it, and the mispick."
    )
    desk.call(
        update_ticket,
        ticket_id=TICKET,
        idempotency_key="t2108-offer",
        note=f"HAM picked {SENT} instead of {ORDERED} on {ORDER}. Offered: exchange, keep with goodwill up to EUR "
        f"{_goodwill(desk)}, or return. Customer decides today.",
        status="waiting",
        add_tags=["mispick"],
    )
    desk.say("Noted, tag *mispick*, warehouse HAM named, as EXC-09 wants it. T-2108 waits for him.")


def keeps(desk: Desk) -> None:
    desk.user("Lund (C-1035) keeps the blue one, it is 'actually nicer'. Give him the whole fifteen percent.")
    customer = desk.call(find_customer, query=CUSTOMER)[0]
    order = desk.seen(get_order, ORDER)
    with desk.together(
        "No goodwill in the last twelve months, so he may have it." if not customer.last_goodwill else None
    ) as step:
        receipt = step.call(
            create_refund,
            order_id=ORDER,
            payment_id=order.payments[0].payment_id,
            amount=_goodwill(desk),
            reason="goodwill",
            note="line 1 kept in wrong colour, 15 % of the line, GDW-04 v1 s2",
            idempotency_key="lund-keeps-blue",
        )
    kroner = desk.seen(convert_currency, receipt.amount)
    desk.say(
        f"Done: {receipt.refund_id}, EUR {receipt.amount} (about DKK {kroner.amount}) to his card, gateway reference "
        f"{receipt.gateway_ref}. Please tell him that it is goodwill and that the bag can no longer be returned. "
        "Shall I close T-2108?"
    )


def closed(desk: Desk) -> None:
    desk.user("Told him. He asks whether the blue has a different warranty. I said surely not. Check it, and close.")
    with desk.together() as step:
        product = step.call(get_product, sku=SENT)
        step.call(
            update_ticket,
            ticket_id=TICKET,
            idempotency_key="t2108-solved",
            note="Customer keeps the blue bag, goodwill paid, informed that the return ends with it.",
            status="solved",
        )
    desk.say(
        f"You said right: {product.sku} has the same {product.warranty_months} months, only the dye differs. T-2108 "
        "is solved."
    )
