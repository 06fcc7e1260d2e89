"""What is recorded once an answer is over, however it ended: the answer, what it cost, what was sent. Blocks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from callsheet.assemble.blocks import Call, Reply, Text
from callsheet.graph.enums import RunStatus
from callsheet.runtime.hidden_recalls import RECALL, answer_calls
from callsheet.serve.proxy.bounding import bounded
from callsheet.serve.proxy.hits import STEP
from callsheet.serve.proxy.journal import Ended, Outcome, Sent
from callsheet.serve.proxy.orders import Order
from callsheet.serve.proxy.prepared import Prepared, Weighed
from callsheet.serve.proxy.preparing import Preparing
from callsheet.serve.proxy.pricing import Tokens, dollars, of_usage
from callsheet.serve.proxy.recognising import Placed
from callsheet.serve.proxy.settings import Price
from callsheet.serve.proxy.weighing import LEAST_CACHED
from callsheet.wire import formats
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields
from callsheet.wire.splicing import merged
from callsheet.wire.tokens import counter_for


@dataclass(frozen=True, kw_only=True, slots=True)
class Round:
    """A round before the last: its response asks for recalls alone, so the client does not see it as one."""

    prepared: Prepared
    response: Fields
    #: As reported, or else estimated.
    tokens: Tokens | None
    reported: bool
    #: Bytes that were read for it.
    read: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Came:
    """What came of a request."""

    outcome: Outcome
    status: int
    response: Fields | None = None
    #: How it went wrong, without content; empty: it did not.
    problem: str = ""
    #: What came before it.
    rounds: Sequence[Round] = ()


_STATUSES = {
    Outcome.CUT_OFF: RunStatus.CANCELLED,
    Outcome.UNREACHED: RunStatus.TIMED_OUT,
}


def conclude(preparing: Preparing, order: Order, prepared: Prepared, came: Came) -> Reply | None:
    """Record the answer in its conversation, and return it as it was read; None: none that can be read came.

    Raises what recording raises; what was not recorded then is recorded from the client's next request.
    """
    reply = read(came.response, order.wire)
    if came.outcome in (Outcome.ANSWERED, Outcome.CUT_OFF, Outcome.BROKEN):
        preparing.comparing.went(order, prepared, order.at)
        if reply is not None and reply.usage is not None:
            preparing.comparing.reported(order, prepared, of_usage(reply.usage))
    placed = prepared.placed
    if placed is None:
        return reply
    known = False
    try:
        known = _recorded(preparing, order, prepared, placed, came=came, reply=reply)
    finally:
        if not known:
            preparing.recogniser.failed(placed)
    return reply


def went_on(
    preparing: Preparing, order: Order, prepared: Prepared, response: Fields, *, limit: int, size: int
) -> Round:
    """Record a response that asks for recalls alone, and answer these with at most `limit` bytes.

    `size`: bytes of the request of the client.
    """
    placed = prepared.placed
    assert placed is not None, "what is sent is assembled in a conversation"
    preparing.comparing.went(order, prepared, order.at)
    response = bounded(response)
    reply = read(response, order.wire)
    placed.talk.record(response, sheet=prepared.sheet, wire=order.wire.value)
    answered = answer_calls(placed.talk, limit=limit)
    usage = reply.usage if reply is not None else None
    came = Came(outcome=Outcome.ANSWERED, status=200, response=response)
    tokens = of_usage(usage) if usage is not None else _estimated(order, prepared, came, reply, size)
    if usage is not None:
        preparing.comparing.reported(order, prepared, of_usage(usage))
    return Round(
        prepared=prepared.light(),
        response=response,
        tokens=tokens,
        reported=usage is not None,
        read=answered.size,
    )


def _recorded(
    preparing: Preparing, order: Order, prepared: Prepared, placed: Placed, *, came: Came, reply: Reply | None
) -> bool:
    """Record an answer, or that there was none. Whether there is one that the client goes on from."""
    whole = came.outcome is Outcome.ANSWERED
    if reply is not None and came.response is not None and (whole or tells(reply)):
        weighed = prepared.weighed
        fits = prepared.sent is Sent.SHEET or (weighed is not None and weighed.alike)
        response = came.response if fits else unmetered(came.response)
        response = bounded(response) if prepared.hides else response
        sheet = prepared.sheet
        recorded = placed.talk.record(response, sheet=sheet, assembled=sheet is not None, wire=order.wire.value)
        if not recorded.ids:
            return False
        last, shown = recorded.ids[-1], reply
        if prepared.hides:
            # Recalls beside calls of the client's: their results stand there before those come.
            left = order.handling.recall_bytes - sum(one.read for one in came.rounds)
            answered = answer_calls(placed.talk, limit=min(left, preparing.readable(order, prepared)))
            last = (*recorded.ids, *answered.ids)[-1]
            shown = _shown(came, order.wire) or reply
        id = shown.response if whole else None
        preparing.recogniser.answered(placed, shown.said, last, response_id=id)
        return True
    if prepared.sheet is not None and not whole and not prepared.unsent:
        status = _STATUSES.get(came.outcome, RunStatus.FAILED)
        placed.talk.failed(prepared.sheet, status=status, error=came.problem or f"HTTP {came.status}")
    return False


def _shown(came: Came, wire: Wire) -> Reply | None:
    """What the client sees of an answer in which calls are hidden."""
    responses = [*(one.response for one in came.rounds), *([came.response] if came.response is not None else [])]
    return read(merged(responses, wire, RECALL), wire)


def read(response: Fields | None, wire: Wire) -> Reply | None:
    """A response as it is recorded; None: it cannot be read."""
    if not response:
        return None
    try:
        return formats.parse_reply(response, wire)
    except Exception:  # noqa: BLE001 - what a provider sends must not fail the client, who has it already
        return None


def tells(reply: Reply) -> bool:
    """Whether an answer that was cut off stands for itself: words, and no call that the client never got whole."""
    return bool(reply.said.parts) and not reply.said.calls


_METERS = ("usage", "usageMetadata", "usage_metadata")


def unmetered(response: Fields) -> Fields:
    """A response without the usage that it reports: it is that of another request than the sheet's."""
    return {key: value for key, value in response.items() if key not in _METERS}


def ended(at: int, order: Order, prepared: Prepared | None, came: Came, reply: Reply | None, *, size: int) -> Ended:
    """The row of the request, with what it cost and what the client's own would have. `size`: bytes that were sent."""
    usage = reply.usage if reply is not None else None
    weighed = prepared.weighed if prepared is not None else None
    tokens = of_usage(usage) if usage is not None else _estimated(order, prepared, came, reply, size)
    placed = prepared.placed if prepared is not None else None
    sheet = prepared.sheet if prepared is not None else None
    unsent = prepared is not None and prepared.unsent
    if unsent and came.rounds:
        sheet = came.rounds[-1].prepared.sheet
    costs = _Costs.none() if order.price is None or tokens is None else _costs(order.price, tokens, prepared)
    made = Ended(
        at=at,
        sent=prepared.sent if prepared is not None else Sent.NOTHING,
        outcome=came.outcome,
        status=came.status,
        conversation=placed.talk.id if placed is not None else "",
        sheet=sheet.id if sheet is not None else "",
        how=placed.how.value if placed is not None else "",
        asked=weighed.own.tokens if weighed is not None else 0,
        asked_cached=weighed.own_cached if weighed is not None else 0,
        assembled=weighed.assembled.tokens if weighed is not None and not unsent else 0,
        assembled_cached=weighed.assembled_cached if weighed is not None and not unsent else 0,
        reported=usage is not None,
        input=tokens.input if tokens is not None else 0,
        cached=tokens.cached if tokens is not None else 0,
        written=tokens.written if tokens is not None else 0,
        output=tokens.output if tokens is not None else 0,
        cost=costs.cost,
        plain_cost=costs.plain,
        assembled_cost=costs.assembled,
    )
    return _with_rounds(made, order, came.rounds, tokens) if came.rounds else made


def _with_rounds(last: Ended, order: Order, rounds: Sequence[Round], tokens: Tokens | None) -> Ended:
    """The row with the rounds before the last. The client's own request would have been sent once, and answered so."""
    found = [one.tokens or Tokens(input=0) for one in rounds]
    weighed = [one.prepared.weighed for one in rounds if one.prepared.weighed is not None]
    row = replace(
        last,
        assembled=last.assembled + sum(one.assembled.tokens for one in weighed),
        assembled_cached=last.assembled_cached + sum(one.assembled_cached for one in weighed),
        reported=last.reported and all(one.reported for one in rounds),
        input=last.input + sum(one.input for one in found),
        cached=last.cached + sum(one.cached for one in found),
        written=last.written + sum(one.written for one in found),
        output=last.output + sum(one.output for one in found),
    )
    if order.price is None:
        return row
    answered = replace(found[0], output=tokens.output if tokens is not None else 0)
    plain = _costs(order.price, answered, rounds[0].prepared).plain
    cost = (last.cost or 0.0) + spent_in(rounds, order.price)
    return replace(row, cost=cost, plain_cost=plain, assembled_cost=cost)


def spent_in(rounds: Sequence[Round], price: Price | None) -> float:
    """Dollars that rounds have cost; 0 where no price is known."""
    tokens = [one.tokens for one in rounds if one.tokens is not None]
    return sum(dollars(price, one) for one in tokens) if price is not None else 0.0


_BYTES = 4
"""Bytes of a request for each token of it, where nothing better is known."""


def _estimated(order: Order, prepared: Prepared | None, came: Came, reply: Reply | None, size: int) -> Tokens | None:
    """Tokens where none were reported, as in streams whose client did not ask for them; None: nothing is charged."""
    if prepared is None or came.outcome not in (Outcome.ANSWERED, Outcome.CUT_OFF, Outcome.BROKEN):
        return None
    weighed = prepared.weighed
    if weighed is None:
        sent = size // _BYTES
    else:
        sent = (weighed.assembled if prepared.sent is Sent.SHEET else weighed.own).tokens
    model = prepared.light().model or order.model or ""
    counter = counter_for(order.provider, model)
    said = reply.said.parts if reply is not None else ()
    texts = [part.text for part in said if isinstance(part, Text)]
    texts += [part.arguments for part in said if isinstance(part, Call)]
    return Tokens(input=sent, output=sum(map(counter.count, texts)))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Costs:
    cost: float | None
    plain: float | None
    assembled: float | None

    @classmethod
    def none(cls) -> "_Costs":
        return cls(cost=None, plain=None, assembled=None)


def _costs(price: Price, tokens: Tokens, prepared: Prepared | None) -> _Costs:
    """What the request cost, by the usage that was reported; and what the other one would have.

    The other one's tokens are its count, times what the provider counted for each token counted of the one that was
    sent. No saving is claimed that may be none: of the client's own request counts as cached what may have been, and of
    the assembled one what would have been in any case.
    """
    cost = dollars(price, tokens)
    weighed = prepared.weighed if prepared is not None else None
    if prepared is None or weighed is None:
        return _Costs(cost=cost, plain=cost, assembled=None)
    if prepared.sent is Sent.SHEET:
        return _Costs(cost=cost, plain=dollars(price, _own(weighed, tokens)), assembled=cost)
    return _Costs(cost=cost, plain=cost, assembled=dollars(price, _assembled(weighed, tokens, price)))


def _own(weighed: Weighed, tokens: Tokens) -> Tokens:
    """The client's own request, where the assembled one was sent.

    Where the provider read anything from its cache, it would have read all that it held of this one, but for as many
    tokens as it left unread of the one that was sent. Else the share counts that it reported; where that one was too
    small to be cached, or nothing of it could be, the mean share of the model's requests before; without any, all.
    """
    scale = tokens.input / weighed.assembled.tokens if weighed.assembled.tokens else 1.0
    input = round(weighed.own.tokens * scale)
    held = min(input, round(weighed.own_cached * scale))
    missed = weighed.missed(Sent.SHEET, tokens)
    if missed is not None and weighed.assembled_cached:
        cached = max(0, held - missed)
    else:
        cached = round(held * _share(weighed, Sent.SHEET, tokens))
    written = input - cached if tokens.written and weighed.own.caches else 0
    return Tokens(input=input, cached=cached, written=written, output=tokens.output)


def _assembled(weighed: Weighed, tokens: Tokens, price: Price) -> Tokens:
    """The assembled request, where the client's own was sent: what it shares with what would have been sent before it
    counts as cached, in whole steps and from the least on that a provider caches, times the share that was reported.
    """
    scale = tokens.input / weighed.own.tokens if weighed.own.tokens else 1.0
    input = round(weighed.assembled.tokens * scale)
    cached = min(input, round(weighed.assembled_cached * scale * _share(weighed, Sent.OWN, tokens))) // STEP * STEP
    if cached < LEAST_CACHED:
        cached = 0
    writes = price.write is not None and weighed.assembled.caches and input >= LEAST_CACHED
    return Tokens(input=input, cached=cached, written=input - cached if writes else 0, output=tokens.output)


def _share(weighed: Weighed, sent: Sent, tokens: Tokens) -> float:
    found = weighed.hit(sent, tokens)
    if found is None:
        found = weighed.hits
    return 1.0 if found is None else found
