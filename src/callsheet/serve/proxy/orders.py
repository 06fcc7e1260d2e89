"""A request of a client, as far as it is understood before its body is worked on."""

from dataclasses import dataclass

from callsheet.serve.proxy.settings import Handling, Price
from callsheet.wire.names import Wire


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


def base_name(order: Order) -> str:
    """The provider behind the name that it has in requests of one of its formats."""
    return order.provider.removesuffix("-responses") if order.wire is Wire.OPENAI_RESPONSES else order.provider
