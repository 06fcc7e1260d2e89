"""What all requests to one proxy share."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

import anyio

from callsheet.serve.proxy.credentials import Credentials
from callsheet.serve.proxy.journal import Journal
from callsheet.serve.proxy.observing import Observer
from callsheet.serve.proxy.preparing import Preparing
from callsheet.serve.proxy.settings import Settings, Upstream
from callsheet.serve.proxy.spending import Purse
from callsheet.serve.proxy.turns import Turns
from callsheet.serve.proxy.upstream import Upstreams
from callsheet.wire.names import Wire


@dataclass(kw_only=True, slots=True)
class Desk:
    """The parts of one proxy. Belongs to one event loop."""

    settings: Settings
    environment: Mapping[str, str]
    credentials: Credentials
    journal: Journal
    purse: Purse
    observer: Observer
    turns: Turns
    upstreams: Upstreams
    #: For requests before they are sent on; and for answers, which do not wait behind those.
    threads: anyio.CapacityLimiter
    answering: anyio.CapacityLimiter
    #: For those of large requests among the first, so that these never hold all of them where there are several.
    large: anyio.CapacityLimiter
    #: By tenant.
    prepares: Mapping[str, Preparing]

    def preparing(self, tenant: str) -> Preparing:
        """What prepares requests for a tenant."""
        return self.prepares[tenant]

    def now(self) -> int:
        """Microseconds since 1970."""
        return time.time_ns() // 1_000

    @staticmethod
    def provider_of(upstream: Upstream, wire: Wire) -> str:
        """The name under which requests are assembled: OpenAI's Responses have one of their own."""
        return f"{upstream.provider}-responses" if wire is Wire.OPENAI_RESPONSES else upstream.provider
