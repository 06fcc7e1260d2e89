"""Builds the shop, the same every time: a SQLite database, an application log and last night's stock export."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random

import msgspec

from examples.support_desk.shop import applog, sources
from examples.support_desk.shop.book import enter
from examples.support_desk.shop.stock import NIGHTLY, levels, stock_up
from examples.support_desk.shop.times import stamp
from examples.support_desk.shop.trade import bulk_orders

SEED = 20260302
DATABASE = "shop.db"


@dataclass(frozen=True, kw_only=True)
class Shop:
    """The open shop: its database, the folder with its files, and the clock that its tools go by."""

    db: sqlite3.Connection
    folder: Path
    now: Callable[[], datetime]

    @property
    def log(self) -> Path:
        return self.folder / applog.LOG

    @property
    def nightly_stock(self) -> Path:
        return self.folder / NIGHTLY

    def note(self, part: str, text: str) -> None:
        """Append a line to the application log, as the running application does."""
        with self.log.open("a", encoding="utf-8") as file:
            file.write(applog.line(self.now(), "INFO", part, text)[1] + "\n")


def build(folder: Path, now: Callable[[], datetime]) -> Shop:
    """Build the shop in an empty folder and open it."""
    db = sqlite3.connect(folder / DATABASE)
    db.row_factory = sqlite3.Row
    db.executescript((sources.HERE / "schema.sql").read_text(encoding="utf-8"))
    rng, models, cases, customers = Random(SEED), sources.models(), sources.cases(), sources.customers()
    with db:
        _enter_customers(db, customers)
        _enter_products(db, rng, models)
        stock_up(db, folder, levels(rng, models, cases.stock))
        placed = {case.customer_id for case in cases.orders}
        others = [customer for customer in customers if customer.customer_id not in placed]
        enter(db, rng, [*bulk_orders(rng, others, models), *cases.orders], customers)
        _enter_desk(db, cases)
        _enter_rates(db, rng)
    log = applog.weekend(db, rng)
    (folder / applog.LOG).write_text(log, encoding="utf-8")
    return Shop(db=db, folder=folder, now=now)


def _enter_customers(db: sqlite3.Connection, customers: Sequence[sources.Customer]) -> None:
    for customer in customers:
        db.execute("INSERT INTO customers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", msgspec.structs.astuple(customer))


def _enter_products(db: sqlite3.Connection, rng: Random, models: Sequence[sources.Model]) -> None:
    for model in models:
        specs = msgspec.json.encode(model.specs).decode()
        for code, colour, size in model.variants:
            name = f"{model.name}, {colour}" + (f", {size}" if size else "")
            successor = f"{model.successor}-{code}" if model.successor else None
            row = (f"{model.code}-{code}", model.code, name, model.brand, model.category, colour, size)
            facts = (model.price_cents, model.weight_g, model.description, specs, model.warranty_months)
            ean = f"40{rng.randrange(10**11):011d}"
            marks = (ean, model.rating, model.reviews, model.released, model.discontinued, successor)
            holes = ", ".join("?" * len(row + facts + marks))
            db.execute(f"INSERT INTO products VALUES ({holes})", row + facts + marks)


def _enter_desk(db: sqlite3.Connection, cases: sources.Cases) -> None:
    for policy in sources.policies():
        db.execute("INSERT INTO policies VALUES (?, ?, ?, ?)", msgspec.structs.astuple(policy))
    for ticket in cases.tickets:
        row = (ticket.ticket_id, ticket.customer_id, ticket.subject, ticket.status, ticket.priority, ticket.assignee)
        db.execute(
            "INSERT INTO tickets VALUES (?, ?, NULL, ?, ?, ?, ?, ?, ?)",
            (*row, stamp(ticket.opened_at), " ".join(ticket.tags)),
        )
        for message in ticket.messages:
            text = (ticket.ticket_id, stamp(message.at), message.author, message.channel, message.text)
            db.execute("INSERT INTO ticket_messages VALUES (?, ?, ?, ?, ?)", text)
    for parcel in cases.parcels:
        facts = (parcel.tracking_number, parcel.carrier, parcel.service, parcel.weight_g)
        db.execute("INSERT INTO parcels VALUES (?, ?, ?, ?)", facts)
        for event in parcel.events:
            scan = (parcel.tracking_number, stamp(event.at), event.place, event.code, event.text)
            db.execute("INSERT INTO parcel_events VALUES (?, ?, ?, ?, ?)", scan)
    for outage in cases.incidents:
        span = (outage.service, stamp(outage.starts_at), stamp(outage.ends_at), outage.kind, outage.message)
        db.execute("INSERT INTO incidents VALUES (?, ?, ?, ?, ?)", span)


def _enter_rates(db: sqlite3.Connection, rng: Random) -> None:
    """A month of reference rates against the euro, drifting by small steps."""
    rates = {"DKK": 74604, "GBP": 8412, "PLN": 42655, "SEK": 112140, "CHF": 9388, "NOK": 116320}
    for offset in range(30):
        day = date(2026, 2, 1) + timedelta(days=offset)
        for currency, start in rates.items():
            rates[currency] = start + rng.randrange(-12, 13)
            text = f"{rates[currency] // 10000}.{rates[currency] % 10000:04d}"
            db.execute("INSERT INTO rates VALUES (?, ?, ?)", (day.isoformat(), currency, text))
