"""Converting euros with the reference rate of a day."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from examples.support_desk.shop.money import cents, euros
from examples.support_desk.shop.shop import Shop
from examples.support_desk.tools.errors import NotFound
from examples.support_desk.tools.shapes import Amount
from examples.support_desk.tools.toolbox import tool

Currency = Literal["CHF", "DKK", "GBP", "NOK", "PLN", "SEK"]


class Converted(Struct, frozen=True, kw_only=True):
    amount: str
    currency: str
    rate: str
    day: str


@tool
def convert_currency(
    shop: Shop,
    *,
    amount: Amount,
    to: Currency,
    day: Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$", description="Without it: the latest rate")] | None = None,
) -> Converted:
    """Convert an amount in EUR with the shop's reference rate of a day. The customer's bank may use another rate."""
    row = shop.db.execute(
        "SELECT day, per_euro FROM rates WHERE currency = ? AND day <= ? ORDER BY day DESC LIMIT 1",
        (to, day or shop.now().date().isoformat()),
    ).fetchone()
    if row is None:
        raise NotFound(f"no {to} rate is stored for {day} or earlier; the first is of 2026-02-01")
    rate = int(row["per_euro"].replace(".", ""))
    return Converted(
        amount=euros((cents(amount) * rate + 5000) // 10000), currency=to, rate=row["per_euro"], day=row["day"]
    )
