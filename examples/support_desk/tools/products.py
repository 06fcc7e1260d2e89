"""Searching the catalogue and reading one article."""

import sqlite3
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from examples.support_desk.shop.money import cents, euros
from examples.support_desk.shop.shop import Shop
from examples.support_desk.tools.errors import NotFound
from examples.support_desk.tools.shapes import Amount, Sku
from examples.support_desk.tools.toolbox import tool

Category = Literal["Tents", "Sleeping bags", "Backpacks", "Stoves", "Lighting", "Rain wear", "Bike bags", "Navigation"]


class Hit(Struct, frozen=True, kw_only=True):
    sku: str
    name: str
    brand: str
    category: str
    price: str
    weight_g: int
    rating: float
    reviews: int
    description: str
    specs: dict[str, str]
    discontinued: str | None


class Variant(Struct, frozen=True, kw_only=True):
    sku: str
    colour: str
    size: str
    price: str


class Product(Struct, frozen=True, kw_only=True):
    sku: str
    name: str
    brand: str
    category: str
    colour: str
    size: str
    price: str
    weight_g: int
    description: str
    specs: dict[str, str]
    warranty_months: int
    ean: str
    rating: float
    reviews: int
    released: str
    discontinued: str | None
    successor: str | None
    variants: list[Variant]


@tool
def search_products(
    shop: Shop,
    *,
    query: Annotated[str, Meta(description="Words that must all stand in name, category, colour or description")] = "",
    category: Category | None = None,
    max_price: Amount | None = None,
    max_weight_g: Annotated[int, Meta(ge=1)] | None = None,
    limit: Annotated[int, Meta(ge=1, le=20)] = 10,
) -> list[Hit]:
    """Search the catalogue, best rated first. Discontinued articles are listed last. [] if nothing fits."""
    words = " AND ".join("(name || ' ' || category || ' ' || description) LIKE ?" for _ in query.split())
    found = shop.db.execute(
        f"SELECT * FROM products WHERE {words or '1'} AND (? IS NULL OR category = ?) AND (? IS NULL OR price <= ?)"
        " AND (? IS NULL OR weight_g <= ?)"
        " ORDER BY discontinued IS NOT NULL, rating DESC, reviews DESC, sku LIMIT ?",
        (
            *(f"%{word}%" for word in query.split()),
            *(category, category),
            *((None, None) if max_price is None else (max_price, cents(max_price))),
            *(max_weight_g, max_weight_g, limit),
        ),
    ).fetchall()
    return [_hit(row) for row in found]


@tool
def get_product(shop: Shop, *, sku: Sku) -> Product:
    """Read one article in full: specifications, warranty, successor if discontinued, and its variants."""
    row = product_row(shop, sku)
    same = shop.db.execute("SELECT * FROM products WHERE model = ? ORDER BY sku", (row["model"],)).fetchall()
    plain = ("sku", "name", "brand", "category", "colour", "size", "weight_g", "description", "warranty_months", "ean")
    marks = ("rating", "reviews", "released", "discontinued", "successor")
    return Product(
        **{key: row[key] for key in plain + marks},
        price=euros(row["price"]),
        specs=msgspec.json.decode(row["specs"], type=dict[str, str]),
        variants=[
            Variant(sku=each["sku"], colour=each["colour"], size=each["size"], price=euros(each["price"]))
            for each in same
        ],
    )


def product_row(shop: Shop, sku: str) -> sqlite3.Row:
    """The article's row; NotFound, with the nearest article numbers, if there is none."""
    row: sqlite3.Row | None = shop.db.execute("SELECT * FROM products WHERE sku = ?", (sku,)).fetchone()
    if row is None:
        near = shop.db.execute("SELECT sku FROM products WHERE sku LIKE ? ORDER BY sku LIMIT 3", (f"{sku[:6]}%",))
        names = ", ".join(each["sku"] for each in near)
        raise NotFound(f"there is no article {sku}" + (f"; did you mean {names}?" if names else ""))
    return row


def _hit(row: sqlite3.Row) -> Hit:
    plain = ("sku", "name", "brand", "category", "weight_g", "rating", "reviews", "description", "discontinued")
    specs = msgspec.json.decode(row["specs"], type=dict[str, str])
    return Hit(**{key: row[key] for key in plain}, price=euros(row["price"]), specs=specs)
