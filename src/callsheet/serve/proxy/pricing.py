"""What requests cost: dollars by the operator's prices, or those of the catalogue."""

from dataclasses import dataclass

from callsheet.graph.values import Usage
from callsheet.serve.proxy.settings import Handling, Price
from callsheet.wire.catalogue import catalogue, facts

MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Tokens:
    """Tokens of one request; those that are cached and written are among the input."""

    input: int
    cached: int = 0
    written: int = 0
    output: int = 0


def price_of(handling: Handling, provider: str, model: str) -> Price | None:
    """What tokens of a model cost; None: nobody says."""
    if handling.price is not None:
        return handling.price
    known = facts(provider, model)
    if known is None or known.input is None or known.output is None:
        return None
    return Price(input=known.input, output=known.output, cached=known.cached, write=known.write)


def dollars(price: Price, tokens: Tokens) -> float:
    """What a request costs."""
    cached = min(tokens.cached, tokens.input)
    written = min(tokens.written, tokens.input - cached)
    fresh = tokens.input - cached - written
    return (
        fresh * price.input
        + cached * (price.cached if price.cached is not None else price.input)
        + written * (price.write if price.write is not None else price.input)
        + tokens.output * price.output
    ) / MILLION


def of_usage(usage: Usage) -> Tokens:
    """Tokens as a provider reported them."""
    return Tokens(input=usage.input, cached=usage.cached_input, written=usage.cache_write, output=usage.output)


def table() -> str:
    """Which table of prices is used, with its date."""
    return catalogue().name
