"""Changing where an order goes, as long as it has not left."""

from typing import Annotated

from msgspec import Meta, Struct

from examples.support_desk.shop.shop import Shop
from examples.support_desk.shop.times import stamp
from examples.support_desk.tools.errors import Refused
from examples.support_desk.tools.orders import Address, order_row
from examples.support_desk.tools.shapes import OrderId
from examples.support_desk.tools.toolbox import tool

Text = Annotated[str, Meta(min_length=2, max_length=80)]


class AddressChange(Struct, frozen=True, kw_only=True):
    order_id: str
    version: int
    before: Address
    after: Address
    changed_at: str


@tool
def update_address(
    shop: Shop,
    *,
    order_id: OrderId,
    expected_version: Annotated[int, Meta(ge=1, description="The order's version as last read")],
    street: Text,
    postcode: Text,
    city: Text,
    addition: Annotated[str, Meta(max_length=80, description="c/o, floor or pick-up shop")] = "",
    note: Annotated[str, Meta(max_length=200, description="Who asked, and how")] = "",
) -> AddressChange:
    """Change the delivery address of an order that is not dispatched. Refused if it has changed since it was read."""
    before = order_row(shop, order_id)
    if before["status"] != "processing":
        raise Refused(f"{order_id} is {before['status']}; only the carrier can redirect it now")
    if before["version"] != expected_version:
        raise Refused(f"{order_id} is at version {before['version']}, not {expected_version}; read it again first")
    now = stamp(shop.now())
    with shop.db:
        shop.db.execute(
            "UPDATE orders SET street = ?, addition = ?, postcode = ?, city = ?, version = version + 1"
            " WHERE order_id = ?",
            (street, addition, postcode, city, order_id),
        )
        event = (order_id, now, "desk-agent-1", f"address changed to {street}, {postcode} {city}: {note}")
        shop.db.execute("INSERT INTO order_events VALUES (?, ?, ?, ?)", event)
    shop.note("desk", f"address of {order_id} changed, version {expected_version + 1}")
    parts = ("name", "street", "addition", "postcode", "city", "country")
    after = order_row(shop, order_id)
    return AddressChange(
        order_id=order_id,
        version=after["version"],
        before=Address(**{part: before[part] for part in parts}),
        after=Address(**{part: after[part] for part in parts}),
        changed_at=now,
    )
