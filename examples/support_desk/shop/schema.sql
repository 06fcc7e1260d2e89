-- The shop's tables. Money is in euro cents, times are UTC text such as 2026-02-21T10:14:00Z.

CREATE TABLE customers (
    customer_id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, phone TEXT NOT NULL, language TEXT NOT NULL,
    country TEXT NOT NULL, street TEXT NOT NULL, postcode TEXT NOT NULL, city TEXT NOT NULL, since TEXT NOT NULL,
    tier TEXT NOT NULL
);

CREATE TABLE products (
    sku TEXT PRIMARY KEY, model TEXT NOT NULL, name TEXT NOT NULL, brand TEXT NOT NULL, category TEXT NOT NULL,
    colour TEXT NOT NULL, size TEXT NOT NULL, price INTEGER NOT NULL, weight_g INTEGER NOT NULL,
    description TEXT NOT NULL, specs TEXT NOT NULL, warranty_months INTEGER NOT NULL, ean TEXT NOT NULL,
    rating REAL NOT NULL, reviews INTEGER NOT NULL, released TEXT NOT NULL, discontinued TEXT, successor TEXT
);

CREATE TABLE stock (
    sku TEXT NOT NULL REFERENCES products, warehouse TEXT NOT NULL, on_hand INTEGER NOT NULL, reserved INTEGER NOT NULL,
    next_delivery TEXT, next_quantity INTEGER, counted_at TEXT NOT NULL, PRIMARY KEY (sku, warehouse)
);

CREATE TABLE reservations (
    reservation_id TEXT PRIMARY KEY, idempotency_key TEXT NOT NULL UNIQUE, sku TEXT NOT NULL, warehouse TEXT NOT NULL,
    quantity INTEGER NOT NULL, reference TEXT NOT NULL, created_at TEXT NOT NULL, expires_at TEXT NOT NULL
);

CREATE TABLE orders (
    order_id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers, placed_at TEXT NOT NULL,
    status TEXT NOT NULL, channel TEXT NOT NULL, service TEXT NOT NULL, shipping INTEGER NOT NULL,
    street TEXT NOT NULL, addition TEXT NOT NULL, postcode TEXT NOT NULL, city TEXT NOT NULL, country TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 1
);

CREATE TABLE order_lines (
    order_id TEXT NOT NULL REFERENCES orders, line INTEGER NOT NULL, sku TEXT NOT NULL REFERENCES products,
    quantity INTEGER NOT NULL, unit_price INTEGER NOT NULL, discount INTEGER NOT NULL, serial TEXT,
    PRIMARY KEY (order_id, line)
);

CREATE TABLE payments (
    payment_id TEXT PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders, method TEXT NOT NULL, amount INTEGER NOT NULL,
    captured_at TEXT NOT NULL, gateway_ref TEXT NOT NULL, status TEXT NOT NULL
);

CREATE TABLE refunds (
    refund_id TEXT PRIMARY KEY, idempotency_key TEXT NOT NULL UNIQUE, order_id TEXT NOT NULL REFERENCES orders,
    payment_id TEXT NOT NULL REFERENCES payments, amount INTEGER NOT NULL, reason TEXT NOT NULL, note TEXT NOT NULL,
    gateway_ref TEXT NOT NULL, created_at TEXT NOT NULL
);

CREATE TABLE shipments (
    shipment_id TEXT PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders, carrier TEXT NOT NULL,
    tracking_number TEXT NOT NULL UNIQUE, warehouse TEXT NOT NULL, dispatched_at TEXT NOT NULL, delivered_at TEXT
);

CREATE TABLE parcels (
    tracking_number TEXT PRIMARY KEY, carrier TEXT NOT NULL, service TEXT NOT NULL, weight_g INTEGER NOT NULL
);

CREATE TABLE parcel_events (
    tracking_number TEXT NOT NULL REFERENCES parcels, at TEXT NOT NULL, place TEXT NOT NULL, code TEXT NOT NULL,
    text TEXT NOT NULL
);

CREATE TABLE order_events (
    order_id TEXT NOT NULL REFERENCES orders, at TEXT NOT NULL, actor TEXT NOT NULL, text TEXT NOT NULL
);

CREATE TABLE tickets (
    ticket_id TEXT PRIMARY KEY, customer_id TEXT REFERENCES customers, order_id TEXT, subject TEXT NOT NULL,
    status TEXT NOT NULL, priority TEXT NOT NULL, assignee TEXT NOT NULL, opened_at TEXT NOT NULL, tags TEXT NOT NULL
);

CREATE TABLE ticket_messages (
    ticket_id TEXT NOT NULL REFERENCES tickets, at TEXT NOT NULL, author TEXT NOT NULL, channel TEXT NOT NULL,
    text TEXT NOT NULL
);

CREATE TABLE ticket_updates (idempotency_key TEXT PRIMARY KEY, ticket_id TEXT NOT NULL, at TEXT NOT NULL);

CREATE TABLE policies (
    code TEXT NOT NULL, version INTEGER NOT NULL, effective TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (code, version)
);

CREATE TABLE rates (day TEXT NOT NULL, currency TEXT NOT NULL, per_euro TEXT NOT NULL, PRIMARY KEY (day, currency));

-- When a service outside the shop was down (it fails) or slow (it acts, and its answer is lost).
CREATE TABLE incidents (
    service TEXT NOT NULL, starts_at TEXT NOT NULL, ends_at TEXT NOT NULL, kind TEXT NOT NULL, message TEXT NOT NULL
);

CREATE INDEX orders_by_customer ON orders (customer_id, placed_at);
CREATE INDEX parcel_events_by_parcel ON parcel_events (tracking_number, at);
CREATE INDEX ticket_messages_by_ticket ON ticket_messages (ticket_id, at);
