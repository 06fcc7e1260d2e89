"""Bytes of unknown encoding as text that a model can read, without dropping a byte unmarked."""

import codecs

_BOMS = (
    # The UTF-32 marks begin with the UTF-16 ones, so they are tried first.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_ODD_SHARE = 0.3
"""Content in which more than this share of characters is undecodable or a control character is no text."""

_SAMPLE = 4096


def readable(content: bytes) -> str | None:
    """The content as text, or None for content that is not text.

    A byte order mark decides; else UTF-8; else bytes that UTF-8 does not know are written as ``\\xNN``, which can be
    read back. Content with too many of them, or of control characters, is no text.
    """
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            # What the encoding does not know is marked, so one cut character does not hide all the others.
            text = content.decode(encoding, "replace")
            return text if text.count("\ufffd") <= _ODD_SHARE * len(text) else None
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        sample = content[:_SAMPLE].decode("utf-8", "surrogateescape")
        odd = sum(_is_odd(character) for character in sample)
        return content.decode("utf-8", "backslashreplace") if odd <= _ODD_SHARE * len(sample) else None


def _is_odd(character: str) -> bool:
    return "\udc80" <= character <= "\udcff" or (character < " " and character not in "\t\n\r")


def binary_standin(mime: str, size: int) -> str:
    """What stands for content that cannot be shown as text."""
    return f"({mime or 'application/octet-stream'}, {size:,} bytes, not shown)"
