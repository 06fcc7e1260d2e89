"""Services outside the shop and their bad hours."""

import sqlite3

from examples.support_desk.shop.shop import Shop
from examples.support_desk.shop.times import stamp


def trouble(shop: Shop, service: str, kind: str) -> str | None:
    """What is wrong with a service now, or None. ``kind`` is down (it fails) or slow (it acts, its answer is lost)."""
    now = stamp(shop.now())
    row: sqlite3.Row | None = shop.db.execute(
        "SELECT message FROM incidents WHERE service = ? AND kind = ? AND starts_at <= ? AND ends_at > ?",
        (service, kind, now, now),
    ).fetchone()
    return None if row is None else str(row["message"])
