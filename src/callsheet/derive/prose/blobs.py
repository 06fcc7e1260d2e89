"""Base64 inside text: where it stands, and the mark that stands for it where text is shortened."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from callsheet.derive.text import binary_standin

#: A run may begin only where no other base64 character stands before it, so a text is scanned once.
_RUN = re.compile(
    r"(?<![A-Za-z0-9+/_-])(?:data:([\w.+-]{1,80}/[\w.+-]{1,80})(?:;[\w=.+-]{1,80}){0,4};base64,)?"
    r"([A-Za-z0-9+/_-]{256,}+={0,2})"
)
_WRAPPED = re.compile(
    r"(?:data:([\w.+-]{1,80}/[\w.+-]{1,80})(?:;[\w=.+-]{1,80}){0,4};base64,)?([A-Za-z0-9+/_\s-]++={0,2})\s*"
)
_SAMPLE = 4096
#: Every eighth character of a run is of base64 too, and of other text hardly ever so many in a row are.
_STRIDE = 8
_PROBE = re.compile(r"[A-Za-z0-9+/_-]{32}")
_LEAST = 256


@dataclass(frozen=True, slots=True)
class Blob:
    """A run of base64: characters of the text, the bytes it encodes, and its media type if it says one."""

    start: int
    end: int
    size: int
    mime: str

    @property
    def mark(self) -> str:
        """What stands in place of the run."""
        return binary_standin(self.mime, self.size) if self.mime else f"(base64, {self.size:,} bytes, not shown)"


def blobs(text: str) -> tuple[Blob, ...]:
    """The runs of at least 256 characters of base64 without white space, in order. Long words and hex are none."""
    if len(text) < _LEAST or _PROBE.search(text[::_STRIDE]) is None:
        return ()
    return tuple(_found(text))


def _found(text: str) -> Iterable[Blob]:
    for match in _RUN.finditer(text):
        if match[1] is not None or _mixed(text, match.start(2), match.end(2)):
            yield Blob(match.start(), match.end(), _bytes(text, *match.span(2)), match[1] or "")


def whole_blob(text: str) -> Blob | None:
    """The one blob that the content is, bare or as a ``data:`` address, wrapped into lines or not; else None."""
    head = text[:_SAMPLE].strip()
    if len(text) < _LEAST or (" " in head and not head.startswith("data:")) or _longest_word(head) < 60:
        return None
    match = _WRAPPED.fullmatch(text.strip())
    if match is None or (match[1] is None and not _mixed(match[2], 0, len(match[2]))):
        return None
    lines = match[2].split()
    if len({len(line) for line in lines[:-1]}) > 1 or sum(map(len, lines)) < _LEAST:
        return None
    data = "".join(lines)
    return Blob(0, len(text), _bytes(data, 0, len(data)), match[1] or "")


def _longest_word(head: str) -> int:
    return max(map(len, head.split()), default=0)


def _bytes(text: str, start: int, end: int) -> int:
    return (end - start - text.count("=", max(start, end - 2), end)) * 3 // 4


def _mixed(text: str, start: int, end: int) -> bool:
    """Whether upper case, lower case and digits stand side by side as they do in encoded bytes."""
    sample = text[start : min(end, start + _SAMPLE)]
    upper = sum("A" <= c <= "Z" for c in sample)
    lower = sum("a" <= c <= "z" for c in sample)
    digits = sum("0" <= c <= "9" for c in sample)
    dashes = sample.count("-") + sample.count("_") + sample.count("/")
    enough = len(sample) // 50
    return upper > enough and lower > enough and digits > enough and dashes <= len(sample) // 10


def masked(text: str, found: Sequence[Blob]) -> str:
    """The text with its mark in place of each of the runs, which stand in their order."""
    parts = []
    at = 0
    for blob in found:
        parts += [text[at : blob.start], blob.mark]
        at = blob.end
    return "".join([*parts, text[at:]])
