"""Text that every provider accepts: no NUL, no lone surrogates. Recorded text keeps both; only requests are cleaned."""

import re
from typing import overload

_SURROGATES = re.compile("[\ud800-\udfff]")

_CONTROLS = re.compile("[\x7f-\x9f]")
_NULS = re.compile("\0+")
_VISIBLE_NUL = "\u2400"
_REPLACEMENT = "\ufffd"


def has_nul(text: str) -> bool:
    """Whether NUL is in the text."""
    return "\0" in text


def has_surrogates(text: str) -> bool:
    """Whether lone surrogates, which UTF-8 cannot hold, are in the text."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def clean(text: str) -> str:
    """The text without NUL and lone surrogates; else unchanged.

    ``U+2400 SYMBOL FOR NULL`` stands for a NUL, with a count for several in a row (``␀×4096``: a page of a sparse file
    would cost more tokens than all the rest), and ``U+FFFD`` for a lone surrogate.
    """
    if has_nul(text):
        text = _NULS.sub(_visible, text)
    return _SURROGATES.sub(_REPLACEMENT, text) if has_surrogates(text) else text


def _visible(nuls: re.Match[str]) -> str:
    length = nuls.end() - nuls.start()
    return _VISIBLE_NUL if length == 1 else f"{_VISIBLE_NUL}×{length}"


def storable(name: str) -> str:
    """An id or name as every store can hold it: a lone surrogate as its escape, such as ``\\ud83e``; else unchanged."""
    return name.encode("utf-8", "backslashreplace").decode() if has_surrogates(name) else name


class MergedKeys(ValueError):
    """Cleaning would make one key of two, and one value would be lost."""


@overload
def clean_value(value: dict[str, object]) -> dict[str, object]: ...
@overload
def clean_value(value: object) -> object: ...
def clean_value(value: object) -> object:
    """A JSON value with every string in it cleaned, keys included. Raises `MergedKeys`."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        cleaned = {clean_value(key): clean_value(item) for key, item in value.items()}
        if len(cleaned) < len(value):
            raise MergedKeys
        return cleaned
    if isinstance(value, list | tuple):
        return [clean_value(item) for item in value]
    return value


def escape_surrogates(json_text: str) -> str:
    """JSON text in which lone surrogates are written as escapes, so that it has an UTF-8 form."""
    if not has_surrogates(json_text):
        return json_text
    return _SURROGATES.sub(_escape, json_text)


def escape_controls(json_text: str) -> str:
    """JSON text in which DEL and the controls beyond ASCII, which JSON lets stand, are written as escapes: a terminal
    would obey them.
    """
    return _CONTROLS.sub(_escape, json_text)


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"
