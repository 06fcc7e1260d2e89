"""Opening what a proxy works with: the store, its own folder, and connections."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio import to_thread

from callsheet.errors import ConfigError
from callsheet.ledger.clock import SystemClock
from callsheet.runtime.opening import open as open_store
from callsheet.runtime.runtime import Runtime
from callsheet.runtime.sources import RandomIds
from callsheet.serve.proxy.comparing import Comparing
from callsheet.serve.proxy.credentials import Credentials, folder_of, secret_of
from callsheet.serve.proxy.desk import Desk
from callsheet.serve.proxy.histories import Messages
from callsheet.serve.proxy.journal import Journal
from callsheet.serve.proxy.observing import Observer
from callsheet.serve.proxy.preparing import Preparing
from callsheet.serve.proxy.recognising import Recogniser
from callsheet.serve.proxy.settings import Settings
from callsheet.serve.proxy.spending import Purse
from callsheet.serve.proxy.turns import Turns
from callsheet.serve.proxy.upstream import Upstreams, missing
from callsheet.serve.proxy.weighing import Memory, Scales
from callsheet.wire.catalogue import catalogue
from callsheet.wire.tokens import count


@dataclass(frozen=True, kw_only=True, slots=True)
class Stores:
    """What lies in files."""

    secret: bytes
    runtime: Runtime
    journal: Journal

    @classmethod
    def open(cls, settings: Settings) -> "Stores":
        """Open them. Raises `StoreError`."""
        folder = folder_of(settings.database)
        secret = secret_of(folder)
        runtime = open_store(settings.database, tenant=settings.tenant)
        try:
            return cls(secret=secret, runtime=runtime, journal=Journal(folder))
        except BaseException:
            runtime.close()
            raise

    def close(self) -> None:
        """Close them."""
        self.journal.close()
        self.runtime.close()


@dataclass(kw_only=True, slots=True)
class Opening:
    """What a proxy is to be, and its parts once they are open."""

    settings: Settings
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    _stores: Stores | None = field(init=False, default=None)

    def open(self) -> None:
        """Open what lies in files, so that errors show before a server starts. Raises `StoreError`, `ConfigError`."""
        wanted = missing(self.settings.upstreams, self.environment)
        operator = self.settings.operator
        if operator is not None and not self.environment.get(operator):
            wanted.append(operator)
        if wanted:
            raise ConfigError(f"these environment variables are not set: {', '.join(wanted)}")
        if self._stores is None:
            self._stores = Stores.open(self.settings)
            # What the first request would wait for.
            catalogue()
            count("callsheet", "o200k_base")

    def close(self) -> None:
        """Close it again; closing twice is fine."""
        stores, self._stores = self._stores, None
        if stores is not None:
            stores.close()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Desk]:
        """All parts, open, for one event loop. Raises what `open` raises."""
        await to_thread.run_sync(self.open)
        stores, settings = self._stores, self.settings
        assert stores is not None
        upstreams = Upstreams(streams=settings.limits.streams)
        scales, memory, messages = Scales(), Memory(), Messages()
        try:
            yield Desk(
                settings=settings,
                environment=self.environment,
                credentials=Credentials(stores.secret, settings),
                journal=stores.journal,
                purse=Purse(journal=stores.journal, settings=settings),
                observer=Observer(),
                turns=Turns(),
                upstreams=upstreams,
                threads=anyio.CapacityLimiter(settings.limits.threads),
                answering=anyio.CapacityLimiter(settings.limits.threads),
                large=anyio.CapacityLimiter(max(1, settings.limits.threads - 1)),
                prepares={
                    tenant: Preparing(
                        recogniser=Recogniser(_for(stores.runtime, tenant)),
                        comparing=Comparing(scales=scales, memory=memory),
                        messages=messages,
                    )
                    for tenant in settings.tenants
                },
            )
        finally:
            await upstreams.aclose()
            await to_thread.run_sync(self.close)


def _for(runtime: Runtime, tenant: str) -> Runtime:
    """The same store, seen by another tenant."""
    if tenant == runtime.tenant:
        return runtime
    return Runtime(runtime.ledger, tenant=tenant, ids=RandomIds(), clock=SystemClock())
