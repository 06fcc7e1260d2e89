"""C-1038, tents for a tour: a search that finds nothing, one that does, and stock that is no longer what it was."""

from examples.support_desk.desk import Desk
from examples.support_desk.script.words import day
from examples.support_desk.shop.money import cents, euros
from examples.support_desk.toolset import (
    check_stock,
    get_order,
    get_product,
    get_ticket,
    list_orders,
    reserve_stock,
    search_products,
    update_ticket,
)

CUSTOMER, TICKET = "C-1038", "T-2109"
TENT, RED = "TNT-SKARV2-GRN", "TNT-SKARV2-RED"
STOVE = "STV-WIND-ORG"
PAIR, EXTRA = "aubert-tents-pair", "aubert-tent-third"


def search(desk: Desk) -> None:
    desk.user("Presales, T-2109: Claire Aubert, C-1038, needs two tents for a tour. Can you find her something?")
    desk.call(get_ticket, ticket_id=TICKET)
    desk.call(
        search_products, query="two-person lightweight tent", category="Tents", max_price="400.00", max_weight_g=2000
    )
    with desk.together("Too many words, nothing fits all of them. Wider.") as step:
        hits = step.call(search_products, category="Tents", max_price="400.00", max_weight_g=2000)
    tent = next(hit for hit in hits if hit.sku == TENT)
    with desk.together() as step:
        green = step.call(check_stock, sku=TENT)
        red = step.call(check_stock, sku=RED)
    free = {level.warehouse: level.available for level in green.warehouses}
    desk.say(
        f"One model meets all she asks: {tent.name.split(',')[0]}, freestanding, {tent.weight_g} g, EUR "
        f"{tent.price}. The Loft 1 is lighter but for one and needs a trekking pole; the tarps are no tents.\n\n"
        f"Moss green: Hamburg {free['HAM']}, Rotterdam {free['ROT']}, Leipzig none before "
        f"{day(green.warehouses[1].next_delivery or '')}. Red: {red.available} in all. Two green from one place "
        "means **Hamburg**. This morning Rotterdam still had two as well, but one of them went to Mrs Okonkwo, so "
        "what I read then is out of date.\n\n"
        "France from Hamburg, standard: usually three to five working days. She leaves on the 14th."
    )


def pair(desk: Desk) -> None:
    desk.user(
        "Two green from Hamburg, she says. Please reserve them. What does she pay, delivered to Lyon? And does she "
        "get something off for two?"
    )
    hits = desk.seen(search_products, "400.00")
    each = next(hit.price for hit in hits if hit.sku == TENT)
    held = desk.call(reserve_stock, sku=TENT, warehouse="HAM", quantity=2, reference=TICKET, idempotency_key=PAIR)
    desk.say(
        f"EUR {euros(2 * cents(each))}, shipping free: standard to France is free from 150.00. No discount, the "
        "tiers of B2B-06 begin at ten pieces and are for business customers. Both are reserved, "
        f"{held.reservation_id}, until {day(held.expires_at)}."
    )


def third(desk: Desk) -> None:
    desk.user(
        "C-1038, Claire Aubert: they are five now, the fifth snores. Reserve a third green one, in the same parcel "
        "if possible."
    )
    stock = desk.call(check_stock, sku=TENT)
    free = {level.warehouse: level.available for level in stock.warehouses}
    held = desk.call(reserve_stock, sku=TENT, warehouse="HAM", quantity=1, reference=TICKET, idempotency_key=EXTRA)
    first = desk.seen(reserve_stock, PAIR)
    hits = desk.seen(search_products, "400.00")
    each = next(hit.price for hit in hits if hit.sku == TENT)
    desk.call(
        update_ticket,
        ticket_id=TICKET,
        idempotency_key="t2109-three-tents",
        note=f"Reserved in HAM: {first.reservation_id} (2) and {held.reservation_id} (1), {TENT}. Three at EUR "
        f"{each} = EUR {euros(3 * cents(each))}, shipping free. She orders by phone.",
        status="waiting",
    )
    desk.say(
        f"Just possible: Hamburg had {free['HAM']} left, and it is hers now, {held.reservation_id}. With "
        f"{first.reservation_id} that makes three, EUR {euros(3 * cents(each))}, one parcel. The next green ones "
        f"would be in Rotterdam ({free['ROT']})."
    )


def cartridge(desk: Desk) -> None:
    desk.user(
        "And which gas fits the stove she bought from us before Christmas? She does not remember its name, only "
        "that it is orange."
    )
    orders = desk.call(list_orders, customer_id=CUSTOMER)
    with desk.together() as step:
        order = step.call(get_order, order_id=orders[0].order_id)
        product = step.call(get_product, sku=STOVE)
    desk.say(
        f"It is the {order.lines[0].name} of {day(order.placed_at)} ({order.order_id}). It takes an "
        f"{product.specs['fuel']}. We do not sell gas, any outdoor or hardware shop in the Vercors has it. "
        "Cartridges may not fly, should they come by plane."
    )
