"""What a milestone or fact states, as it is stored: JSON with who said it, the exact excerpt, and the values in it."""

import msgspec

MARK = "="
"""Before an entity or term that a milestone or fact is found by, so that whoever looks for results finds none."""


class Stated(msgspec.Struct, frozen=True):
    """The content of a milestone or fact."""

    text: str = ""
    #: ``user``, ``assistant``, ``[name]`` of another participant, or ``result of`` a tool.
    by: str = ""
    values: tuple[str, ...] = ()


def stated(content: bytes) -> Stated:
    """What stored content states; what is no such JSON states itself. Never raises."""
    try:
        return _DECODER.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Stated(text=content.decode("utf-8", "replace"))


def encoded(said: Stated) -> bytes:
    """The stored form."""
    return msgspec.json.encode(said)


_DECODER = msgspec.json.Decoder(Stated)
