"""What the shop is built from: catalogue, customers, policies and the cases of the scripted day, as files here.

A key that the types do not know is an error, so a misspelt one cannot vanish.
"""

import csv
import re
from datetime import datetime
from pathlib import Path

import msgspec
from msgspec import Struct

HERE = Path(__file__).parent
_EFFECTIVE = re.compile(r"^Effective: (\d{4}-\d{2}-\d{2})$", re.MULTILINE)


class Model(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One model of the catalogue with its variants (code, colour, size)."""

    category: str
    code: str
    name: str
    brand: str
    price_cents: int
    weight_g: int
    warranty_months: int
    released: str
    rating: float
    reviews: int
    description: str
    specs: dict[str, str]
    variants: tuple[tuple[str, str, str], ...]
    discontinued: str | None = None
    successor: str | None = None


class Customer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    customer_id: str
    name: str
    email: str
    phone: str
    language: str
    country: str
    street: str
    postcode: str
    city: str
    since: str
    tier: str


class Policy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    code: str
    version: int
    effective: str
    body: str


class Line(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    sku: str
    quantity: int = 1
    discount_percent: int = 0
    serial: str | None = None


class ParcelEvent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    at: datetime
    place: str
    code: str
    text: str


class Draft(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An order before it has a number. ``captures`` counts how often the money was taken."""

    customer_id: str
    placed_at: datetime
    status: str
    channel: str
    method: str
    service: str
    carrier: str
    warehouse: str
    lines: tuple[Line, ...]
    dispatched_at: datetime | None = None
    delivered_at: datetime | None = None
    captures: int = 1
    parcel: tuple[ParcelEvent, ...] = ()


class StockLevel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one warehouse holds; ``nightly`` is what last night's export said, where it differs."""

    sku: str
    warehouse: str
    on_hand: int
    reserved: int
    next_delivery: str | None = None
    next_quantity: int | None = None
    nightly: int | None = None


class TicketMessage(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    at: datetime
    author: str
    channel: str
    text: str


class Ticket(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ticket_id: str
    subject: str
    status: str
    priority: str
    assignee: str
    opened_at: datetime
    tags: tuple[str, ...]
    messages: tuple[TicketMessage, ...]
    customer_id: str | None = None


class Parcel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    tracking_number: str
    carrier: str
    service: str
    weight_g: int
    events: tuple[ParcelEvent, ...]


class Incident(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    service: str
    starts_at: datetime
    ends_at: datetime
    kind: str
    message: str


class Cases(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    orders: tuple[Draft, ...]
    stock: tuple[StockLevel, ...]
    tickets: tuple[Ticket, ...]
    parcels: tuple[Parcel, ...]
    incidents: tuple[Incident, ...]


class _Catalogue(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    models: tuple[Model, ...]


def models() -> tuple[Model, ...]:
    return msgspec.toml.decode((HERE / "catalogue.toml").read_bytes(), type=_Catalogue).models


def cases() -> Cases:
    return msgspec.toml.decode((HERE / "cases.toml").read_bytes(), type=Cases)


def customers() -> tuple[Customer, ...]:
    with (HERE / "customers.csv").open(encoding="utf-8", newline="") as file:
        return tuple(msgspec.convert(row, Customer) for row in csv.DictReader(file))


def policies() -> tuple[Policy, ...]:
    """Every policy text, oldest version first."""
    return tuple(_policy(path) for path in sorted((HERE / "policies").glob("*.md")))


def _policy(path: Path) -> Policy:
    code, version, _ = path.name.split(".")
    body = path.read_text(encoding="utf-8")
    effective = _EFFECTIVE.search(body)
    if effective is None:
        raise ValueError(f"{path.name} has no line 'Effective: YYYY-MM-DD'")
    return Policy(code=code, version=int(version[1:]), effective=effective[1], body=body)
