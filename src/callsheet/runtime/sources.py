"""Where ids come from in real use, and what is asked of whatever tells the time."""

import secrets
from collections.abc import Callable, Mapping

from callsheet.errors import InvalidTime
from callsheet.graph.ids import RecordId, StreamId
from callsheet.graph.ports import Clock
from callsheet.graph.record import NONCE_BYTES
from callsheet.graph.times import Instant, instant

_ID_BYTES = 15  # 120 bits, 24 characters: no two alike in any store that will ever be

_DIGITS = "abcdefghijklmnopqrstuvwxyz234567"
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]
"""Ten bits each, in base 32 as in RFC 4648 but for capitals: several times as fast as `base64.b32encode`."""

_SHORT: Mapping[str, str] = {
    "message": "msg",
    "artifact": "art",
    "conversation": "conv",
    "participant": "part",
    "tool_memory": "mem",
    "user_memory": "umem",
    "assembly": "sheet",
    "document": "doc",
}


class RandomIds:
    """Random ids, such as ``msg_`` and 24 characters. `draw` gives as many bytes as it is asked for."""

    def __init__(self, draw: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self._draw = draw

    def record(self, kind: str) -> RecordId:
        return RecordId(f"{_SHORT.get(kind, kind)}_{self._characters()}")

    def stream(self) -> StreamId:
        return StreamId(self._characters())

    def nonce(self) -> bytes:
        return self._draw(NONCE_BYTES)

    def _characters(self) -> str:
        number = int.from_bytes(self._draw(_ID_BYTES), "big")
        return "".join([_PAIRS[number >> shift & 1023] for shift in range(8 * _ID_BYTES - 10, -1, -10)])


_EARLIEST, _LATEST = instant("0002-01-01T00:00:00Z"), instant("9999-01-01T00:00:00Z")
"""Within these every time that is reckoned from now, such as the end of a lease, has a date too."""


class Dated:
    """A clock whose times have dates. One that tells others, such as milliseconds for seconds, is refused at once.

    Else they would be recorded for good, and nothing that shows dates could be read any more.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> Instant:
        """Now. Raises `InvalidTime`."""
        moment = self._clock.now()
        if type(moment) is not int:
            raise InvalidTime(f"the clock tells a {type(moment).__name__}; it must tell whole microseconds since 1970")
        if not _EARLIEST <= moment < _LATEST:
            raise InvalidTime("the clock tells a time before the year 2 or after 9998; it must tell microseconds")
        return moment
