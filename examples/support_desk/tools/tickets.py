"""Reading tickets and writing on them."""

import sqlite3
from typing import Annotated, Literal

from msgspec import Meta, Struct

from examples.support_desk.shop.shop import Shop
from examples.support_desk.shop.times import stamp
from examples.support_desk.tools.errors import InvalidArguments, NotFound
from examples.support_desk.tools.shapes import Key, TicketId
from examples.support_desk.tools.toolbox import tool

TicketStatus = Literal["open", "waiting", "solved"]


class TicketMessage(Struct, frozen=True, kw_only=True):
    at: str
    author: str
    channel: str
    text: str


class Ticket(Struct, frozen=True, kw_only=True):
    ticket_id: str
    subject: str
    status: str
    priority: str
    assignee: str
    customer_id: str | None
    opened_at: str
    tags: list[str]
    messages: list[TicketMessage]


class TicketUpdate(Struct, frozen=True, kw_only=True):
    ticket_id: str
    status: str
    tags: list[str]
    notes: int
    updated_at: str
    replayed: bool


@tool
def get_ticket(shop: Shop, *, ticket_id: TicketId) -> Ticket:
    """Read a ticket with all its messages and internal notes, oldest first."""
    row = _row(shop, ticket_id)
    messages = shop.db.execute(
        "SELECT at, author, channel, text FROM ticket_messages WHERE ticket_id = ? ORDER BY at, rowid", (ticket_id,)
    )
    plain = ("ticket_id", "subject", "status", "priority", "assignee", "customer_id", "opened_at")
    return Ticket(
        **{key: row[key] for key in plain},
        tags=row["tags"].split(),
        messages=[TicketMessage(at=m[0], author=m[1], channel=m[2], text=m[3]) for m in messages],
    )


@tool
def update_ticket(
    shop: Shop,
    *,
    ticket_id: TicketId,
    idempotency_key: Key,
    note: Annotated[str, Meta(min_length=5, max_length=1000, description="Internal note to add")] | None = None,
    status: TicketStatus | None = None,
    add_tags: Annotated[list[str], Meta(max_length=5)] | None = None,
) -> TicketUpdate:
    """Add an internal note, tags, or set the status of a ticket. At least one of the three."""
    row = _row(shop, ticket_id)
    if note is None and status is None and not add_tags:
        raise InvalidArguments("nothing to do: give note, status or add_tags")
    used = shop.db.execute("SELECT * FROM ticket_updates WHERE idempotency_key = ?", (idempotency_key,)).fetchone()
    if used is not None:
        return _updated(shop, ticket_id, used["at"], replayed=True)
    now = stamp(shop.now())
    tags = [*row["tags"].split(), *(tag for tag in add_tags or () if tag not in row["tags"].split())]
    with shop.db:
        if note is not None:
            entry = (ticket_id, now, "desk-agent-1", "note", note)
            shop.db.execute("INSERT INTO ticket_messages VALUES (?, ?, ?, ?, ?)", entry)
        shop.db.execute(
            "UPDATE tickets SET status = coalesce(?, status), tags = ? WHERE ticket_id = ?",
            (status, " ".join(tags), ticket_id),
        )
        shop.db.execute("INSERT INTO ticket_updates VALUES (?, ?, ?)", (idempotency_key, ticket_id, now))
    shop.note("desk", f"ticket {ticket_id} updated key={idempotency_key}")
    return _updated(shop, ticket_id, now, replayed=False)


def _row(shop: Shop, ticket_id: str) -> sqlite3.Row:
    row: sqlite3.Row | None = shop.db.execute("SELECT * FROM tickets WHERE ticket_id = ?", (ticket_id,)).fetchone()
    if row is None:
        raise NotFound(f"there is no ticket {ticket_id}")
    return row


def _updated(shop: Shop, ticket_id: str, at: str, *, replayed: bool) -> TicketUpdate:
    row = _row(shop, ticket_id)
    count = "SELECT count(*) FROM ticket_messages WHERE ticket_id = ? AND channel = 'note'"
    (notes,) = shop.db.execute(count, (ticket_id,)).fetchone()
    return TicketUpdate(
        ticket_id=ticket_id,
        status=row["status"],
        tags=row["tags"].split(),
        notes=notes,
        updated_at=at,
        replayed=replayed,
    )
