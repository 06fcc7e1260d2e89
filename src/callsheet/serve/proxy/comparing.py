"""The client's own request beside the assembled one: what each costs with the cache of its provider, and what was sent
before them.
"""

from dataclasses import dataclass, field
from math import inf

from callsheet.runtime.conversation import Conversation
from callsheet.serve.proxy.beginnings import Beginnings
from callsheet.serve.proxy.hits import Hits
from callsheet.serve.proxy.journal import Sent
from callsheet.serve.proxy.orders import Order
from callsheet.serve.proxy.placed import Placed
from callsheet.serve.proxy.prepared import Prepared, Weighed
from callsheet.serve.proxy.pricing import Tokens
from callsheet.serve.proxy.weighing import Before, Memory, Scales, a_round_more, billed, rates
from callsheet.wire.body import Asked
from callsheet.wire.reading import Fields
from callsheet.wire.tokens import counter_for


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparing:
    """Weighs requests, and remembers what was sent of them and how much of it the provider had in its cache."""

    scales: Scales
    memory: Memory
    hits: Hits = field(default_factory=Hits)
    beginnings: Beginnings = field(default_factory=Beginnings)

    def weighed(self, order: Order, asked: Asked, placed: Placed, body: Fields, written: Fields) -> Weighed:
        """Both requests of a turn: `body`, as the client would be billed for its own, and the one that was written."""
        counter = counter_for(order.provider, asked.model)
        own = self.scales.weigh(body, order.wire, counter)
        assembled = self.scales.weigh(written, order.wire, counter)
        before = self.before(order, asked, placed.talk)
        life = rates(order.provider, asked.model, order.price).life
        own_cached = self.beginnings.held(cache_of(order, asked.model, Sent.OWN), own, order.at, life)
        if not placed.new and self.before(order, asked, placed.talk, life=inf) is None and own.caches:
            # Gone on with behind a restart: what came before may still be cached, and no saving is claimed for it.
            own_cached = own.tokens - own.pieces[-1][1] if own.pieces else 0
        if order.handling.observe_only:
            held = self.beginnings.held(cache_of(order, asked.model, Sent.SHEET), assembled, order.at, life)
        else:
            held = assembled.cached(before.sent) if before is not None else 0
        return Weighed(
            own=own,
            assembled=assembled,
            own_cached=own_cached,
            own_now=own.cached(before.sent) if before is not None else 0,
            assembled_cached=held,
            hits=self.hits.mean((order.provider, asked.model)),
        )

    def before(self, order: Order, asked: Asked, talk: Conversation, *, life: float | None = None) -> Before | None:
        """What was sent before a request of this conversation, as long as the cache of the provider remembers it, or
        for `life` seconds.
        """
        life = rates(order.provider, asked.model, order.price).life if life is None else life
        names = [f"{place}\0{order.provider}\0{asked.model}" for place in places(talk)]
        found = (self.memory.before(name, order.at, life) for name in names)
        return next((one for one in found if one is not None), None)

    def went(self, order: Order, prepared: Prepared, at: int) -> None:
        """Remember what was sent, once the provider has read it."""
        weighed, placed = prepared.weighed, prepared.placed
        if weighed is None or placed is None:
            return
        self.beginnings.add(cache_of(order, prepared.light().model, Sent.OWN), weighed.own, at)
        if order.handling.observe_only:
            cache, kept = cache_of(order, prepared.light().model, Sent.SHEET), weighed.assembled.kept
            self.beginnings.add(cache, weighed.assembled, at, kept=kept)
        sent = weighed.assembled if prepared.sent is Sent.SHEET else weighed.own
        is_sheet = prepared.sent is Sent.SHEET
        for place in places(placed.talk):
            name = f"{place}\0{order.provider}\0{prepared.light().model}"
            earlier = self.memory.before(name, at, inf)
            self.memory.sent(
                name,
                Before(
                    at=at,
                    sent=sent,
                    own=weighed.own,
                    assembled=is_sheet or (earlier is not None and earlier.assembled),
                    bare=prepared.bare,
                ),
            )

    def reported(self, order: Order, prepared: Prepared, tokens: Tokens) -> None:
        """Remember how much the provider read from its cache."""
        share = prepared.weighed.hit(prepared.sent, tokens) if prepared.weighed is not None else None
        if share is not None:
            self.hits.add((order.provider, prepared.light().model), share)


def pays(order: Order, asked: Asked, weighed: Weighed, horizon: int) -> bool:
    """Whether the assembled request is no larger, and cheaper; see `weighing`."""
    return weighed.assembled.tokens <= weighed.own.tokens and saved(order, asked, weighed, horizon) > 0


def saved(order: Order, asked: Asked, weighed: Weighed, horizon: int) -> float:
    """Tokens at the full price by which the assembled request is cheaper than the client's own."""
    cost = rates(order.provider, asked.model, order.price)
    ours = billed(weighed.assembled, weighed.assembled_cached, cost, horizon)
    return billed(weighed.own, weighed.own_now, cost, horizon) - ours


def has_room(order: Order, asked: Asked, weighed: Weighed, horizon: int) -> bool:
    """Whether calls of the recall tool are paid for by what is saved."""
    cost = rates(order.provider, asked.model, order.price)
    more = a_round_more(weighed.assembled, cost, horizon, order.price)
    return saved(order, asked, weighed, horizon) >= more


def places(talk: Conversation) -> tuple[str, str]:
    """A branch, and the conversation that it is of: a new branch goes on from what was sent on another one."""
    return f"{talk.id}/{talk.branch_id}", talk.id


def cache_of(order: Order, model: str, sent: Sent) -> str:
    """Names a cache as it would be had only requests of one kind been sent there."""
    return f"{sent.value}\0{order.account or order.scope}\0{order.provider}\0{model}"
