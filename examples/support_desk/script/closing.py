"""The end of the shift: what is left for the next one, and whether everything that was written is really there."""

import re

from examples.support_desk.desk import Desk
from examples.support_desk.script.words import day
from examples.support_desk.shop.money import cents, euros
from examples.support_desk.toolset import create_refund, get_order, reserve_stock, search_log, track_parcel

REFUNDS = (
    *("zielinski-double-capture", "ferrer-return-line-1", "lund-keeps-blue"),
    *("okonkwo-express-surcharge", "ferrer-postage"),
)
WRITES = r"\[desk\]|\[payments\] refund re_"


def handover(desk: Desk) -> None:
    desk.user("Handover for the late shift, please. Only what somebody still has to do, with the numbers they need.")
    tent, watch = desk.seen(reserve_stock, "okonkwo-tent-swap"), desk.seen(reserve_stock, "reid-watch-successor")
    torch, bag = desk.seen(reserve_stock, "weidner-torch-swap"), desk.seen(reserve_stock, "weidner-bag-swap")
    jacket, pair = desk.seen(reserve_stock, "hagedorn-jacket-40"), desk.seen(reserve_stock, "aubert-tents-pair")
    third = desk.seen(reserve_stock, "aubert-tent-third")
    held = [desk.seen(reserve_stock, f"wadvaart-{part}") for part in ("black-16", "green-6", "black-3")]
    claim = re.search(r"Claim (\S+)", desk.seen(track_parcel, "PL1442296979DE").events[-1].text)
    watch_parcel = desk.seen(get_order, "SO-20417").shipments[0].tracking_number
    assert claim is not None
    desk.say(
        "**Warehouse**\n"
        f"- ROT: {tent.reservation_id} (tent, express, {tent.reference}) and {watch.reservation_id} (watch, note the "
        f"new serial on T-2105, {watch.reference}).\n"
        f"- LEI: {torch.reservation_id} and {bag.reservation_id} for {torch.reference}, tomorrow's van.\n"
        f"- HAM: swap line 1 of {jacket.reference} before packing, {jacket.reservation_id}.\n\n"
        "**Customers**\n"
        f"- C-1004 Weidner: informed. Carrier's claim {claim[1]}; nothing to do before it is answered.\n"
        f"- C-1031 Wadvaart: order against {', '.join(one.reservation_id for one in held)}, all until "
        f"{day(held[0].expires_at)}.\n"
        f"- C-1038 Aubert: orders by phone against {pair.reservation_id} and {third.reservation_id}.\n"
        f"- C-1026 Reid: return label for the old watch, form refers to {watch_parcel}.\n"
        "- C-1017 Okonkwo: label for the broken tent by mail; tracking of the new one when it exists.\n"
        "- C-1022 Zieliński: nothing, only if the money is not there on 10 March.\n\n"
        "**Others**\n"
        "- Web team: the 30 days on the returns page (tag *page-wrong* on T-2093).\n"
        "- Engineering: the two request ids on T-2104."
    )


def written(desk: Desk) -> None:
    desk.user("Good. Now check for me in the log that everything I had you write today really went through.")
    text = desk.call(search_log, pattern=WRITES, since="2026-03-02T09:00", limit=100)
    refunds, reservations = re.findall(r"refund (re_\w+)", text), re.findall(r"RSV-\d+", text)
    tickets, keys = re.findall(r"ticket (T-\d+) updated", text), re.findall(r"key=(\S+)", text)
    assert len(set(keys)) == len(keys)
    desk.say(
        f"It did: {len(reservations)} reservations, {len(refunds)} refunds, {text.count('address of')} address "
        f"change, {len(tickets)} ticket updates on {len(set(tickets))} tickets. No key appears twice, so nothing was "
        "done twice, not even the refund whose answer got lost."
    )


def paid_back(desk: Desk) -> None:
    desk.user(
        "How much have we paid back today, one by one? Birgit will ask, and she always wants the reference of the "
        "original capture beside ours."
    )
    receipts = [desk.seen(create_refund, key) for key in REFUNDS]
    rows = []
    for receipt in receipts:
        payments = desk.seen(get_order, receipt.order_id).payments
        capture = next(one for one in payments if one.payment_id == receipt.payment_id)
        rows.append(
            f"| {receipt.refund_id} | {receipt.order_id} | {receipt.reason} | {receipt.amount} | {receipt.gateway_ref} "
            f"| {capture.gateway_ref} of {day(capture.captured_at)} |"
        )
    desk.say(
        "| refund | order | reason | EUR | ours | original |\n|---|---|---|--:|---|---|\n" + "\n".join(rows) + "\n\n"
        f"Together **EUR {euros(sum(cents(one.amount) for one in receipts))}**, of which the double capture was "
        "never ours."
    )


def good_night(desk: Desk) -> None:
    desk.user("Perfect. That was a Monday. Good night!")
    desk.say(
        "Good night. The Skarv 2 in moss green is down to one piece in Rotterdam, by the way, and none comes before "
        "the 17th. Ida will want to know."
    )
