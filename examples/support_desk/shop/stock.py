"""What lies in the three warehouses, and the CSV file that last night's export wrote about it."""

import csv
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random

from examples.support_desk.shop.sources import Model, StockLevel
from examples.support_desk.shop.trade import WAREHOUSES

NIGHTLY = "stock-2026-03-02.csv"
COUNTED_AT = "2026-03-02T02:00:00Z"
COLUMNS = (
    *("sku", "product", "category", "warehouse", "on_hand", "reserved", "available"),
    *("next_delivery", "next_quantity"),
)


def levels(rng: Random, models: Sequence[Model], placed: Iterable[StockLevel]) -> Iterator[StockLevel]:
    """One level per article and warehouse: as placed by a case, else made up."""
    fixed = {(level.sku, level.warehouse): level for level in placed}
    for model in models:
        for code, _, _ in model.variants:
            for warehouse in WAREHOUSES:
                made_up = _level(rng, f"{model.code}-{code}", warehouse, model.discontinued is not None)
                yield fixed.get((made_up.sku, warehouse), made_up)


def _level(rng: Random, sku: str, warehouse: str, discontinued: bool) -> StockLevel:
    on_hand = 0 if discontinued else rng.choice((0, 0, 1, 2, 3, 4, 5, 6, 8, 9, 11, 14, 17, 22, 28))
    reserved = rng.randrange(min(on_hand, 3) + 1)
    drift = rng.choice((0, 0, 0, 0, 1, 2))
    day, quantity = rng.randrange(4, 29), rng.choice((6, 10, 12, 20, 30))
    restock = on_hand < 3 and not discontinued
    return StockLevel(
        sku=sku,
        warehouse=warehouse,
        on_hand=on_hand,
        reserved=reserved,
        next_delivery=f"2026-03-{day:02d}" if restock else None,
        next_quantity=quantity if restock else None,
        nightly=on_hand + drift if drift else None,
    )


def stock_up(db: sqlite3.Connection, folder: Path, stock: Iterable[StockLevel]) -> None:
    """Write the live levels to the database, and last night's to a CSV file in ``folder``."""
    names = {sku: (name, category) for sku, name, category in db.execute("SELECT sku, name, category FROM products")}
    with (folder / NIGHTLY).open("w", encoding="utf-8", newline="") as file:
        sheet = csv.writer(file, lineterminator="\n")
        sheet.writerow(COLUMNS)
        for level in stock:
            live = (level.sku, level.warehouse, level.on_hand, level.reserved, level.next_delivery, level.next_quantity)
            db.execute("INSERT INTO stock VALUES (?, ?, ?, ?, ?, ?, ?)", (*live, COUNTED_AT))
            held = level.on_hand if level.nightly is None else level.nightly
            counts = (level.warehouse, held, level.reserved, held - level.reserved)
            sheet.writerow((level.sku, *names[level.sku], *counts, level.next_delivery, level.next_quantity))
