"""A request that is ready to be sent, with what was weighed for it."""

from dataclasses import dataclass, replace

from callsheet.runtime.sheet import Sheet
from callsheet.serve.proxy.hits import hit, missed
from callsheet.serve.proxy.journal import Sent
from callsheet.serve.proxy.placed import Placed
from callsheet.serve.proxy.pricing import Tokens
from callsheet.serve.proxy.weighing import Weight
from callsheet.wire.body import Asked


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
