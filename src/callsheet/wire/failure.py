"""The kinds of failure that a service reports; each format has words and a shape of its own for them."""

from enum import StrEnum


class Failure(StrEnum):
    """What went wrong, as far as the client has to know. Beside each the status that it usually comes with."""

    #: 400. The request is not what the format says.
    INVALID = "invalid"
    #: 401
    AUTHENTICATION = "authentication"
    #: 403
    PERMISSION = "permission"
    #: 404
    NOT_FOUND = "not_found"
    #: 405
    METHOD = "method"
    #: 413
    TOO_LARGE = "too_large"
    #: 429. Too much in too short a time; it may be tried again.
    RATE = "rate"
    #: 429. A limit of what may be spent is reached; trying again does not help.
    SPENT = "spent"
    #: 500
    INTERNAL = "internal"
    #: 502. The service behind this one did not answer, or not in its format.
    UPSTREAM = "upstream"
    #: 503
    UNAVAILABLE = "unavailable"
    #: 504
    TIMEOUT = "timeout"
