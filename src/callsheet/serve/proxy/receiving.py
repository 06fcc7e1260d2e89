"""A request before it is sent on: what it is, what it may cost, whether it is let through, and what goes out for it."""

from dataclasses import replace

from callsheet.runtime.windows import window_of
from callsheet.serve.proxy import headers as heads
from callsheet.serve.proxy import unpacking
from callsheet.serve.proxy.bodies import encoded, repeats
from callsheet.serve.proxy.credentials import CREDENTIALS, credentials_of
from callsheet.serve.proxy.crowding import too_many
from callsheet.serve.proxy.journal import Sent
from callsheet.serve.proxy.observing import told
from callsheet.serve.proxy.orders import Order
from callsheet.serve.proxy.prepared import Prepared
from callsheet.serve.proxy.preparing import may_pass
from callsheet.serve.proxy.pricing import price_of
from callsheet.serve.proxy.routes import Route, upstream_for
from callsheet.serve.proxy.settings import Upstream
from callsheet.serve.proxy.spending import reserved
from callsheet.serve.proxy.turned import Turned
from callsheet.serve.proxy.underway import Underway
from callsheet.wire.failure import Failure

_LONGEST_MODEL = 256


def prepare(under: Underway) -> None:
    """Work on a body that is there, until it can be sent on. Blocks. Raises `Turned` for what is not let through."""
    content, body = _read(under)
    under.model = _model_of(under.route, body)
    under.note.model = _told_model(under)
    upstream = upstream_for(under.desk.settings, under.route, under.model)
    if upstream is None:
        raise Turned(404, Failure.NOT_FOUND, f"callsheet: no upstream serves model {under.note.model!r} here")
    under.note.upstream = upstream
    under.order = order = _order(under, upstream)
    under.desk.purse.check(under.asker, under.note.at, order.price, under.model)
    _begin(under, order, upstream, body, len(content))
    many = too_many(body, under.desk.settings.limits.messages)
    if many is not None:
        if not may_pass(order):
            raise many
        under.prepared = Prepared(sent=Sent.UNASSEMBLED, content=None, model=under.model)
        return
    under.prepared = under.preparing.prepare(order, body)
    if under.prepared.failure is not None:
        under.note.failed(under.prepared.failure, "prepare")
    if under.prepared.content is None and not order.handling.observe_only and repeats(content, body):
        # Sent is what was judged, whichever of them its provider would take.
        under.prepared = replace(under.prepared, content=encoded(body))


def _order(under: Underway, upstream: Upstream) -> Order:
    handling, route = under.desk.settings.handling_of(under.model), under.route
    return Order(
        wire=route.wire,
        provider=under.desk.provider_of(upstream, route.wire),
        model=route.model,
        stream=route.stream,
        handling=handling,
        price=price_of(handling, upstream.provider, under.model),
        scope=under.asker.scope,
        named=_label(under.headers.get(heads.CONVERSATION)),
        user=_label(under.headers.get(heads.USER)),
        at=under.note.at,
        listed=bool(route.stream) and "alt=sse" not in route.query.split("&"),
        account=f"upstream/{upstream.name}" if CREDENTIALS & upstream.fill.keys() else "",
    )


def _begin(under: Underway, order: Order, upstream: Upstream, body: object, size: int) -> None:
    """Begin its row, with what it may cost."""
    try:
        window, known = window_of(upstream.provider, under.model)
        reply = order.handling.reserve
        under.reserved = reserved(order.price, body, size, reply=reply, window=window if known else None)
        under.note.begin(upstream, under.reserved)
    except Exception as error:
        if under.desk.purse.limits_of(under.asker).limited:
            raise Turned(503, Failure.UNAVAILABLE, "callsheet: what keys spend cannot be noted") from error
        under.note.failed(error, "journal")


def _read(under: Underway) -> tuple[bytes, object]:
    """The unpacked body, and what it says; None: nothing that is understood here, and its provider may judge it."""
    settings = under.desk.settings
    passes = settings.handling_of(under.route.model or "").observe_only
    # Where there is a limit, nobody knows what it would cost.
    passes = passes and not under.desk.purse.limits_of(under.asker).limited
    return unpacking.read(under.raw, under.headers, settings.limits, passes=passes)


def _model_of(route: Route, body: object) -> str:
    if route.model is not None:
        return route.model[:_LONGEST_MODEL]
    given = body.get("model") if isinstance(body, dict) else None
    return given[:_LONGEST_MODEL] if isinstance(given, str) else ""


def _told_model(under: Underway) -> str:
    credentials = credentials_of(under.headers, under.route.query)
    return "?" if any(one in under.model for one in credentials) else told(under.model)


def _label(given: str | None) -> str | None:
    return given.strip() or None if given is not None else None
