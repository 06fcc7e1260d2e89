"""Drafts become rows: numbers, prices, payments, refunds, shipments and the history of each order."""

import sqlite3
from collections.abc import Iterable, Mapping
from datetime import timedelta
from random import Random

from examples.support_desk.shop.money import share
from examples.support_desk.shop.sources import Customer, Draft
from examples.support_desk.shop.times import stamp
from examples.support_desk.shop.trade import RETURN_AFTER, journey

FIRST_NUMBER = 20417
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
_PREFIX = {"NordPost": "NP", "ParcelLine": "PL", "Fjord Express": "FX"}
_RATES = {"DE": (490, 1290, 10000), "GB": (990, 2490, None), "CH": (990, 2490, None), "NO": (990, 2490, None)}
_NEAR = ("NL", "BE", "LU", "AT", "DK", "PL", "CZ", "FR")


def shipping_cents(country: str, service: str, goods: int) -> int:
    """The shipping price by the table of SHP-02."""
    rates = (690, 1690, 15000) if country in _NEAR else (890, 1990, 15000)
    standard, express, free_from = _RATES.get(country, rates)
    if service == "express":
        return express
    return 0 if free_from is not None and goods >= free_from else standard


def _token(rng: Random, length: int) -> str:
    return "".join(rng.choice(_LETTERS) for _ in range(length))


def enter(db: sqlite3.Connection, rng: Random, drafts: Iterable[Draft], customers: Iterable[Customer]) -> None:
    """Write every draft as an order, numbered in the order in which they were placed."""
    book = {customer.customer_id: customer for customer in customers}
    price = dict(db.execute("SELECT sku, price FROM products").fetchall())
    for number, draft in enumerate(sorted(drafts, key=lambda d: d.placed_at), start=FIRST_NUMBER):
        order_id = f"SO-{number}"
        customer = book[draft.customer_id]
        goods = _enter_lines(db, order_id, draft, price)
        shipping = shipping_cents(customer.country, draft.service, goods)
        _enter_order(db, order_id, draft, customer, shipping)
        _enter_payments(db, rng, order_id, draft, goods + shipping)
        tracking = _enter_shipment(db, rng, order_id, draft, customer)
        _enter_events(db, order_id, draft, tracking)


def _enter_lines(db: sqlite3.Connection, order_id: str, draft: Draft, price: Mapping[str, int]) -> int:
    goods = 0
    for number, line in enumerate(draft.lines, start=1):
        full = price[line.sku] * line.quantity
        discount = share(full, line.discount_percent)
        goods += full - discount
        row = (order_id, number, line.sku, line.quantity, price[line.sku], discount, line.serial)
        db.execute("INSERT INTO order_lines VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    return goods


def _enter_order(db: sqlite3.Connection, order_id: str, draft: Draft, customer: Customer, shipping: int) -> None:
    db.execute(
        "INSERT INTO orders (order_id, customer_id, placed_at, status, channel, service, shipping, street, addition,"
        " postcode, city, country) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?)",
        (
            *(order_id, draft.customer_id, stamp(draft.placed_at), draft.status, draft.channel, draft.service),
            *(shipping, customer.street, customer.postcode, customer.city, customer.country),
        ),
    )


def _enter_payments(db: sqlite3.Connection, rng: Random, order_id: str, draft: Draft, total: int) -> None:
    for attempt in range(draft.captures):
        payment_id, reference = f"pay_{_token(rng, 14)}", f"gw-{rng.randrange(16**10):010x}"
        captured = stamp(draft.placed_at + timedelta(seconds=9 + 33 * attempt))
        status = "voided" if draft.status == "cancelled" else "captured"
        row = (payment_id, order_id, draft.method, total, captured, reference, status)
        db.execute("INSERT INTO payments VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        if draft.status == "returned" and draft.delivered_at is not None:
            refund_id, at = f"re_{_token(rng, 10)}", stamp(draft.delivered_at + RETURN_AFTER)
            refund = (refund_id, f"return-{order_id}", order_id, payment_id, total, "return", "whole order came back")
            paid_back = (*refund, f"gw-{rng.randrange(16**10):010x}", at)
            db.execute("INSERT INTO refunds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", paid_back)


def _enter_shipment(db: sqlite3.Connection, rng: Random, order_id: str, draft: Draft, customer: Customer) -> str | None:
    if draft.dispatched_at is None or draft.status == "cancelled":
        return None
    tracking = f"{_PREFIX[draft.carrier]}{rng.randrange(10**10):010d}{customer.country}"
    delivered = stamp(draft.delivered_at) if draft.delivered_at is not None else None
    row = (f"SH-{rng.randrange(10**6):06d}-{order_id[3:]}", order_id, draft.carrier, tracking, draft.warehouse)
    db.execute("INSERT INTO shipments VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, stamp(draft.dispatched_at), delivered))
    weight = 300 + 450 * len(draft.lines) + rng.randrange(400)
    db.execute("INSERT INTO parcels VALUES (?, ?, ?, ?)", (tracking, draft.carrier, draft.service, weight))
    for event in journey(rng, draft, customer.city):
        scan = (tracking, stamp(event.at), event.place, event.code, event.text)
        db.execute("INSERT INTO parcel_events VALUES (?, ?, ?, ?, ?)", scan)
    return tracking


def _enter_events(db: sqlite3.Connection, order_id: str, draft: Draft, tracking: str | None) -> None:
    events = [(draft.placed_at, "shop", f"placed by {draft.channel}")]
    for attempt in range(draft.captures):
        events.append((draft.placed_at + timedelta(seconds=9 + 33 * attempt), "payments", "payment captured"))
    if draft.status == "cancelled":
        events.append((draft.placed_at + timedelta(hours=3), "customer", "cancelled before dispatch"))
    if draft.dispatched_at is not None and tracking is not None:
        packed = draft.dispatched_at - timedelta(minutes=55)
        events.append((packed, f"warehouse {draft.warehouse}", f"packed, {len(draft.lines)} line(s)"))
        events.append((draft.dispatched_at, f"warehouse {draft.warehouse}", f"handed to {draft.carrier}"))
    if draft.delivered_at is not None and tracking is not None:
        events.append((draft.delivered_at, "carrier feed", "delivered"))
    if draft.delivered_at is not None and draft.status == "returned":
        events.append((draft.delivered_at + RETURN_AFTER, "warehouse", "return received, refunded in full"))
    for at, actor, text in sorted(events):
        db.execute("INSERT INTO order_events VALUES (?, ?, ?, ?)", (order_id, stamp(at), actor, text))
