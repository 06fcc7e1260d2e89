"""Requests that are answered by the proxy itself."""

from callsheet.serve.proxy.journal import Outcome
from callsheet.wire.failure import Failure


class Turned(Exception):
    """A request that is answered here with an error in its provider's shape."""

    def __init__(
        self,
        status: int,
        kind: Failure,
        message: str,
        *,
        retry_after: int | None = None,
        where: str = "",
        code: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        #: Seconds after which it may be tried again.
        self.retry_after = retry_after
        #: The place in the request that it is about, and what clients of the provider know this error by.
        self.where = where
        self.code = code

    @property
    def outcome(self) -> Outcome:
        """What is noted of it."""
        if self.kind in (Failure.INVALID, Failure.NOT_FOUND):
            return Outcome.INVALID
        return _OUTCOMES.get(self.status, Outcome.LIMITED)


_OUTCOMES = {500: Outcome.FAILED, 503: Outcome.FAILED, 502: Outcome.UNREACHED, 504: Outcome.UNREACHED}
