"""Asking the carriers where a parcel is."""

import hashlib
from typing import Annotated

from msgspec import Meta, Struct

from examples.support_desk.shop.shop import Shop
from examples.support_desk.shop.times import stamp
from examples.support_desk.tools.errors import CarrierUnavailable, NotFound
from examples.support_desk.tools.outages import trouble
from examples.support_desk.tools.toolbox import tool

RETRY_AFTER = 900


class Scan(Struct, frozen=True, kw_only=True):
    at: str
    place: str
    code: str
    text: str


class Parcel(Struct, frozen=True, kw_only=True):
    tracking_number: str
    carrier: str
    service: str
    weight_g: int
    last: str
    events: list[Scan]


@tool
def track_parcel(
    shop: Shop,
    *,
    tracking_number: Annotated[str, Meta(pattern=r"^[A-Z]{2}\d{10}[A-Z]{2}$", description="From the shipment")],
) -> Parcel:
    """Ask the carrier for the events of a parcel, oldest first. The carrier may correct an event later."""
    row = shop.db.execute("SELECT * FROM parcels WHERE tracking_number = ?", (tracking_number,)).fetchone()
    if row is None:
        raise NotFound(f"no carrier knows {tracking_number}")
    now = stamp(shop.now())
    down = trouble(shop, row["carrier"], "down")
    if down is not None:
        request = hashlib.sha256(f"{tracking_number} {now}".encode()).hexdigest()[:8]
        raise CarrierUnavailable(f"{row['carrier']} {down}, request {request}. Retry after {RETRY_AFTER} s")
    found = shop.db.execute(
        "SELECT at, place, code, text FROM parcel_events WHERE tracking_number = ? AND at <= ? ORDER BY at, rowid",
        (tracking_number, now),
    ).fetchall()
    events = [Scan(at=scan["at"], place=scan["place"], code=scan["code"], text=scan["text"]) for scan in found]
    return Parcel(
        tracking_number=tracking_number,
        carrier=row["carrier"],
        service=row["service"],
        weight_g=row["weight_g"],
        last=events[-1].text if events else "announced",
        events=events,
    )
