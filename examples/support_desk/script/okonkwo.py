"""C-1017, a cracked tent pole: replaced from the warehouse that can make it, the express surcharge paid back."""

from examples.support_desk.desk import Desk
from examples.support_desk.script.words import age, day, hour
from examples.support_desk.shop.money import cents, euros
from examples.support_desk.toolset import (
    check_stock,
    create_refund,
    find_customer,
    get_order,
    get_ticket,
    list_orders,
    read_policy,
    reserve_stock,
    update_ticket,
)

ORDER = "SO-20682"
TENT = "TNT-SKARV2-GRN"
SWAP = "okonkwo-tent-swap"


def crack(desk: Desk) -> None:
    desk.user(
        "First chat: Adaeze Okonkwo, ticket T-2101. I have her picture in front of me, the pole segment is split "
        "lengthwise, no doubt about it. What can I offer?"
    )
    with desk.together() as step:
        ticket = step.call(get_ticket, ticket_id="T-2101")
        customer = step.call(find_customer, query="okonkwo")[0]
    newest = desk.call(list_orders, customer_id=customer.customer_id)[0]
    order = desk.call(get_order, order_id=newest.order_id)
    desk.call(read_policy, code="WAR-03")
    delivered = order.shipments[0].delivered_at or ""
    desk.say(
        f"The tent is line 1 of {order.order_id}, delivered on {day(delivered)}. She reports it on day "
        f"{age(delivered, ticket.opened_at)}, so it counts as a fault on arrival (WAR-03 v2, section 2: 14 days). "
        "The choice is hers: replacement, repair or refund.\n\n"
        "Two details: one picture is enough, and you have it. And the faulty tent has to come back, as it is worth "
        "more than EUR 40.00. We send the label, also to the UK.\n\n"
        "She leaves on Friday. Shall I look which warehouse could make that?"
    )


def friday(desk: Desk) -> None:
    desk.user(
        "Yes please. She wants a replacement if it can be in Bristol by Thursday evening, otherwise her money back."
    )
    with desk.together() as step:
        stock = step.call(check_stock, sku=TENT)
        step.call(read_policy, code="SHP-02")
    free = {level.warehouse: level.available for level in stock.warehouses}
    desk.say(
        f"Skarv 2 in moss green: {free['ROT']} in Rotterdam, {free['HAM']} in Hamburg, {free['LEI'] or 'none'} in "
        "Leipzig.\n\n"
        "Her order went express, so the replacement does too, free of charge (SHP-02 v3, section 1). Rotterdam is "
        "the one: cut-off at 15:30 UTC today, and the carrier's usual time from there to the UK is one working day. "
        "Hamburg needs two. Either should be there before Thursday, but we may not promise a day, only say what is "
        "usual."
    )


def parked(desk: Desk) -> None:
    desk.user(
        "She has to ask her sister first, they might share a tent. She will ring back in two hours or so. Park it "
        "for me, she is C-1017."
    )
    desk.call(
        update_ticket,
        ticket_id="T-2101",
        idempotency_key="t2101-parked-0302",
        note="Pole cracked, picture seen. WAR-03 v2 s2: replacement, repair or refund, customer decides. Favoured: "
        "express replacement from ROT, cut-off 15:30 UTC. Customer rings back. Nothing reserved.",
        status="waiting",
    )
    desk.say(
        "Parked, T-2101 is on *waiting*. Nothing is reserved, so what I read about the stock will have to be read "
        "again when she rings."
    )


def replacement(desk: Desk) -> None:
    desk.user(
        "C-1017 is back on the line. The sister's tent is for one. Replacement from Rotterdam please, if there "
        "still is one."
    )
    stock = desk.call(check_stock, sku=TENT)
    free = {level.warehouse: level.available for level in stock.warehouses}
    held = desk.call(reserve_stock, sku=TENT, warehouse="ROT", quantity=1, reference=ORDER, idempotency_key=SWAP)
    desk.say(
        f"Still {free['ROT']} there, and one of them is hers now: reservation {held.reservation_id}, for "
        f"{held.reference}, held until {day(held.expires_at)}. The warehouse has to get it before 15:30 UTC to use "
        "today's van."
    )


def label(desk: Desk) -> None:
    desk.user("Good. Where does the return label go, and does the cook set have to come back as well?")
    order = desk.seen(get_order, ORDER)
    held = desk.seen(reserve_stock, SWAP)
    desk.call(
        update_ticket,
        ticket_id="T-2101",
        idempotency_key="t2101-replace-0302",
        note=f"Replacement {held.reservation_id} ({TENT}, ROT, express, free). Label for line 1 of {ORDER} to "
        f"{order.email}. Cook set stays with the customer. WAR-03 v2.",
        add_tags=["replacement", "label"],
    )
    desk.say(
        f"By mail to {order.email}, the address on the order. Only the tent comes back; the {order.lines[1].sku} has "
        "nothing to do with it and stays with her. She can put the tent into the box the new one arrives in. It is "
        "all on the ticket."
    )


def surcharge(desk: Desk) -> None:
    desk.user(
        "C-1017 again, Mrs Okonkwo. Polite but firm: she paid for express and got a broken tent, express. Does she "
        "get the shipping back?"
    )
    order = desk.seen(get_order, ORDER)
    amount = euros(cents(order.shipping) - cents("9.90"))
    desk.say(
        f"A part of it. {ORDER} was placed on {day(order.placed_at)}, so RET-01 version 2 applies, and its section 5 "
        "pays back the express surcharge when goods arrived damaged, even if the order is kept. The surcharge is "
        f"what she paid less the standard rate: {order.shipping} less 9.90 for the UK (SHP-02) makes **EUR "
        f"{amount}**. Shall I?"
    )
    desk.user("Please do.")
    receipt = desk.call(
        create_refund,
        order_id=ORDER,
        payment_id=order.payments[0].payment_id,
        amount=amount,
        reason="shipping",
        note="express surcharge, goods of line 1 arrived damaged, RET-01 v2 s5",
        idempotency_key="okonkwo-express-surcharge",
    )
    desk.say(
        f"Done: {receipt.refund_id}, EUR {receipt.amount} to her card. The standard part of the shipping stays paid, "
        "since the order itself is kept."
    )


def tracking(desk: Desk) -> None:
    desk.user("She is happy. Now she asks for the tracking number of the new tent.")
    order = desk.call(get_order, order_id=ORDER)
    held = desk.seen(reserve_stock, SWAP)
    old = order.shipments[0]
    desk.say(
        f"There is none yet. {ORDER} still shows only {old.tracking_number}, and that is the first parcel, the one "
        f"delivered at {hour(old.delivered_at or '')} on {day(old.delivered_at or '')}. Please do not give her that "
        f"one. The replacement hangs on {held.reservation_id}; its number comes by mail when {held.warehouse} hands "
        "it over."
    )
