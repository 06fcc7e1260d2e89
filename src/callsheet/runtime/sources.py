"""Where ids come from in real use."""

import base64
import secrets
from collections.abc import Mapping

from callsheet.graph.ids import RecordId, StreamId
from callsheet.graph.record import NONCE_BYTES

_ID_BYTES = 15  # 120 bits, 24 characters: no two alike in any store that will ever be

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


def _random() -> str:
    return base64.b32encode(secrets.token_bytes(_ID_BYTES)).decode("ascii").lower()


class RandomIds:
    """Random ids, such as ``msg_`` and 24 characters."""

    def record(self, kind: str) -> RecordId:
        return RecordId(f"{_SHORT.get(kind, kind)}_{_random()}")

    def stream(self) -> StreamId:
        return StreamId(_random())

    def nonce(self) -> bytes:
        return secrets.token_bytes(NONCE_BYTES)
