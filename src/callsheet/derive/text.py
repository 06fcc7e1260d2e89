"""Bytes of unknown encoding as text that a model can read, without dropping a byte unmarked."""

import codecs

_BOMS = (
    # The UTF-32 marks begin with the UTF-16 ones, so they are tried first.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_TEXT_SHARE = 0.7
"""Bytes with at least this share of ordinary characters are shown as text."""

_SAMPLE = 4096
_ORDINARY = frozenset(range(32, 127)) | frozenset(b"\t\n\r")


def readable(content: bytes) -> str | None:
    """The content as text, or None for content that is not text.

    A byte order mark decides; else UTF-8; else bytes that UTF-8 does not know are written as ``\\xNN``, which can be
    read back. Content with too few ordinary characters is no text.
    """
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            try:
                return content.decode(encoding)
            except UnicodeDecodeError:
                break
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        sample = content[:_SAMPLE]
        ordinary = sum(byte in _ORDINARY for byte in sample)
        return content.decode("utf-8", "backslashreplace") if ordinary >= _TEXT_SHARE * len(sample) else None


def binary_standin(mime: str, size: int) -> str:
    """What stands for content that cannot be shown as text."""
    return f"({mime or 'application/octet-stream'}, {size:,} bytes, not shown)"
