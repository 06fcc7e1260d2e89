"""C-1022, charged twice: found in the log, approved by accounting, refunded through a gateway that loses its answer."""

import re

from examples.support_desk.desk import Desk
from examples.support_desk.script.words import day, hour
from examples.support_desk.tools.orders import Payment
from examples.support_desk.toolset import (
    create_refund,
    get_order,
    get_ticket,
    list_orders,
    read_policy,
    search_log,
    update_ticket,
)

CUSTOMER, ORDER, KEY = "C-1022", "SO-20714", "zielinski-double-capture"
NOTE = "second capture in full, PAY-07 v1 s3, approved FIN-0302-17"


def twice(desk: Desk) -> None:
    desk.user(
        "Chat: Piotr Zieliński, C-1022, ticket T-2104. Charged twice, he says. That smells like the one from the log."
    )
    with desk.together() as step:
        step.call(get_ticket, ticket_id="T-2104")
        orders = step.call(list_orders, customer_id=CUSTOMER)
    order = desk.call(get_order, order_id=orders[0].order_id)
    log = desk.call(search_log, pattern=ORDER, since="2026-03-01T19:30", context=12)
    first, second = order.payments
    gap = int(second.captured_at[17:19]) - int(first.captured_at[17:19])
    late = re.search(r"(\S+Z) WARN  \[payments\] late webhook", log)
    assert late is not None
    desk.say(
        f"It is, and he is right. {order.order_id} has two captures of EUR {first.amount}, {gap} seconds apart, with "
        "different gateway references.\n\n"
        "What happened, from the log: the gateway did take the money the first time but told us only minutes later. "
        "We gave up after 20 seconds, showed him an error (502), and let him press Pay again, with a new intent. At "
        f"{hour(late[1])} the late message for the first capture arrived, and nobody put the two together. The bank "
        "did nothing wrong, and neither did he."
    )


def really(desk: Desk) -> None:
    desk.user(
        "So it is not one of those authorisations that vanish after three days? I do not want to refund thin air."
    )
    desk.call(read_policy, code="PAY-07")
    order = desk.seen(get_order, ORDER)
    desk.say(
        "No. PAY-07 v1, section 1: two captures with different references are real money, taken twice. Section 3: "
        "the **later** one goes back in full, the first stays since the order hangs on it. EUR "
        f"{order.payments[1].amount} is above 250.00, so accounting has to approve in writing first, and we put "
        "their FIN reference on the ticket."
    )


def asked(desk: Desk) -> None:
    desk.user(
        "I have asked Birgit. She wants the request ids for engineering too, which ones are those? Then park him."
    )
    log = desk.seen(search_log, ORDER)
    failed = re.search(r"(req_\w+) capture for SO-\d+ failed", log)
    again = re.search(r"WARN  \[payments\] (req_\w+) capture started", log)
    assert failed is not None
    assert again is not None
    desk.call(
        update_ticket,
        ticket_id="T-2104",
        idempotency_key="t2104-cause",
        note=f"Two captures on {ORDER}. Cause: {failed[1]} timed out after 20 s, {again[1]} captured again with a "
        "new intent. Waiting for approval by accounting (PAY-07 v1 s3).",
        status="waiting",
        add_tags=["double-capture"],
    )
    desk.say(
        f"{failed[1]} is the one that timed out, {again[1]} the one that captured again. Both are on T-2104, which "
        "is parked until Birgit answers."
    )


def lost_answer(desk: Desk) -> None:
    desk.user("Birgit says yes for C-1022: FIN-0302-17. Please refund him, and the right one of the two.")
    later = desk.seen(get_order, ORDER).payments[1]
    desk.failing(
        create_refund,
        order_id=ORDER,
        payment_id=later.payment_id,
        amount=later.amount,
        reason="duplicate_payment",
        note=NOTE,
        idempotency_key=KEY,
    )
    with desk.together(
        "The gateway did not answer in time. Before I touch it again, the log (PAY-07 section 4)."
    ) as step:
        step.call(search_log, pattern=KEY, since="2026-03-02")
    _again(desk, later)


def _again(desk: Desk, later: Payment) -> None:
    with desk.together(
        "It was booked, only the answer got lost. I repeat it with the same key to get the receipt."
    ) as step:
        receipt = step.call(
            create_refund,
            order_id=ORDER,
            payment_id=later.payment_id,
            amount=later.amount,
            reason="duplicate_payment",
            note=NOTE,
            idempotency_key=KEY,
        )
    desk.call(
        update_ticket,
        ticket_id="T-2104",
        idempotency_key="t2104-refunded",
        note=f"Refunded once: {receipt.refund_id}, EUR {receipt.amount} on {receipt.payment_id}, FIN-0302-17. First "
        "call timed out after booking, repeated with the same key.",
        status="open",
    )
    desk.say(
        f"Refunded, once: {receipt.refund_id}, EUR {receipt.amount} on the later capture, gateway reference "
        f"{receipt.gateway_ref}. The first call had already gone through, the second one only fetched the receipt "
        f"(replayed, booked at {hour(receipt.created_at)}). Nothing is left on that payment, so it cannot happen "
        "again either."
    )


def mail(desk: Desk) -> None:
    desk.user("Phew. A short mail to him, please.")
    order = desk.seen(get_order, ORDER)
    receipt = desk.seen(create_refund, KEY)
    desk.say(
        "> Hello Piotr,\n>\n"
        f"> you were charged twice for {ORDER}, and it was our fault: our checkout gave up too early and asked you "
        f"to pay again. We have refunded the second payment of EUR {receipt.amount} today, refund number "
        f"{receipt.refund_id}, bank reference {receipt.gateway_ref}. It takes three to five banking days to show on "
        f"your card. Your order is not affected: one {order.lines[0].name.split(',')[0]} and one "
        f"{order.lines[1].name.split(',')[0]} are on their way to being packed. I am sorry for the fright.\n\n"
        "One apology, as PAY-07 asks."
    )


def nervous(desk: Desk) -> None:
    desk.user(
        "Zieliński, C-1022, in chat again. When exactly is the money there, and is his order really still alive? He "
        "is nervous now."
    )
    order = desk.call(get_order, order_id=ORDER)
    back = order.refunds[0]
    first = order.payments[0]
    desk.say(
        f"Alive: {ORDER} is *{order.status}*, paid by the first capture of {hour(first.captured_at)} "
        f"({first.payment_id}), which nobody has touched.\n\n"
        f"The refund {back.refund_id} was booked on {day(back.created_at)}. Three to five banking days from there is "
        "Thursday, 5 March, to Monday, 9 March. If it is not there by then, he should give his bank the reference "
        "from the mail."
    )
