"""Paying money back through the gateway."""

import hashlib
import sqlite3
from typing import Annotated, Literal

from msgspec import Meta, Struct

from examples.support_desk.shop.money import cents, euros
from examples.support_desk.shop.shop import Shop
from examples.support_desk.shop.times import stamp
from examples.support_desk.tools.errors import GatewayTimeout, InvalidArguments, NotFound, Refused
from examples.support_desk.tools.orders import order_row
from examples.support_desk.tools.outages import trouble
from examples.support_desk.tools.shapes import Amount, Key, OrderId
from examples.support_desk.tools.toolbox import tool

Reason = Literal["return", "duplicate_payment", "shipping", "goodwill", "fault"]


class RefundReceipt(Struct, frozen=True, kw_only=True):
    refund_id: str
    order_id: str
    payment_id: str
    amount: str
    currency: str
    reason: str
    gateway_ref: str
    created_at: str
    left_on_payment: str
    replayed: bool


@tool
def create_refund(
    shop: Shop,
    *,
    order_id: OrderId,
    payment_id: Annotated[str, Meta(pattern=r"^pay_[a-z0-9]{14}$", description="Payment to refund, from the order")],
    amount: Amount,
    reason: Reason,
    note: Annotated[str, Meta(min_length=5, max_length=300, description="Line, policy and version it rests on")],
    idempotency_key: Key,
) -> RefundReceipt:
    """Refund all or part of a captured payment. Moves money at once. Repeat with the same key after a timeout."""
    order_row(shop, order_id)
    known = shop.db.execute("SELECT * FROM refunds WHERE idempotency_key = ?", (idempotency_key,)).fetchone()
    if known is not None:
        if (known["payment_id"], known["amount"]) != (payment_id, cents(amount)):
            raise InvalidArguments(f"key {idempotency_key} was used for another refund; choose another")
        return _receipt(shop, known, replayed=True)
    _check(shop, order_id, payment_id, cents(amount))
    digest = hashlib.sha256(idempotency_key.encode()).hexdigest()
    head = (f"re_{digest[:10]}", idempotency_key, order_id, payment_id, cents(amount))
    row = (*head, reason, note, f"gw-{digest[10:20]}")
    now = stamp(shop.now())
    with shop.db:
        shop.db.execute("INSERT INTO refunds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, now))
        event = (order_id, now, "desk-agent-1", f"refund {row[0]} EUR {amount} ({reason})")
        shop.db.execute("INSERT INTO order_events VALUES (?, ?, ?, ?)", event)
    shop.note("payments", f"refund {row[0]} {row[7]} EUR {amount} on {payment_id} booked key={idempotency_key}")
    slow = trouble(shop, "payments", "slow")
    if slow is not None:
        shop.note("payments", f"answer for key={idempotency_key} not delivered, caller gone")
        raise GatewayTimeout(f"{slow}; state of the refund unknown (key {idempotency_key})")
    booked = shop.db.execute("SELECT * FROM refunds WHERE idempotency_key = ?", (idempotency_key,)).fetchone()
    return _receipt(shop, booked, replayed=False)


def _left(shop: Shop, payment: sqlite3.Row) -> int:
    done = "SELECT coalesce(sum(amount), 0) FROM refunds WHERE payment_id = ?"
    (refunded,) = shop.db.execute(done, (payment["payment_id"],)).fetchone()
    return int(payment["amount"] - refunded)


def _check(shop: Shop, order_id: str, payment_id: str, amount: int) -> None:
    payment = _payment(shop, payment_id)
    if payment["order_id"] != order_id:
        raise Refused(f"{payment_id} belongs to {payment['order_id']}, not to {order_id}")
    if payment["status"] != "captured":
        raise Refused(f"{payment_id} is {payment['status']}; there is nothing to pay back")
    if not 0 < amount <= _left(shop, payment):
        raise Refused(f"EUR {euros(amount)} is more than is left on {payment_id}: EUR {euros(_left(shop, payment))}")


def _payment(shop: Shop, payment_id: str) -> sqlite3.Row:
    row: sqlite3.Row | None = shop.db.execute("SELECT * FROM payments WHERE payment_id = ?", (payment_id,)).fetchone()
    if row is None:
        raise NotFound(f"there is no payment {payment_id}")
    return row


def _receipt(shop: Shop, row: sqlite3.Row, *, replayed: bool) -> RefundReceipt:
    return RefundReceipt(
        refund_id=row["refund_id"],
        order_id=row["order_id"],
        payment_id=row["payment_id"],
        amount=euros(row["amount"]),
        currency="EUR",
        reason=row["reason"],
        gateway_ref=row["gateway_ref"],
        created_at=row["created_at"],
        left_on_payment=euros(_left(shop, _payment(shop, row["payment_id"]))),
        replayed=replayed,
    )
