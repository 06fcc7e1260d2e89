"""Why something is refused, in the same words by every store."""

from callsheet.errors import Damaged, InputError
from callsheet.graph.ids import RecordId, StreamId
from callsheet.graph.record import Stream


def repeated_id(id: RecordId) -> InputError:
    return InputError(f"there is a record {id!r} already")


def repeated_name(stream: Stream, holder: StreamId) -> InputError:
    return InputError(f"there is a {stream.kind} called {stream.name!r} already: stream {holder}")


def other_stream(kept: Stream, given: Stream) -> InputError:
    return InputError(f"stream {given.id} is {_described(kept)}, not {_described(given)}")


def _described(stream: Stream) -> str:
    return f"the {stream.kind} {stream.name!r} of {stream.user or 'the tenant'}"


def unknown_blob(id: RecordId, address: str) -> InputError:
    return InputError(f"record {id} names the blob {address}, which is not there (any more): stash the content again")


def missing_block(address: str) -> Damaged:
    return Damaged(f"the rendered block {address} is not there. Run `callsheet verify`; restore from a backup.")
