"""Finding the customer behind a name, an address or a number."""

from typing import Annotated

from msgspec import Meta, Struct

from examples.support_desk.shop.shop import Shop
from examples.support_desk.tools.toolbox import tool


class Customer(Struct, frozen=True, kw_only=True):
    customer_id: str
    name: str
    email: str
    phone: str
    language: str
    tier: str
    since: str
    street: str
    postcode: str
    city: str
    country: str
    orders: int
    last_order: str | None
    tickets: list[str]
    last_goodwill: str | None


@tool
def find_customer(
    shop: Shop,
    *,
    query: Annotated[str, Meta(min_length=3, description="Customer number, or part of name, e-mail or phone")],
) -> list[Customer]:
    """Find customers: at most five, with address, tier, tickets and the date of the last goodwill. [] if none."""
    like = f"%{query}%"
    found = shop.db.execute(
        "SELECT * FROM customers WHERE customer_id = ? OR name LIKE ? OR email LIKE ? OR phone LIKE ?"
        " ORDER BY customer_id LIMIT 5",
        (query, like, like, like),
    ).fetchall()
    return [_customer(shop, dict(row)) for row in found]


def _customer(shop: Shop, row: dict[str, str]) -> Customer:
    customer_id = row["customer_id"]
    count, last = shop.db.execute(
        "SELECT count(*), max(placed_at) FROM orders WHERE customer_id = ?", (customer_id,)
    ).fetchone()
    tickets = shop.db.execute("SELECT ticket_id FROM tickets WHERE customer_id = ? ORDER BY 1", (customer_id,))
    (goodwill,) = shop.db.execute(
        "SELECT max(r.created_at) FROM refunds r JOIN orders o USING (order_id)"
        " WHERE o.customer_id = ? AND r.reason = 'goodwill'",
        (customer_id,),
    ).fetchone()
    return Customer(
        **row, orders=count, last_order=last, tickets=[ticket[0] for ticket in tickets], last_goodwill=goodwill
    )
