"""The application log of the weekend: requests, warnings, and the errors that the desk will be asked about."""

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

START = datetime(2026, 2, 28, tzinfo=UTC)
END = datetime(2026, 3, 2, 8, 58, tzinfo=UTC)
LOG = "shop-api.log"

Entry = tuple[datetime, str]

_COUPON = """\
Traceback (most recent call last):
  File "/srv/shop/api/checkout.py", line 214, in apply_coupon
    rule = self.rules.active(code, at=cart.created_at)
  File "/srv/shop/pricing/rules.py", line 88, in active
    return self._by_code[code.upper()].window(at)
  File "/srv/shop/pricing/rules.py", line 41, in window
    start, end = CAMPAIGNS[self.campaign]
KeyError: 'spring-2026'"""

_CAPTURE = """\
Traceback (most recent call last):
  File "/srv/shop/api/checkout.py", line 301, in pay
    receipt = self.gateway.capture(intent, timeout=CAPTURE_TIMEOUT)
  File "/srv/shop/payments/gateway.py", line 127, in capture
    reply = self._post("/v2/captures", body, timeout=timeout)
  File "/srv/shop/payments/gateway.py", line 62, in _post
    return self._session.send(request, timeout=timeout)
  File "/srv/shop/vendor/httpclient/session.py", line 418, in send
    raise ReadTimeout(f"no answer from {request.host} within {timeout} s")
vendor.httpclient.errors.ReadTimeout: no answer from gateway.payments.internal within 20 s"""


def weekend(db: sqlite3.Connection, rng: Random) -> str:
    """The whole log, a line per event, stack traces indented as they were raised."""
    entries = [*_traffic(db, rng), *_orders(db, rng), *_coupon_errors(db, rng), *_capture_errors(db, rng)]
    entries.extend(_background(rng))
    return "".join(f"{text}\n" for _, text in sorted(entries, key=lambda entry: entry[0]))


def line(at: datetime, level: str, part: str, text: str) -> Entry:
    """One entry in the log's format: time, level, part of the application, text."""
    milliseconds = at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"
    return at, f"{milliseconds} {level:<5} [{part}] {text}"


def _request(rng: Random) -> str:
    return f"req_{rng.randrange(16**8):08x}"


def _traffic(db: sqlite3.Connection, rng: Random) -> Iterator[Entry]:
    skus = [row[0] for row in db.execute("SELECT sku FROM products ORDER BY sku")]
    at = START
    while at < END:
        busy = 8 <= at.hour < 22
        at += timedelta(milliseconds=rng.randrange(9_000, 95_000) if busy else rng.randrange(90_000, 420_000))
        sku, took = rng.choice(skus), rng.randrange(18, 240)
        path = rng.choice((f"GET /p/{sku}", f"GET /p/{sku}", f"POST /cart/{sku}", "GET /search", "GET /account/orders"))
        yield line(at, "INFO", "http", f"{_request(rng)} {path} 200 {took}ms")


def _orders(db: sqlite3.Connection, rng: Random) -> Iterator[Entry]:
    query = (
        "SELECT o.order_id, o.customer_id, o.placed_at, p.payment_id, min(p.captured_at) FROM orders o JOIN payments p"
        " USING (order_id) WHERE o.placed_at >= ? GROUP BY o.order_id ORDER BY o.order_id"
    )
    for order_id, customer_id, placed_at, payment_id, captured_at in db.execute(query, (START.strftime("%Y-%m-%d"),)):
        request, placed = _request(rng), datetime.fromisoformat(placed_at)
        yield line(placed, "INFO", "checkout", f"{request} order {order_id} placed customer={customer_id}")
        captured = datetime.fromisoformat(captured_at)
        yield line(captured, "INFO", "payments", f"{request} captured {payment_id} for {order_id}")
        mailed = captured + timedelta(seconds=4, milliseconds=rng.randrange(900))
        yield line(mailed, "INFO", "mailer", f"order confirmation {order_id} queued")


def _coupon_errors(db: sqlite3.Connection, rng: Random) -> Iterator[Entry]:
    customers = [row[0] for row in db.execute("SELECT customer_id FROM customers ORDER BY customer_id")]
    first, last = datetime(2026, 2, 28, 10, 2, 11, tzinfo=UTC), datetime(2026, 3, 1, 8, 15, 40, tzinfo=UTC)
    unlucky = [rng.choice(customers) for _ in range(9)]
    for number in range(14):
        at = first + (last - first) * number / 13 + timedelta(milliseconds=rng.randrange(999))
        text = f"{_request(rng)} coupon SPRING15 failed customer={rng.choice(unlucky)} cart={rng.randrange(90, 420)}.00"
        _, head = line(at, "ERROR", "checkout", text)
        yield at, f"{head}\n{_COUPON}"
    fixed = datetime(2026, 3, 1, 8, 31, 2, tzinfo=UTC)
    yield line(fixed, "INFO", "deploy", "release 2026.9.1 rolled out: campaign spring-2026 added (hotfix)")


def _capture_errors(db: sqlite3.Connection, rng: Random) -> Iterator[Entry]:
    """The evening of 1 March: the gateway answers late. One customer pays twice, five give up."""
    twice = db.execute("SELECT order_id FROM payments GROUP BY order_id HAVING count(*) > 1").fetchone()[0]
    query = "SELECT payment_id, gateway_ref, captured_at FROM payments WHERE order_id = ? ORDER BY captured_at"
    (first, first_ref, first_at), (second, second_ref, second_at) = db.execute(query, (twice,)).fetchall()
    began, again = datetime.fromisoformat(first_at), datetime.fromisoformat(second_at)
    request, retry = _request(rng), _request(rng)
    failed = began + timedelta(seconds=20)
    yield line(began - timedelta(milliseconds=420), "INFO", "payments", f"{request} capture started for {twice}")
    _, head = line(failed, "ERROR", "payments", f"{request} capture for {twice} failed, state unknown")
    yield failed, f"{head}\n{_CAPTURE}"
    yield line(failed + timedelta(milliseconds=31), "INFO", "http", f"{request} POST /checkout/{twice}/pay 502 20044ms")
    text = f"{retry} capture started for {twice} (new intent: intent of {request} has no result)"
    yield line(again - timedelta(milliseconds=640), "WARN", "payments", text)
    yield line(again, "INFO", "payments", f"{retry} captured {second} {second_ref} for {twice}")
    late = again + timedelta(minutes=2, seconds=7)
    yield line(late, "WARN", "payments", f"late webhook: {first} {first_ref} was captured for {twice}, second capture")
    for minute in (38, 40, 44, 47, 51):
        at = datetime(2026, 3, 1, 19, minute, rng.randrange(60), rng.randrange(999_000), tzinfo=UTC)
        text = f"{_request(rng)} capture failed before authorisation, cart kept, no money moved"
        yield line(at, "ERROR", "payments", text)
    over = datetime(2026, 3, 1, 19, 54, 18, tzinfo=UTC)
    yield line(over, "INFO", "payments", "gateway latency back to normal (p95 410ms)")


def _background(rng: Random) -> Iterator[Entry]:
    """Jobs that run by themselves, with the small troubles of any weekend."""
    hours = int((END - START).total_seconds() // 3600)
    for hour in range(hours):
        at = START + timedelta(hours=hour, minutes=rng.randrange(60), milliseconds=rng.randrange(60_000))
        yield line(at, "INFO", "stock-sync", f"{rng.randrange(330, 361)} levels read, {rng.randrange(9)} changed")
        if rng.randrange(4) == 0:
            warehouse = rng.choice(("HAM", "LEI", "ROT"))
            text = f"warehouse {warehouse}: count differs by {rng.randrange(1, 4)}, kept shop value"
            yield line(at + timedelta(seconds=2), "WARN", "stock-sync", text)
        if rng.randrange(6) == 0:
            yield line(at + timedelta(minutes=3), "WARN", "labels", "printer LEI-2 offline, job moved to LEI-1")
        if rng.randrange(7) == 0:
            text = f"bounce 550 mailbox unavailable, message {rng.randrange(16**6):06x}, newsletter, address suspended"
            yield line(at + timedelta(minutes=5), "ERROR", "mailer", text)
