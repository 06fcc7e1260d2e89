"""What requests cost by list prices: sums of tokens as a provider bills them, and the price of each in dollars."""

from msgspec import Struct

from callsheet.audit.logs.values import Answered
from callsheet.wire.caching import caching
from callsheet.wire.catalogue import ModelFacts, facts
from callsheet.wire.tokens import counter_for

_MILLION = 1_000_000


class Took(Struct, frozen=True, kw_only=True):
    """Tokens of requests as a provider bills them."""

    #: All input; then what of it was read from the provider's cache, and what was written to it.
    input: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0

    @classmethod
    def reported(cls, answered: Answered) -> "Took | None":
        """As the provider reported it; None: the log does not tell."""
        told = answered.usage
        if told is None:
            return None
        return cls(input=told.input, cached=told.cached_input, written=told.cache_write, output=told.output)


class Cost(Struct, frozen=True, kw_only=True):
    """What requests took, and what that costs."""

    requests: int = 0
    #: Requests that count as the log reports them; the others are estimated.
    reported: int = 0
    #: Tokens, as in `Took`.
    input: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0
    dollars: float = 0.0
    #: Requests without a price, which are not in `dollars`.
    unpriced: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            requests=self.requests + other.requests,
            reported=self.reported + other.reported,
            input=self.input + other.input,
            cached=self.cached + other.cached,
            written=self.written + other.written,
            output=self.output + other.output,
            dollars=self.dollars + other.dollars,
            unpriced=self.unpriced + other.unpriced,
        )

    @property
    def known(self) -> float | None:
        """The dollars; None: no request has a price."""
        return self.dollars if self.unpriced < self.requests or not self.requests else None

    def as_dict(self) -> dict[str, object]:
        """The figures as JSON values."""
        return {
            "requests": self.requests,
            "reported": self.reported,
            "input_tokens": self.input,
            "cached_tokens": self.cached,
            "written_tokens": self.written,
            "output_tokens": self.output,
            "dollars": self.known,
            "unpriced_requests": self.unpriced,
        }


class Model(Struct, frozen=True, kw_only=True):
    """A provider's model, as far as counting and pricing need it; both may be unknown."""

    provider: str | None = None
    name: str | None = None

    @classmethod
    def of(cls, answered: Answered, otherwise: "Model") -> "Model":
        """The model that a log tells, or the one that is taken where it tells none."""
        if answered.model is None:
            return otherwise
        return cls(provider=answered.provider or otherwise.provider, name=answered.model)

    def converted(self, tokens: int) -> int:
        """How many tokens of the model's own so many of ``o200k_base`` are: exact for OpenAI's, else an estimate."""
        if self.provider is None or self.name is None:
            return tokens
        counter = counter_for(self.provider, self.name)
        # OpenAI's older models count in another encoding; the texts are counted in one, and the two are close.
        return tokens if counter.exact else counter.converted(tokens)

    @property
    def life(self) -> int:
        """Seconds that the provider's cache remembers a request."""
        return caching(self.provider or "", self.name or "").life

    def cost(self, took: Took, *, reported: bool, requests: int = 1) -> Cost:
        """What requests cost that took this together."""
        dollars = _dollars(took, self._facts())
        return Cost(
            requests=requests,
            reported=requests if reported else 0,
            input=took.input,
            cached=took.cached,
            written=took.written,
            output=took.output,
            dollars=dollars or 0.0,
            unpriced=0 if dollars is not None else requests,
        )

    def _facts(self) -> ModelFacts | None:
        return facts(self.provider, self.name) if self.provider is not None and self.name is not None else None


def _dollars(took: Took, known: ModelFacts | None) -> float | None:
    """By the list, every token at its base price; None: the list has no price for it."""
    if known is None or known.input is None or known.output is None:
        return None
    cached = known.cached if known.cached is not None else known.input
    write = known.write if known.write is not None else known.input
    fresh = max(0, took.input - took.cached - took.written)
    input = fresh * known.input + took.cached * cached + took.written * write
    return (input + took.output * known.output) / _MILLION
