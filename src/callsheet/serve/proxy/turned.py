"""Requests that are answered by the proxy itself."""

from callsheet.wire.failure import Failure


class Turned(Exception):
    """A request that is answered here with an error in its provider's shape."""

    def __init__(self, status: int, kind: Failure, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        #: Seconds after which it may be tried again.
        self.retry_after = retry_after
