"""C-1012, a return that is late by one policy, in time by another, and in time after all by an old ticket."""

from examples.support_desk.desk import Desk
from examples.support_desk.script.words import age, day, hour, later
from examples.support_desk.toolset import (
    create_refund,
    find_customer,
    get_order,
    get_ticket,
    list_orders,
    read_policy,
    track_parcel,
    update_ticket,
)

CUSTOMER, ORDER = "C-1012", "SO-20590"
RETURN = "NP4471902856ES"


def refused(desk: Desk) -> None:
    desk.user(
        "Lucía Ferrer, C-1012, T-2093: we refused her return and she is cross. Marco left a note on Friday. Please "
        "look before I answer."
    )
    ticket = desk.call(get_ticket, ticket_id="T-2093")
    newest = desk.call(list_orders, customer_id=CUSTOMER)[0]
    with desk.together() as step:
        order = step.call(get_order, order_id=newest.order_id)
        step.call(read_policy, code="RET-01")
    with desk.together(
        "Marco counts 30 days. But her order is from January, and section 0 sends those to version 1."
    ) as step:
        step.call(read_policy, code="RET-01", version=1)
    delivered = order.shipments[0].delivered_at or ""
    asked = age(delivered, ticket.opened_at)
    desk.say(
        "The two sources disagree, and Marco followed the wrong one.\n\n"
        f"- Delivered on {day(delivered)}; her mail is from {day(ticket.opened_at)}, day {asked}.\n"
        "- RET-01 **version 2** gives 30 days, but only for orders placed on or after 1 February. It says so "
        "itself, whatever the shop pages say.\n"
        f"- {order.order_id} was placed on {day(order.placed_at)}. So **version 1** holds: 14 days, which ended on "
        f"{later(delivered, 14)}.\n\n"
        "I follow the version that the order belongs to, not the newer text. By that she is late. And she has "
        "already posted it."
    )


def page(desk: Desk) -> None:
    desk.user(
        "Ouch. Our page does say 30 days, in large letters and without the small print. Hold this one, I want to think."
    )
    desk.call(
        update_ticket,
        ticket_id="T-2093",
        idempotency_key="t2093-versions",
        note=f"{ORDER} was placed before 2026-02-01: RET-01 v1 (14 days) applies, not v2. Marco's 30 days do not. "
        "Shop page misleading. No answer to the customer yet.",
        status="waiting",
        add_tags=["page-wrong"],
    )
    desk.say(
        "On hold, with the reason on T-2093 and a tag for the web team. Nothing has been refunded or refused in "
        "writing today."
    )


def weeks_ago(desk: Desk) -> None:
    desk.user(
        "Back to C-1012, Ferrer. She now says she asked us about the return weeks ago and got a useless answer. Is "
        "there anything?"
    )
    customer = desk.call(find_customer, query=CUSTOMER)[0]
    old = desk.call(get_ticket, ticket_id=customer.tickets[0])
    order = desk.seen(get_order, ORDER)
    delivered = order.shipments[0].delivered_at or ""
    desk.say(
        f"There is. {old.ticket_id}, closed: on {day(old.opened_at)} at {hour(old.opened_at)} she wrote that the "
        "back was too long for her and that she wanted to send it back. That is day "
        f"{age(delivered, old.opened_at)}. Marco answered three days later with a link and closed it.\n\n"
        "It changes everything: under RET-01 v1 section 1 *the request counts, not the parcel*, by mail too. She is "
        "in time, under the very version that I held against her this morning. I take that back."
    )


def scanned(desk: Desk) -> None:
    desk.user("Ha, then we owe it to her. Where is the rucksack, and how much is it?")
    parcel = desk.call(track_parcel, tracking_number=RETURN)
    order = desk.seen(get_order, ORDER)
    first, last = parcel.events[0], parcel.events[-1]
    line = order.lines[0]
    desk.say(
        f"On its way: accepted in Valencia on {day(first.at)}, since {hour(last.at)} today at {last.place}. Under v1 "
        "section 4 we may refund as soon as the carrier has scanned the return, and it has.\n\n"
        f"Only the rucksack comes back, line 1, **EUR {line.total}**; the trousers stay. Shipping was free, so "
        "nothing to add. Shall I refund it?"
    )


def refunded(desk: Desk) -> None:
    desk.user("Yes. And the postage she paid herself: that was our page and our answer. What may we give her?")
    order = desk.seen(get_order, ORDER)
    with desk.together() as step:
        receipt = step.call(
            create_refund,
            order_id=ORDER,
            payment_id=order.payments[0].payment_id,
            amount=order.lines[0].total,
            reason="return",
            note="line 1 (BPK-FELL55-RST), requested on day 10 (T-2051), RET-01 v1 s1 and s4",
            idempotency_key="ferrer-return-line-1",
        )
        step.call(read_policy, code="GDW-04")
    desk.say(
        f"Refunded: {receipt.refund_id}, EUR {receipt.amount} to her card.\n\n"
        "Postage: version 1 leaves it with the customer, but GDW-04 v1 covers *a mistake of ours that cost the "
        "customer money*: the cost, up to EUR 25.00. She has had no goodwill so far, I saw that on her record. Ask "
        "her for the receipt of the post office, then I can pay out what it says."
    )


def postage(desk: Desk) -> None:
    desk.user("C-1012 sent her post office receipt: EUR 18.40. Pay it, and give me the lines for the mail to her.")
    order = desk.seen(get_order, ORDER)
    paid_back = order.payments[0].payment_id
    receipt = desk.call(
        create_refund,
        order_id=ORDER,
        payment_id=paid_back,
        amount="18.40",
        reason="goodwill",
        note="return postage, misleading page and answer, GDW-04 v1 s2, receipt seen",
        idempotency_key="ferrer-postage",
    )
    before = order.lines[0].total
    asked = desk.seen(get_ticket, "T-2051")
    desk.call(
        update_ticket,
        ticket_id="T-2093",
        idempotency_key="t2093-solved",
        note=f"Return accepted on the request of T-2051 (RET-01 v1 s1). EUR {before} for line 1 and EUR "
        f"{receipt.amount} postage ({receipt.refund_id}, GDW-04 v1) refunded on {paid_back}.",
        status="solved",
    )
    desk.say(
        "> Dear Lucía,\n>\n"
        f"> you were right and we were not. You asked in time, on {day(asked.opened_at)}, and our answer did not "
        f"help you. We have refunded EUR {before} for the {order.lines[0].name.split(',')[0]} and EUR "
        f"{receipt.amount} for the postage, both to the card that you paid with on {day(order.placed_at)}. Your "
        f"parcel {RETURN} has reached Hamburg already. The wording on our page is being corrected. Thank you for "
        "your patience, and our apologies.\n\n"
        f"The second refund is {receipt.refund_id}. T-2093 is solved."
    )
