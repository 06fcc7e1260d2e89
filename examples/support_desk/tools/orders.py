"""Reading orders: one in full, a customer's list, a month as CSV."""

import csv
import io
import sqlite3
from typing import Annotated, Literal

from msgspec import Meta, Struct

from examples.support_desk.shop.money import euros
from examples.support_desk.shop.shop import Shop
from examples.support_desk.tools.errors import NotFound
from examples.support_desk.tools.shapes import CustomerId, OrderId
from examples.support_desk.tools.toolbox import tool

Status = Literal["processing", "shipped", "delivered", "returned", "cancelled"]


class Address(Struct, frozen=True, kw_only=True):
    name: str
    street: str
    addition: str
    postcode: str
    city: str
    country: str


class OrderLine(Struct, frozen=True, kw_only=True):
    line: int
    sku: str
    name: str
    quantity: int
    unit_price: str
    discount: str
    total: str
    serial: str | None


class Payment(Struct, frozen=True, kw_only=True):
    payment_id: str
    method: str
    amount: str
    captured_at: str
    gateway_ref: str
    status: str


class Refund(Struct, frozen=True, kw_only=True):
    refund_id: str
    payment_id: str
    amount: str
    reason: str
    created_at: str


class Shipment(Struct, frozen=True, kw_only=True):
    shipment_id: str
    carrier: str
    tracking_number: str
    warehouse: str
    dispatched_at: str
    delivered_at: str | None


class Event(Struct, frozen=True, kw_only=True):
    at: str
    actor: str
    text: str


class Order(Struct, frozen=True, kw_only=True):
    order_id: str
    version: int
    placed_at: str
    status: str
    channel: str
    customer_id: str
    email: str
    tier: str
    ship_to: Address
    service: str
    lines: list[OrderLine]
    goods: str
    shipping: str
    total: str
    currency: str
    payments: list[Payment]
    refunds: list[Refund]
    shipments: list[Shipment]
    events: list[Event]


class OrderSummary(Struct, frozen=True, kw_only=True):
    order_id: str
    placed_at: str
    status: str
    total: str
    articles: list[str]
    tracking_number: str | None


@tool
def get_order(shop: Shop, *, order_id: OrderId) -> Order:
    """Read one order in full: lines, address, payments, refunds, shipments and history."""
    head = order_row(shop, order_id)
    lines = _lines(shop, order_id)
    goods = sum(row["unit_price"] * row["quantity"] - row["discount"] for row in lines)
    plain = ("order_id", "version", "placed_at", "status", "channel", "customer_id", "service")
    return Order(
        **{key: head[key] for key in plain},
        email=head["email"],
        tier=head["tier"],
        ship_to=Address(**{key: head[key] for key in ("name", "street", "addition", "postcode", "city", "country")}),
        lines=[_line(row) for row in lines],
        goods=euros(goods),
        shipping=euros(head["shipping"]),
        total=euros(goods + head["shipping"]),
        currency="EUR",
        payments=[_payment(row) for row in _all(shop, "payments", order_id, "captured_at")],
        refunds=[_refund(row) for row in _all(shop, "refunds", order_id, "created_at")],
        shipments=[
            Shipment(**{key: row[key] for key in Shipment.__struct_fields__})
            for row in _all(shop, "shipments", order_id, "dispatched_at")
        ],
        events=[
            Event(at=row["at"], actor=row["actor"], text=row["text"])
            for row in _all(shop, "order_events", order_id, "at, rowid")
        ],
    )


@tool
def list_orders(
    shop: Shop,
    *,
    customer_id: CustomerId,
    status: Annotated[Status | None, Meta(description="Only orders in this state")] = None,
    limit: Annotated[int, Meta(ge=1, le=50)] = 20,
) -> list[OrderSummary]:
    """List a customer's orders, newest first, in short. [] if there are none."""
    found = shop.db.execute(
        "SELECT o.*, (SELECT tracking_number FROM shipments s WHERE s.order_id = o.order_id) AS tracking_number"
        " FROM orders o WHERE customer_id = ? AND (? IS NULL OR status = ?)"
        " ORDER BY placed_at DESC, order_id DESC LIMIT ?",
        (customer_id, status, status, limit),
    ).fetchall()
    return [_summary(shop, row) for row in found]


@tool
def export_orders_csv(
    shop: Shop,
    *,
    month: Annotated[str, Meta(pattern=r"^\d{4}-(0[1-9]|1[0-2])$", description="Month, such as 2026-01")],
) -> str:
    """Export all orders placed in a month as CSV, one row per order, oldest first. Amounts in EUR incl. VAT."""
    found = shop.db.execute(
        "SELECT o.order_id, placed_at, customer_id, country, status, service, count(*) AS lines,"
        " sum(quantity) AS pieces, sum(unit_price * quantity - discount) AS goods, shipping,"
        " (SELECT min(payment_id) FROM payments p WHERE p.order_id = o.order_id) AS payment_id"
        " FROM orders o JOIN order_lines USING (order_id) WHERE substr(placed_at, 1, 7) = ?"
        " GROUP BY o.order_id ORDER BY o.order_id",
        (month,),
    ).fetchall()
    if not found:
        raise NotFound(f"no orders were placed in {month}")
    return _csv(found)


def order_row(shop: Shop, order_id: str) -> sqlite3.Row:
    """The order's own row together with its customer's name, e-mail and tier; NotFound if there is none."""
    query = "SELECT o.*, name, email, phone, tier FROM orders o JOIN customers USING (customer_id) WHERE order_id = ?"
    row: sqlite3.Row | None = shop.db.execute(query, (order_id,)).fetchone()
    if row is None:
        (first, last) = shop.db.execute("SELECT min(order_id), max(order_id) FROM orders").fetchone()
        raise NotFound(f"there is no order {order_id}; numbers run from {first} to {last}")
    return row


def _csv(rows: list[sqlite3.Row]) -> str:
    text = io.StringIO()
    sheet = csv.writer(text, lineterminator="\n")
    sheet.writerow((*rows[0].keys()[:8], "goods", "shipping", "total", "payment_id"))
    for row in rows:
        money = (euros(row["goods"]), euros(row["shipping"]), euros(row["goods"] + row["shipping"]))
        sheet.writerow((*tuple(row)[:8], *money, row["payment_id"]))
    return text.getvalue()


def _all(shop: Shop, table: str, order_id: str, by: str) -> list[sqlite3.Row]:
    return shop.db.execute(f"SELECT * FROM {table} WHERE order_id = ? ORDER BY {by}", (order_id,)).fetchall()


def _lines(shop: Shop, order_id: str) -> list[sqlite3.Row]:
    query = "SELECT l.*, p.name FROM order_lines l JOIN products p USING (sku) WHERE order_id = ? ORDER BY line"
    return shop.db.execute(query, (order_id,)).fetchall()


def _line(row: sqlite3.Row) -> OrderLine:
    return OrderLine(
        line=row["line"],
        sku=row["sku"],
        name=row["name"],
        quantity=row["quantity"],
        unit_price=euros(row["unit_price"]),
        discount=euros(row["discount"]),
        total=euros(row["unit_price"] * row["quantity"] - row["discount"]),
        serial=row["serial"],
    )


def _payment(row: sqlite3.Row) -> Payment:
    return Payment(
        payment_id=row["payment_id"],
        method=row["method"],
        amount=euros(row["amount"]),
        captured_at=row["captured_at"],
        gateway_ref=row["gateway_ref"],
        status=row["status"],
    )


def _refund(row: sqlite3.Row) -> Refund:
    return Refund(
        refund_id=row["refund_id"],
        payment_id=row["payment_id"],
        amount=euros(row["amount"]),
        reason=row["reason"],
        created_at=row["created_at"],
    )


def _summary(shop: Shop, row: sqlite3.Row) -> OrderSummary:
    lines = _lines(shop, row["order_id"])
    goods = sum(line["unit_price"] * line["quantity"] - line["discount"] for line in lines)
    return OrderSummary(
        order_id=row["order_id"],
        placed_at=row["placed_at"],
        status=row["status"],
        total=euros(goods + row["shipping"]),
        articles=[f"{line['quantity']} x {line['sku']}" for line in lines],
        tracking_number=row["tracking_number"],
    )
