"""What is made of a client's request before it is sent on: read, recognised, recorded, assembled, weighed.

All of it blocks, and runs in a thread.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf

from callsheet.errors import BudgetTooSmall, CallsheetError, InvalidMessage, InvalidOption, NotFound
from callsheet.policy.sets import PolicySetDocument
from callsheet.runtime.conversation import Conversation
from callsheet.runtime.held_elsewhere import thinks_on
from callsheet.runtime.hidden_recalls import RECALL, is_part_of, stands_beside
from callsheet.runtime.outgoing import Provider, keeps_nothing, redaction_of
from callsheet.runtime.redacting import shows_secrets
from callsheet.runtime.sheet import Sheet
from callsheet.serve.proxy.bodies import encoded
from callsheet.serve.proxy.chained import as_billed, is_chained
from callsheet.serve.proxy.comparing import Comparing, has_room, pays, saved
from callsheet.serve.proxy.histories import Messages
from callsheet.serve.proxy.journal import Sent
from callsheet.serve.proxy.limiting import cannot_fit, limit_of, readable_within, reserve_of
from callsheet.serve.proxy.mending import is_broken
from callsheet.serve.proxy.offering import takes_tool
from callsheet.serve.proxy.orders import Order, base_name
from callsheet.serve.proxy.parameters import judged
from callsheet.serve.proxy.permitting import Clean, holds_no_more, lets_all, passing, speaking_for
from callsheet.serve.proxy.prepared import Prepared, Weighed
from callsheet.serve.proxy.recognising import Placed, Recogniser
from callsheet.serve.proxy.refusing import kept_back, not_known, threaded
from callsheet.serve.proxy.thoughts import Bound, is_bound
from callsheet.serve.proxy.turned import Turned
from callsheet.serve.proxy.weighing import a_round_more, rates, readable, round_costs
from callsheet.wire import formats
from callsheet.wire.asked import read_request, write_request
from callsheet.wire.body import Asked
from callsheet.wire.failure import Failure
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields
from callsheet.wire.tokens import counter_for


@dataclass(frozen=True, kw_only=True, slots=True)
class Preparing:
    """Prepares requests for one tenant."""

    recogniser: Recogniser
    comparing: Comparing
    clean: Clean = field(default_factory=Clean)
    messages: Messages = field(default_factory=Messages)

    def prepare(self, order: Order, body: object) -> Prepared:
        """What is sent for this body. Raises `Turned` for what is no request, and for what cannot be let through."""
        passes = may_pass(order)
        asked: Asked | None = None
        placed: Placed | None = None
        try:
            remember = self.messages.remembered
            asked = read_request(body, order.wire, model=order.model, stream=order.stream, remember=remember)
            budget = None if passes else cannot_fit(order.handling, order.provider, asked)
            if budget is not None:
                raise BudgetTooSmall(
                    budget=budget, sizes={"history": budget + 1}, policy=order.handling.policy.name, exact=False
                )
            placed = self.recogniser.place(asked, scope=order.scope, named=order.named, user=order.user)
            return self._assembled(order, asked, placed, _fields(body), passes=passes)
        except Turned:
            raise
        except (InvalidMessage, InvalidOption) as problem:
            if not passes:
                raise Turned(400, Failure.INVALID, f"{problem} (callsheet; nothing was sent)") from problem
            failure: Exception = problem
        except NotFound as problem:
            # It goes on from a response that only the provider has.
            if not passes:
                raise not_known(order.wire, _fields(body)) from None
            failure = problem
        except Exception as problem:
            if not passes:
                raise kept_back(problem) from problem
            failure = problem
        # The provider knows best what is wrong with it, and nothing in it is kept from there.
        return Prepared(sent=Sent.UNASSEMBLED, content=None, asked=asked, placed=placed, failure=failure)

    def _assembled(self, order: Order, asked: Asked, placed: Placed, body: Fields, *, passes: bool) -> Prepared:
        handling = order.handling
        talk = placed.talk
        policy = speaking_for(handling.policy, base_name(order), order.provider)
        horizon = handling.horizon if handling.horizon is not None else policy.horizon
        if placed.new:
            horizon = 1  # nobody knows whether another one comes
        given = asked.rest
        if not handling.observe_only:
            asked = replace(asked, rest=judged(asked, policy, order.provider, redaction_of(talk)))
        hides = handling.recall and takes_tool(asked, listed=order.listed)
        own, body = body, as_billed(asked, talk, order.provider, body)
        sheet, written, bare = self._made(order, asked, placed, policy, recall=hides)
        weighed = self.comparing.weighed(order, asked, placed, body, written)
        limit = limit_of(handling, order.provider, asked)
        # No request of the client's own is there to be cheaper than.
        over = limit is not None and limit < weighed.own.tokens
        if _offers(sheet) and not over and not has_room(order, asked, weighed, horizon):
            # What a call would cost beside is not saved, so the model shall make none.
            sheet, written, bare = self._made(order, asked, placed, policy, recall=False)
            weighed = self.comparing.weighed(order, asked, placed, body, written)
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
            if passes or self._may_stay(provider, policy, talk, body, weighed):
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
            spare=inf if over else saved(order, asked, weighed, horizon),
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
                assembled = self.comparing.scales.weigh(written, order.wire, counter_for(order.provider, asked.model))
                before = self.comparing.before(order, asked, placed.talk)
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
            before=self.comparing.before(order, asked, placed.talk, life=inf),
            new=placed.new,
            weigh=lambda body: self.comparing.scales.weigh(body, asked.wire, counter),
        )

    @staticmethod
    def _gains(order: Order, asked: Asked, talk: Conversation, weighed: Weighed, horizon: int) -> bool:
        """Whether the assembled request shall go out where the client's own may too."""
        if _is_threaded(asked) or not pays(order, asked, weighed, horizon):
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
        return keeps_nothing(talk, provider, policy)


def _is_threaded(asked: Asked) -> bool:
    """Whether system text and tools lie with the provider: a request that is written anew would be without them."""
    return asked.wire is Wire.ANTHROPIC and asked.previous is not None


_NAMED = b'"' + RECALL.encode() + b'"'


def _offers(sheet: Sheet) -> bool:
    """Whether a request offers the recall tool: something is not shown in full there."""
    return RECALL in sheet.record.boundary.tools


def may_pass(order: Order) -> bool:
    """Whether a client's own request may go to its provider whatever it holds."""
    policy = speaking_for(order.handling.policy, base_name(order), order.provider)
    return order.handling.observe_only or lets_all(policy, order.provider)


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
