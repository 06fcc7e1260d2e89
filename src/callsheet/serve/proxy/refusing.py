"""Why a request that could not be assembled is not let through either, in words that clients of its provider know."""

from callsheet.errors import AssemblyError, CallsheetError
from callsheet.serve.proxy.turned import Turned
from callsheet.wire.failure import Failure
from callsheet.wire.names import Wire
from callsheet.wire.reading import Fields

_THREADED = (
    "callsheet cannot send this request as it came, since its policy set keeps something of it from the provider, nor "
    "write it anew, since only the provider knows what its thread began with; send the whole history, without a thread"
)

_UNSEEN = (
    "callsheet does not know the response that this request goes on from, and its policy set lets nothing pass unseen; "
    "send the whole history"
)

_PREVIOUS = "previous_response_id"

_NO_THREAD = "thread_not_found"
"""By this clients of Anthropic send the whole history in a new thread."""

_NO_RESPONSE = "previous_response_not_found"
"""By this clients of OpenAI, such as Codex, send the whole history."""


def not_known(wire: Wire, body: Fields) -> Turned:
    """A response is not known here that a request goes on from: as its provider says it of one that it has lost."""
    if wire is Wire.ANTHROPIC:
        return Turned(404, Failure.NOT_FOUND, _UNSEEN, code=_NO_THREAD)
    if body.get(_PREVIOUS) is not None:
        return Turned(400, Failure.INVALID, _UNSEEN, where=_PREVIOUS, code=_NO_RESPONSE)
    return Turned(400, Failure.INVALID, _UNSEEN)


def threaded() -> Turned:
    """System text and tools lie with the provider: a request that is written anew would be without them."""
    return Turned(404, Failure.NOT_FOUND, _THREADED, code=_NO_THREAD)


def kept_back(problem: Exception) -> Turned:
    """A request could not be assembled. Ids and classes, never content."""
    code = problem.code if isinstance(problem, CallsheetError) else "internal"
    said = f"callsheet could not assemble this request ({code}), and its policy set lets nothing pass unseen"
    if isinstance(problem, AssemblyError):
        return Turned(400, Failure.INVALID, said)  # the same request would fail again
    return Turned(503, Failure.UNAVAILABLE, said)
