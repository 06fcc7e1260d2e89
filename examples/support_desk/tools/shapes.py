"""The arguments that several tools share, with what the model is told about them."""

from typing import Annotated

from msgspec import Meta

OrderId = Annotated[str, Meta(pattern=r"^SO-\d{5}$", description="Order number, such as SO-20417")]
CustomerId = Annotated[str, Meta(pattern=r"^C-\d{4}$", description="Customer number, such as C-1001")]
TicketId = Annotated[str, Meta(pattern=r"^T-\d{4}$", description="Ticket number, such as T-2051")]
Sku = Annotated[str, Meta(pattern=r"^[A-Z]{3}(-[A-Z0-9]+)+$", description="Article number, such as LGT-CAMP-CRM")]
Amount = Annotated[str, Meta(pattern=r"^\d{1,6}\.\d{2}$", description="Euros with two decimals, such as 12.50")]
Key = Annotated[
    str,
    Meta(
        min_length=8,
        max_length=64,
        pattern=r"^[a-z0-9-]+$",
        description="Idempotency key: the same key again returns the first result and changes nothing",
    ),
]
