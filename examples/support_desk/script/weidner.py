"""C-1004, in German: a parcel that one page calls delivered, a carrier that is silent, then wrong, then right."""

import re

from examples.support_desk.desk import Desk
from examples.support_desk.script.words import day, hour, komma, tag
from examples.support_desk.toolset import (
    check_stock,
    get_order,
    get_ticket,
    list_orders,
    reserve_stock,
    track_parcel,
    update_ticket,
)

ORDER = "SO-20675"
PARCEL = "PL1442296979DE"
TORCH, BAG = "LGT-NOVA900-GRY", "BIK-SADDLE-BLK"


def silence(desk: Desk) -> None:
    desk.user("T-2102 next, a Dr. Weidner from Dresden, in German. Please read it and find his parcel.")
    ticket = desk.call(get_ticket, ticket_id="T-2102")
    newest = desk.call(list_orders, customer_id=ticket.customer_id or "")[0]
    order = desk.call(get_order, order_id=newest.order_id)
    parcel = order.shipments[0].tracking_number
    desk.failing(track_parcel, tracking_number=parcel)
    desk.clock.forward(95)
    with desk.together("ParcelLine does not answer. Once more before I say anything.") as step:
        error = step.failing(track_parcel, tracking_number=parcel)
    desk.say(
        f"Our page shows {order.order_id} as delivered on {day(order.shipments[0].delivered_at or '')}, and he says "
        "there was neither a parcel nor a card. SHP-02 tells us to go by the carrier's own events, and those I "
        "cannot get: ParcelLine's tracking failed twice with a 504. The error asks for a pause of a quarter of an "
        f"hour{' (900 s)' if '900' in error else ''}. Until then we know nothing that he does not know himself, and "
        "guessing from the dispatch date is what section 4 forbids."
    )


def holding(desk: Desk) -> None:
    desk.user("Then a short holding reply in German, please. Mention that we have seen the Saturday.")
    order = desk.seen(get_order, ORDER)
    desk.say(
        "> Sehr geehrter Herr Dr. Weidner,\n>\n"
        f"> vielen Dank für Ihre Nachricht. Unsere Bestellseite zeigt Ihre Bestellung {order.order_id} zwar als "
        "zugestellt an, maßgeblich sind für uns aber die Angaben des Paketdienstes. Dessen Auskunft ist heute "
        "Morgen leider gestört. Wir fragen im Laufe des Vormittags erneut ab und melden uns dann von selbst bei "
        "Ihnen. Dass Sie die Stirnlampe am Samstag brauchen, haben wir notiert.\n>\n"
        "> Mit freundlichen Grüßen"
    )


def neighbour(desk: Desk) -> None:
    desk.user("Is ParcelLine back? Then C-1004, Weidner, once more.")
    parcel = desk.call(track_parcel, tracking_number=PARCEL)
    card = next(scan for scan in parcel.events if scan.code == "NTH")
    left = next(scan for scan in parcel.events if scan.code == "DNB")
    desk.say(
        f"It is. The driver found nobody on {day(card.at)} and left a card, he says; on {day(left.at)} at "
        f"{hour(left.at)} the parcel went to a neighbour, KRAEMER in house 18. SHP-02 section 3: he should ask there "
        "first. In German:\n\n"
        "> Sehr geehrter Herr Dr. Weidner,\n>\n"
        f"> der Paketdienst antwortet wieder. Nach seinen Angaben wurde Ihr Paket am Nachmittag des {tag(left.at)} "
        "bei einer Nachbarin oder einem Nachbarn namens Krämer in Hausnummer 18 abgegeben. "
        "Wären Sie so freundlich, dort nachzufragen? Sollte das Paket dort nicht sein, genügt uns eine "
        "kurze Nachricht, dann leiten wir sofort eine Nachforschung ein.\n>\n"
        "> Mit freundlichen Grüßen"
    )


def kept_open(desk: Desk) -> None:
    desk.user("Sent. Leave it on waiting, I have a feeling about this one.")
    parcel = desk.seen(track_parcel, PARCEL)
    desk.call(
        update_ticket,
        ticket_id="T-2102",
        idempotency_key="t2102-neighbour",
        note=f"{PARCEL}: {parcel.last}. Customer asked to look there first (SHP-02 v3 s3.2).",
        status="waiting",
    )
    desk.say("Done. The carrier's wording, with the number of the signature, is in the note in case he calls.")


def corrected(desk: Desk) -> None:
    desk.user(
        "My feeling was right. Weidner, C-1004, on the phone: Frau Krämer in number 18 never had a parcel in her "
        "hands. He is annoyed, and it is Monday afternoon already."
    )
    parcel = desk.call(track_parcel, tracking_number=PARCEL)
    with desk.together("The carrier has changed its story. Let me see whether we could replace both articles.") as step:
        torch = step.call(check_stock, sku=TORCH)
        bag = step.call(check_stock, sku=BAG)
    free = {"torch": torch.warehouses[1].available, "bag": bag.warehouses[1].available}
    order = desk.seen(get_order, ORDER)
    newest = parcel.events[-1]
    desk.say(
        f"He is right and the scan was wrong. Since {hour(newest.at)} today ParcelLine says: *{newest.text}*. So "
        "what I told you this morning no longer holds.\n\n"
        f"That is as good as an admission, and we need not wait for the claim anyway: he is tier {order.tier} and "
        f"the goods are worth EUR {order.goods}, under the 150.00 of SHP-02 section 3.5. Leipzig has both "
        f"({free['torch']} head torches, {free['bag']} tool bags). Its cut-off has passed for today, so tomorrow's "
        "van; usual time within Germany one to two days. Replace both?"
    )


def replaced(desk: Desk) -> None:
    desk.user("Yes, both, from Leipzig. And put the investigation on the ticket as the policy wants it.")
    order = desk.seen(get_order, ORDER)
    parcel = desk.seen(track_parcel, PARCEL)
    with desk.together() as step:
        torch = step.call(
            reserve_stock, sku=TORCH, warehouse="LEI", quantity=1, reference=ORDER, idempotency_key="weidner-torch-swap"
        )
        bag = step.call(
            reserve_stock, sku=BAG, warehouse="LEI", quantity=1, reference=ORDER, idempotency_key="weidner-bag-swap"
        )
        step.call(
            update_ticket,
            ticket_id="T-2102",
            idempotency_key="t2102-investigation",
            note=f"{PARCEL}, last event: {parcel.last}. Customer: neighbour never had the parcel and signed nothing. "
            "Replacement of both lines, SHP-02 v3 s3.5.",
            status="open",
            add_tags=["parcel-investigation", "replacement"],
        )
    desk.say(
        f"Reserved in Leipzig for {order.order_id}: {torch.reservation_id} (head torch) and {bag.reservation_id} "
        "(tool bag). The ticket has the tag, the number, the event and his statement. Shall I write to him?"
    )


def letter(desk: Desk) -> None:
    desk.user("Please, in German, with everything in it. He likes it exact.")
    order = desk.seen(get_order, ORDER)
    torch = desk.seen(reserve_stock, TORCH)
    bag = desk.seen(reserve_stock, BAG)
    scans = {scan.code: scan for scan in desk.seen(track_parcel, PARCEL).events}
    signature = scans["DNB"].text.split()[-1]
    claim = re.search(r"Claim (\S+)", scans["COR"].text)
    assert claim is not None
    desk.say(
        "> Sehr geehrter Herr Dr. Weidner,\n>\n"
        f"> Sie hatten recht: Der Paketdienst hat seine Meldung vom {tag(scans['DNB'].at)} heute berichtigt. Ihre "
        f"Sendung {PARCEL} wurde nicht übergeben, sondern ohne Etikett und beschädigt im Depot Dresden-Nord "
        f"gefunden. Die angebliche Unterschrift {signature} ist damit hinfällig; der Vorgang beim Paketdienst trägt "
        f"die Nummer {claim[1]}. Sie müssen nichts weiter tun.\n>\n"
        f"> Zu Ihrer Bestellung {order.order_id} vom {tag(order.placed_at)} (Warenwert {komma(order.goods)} EUR) "
        "ersetzen wir beide Artikel kostenlos:\n"
        f"> - {order.lines[0].sku}, Stirnlampe Nova 900, Reservierung {torch.reservation_id}\n"
        f"> - {order.lines[1].sku}, Werkzeugtasche Sattel 1, Reservierung {bag.reservation_id}\n>\n"
        "> Der Versand erfolgt aus Leipzig; üblich sind innerhalb Deutschlands ein bis zwei Werktage. Einen festen "
        "Tag dürfen wir Ihnen nicht zusagen. Für den Ärger bitten wir um Entschuldigung.\n>\n"
        "> Mit freundlichen Grüßen"
    )
