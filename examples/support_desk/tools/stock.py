"""Stock: as it is now, as last night's export saw it, and reserving some of it."""

import csv
import hashlib
import io
import sqlite3
from datetime import timedelta
from typing import Annotated, Literal

from msgspec import Meta, Struct

from examples.support_desk.shop.shop import Shop
from examples.support_desk.shop.times import stamp
from examples.support_desk.tools.errors import InvalidArguments, Refused
from examples.support_desk.tools.products import Category, product_row
from examples.support_desk.tools.shapes import Key, Sku
from examples.support_desk.tools.toolbox import tool

Warehouse = Literal["HAM", "LEI", "ROT"]
HELD_FOR = timedelta(days=7)

# id, idempotency key, sku, warehouse, quantity, reference, created at, expires at
ReservationRow = tuple[str, str, str, str, int, str, str, str]


class Level(Struct, frozen=True, kw_only=True):
    warehouse: str
    on_hand: int
    reserved: int
    available: int
    next_delivery: str | None
    next_quantity: int | None
    changed_at: str


class Stock(Struct, frozen=True, kw_only=True):
    sku: str
    name: str
    available: int
    warehouses: list[Level]


class Reservation(Struct, frozen=True, kw_only=True):
    reservation_id: str
    sku: str
    warehouse: str
    quantity: int
    reference: str
    created_at: str
    expires_at: str
    replayed: bool


@tool
def check_stock(shop: Shop, *, sku: Sku) -> Stock:
    """Read the live stock of one article in all three warehouses. `available` is on hand less reserved."""
    product = product_row(shop, sku)
    rows = shop.db.execute("SELECT * FROM stock WHERE sku = ? ORDER BY warehouse", (sku,)).fetchall()
    levels = [_level(row) for row in rows]
    return Stock(sku=sku, name=product["name"], available=sum(level.available for level in levels), warehouses=levels)


@tool
def read_stock_export(shop: Shop, *, category: Category) -> str:
    """Read one category of last night's stock export (CSV, written at 02:00 UTC; sales of today are not in it)."""
    with shop.nightly_stock.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    text = io.StringIO()
    sheet = csv.writer(text, lineterminator="\n")
    sheet.writerow(header)
    sheet.writerows(row for row in rows if row[header.index("category")] == category)
    return text.getvalue()


@tool
def reserve_stock(
    shop: Shop,
    *,
    sku: Sku,
    warehouse: Warehouse,
    quantity: Annotated[int, Meta(ge=1, le=100)],
    reference: Annotated[str, Meta(description="Order or ticket that the goods are for")],
    idempotency_key: Key,
) -> Reservation:
    """Reserve pieces of an article in one warehouse for seven days. Changes the live stock."""
    known = _reservation(shop, idempotency_key)
    if known is not None:
        return _replayed(known, sku, warehouse, quantity)
    product_row(shop, sku)
    row = shop.db.execute("SELECT * FROM stock WHERE sku = ? AND warehouse = ?", (sku, warehouse)).fetchone()
    available = row["on_hand"] - row["reserved"]
    if quantity > available:
        raise Refused(f"{warehouse} has {available} of {sku} available, not {quantity}")
    now = shop.now()
    number = int(hashlib.sha256(idempotency_key.encode()).hexdigest(), 16) % 10**7
    with shop.db:
        shop.db.execute(
            "UPDATE stock SET reserved = reserved + ?, counted_at = ? WHERE sku = ? AND warehouse = ?",
            (quantity, stamp(now), sku, warehouse),
        )
        held = (f"RSV-{number:07d}", idempotency_key, sku, warehouse, quantity, reference, stamp(now))
        shop.db.execute("INSERT INTO reservations VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*held, stamp(now + HELD_FOR)))
    shop.note("desk", f"{held[0]} reserved {quantity} x {sku} in {warehouse} for {reference} key={idempotency_key}")
    return _held((*held, stamp(now + HELD_FOR)), replayed=False)


def _level(row: sqlite3.Row) -> Level:
    return Level(
        warehouse=row["warehouse"],
        on_hand=row["on_hand"],
        reserved=row["reserved"],
        available=row["on_hand"] - row["reserved"],
        next_delivery=row["next_delivery"],
        next_quantity=row["next_quantity"],
        changed_at=row["counted_at"],
    )


def _reservation(shop: Shop, key: str) -> ReservationRow | None:
    row = shop.db.execute("SELECT * FROM reservations WHERE idempotency_key = ?", (key,)).fetchone()
    return None if row is None else tuple(row)


def _replayed(known: ReservationRow, sku: str, warehouse: str, quantity: int) -> Reservation:
    if known[2:5] != (sku, warehouse, quantity):
        raise InvalidArguments(f"key {known[1]} was used for {known[4]} x {known[2]} in {known[3]}; choose another")
    return _held(known, replayed=True)


def _held(row: ReservationRow, *, replayed: bool) -> Reservation:
    reservation_id, _, sku, warehouse, quantity, reference, created_at, expires_at = row
    return Reservation(
        reservation_id=reservation_id,
        sku=sku,
        warehouse=warehouse,
        quantity=quantity,
        reference=reference,
        created_at=created_at,
        expires_at=expires_at,
        replayed=replayed,
    )
