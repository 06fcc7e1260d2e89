"""What is made of a client's request before it is sent on: read, recognised, recorded, assembled, weighed.

All of it blocks, and runs in a thread.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf

from callsheet.errors import CallsheetError, InvalidMessage, InvalidOption, NotFound
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.held_elsewhere import thinks_on
from callsheet.runtime.hidden_recalls import RECALL, is_part_of, stands_beside
from callsheet.runtime.redacting import shows_secrets
from callsheet.runtime.routing import Provider, keeps_nothing
from callsheet.runtime.sheet import Sheet
from callsheet.serve.proxy.beginnings import Beginnings
from callsheet.serve.proxy.bodies import encoded
from callsheet.serve.proxy.chained import as_billed, is_chained
from callsheet.serve.proxy.hits import Hits, hit, missed
from callsheet.serve.proxy.journal import Sent
from callsheet.serve.proxy.limiting import limit_of, readable_within, reserve_of
from callsheet.serve.proxy.mending import is_broken
from callsheet.serve.proxy.offering import takes_tool
from callsheet.serve.proxy.parameters import judged
from callsheet.serve.proxy.permitting import Clean, holds_no_more, lets_all, passing, speaking_for
from callsheet.serve.proxy.pricing import Tokens
from callsheet.serve.proxy.recognising import Placed, Recogniser
from callsheet.serve.proxy.refusing import kept_back, not_known, threaded
from callsheet.serve.proxy.settings import Handling, Price
from callsheet.serve.proxy.thoughts import Bound, is_bound
from callsheet.serve.proxy.turned import Turned
from callsheet.serve.proxy.weighing import (
    Before,
    Memory,
    Scales,
    Weight,
    a_round_more,
    billed,
    rates,
    readable,
    round_costs,
)
from callsheet.wire import formats
from callsheet.wire.asked import read_request, write_request
from callsheet.wire.body import Asked
from callsheet.wire.failure import Failure
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields
from callsheet.wire.tokens import counter_for


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """One request of a client, as far as it was understood by its address and headers."""

    wire: Wire
    #: Whom policy sets, catalogue and counters take the upstream for.
    provider: str
    model: str | None
    stream: bool | None
    handling: Handling
    price: Price | None
    scope: str
    named: str | None
    user: str | None
    at: int
    #: Whether the client wants Gemini's stream as a list, not as events.
    listed: bool = False
    #: Whose cache at the provider it is: the account's, where the operator has one for all; empty: that of the scope.
    account: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Weighed:
    """Sizes of the client's own request and of the assembled one, and what the provider's cache holds of each."""

    own: Weight
    assembled: Weight
    #: Of the client's own, had it always been sent as it came.
    own_cached: int
    #: Of the client's own and of the assembled one, as things were really sent; in observe-only mode of the assembled
    #: one as it would be, had those before it been sent.
    own_now: int
    assembled_cached: int
    #: The mean share of the like that this model's provider has reported as read from its cache; None: of none yet.
    hits: float | None = None

    @property
    def alike(self) -> bool:
        """Whether both say the same: what is reported of one holds for the other."""
        return self.own.pieces == self.assembled.pieces

    def hit(self, sent: Sent, tokens: Tokens) -> float | None:
        """The share of what the provider's cache could hold of what was sent that it read; None: that was nothing."""
        if sent is Sent.SHEET:
            return hit(self.assembled_cached, self.assembled.tokens, tokens)
        return hit(self.own_now, self.own.tokens, tokens)

    def missed(self, sent: Sent, tokens: Tokens) -> int | None:
        """Tokens that the provider could have read of what was sent and did not; None: it read none at all."""
        if sent is Sent.SHEET:
            return missed(self.assembled_cached, self.assembled.tokens, tokens)
        return missed(self.own_now, self.own.tokens, tokens)


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A request that is ready to be sent."""

    sent: Sent
    #: None: the client's own bytes.
    content: bytes | None
    asked: Asked | None = None
    placed: Placed | None = None
    sheet: Sheet | None = None
    weighed: Weighed | None = None
    #: What of ours failed, where the client's own is sent therefore.
    failure: Exception | None = None
    #: As the request names it.
    model: str = ""
    #: Whether calls of the recall tool are kept from the client and answered here.
    hides: bool = False
    #: Whether the model is offered it.
    recalls: bool = False
    #: Tokens at the full price by which this is cheaper than the client's own: what rounds of recalls may cost. Without
    #: end where that is larger than a request may be.
    spare: float = 0.0
    #: Tokens that a request may take, where that is known.
    limit: int | None = None
    #: How far ahead that is reckoned.
    horizon: int = 1
    #: How many of its messages, from the first, are without their thoughts; see `thoughts`.
    bare: int = 0
    #: Nothing was sent for it yet: it goes on behind a round, or would, had it been made.
    unsent: bool = False

    def light(self) -> "Prepared":
        """What is still needed once it was sent."""
        model = self.asked.model if self.asked is not None else self.model
        return replace(self, content=None, asked=None, model=model)


@dataclass(frozen=True, kw_only=True, slots=True)
class Preparing:
    """Prepares requests for one tenant."""

    recogniser: Recogniser
    scales: Scales
    memory: Memory
    clean: Clean = field(default_factory=Clean)
    hits: Hits = field(default_factory=Hits)
    beginnings: Beginnings = field(default_factory=Beginnings)

    def prepare(self, order: Order, body: object) -> Prepared:
        """What is sent for this body. Raises `Turned` for what is no request, and for what cannot be let through."""
        policy = speaking_for(order.handling.policy, base_name(order), order.provider)
        may_pass = order.handling.observe_only or lets_all(policy, order.provider)
        asked: Asked | None = None
        placed: Placed | None = None
        try:
            asked = read_request(body, order.wire, model=order.model, stream=order.stream)
            placed = self.recogniser.place(asked, scope=order.scope, named=order.named, user=order.user)
            return self._assembled(order, asked, placed, _fields(body), may_pass=may_pass)
        except Turned:
            raise
        except (InvalidMessage, InvalidOption) as problem:
            if not may_pass:
                raise Turned(400, Failure.INVALID, f"{problem} (callsheet; nothing was sent)") from problem
            failure: Exception = problem
        except NotFound as problem:
            # It goes on from a response that only the provider has.
            if not may_pass:
                raise not_known(order.wire, _fields(body)) from None
            failure = problem
        except Exception as problem:
            if not may_pass:
                raise kept_back(problem) from problem
            failure = problem
        # The provider knows best what is wrong with it, and nothing in it is kept from there.
        return Prepared(sent=Sent.UNASSEMBLED, content=None, asked=asked, placed=placed, failure=failure)

    def _assembled(self, order: Order, asked: Asked, placed: Placed, body: Fields, *, may_pass: bool) -> Prepared:
        handling = order.handling
        talk = placed.talk
        policy = speaking_for(handling.policy, base_name(order), order.provider)
        horizon = handling.horizon if handling.horizon is not None else policy.horizon
        if placed.new:
            horizon = 1  # nobody knows whether another one comes
        given = asked.rest
        if not handling.observe_only:
            asked = replace(asked, rest=judged(asked, policy, order.provider, talk._session.redacting.redaction))
        hides = handling.recall and takes_tool(asked, listed=order.listed)
        own, body = body, as_billed(asked, talk, order.provider, body)
        sheet, written, bare = self._made(order, asked, placed, policy, recall=hides)
        weighed = self._weighed(order, asked, placed, body, written)
        limit = limit_of(handling, order.provider, asked)
        # No request of the client's own is there to be cheaper than.
        over = limit is not None and limit < weighed.own.tokens
        if _offers(sheet) and not over and not _has_room(order, asked, weighed, horizon):
            # What a call would cost beside is not saved, so the model shall make none.
            sheet, written, bare = self._made(order, asked, placed, policy, recall=False)
            weighed = self._weighed(order, asked, placed, body, written)
        if handling.observe_only:
            return Prepared(sent=Sent.OWN, content=None, asked=asked, placed=placed, sheet=sheet, weighed=weighed)
        assembled = (
            self._gains(order, asked, talk, weighed, horizon)
            # What is larger than a request may be goes out smaller, whatever that costs.
            or (over and not _is_threaded(asked) and weighed.assembled.tokens < weighed.own.tokens)
            # What is marked in its parameters goes out marked.
            or asked.rest != given
            # Behind a turn of which the client knows but a part, the provider does not take its own request.
            or stands_beside(talk)
            or (asked.previous is not None and is_part_of(talk, asked.previous))
            # Nor one whose thoughts were had behind an assembled request, nor one with something broken in it.
            or (is_bound(asked) and not self._bound(order, asked, placed).takes(own, weighed.own))
            or (not weighed.alike and is_broken(asked, own))
        )
        if not assembled:
            provider = (order.provider, asked.model)
            if may_pass or self._may_stay(provider, policy, talk, body, weighed):
                return Prepared(sent=Sent.OWN, content=None, asked=asked, placed=placed, sheet=sheet, weighed=weighed)
        if _is_threaded(asked):
            raise threaded()
        return Prepared(
            sent=Sent.SHEET,
            content=encoded(written),
            asked=asked,
            placed=placed,
            sheet=sheet,
            weighed=weighed,
            # Where earlier ones are in view the model may call it without being offered it.
            hides=hides and (_offers(sheet) or any(_NAMED in block for block in sheet.blocks)),
            recalls=_offers(sheet),
            spare=inf if over else _spare(order, asked, weighed, horizon),
            limit=limit,
            horizon=horizon,
            bare=bare,
        )

    def further(self, order: Order, prepared: Prepared, *, recall: bool) -> Prepared:
        """The request that goes on behind recalls that were answered. With `recall` the model may call for more, where
        that is paid for. Raises `Turned`.
        """
        asked, placed, weighed = prepared.asked, prepared.placed, prepared.weighed
        assert asked is not None
        assert placed is not None
        assert weighed is not None
        try:
            policy = speaking_for(order.handling.policy, base_name(order), order.provider)
            cost = rates(order.provider, asked.model, order.price)
            for offers in (True, False) if recall else (False,):
                sheet, written, bare = self._made(order, asked, placed, policy, recall=offers)
                assembled = self.scales.weigh(written, order.wire, counter_for(order.provider, asked.model))
                before = self._before(order, asked, placed.talk)
                cached = assembled.cached(before.sent) if before is not None else 0
                spare = prepared.spare - round_costs(assembled, cached, cost, order.price)
                if not _offers(sheet) or spare >= a_round_more(assembled, cost, prepared.horizon, order.price):
                    break
        except Exception as problem:
            code = problem.code if isinstance(problem, CallsheetError) else "internal"
            said = f"callsheet could not go on with this answer ({code})"
            raise Turned(503, Failure.UNAVAILABLE, said) from problem
        return replace(
            prepared,
            content=encoded(written),
            sheet=sheet,
            weighed=replace(weighed, assembled=assembled, assembled_cached=cached),
            recalls=_offers(sheet),
            spare=spare,
            bare=bare,
        )

    def readable(self, order: Order, prepared: Prepared) -> int:
        """Bytes that may be read for the calls that answer this request."""
        assert prepared.weighed is not None
        if prepared.spare == inf:
            assert prepared.limit is not None, "something is larger than it"
            return readable_within(prepared.limit)
        cost = rates(order.provider, prepared.light().model, order.price)
        return readable(prepared.spare, prepared.weighed.assembled, cost, prepared.horizon, order.price)

    def _made(
        self, order: Order, asked: Asked, placed: Placed, policy: PolicySetDocument, *, recall: bool
    ) -> tuple[Sheet, Fields, int]:
        """The sheet, the body, and how many of its messages are without their thoughts."""
        sheet = placed.talk.assemble(
            provider=order.provider,
            model=asked.model,
            tools=_offered(asked),
            policy=policy,
            budget=order.handling.budget,
            reserve=reserve_of(order.handling, order.provider, asked),
            recall=recall,
        )
        written = write_request(asked, sheet.request(), passes=passing(policy, order.provider))
        return sheet, *(self._bound(order, asked, placed).written(written) if is_bound(asked) else (written, 0))

    def _bound(self, order: Order, asked: Asked, placed: Placed) -> Bound:
        counter = counter_for(order.provider, asked.model)
        return Bound(
            before=self._before(order, asked, placed.talk, life=inf),
            new=placed.new,
            weigh=lambda body: self.scales.weigh(body, asked.wire, counter),
        )

    @staticmethod
    def _gains(order: Order, asked: Asked, talk: Conversation, weighed: Weighed, horizon: int) -> bool:
        """Whether the assembled request shall go out where the client's own may too."""
        if _is_threaded(asked) or not _pays(order, asked, weighed, horizon):
            return False
        # Between the calls of a turn its thoughts may lie with the provider alone, and are worth more than is saved.
        return not (is_chained(asked) and thinks_on(talk))

    def _may_stay(
        self, provider: Provider, policy: PolicySetDocument, talk: Conversation, body: Fields, weighed: Weighed
    ) -> bool:
        """Whether the client's own request may go out: the policy set keeps nothing that is in it."""
        if holds_no_more(weighed.own, weighed.assembled):
            return True
        if not shows_secrets(policy, provider[0]) and not self.clean.is_clean(body, weighed.own):
            return False
        return keeps_nothing(talk._session, talk._view, provider, policy)

    def _weighed(self, order: Order, asked: Asked, placed: Placed, body: Fields, written: Fields) -> Weighed:
        counter = counter_for(order.provider, asked.model)
        own = self.scales.weigh(body, order.wire, counter)
        assembled = self.scales.weigh(written, order.wire, counter)
        before = self._before(order, asked, placed.talk)
        life = rates(order.provider, asked.model, order.price).life
        own_cached = self.beginnings.held(_cache(order, asked.model, Sent.OWN), own, order.at, life)
        if not placed.new and self._before(order, asked, placed.talk, life=inf) is None and own.caches:
            # Gone on with behind a restart: what came before may still be cached, and no saving is claimed for it.
            own_cached = own.tokens - own.pieces[-1][1] if own.pieces else 0
        if order.handling.observe_only:
            held = self.beginnings.held(_cache(order, asked.model, Sent.SHEET), assembled, order.at, life)
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

    def _before(self, order: Order, asked: Asked, talk: Conversation, *, life: float | None = None) -> Before | None:
        life = rates(order.provider, asked.model, order.price).life if life is None else life
        names = [f"{place}\0{order.provider}\0{asked.model}" for place in places(talk)]
        found = (self.memory.before(name, order.at, life) for name in names)
        return next((one for one in found if one is not None), None)

    def went(self, order: Order, prepared: Prepared, at: int) -> None:
        """Remember what was sent, once the provider has read it."""
        weighed, placed = prepared.weighed, prepared.placed
        if weighed is None or placed is None:
            return
        self.beginnings.add(_cache(order, prepared.light().model, Sent.OWN), weighed.own, at)
        if order.handling.observe_only:
            cache, kept = _cache(order, prepared.light().model, Sent.SHEET), weighed.assembled.kept
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


def _cache(order: Order, model: str, sent: Sent) -> str:
    """Names a cache as it would be had only requests of one kind been sent there."""
    return f"{sent.value}\0{order.account or order.scope}\0{order.provider}\0{model}"


def _is_threaded(asked: Asked) -> bool:
    """Whether system text and tools lie with the provider: a request that is written anew would be without them."""
    return asked.wire is Wire.ANTHROPIC and asked.previous is not None


def _pays(order: Order, asked: Asked, weighed: Weighed, horizon: int) -> bool:
    """Whether the assembled request is no larger, and cheaper; see `weighing`."""
    return weighed.assembled.tokens <= weighed.own.tokens and _spare(order, asked, weighed, horizon) > 0


def _spare(order: Order, asked: Asked, weighed: Weighed, horizon: int) -> float:
    cost = rates(order.provider, asked.model, order.price)
    ours = billed(weighed.assembled, weighed.assembled_cached, cost, horizon)
    return billed(weighed.own, weighed.own_now, cost, horizon) - ours


def _has_room(order: Order, asked: Asked, weighed: Weighed, horizon: int) -> bool:
    """Whether calls of the recall tool are paid for by what is saved."""
    cost = rates(order.provider, asked.model, order.price)
    more = a_round_more(weighed.assembled, cost, horizon, order.price)
    return _spare(order, asked, weighed, horizon) >= more


_NAMED = b'"' + RECALL.encode() + b'"'


def _offers(sheet: Sheet) -> bool:
    """Whether a request offers the recall tool: something is not shown in full there."""
    return RECALL in sheet.record.boundary.tools


def places(talk: Conversation) -> tuple[str, str]:
    """A branch, and the conversation that it is of: a new branch goes on from what was sent on another one."""
    return f"{talk.id}/{talk.branch_id}", talk.id


def base_name(order: Order) -> str:
    """The provider behind the name that it has in requests of one of its formats."""
    return order.provider.removesuffix("-responses") if order.wire is Wire.OPENAI_RESPONSES else order.provider


def _fields(body: object) -> Fields:
    return body if isinstance(body, dict) else {}


def _offered(asked: Asked) -> list[Mapping[str, object]]:
    """The client's tools that assembly knows the shape of; those of the provider's own kinds go as they came."""
    found: list[Mapping[str, object]] = []
    named: set[str] = set()
    for place, tool in enumerate(asked.tools):
        try:
            name = formats.tool_name(tool, f"tools[{place}]")
        except InvalidMessage:
            continue
        if name not in named:
            named.add(name)
            found.append(tool)
    return found
