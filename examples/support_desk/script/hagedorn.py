"""C-1009, in German: a jacket one size up, and the address of a daughter. One of the messages here is edited later."""

from examples.support_desk.desk import Desk
from examples.support_desk.script.words import day, hour, komma
from examples.support_desk.tools.orders import Address
from examples.support_desk.toolset import (
    check_stock,
    get_order,
    get_product,
    get_ticket,
    list_orders,
    read_policy,
    reserve_stock,
    update_address,
    update_ticket,
)

CUSTOMER, ORDER, TICKET, KEY = "C-1009", "SO-20711", "T-2106", "hagedorn-jacket-40"
SMALL, LARGE = "RNW-REGNW-PLM-38", "RNW-REGNW-PLM-40"
MOVE = (
    "Frau Hagedorn, C-1009, writes again, from the address on file and with her old postcode 50733: the parcel "
    "should go to her daughter, c/o Brüggemann, Lindenallee {number}, 50968 Köln. Please change it and answer her "
    "in German."
)


def size(desk: Desk) -> None:
    desk.user(
        "German mail, T-2106, Frau Hagedorn, C-1009. A question of size. Please find out whether a swap is still "
        "possible, and answer her."
    )
    with desk.together() as step:
        step.call(get_ticket, ticket_id=TICKET)
        newest = step.call(list_orders, customer_id=CUSTOMER)[0]
    with desk.together() as step:
        order = step.call(get_order, order_id=newest.order_id)
        step.call(get_product, sku=SMALL)
        stock = step.call(check_stock, sku=LARGE)
    hamburg = stock.warehouses[0].available
    desk.say(
        f"{order.order_id} is still *{order.status}*, nothing is packed, so a swap is possible. The catalogue itself "
        f"says *take one size up over a fleece*. In 40, plum, Hamburg has {hamburg}; same price.\n\n"
        "> Sehr geehrte Frau Hagedorn,\n>\n"
        "> Sie haben richtig gelesen: Die Jacke fällt klein aus, und der Hersteller empfiehlt über einer "
        "Fleecejacke eine Nummer größer. Ich würde Ihnen zur 40 raten. Ihre Bestellung ist noch nicht gepackt, der "
        "Tausch ist also ohne Weiteres möglich und kostet nichts extra. Soll ich ihn veranlassen?\n>\n"
        "> Herzliche Grüße"
    )


def swap(desk: Desk) -> None:
    desk.user("She answered before my coffee was cold: yes please, 40. Do what has to be done.")
    held = desk.call(reserve_stock, sku=LARGE, warehouse="HAM", quantity=1, reference=ORDER, idempotency_key=KEY)
    desk.call(
        update_ticket,
        ticket_id=TICKET,
        idempotency_key="t2106-swap-size",
        note=f"Warehouse HAM: before packing {ORDER} swap line 1 from {SMALL} to {LARGE}, {held.reservation_id}. "
        "Same price.",
        add_tags=["swap-before-packing"],
    )
    desk.say(
        f"Reserved for her in Hamburg, {held.reservation_id}, and the warehouse has the instruction on T-2106, with "
        "the tag it filters by."
    )


def address(desk: Desk) -> int:
    """The change as first asked for. Returns the index of the message that is edited later."""
    fork = desk.user(MOVE.format(number=12))
    with desk.together() as step:
        step.call(read_policy, code="ADR-05")
        order = step.call(get_order, order_id=ORDER)
    changed = desk.call(
        update_address,
        order_id=ORDER,
        expected_version=order.version,
        street="Lindenallee 12",
        addition="c/o Brüggemann",
        postcode="50968",
        city="Köln",
        note="asked by mail from the address on file, named the old postcode",
    )
    desk.say(
        f"Identified by two of the marks of ADR-05 (mail address, old postcode), order not packed: changed, {ORDER} "
        "is now at "
        f"version {changed.version}.\n\n" + _confirmation(changed.after)
    )
    return fork


def thanks(desk: Desk) -> None:
    desk.user("Sent. She thanks 'die nette junge Dame'. I am fifty-three. Close the ticket?")
    desk.call(update_ticket, ticket_id=TICKET, idempotency_key="t2106-solved", status="solved")
    desk.say(
        "Solved. The note for the warehouse and the tag stay readable on a solved ticket, so the swap is safe. And "
        "I would take the compliment."
    )


def what_comes(desk: Desk) -> None:
    desk.user(
        "Frau Hagedorn (C-1009) on the phone: she wants to write down for her daughter what comes, and what it "
        "costs. German, please."
    )
    order = desk.seen(get_order, ORDER)
    held = desk.seen(reserve_stock, KEY)
    desk.say(
        "Zum Vorlesen:\n\n"
        f"- eine Regenjacke Regn 3L für Damen, pflaumenfarben, Größe 40 (Artikel {held.sku}), "
        f"{komma(order.lines[0].total)} EUR\n"
        f"- eine Thermosflasche Vakuum 0,75 l, Stahl (Artikel {order.lines[1].sku}), {komma(order.lines[1].total)} "
        "EUR\n"
        f"- Versand kostenlos, zusammen {komma(order.total)} EUR auf Rechnung\n\n"
        f"Bestellnummer {ORDER}. The address she knows; please let her say it, do not read it to her (ADR-05 section "
        "2)."
    )


def edited(desk: Desk) -> None:
    """The other continuation: the same message with another house number, sent in the evening."""
    desk.user(MOVE.format(number=21))
    with desk.together() as step:
        step.call(read_policy, code="ADR-05")
        order = step.call(get_order, order_id=ORDER)
    change = order.events[-1]
    desk.say(
        f"Before I overwrite anything: {ORDER} is at version {order.version}, and when I read it late this morning "
        f"it was at 1. Its history says *{change.text}*, by {change.actor} at {hour(change.at)} today. I know "
        f"nothing of that change, but it is nearly the one you ask for: {order.ship_to.street}, "
        f"{order.ship_to.addition}. Only the house number differs. Which one is right?"
    )


def corrected(desk: Desk) -> None:
    desk.user(
        "That was me, with a typo, and I have just edited my message. She called a minute ago: 21 it is, at the "
        "back, the 12 is a bakery."
    )
    changed = desk.call(
        update_address,
        order_id=ORDER,
        expected_version=desk.seen(get_order, ORDER).version,
        street="Lindenallee 21",
        addition="c/o Brüggemann, Hinterhaus",
        postcode="50968",
        city="Köln",
        note="correction by phone, house number 21, agrees with her call",
    )
    desk.say(
        f"Corrected, {ORDER} is at version {changed.version}, and it has not been packed in between. For her:\n\n"
        + _confirmation(changed.after)
    )


def still_stands(desk: Desk) -> None:
    desk.user("And the jacket in 40, does that swap still stand? I do not want to fix one thing and lose the other.")
    with desk.together() as step:
        ticket = step.call(get_ticket, ticket_id=TICKET)
        step.call(check_stock, sku=LARGE)
    held = desk.seen(reserve_stock, KEY)
    note = next(message for message in ticket.messages if message.channel == "note")
    desk.say(
        f"It stands: {held.reservation_id} holds the 40 in Hamburg until {day(held.expires_at)}, and the instruction "
        f"of {hour(note.at)} is on {TICKET} (status *{ticket.status}*). An address change does not touch either."
    )


def reopened(desk: Desk) -> None:
    desk.user("Then open T-2106 again with a line for the late shift, and that was really it for today.")
    order = desk.seen(get_order, ORDER)
    desk.call(
        update_ticket,
        ticket_id=TICKET,
        idempotency_key="t2106-house-number",
        note=f"{ORDER}: house number corrected from 12 to 21 by phone. {order.lines[1].sku} unchanged, swap of line 1 "
        "stands. Check the label before it leaves.",
        status="open",
    )
    desk.say("Open again, with the note. Whoever packs it tomorrow sees the new house number and the swap together.")


def _confirmation(to: Address) -> str:
    return (
        "> Sehr geehrte Frau Hagedorn,\n>\n"
        "> gern, die Adresse ist geändert. Ihr Paket geht jetzt an:\n>\n"
        f"> {to.name}, {to.addition}\n> {to.street}\n> {to.postcode} {to.city}\n>\n"
        "> Bitte prüfen Sie die Angaben noch einmal; solange das Paket nicht gepackt ist, können wir sie ändern.\n>\n"
        "> Herzliche Grüße"
    )
