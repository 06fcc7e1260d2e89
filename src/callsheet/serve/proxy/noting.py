"""What is noted of one request: a row in the list of requests and a line in the log, each begun and ended once."""

import time
from dataclasses import dataclass, field

from callsheet.serve.proxy.credentials import Asker
from callsheet.serve.proxy.desk import Desk
from callsheet.serve.proxy.journal import Begun, Ended
from callsheet.serve.proxy.observing import Told
from callsheet.serve.proxy.routes import Route
from callsheet.serve.proxy.settings import Upstream


@dataclass(kw_only=True, slots=True)
class Note:
    """Of one request."""

    desk: Desk
    route: Route
    asker: Asker
    request: str
    #: Microseconds since 1970.
    at: int
    #: As logs and lists show it; empty: no model is asked.
    model: str = ""
    upstream: Upstream | None = None
    #: Seconds from the beginning until it was sent on, and until its answer began.
    prepared: float | None = None
    first: float | None = None
    _began: float = field(init=False, default_factory=time.monotonic)
    _error: str = field(init=False, default="")
    _begun: bool = field(init=False, default=False)
    _over: bool = field(init=False, default=False)

    @property
    def over(self) -> bool:
        """Whether its end was noted."""
        return self._over

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began

    def begin(self, upstream: Upstream, reserved: float = 0.0) -> None:
        """Begin its row. Blocks; raises `StoreError`."""
        self.upstream = upstream
        self._begin(reserved)

    def _begin(self, reserved: float) -> None:
        upstream = self.upstream
        self.desk.journal.begin(
            Begun(
                request=self.request,
                at=self.at,
                tenant=self.asker.tenant,
                digest=self.asker.digest,
                key=self.asker.name,
                route=self.route.name,
                upstream=upstream.name if upstream is not None else "-",
                provider=upstream.provider if upstream is not None else "-",
                model=self.model,
                reserved=reserved,
            )
        )
        self._begun = True

    def failed(self, error: BaseException, where: str) -> None:
        """Something of ours failed at it."""
        self._error = self.desk.observer.failed(error, where)

    def end(self, row: Ended) -> None:
        """End its row and tell of it. Blocks; the first time counts. Never raises.

        What was not let through before it had a row gets one: the report counts how all ended.
        """
        if self._over:
            return
        self._over = True
        try:
            if not self._begun:
                self._begin(0.0)
            self.desk.journal.end(self.request, row)
        except Exception as error:  # noqa: BLE001 - the client has its answer
            self.failed(error, "journal")
        self.desk.observer.over(
            Told(
                request=self.request,
                route=self.route.name,
                upstream=self.upstream.name if self.upstream is not None else "-",
                model=self.model,
                key=self.asker.name,
                ended=row,
                seconds=self.seconds,
                prepared=self.prepared,
                first=self.first,
                error=self._error,
            )
        )
