"""Three months of ordinary trade: orders made up from a seed, with parcels that travel as parcels do."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random

from examples.support_desk.shop.sources import Customer, Draft, Line, Model, ParcelEvent

FIRST_DAY = datetime(2025, 12, 1, tzinfo=UTC)
MORNING = datetime(2026, 3, 2, 9, tzinfo=UTC)
DAYS = 91
ORDERS = 288
RETURN_AFTER = timedelta(days=9)
CARRIERS = ("NordPost", "ParcelLine", "Fjord Express")
WAREHOUSES = {"HAM": "Hamburg", "LEI": "Leipzig", "ROT": "Rotterdam"}
_CHANNELS = ("web", "web", "web", "app", "app", "phone")
_METHODS = ("card", "card", "card", "paypal", "invoice")


def bulk_orders(rng: Random, customers: Sequence[Customer], models: Sequence[Model]) -> list[Draft]:
    """Orders of every customer of the book, spread over the three months before the morning."""
    return [_order(rng, rng.choice(customers), models) for _ in range(ORDERS)]


def _order(rng: Random, customer: Customer, models: Sequence[Model]) -> Draft:
    seconds = rng.randrange(6 * 3600, 22 * 3600)
    placed = FIRST_DAY + timedelta(days=rng.randrange(DAYS), seconds=seconds)
    dispatched = placed + timedelta(hours=rng.randrange(8, 40), minutes=rng.randrange(60))
    delivered = dispatched + timedelta(days=rng.randrange(2, 7), minutes=rng.randrange(-240, 240))
    express = rng.randrange(8) == 0
    return Draft(
        customer_id=customer.customer_id,
        placed_at=placed,
        status=_status(rng, dispatched, delivered),
        channel=rng.choice(_CHANNELS),
        method=rng.choice(_METHODS),
        service="express" if express else "standard",
        carrier=rng.choice(CARRIERS),
        warehouse=rng.choice(tuple(WAREHOUSES)),
        lines=tuple(_line(rng, models) for _ in range(rng.choice((1, 1, 1, 2, 2, 3)))),
        dispatched_at=dispatched if dispatched < MORNING else None,
        delivered_at=delivered if delivered < MORNING else None,
    )


def _status(rng: Random, dispatched: datetime, delivered: datetime) -> str:
    if dispatched >= MORNING:
        return "processing"
    if delivered >= MORNING:
        return "shipped"
    fate = rng.choice(("delivered",) * 20 + ("returned", "returned", "cancelled"))
    too_new = fate == "returned" and delivered + RETURN_AFTER >= MORNING
    return "delivered" if too_new else fate


def _line(rng: Random, models: Sequence[Model]) -> Line:
    model = rng.choice(models)
    variant = rng.choice(model.variants)
    serial = None
    if model.category == "Navigation" and model.warranty_months == 24:
        serial = (
            f"{model.code[4:6]}{model.name.split()[1][0].upper()}-25{rng.randrange(10, 53)}-{rng.randrange(100000):05d}"
        )
    quantity = rng.choice((1, 1, 1, 1, 2))
    return Line(
        sku=f"{model.code}-{variant[0]}",
        quantity=1 if serial else quantity,
        discount_percent=rng.choice((0, 0, 0, 0, 10)),
        serial=serial,
    )


def journey(rng: Random, draft: Draft, city: str) -> tuple[ParcelEvent, ...]:
    """The carrier's events of a parcel, made up from the dates of its order unless the order brings its own."""
    if draft.parcel or draft.dispatched_at is None:
        return draft.parcel
    start = draft.dispatched_at
    origin = WAREHOUSES[draft.warehouse]
    steps = [
        (start + timedelta(hours=2, minutes=rng.randrange(90)), origin, "ACC", "Accepted from sender"),
        (start + timedelta(hours=10, minutes=rng.randrange(200)), f"{origin} hub", "SRT", "Sorted"),
        (start + timedelta(hours=26, minutes=rng.randrange(200)), f"{city} depot", "ARR", "Arrived at depot"),
    ]
    if draft.delivered_at is not None:
        out = draft.delivered_at - timedelta(hours=4, minutes=rng.randrange(80))
        steps.append((out, f"{city} depot", "OFD", "Out for delivery"))
        steps.append((draft.delivered_at, city, "DLV", "Delivered, signature on file"))
    events = [ParcelEvent(at=at, place=place, code=code, text=text) for at, place, code, text in steps]
    return tuple(sorted((e for e in events if e.at < MORNING), key=lambda e: e.at))
