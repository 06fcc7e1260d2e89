"""The envelope around stored content: bodies, blocks, blobs, keys in the keyring. A contract, like a file format.

1 byte     format of the envelope: 1
1 byte     `Wrapping`: how the content is locked
1 byte     `Compression` of the content, done before locking
1 + n      length and UTF-8 name of the key that opens it; empty when it is not locked
1 + m      length and parameters of the wrapping; for AES-256-GCM the wrapped data key and the nonce
the rest   the content
"""

from enum import IntEnum

from callsheet.errors import Damaged, StoreTooNew
from callsheet.graph.values import Value

FORMAT = 1


class Wrapping(IntEnum):
    """How content is locked. Values are stored."""

    NONE = 0
    #: A fresh data key for each object, itself under the owner's key; both AES-256-GCM.
    AES_256_GCM = 1


class Compression(IntEnum):
    """How content is compressed. Values are stored."""

    NONE = 0
    ZSTD = 1


class Envelope(Value):
    """An envelope taken apart."""

    wrapping: Wrapping = Wrapping.NONE
    compression: Compression = Compression.NONE
    key: str = ""
    parameters: bytes = b""
    content: bytes

    def head(self) -> bytes:
        """All but the content. Locked content is bound to it, so that neither can be exchanged alone."""
        key = self.key.encode()
        return b"".join(
            (
                bytes((FORMAT, self.wrapping, self.compression, len(key))),
                key,
                bytes((len(self.parameters),)),
                self.parameters,
            )
        )

    def __bytes__(self) -> bytes:
        return self.head() + self.content


PLAIN = Envelope(content=b"").head()
"""What stands before content that is neither locked nor compressed."""


def opened(stored: bytes) -> Envelope:
    """Take an envelope apart. Raises `Damaged` for bytes that are none, `StoreTooNew` for a newer form."""
    try:
        form, wrapping, compression, length = stored[:4]
        name, after = stored[4 : 4 + length], 4 + length
        content_at = after + 1 + stored[after]
        parameters = stored[after + 1 : content_at]
        key = name.decode()
    except (ValueError, IndexError):
        raise Damaged("stored content has no readable envelope. Run `callsheet verify`.") from None
    if content_at > len(stored):
        raise Damaged("stored content is cut off within its envelope. Run `callsheet verify`.")
    if form != FORMAT or wrapping not in tuple(Wrapping) or compression not in tuple(Compression):
        raise StoreTooNew(f"stored content has an envelope of form {form}/{wrapping}/{compression}, unknown here")
    return Envelope(
        wrapping=Wrapping(wrapping),
        compression=Compression(compression),
        key=key,
        parameters=parameters,
        content=stored[content_at:],
    )
