"""Markers in the place of secrets: each tells its type, and the same secret has the same marker under the same key.

All that is derived of a text is derived of the text with its markers, so nothing that is made of it can hold a secret.
"""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from callsheet.derive.secrets import Secret, find, formed
from callsheet.derive.text import readable

_SHOWN = 6
"""Hex digits of a marker: enough to keep the secrets of a conversation apart, too few to tell one by trying."""

_REPEATED = 32
"""Secrets of one text, the first, whose value is looked for again where nothing else tells it."""

TELLING = 8
"""Characters from which on a value is a secret wherever it stands."""

_BY_NAME = frozenset({"password", "secret", "token", "url-password", "aws-secret-key", "bearer-token"})
"""Types that are told by what stands around them, not by their own form."""


_ESCAPED = re.compile(r"\\u00[2-7][0-9a-fA-F]")
"""A plain character that JSON text writes as an escape: it hides nothing from whoever reads the JSON."""


def _unescaped(text: str, found: Sequence[Secret]) -> list[Secret]:
    """The secrets of a text, with those that stand in it once its escapes of plain characters are undone."""
    plain: list[str] = []
    # Where stretches without an escape begin, in the plain text and in the text.
    begins, places = [0], [0]
    at = length = 0
    for escape in _ESCAPED.finditer(text):
        plain += (text[at : escape.start()], chr(int(escape[0][2:], 16)))
        length += escape.start() - at
        begins += (length, length + 1)
        places += (escape.start(), escape.end())
        at, length = escape.end(), length + 1
    plain.append(text[at:])

    def place(position: int) -> int:
        stretch = bisect_right(begins, position) - 1
        return places[stretch] + position - begins[stretch]

    hidden = [Secret(start=place(one.start), end=place(one.end), kind=one.kind) for one in find("".join(plain))]
    kept: list[Secret] = []
    for one in sorted([*found, *hidden], key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


class Place(NamedTuple):
    """A secret in a text, and what stands in its place."""

    start: int
    end: int
    marker: str


def applied(text: str, places: Sequence[Place]) -> str:
    """The text with the markers of these places, which ascend, in the place of what is there."""
    pieces: list[str] = []
    end = 0
    for place in places:
        pieces += (text[end : place.start], place.marker)
        end = place.end
    return "".join([*pieces, text[end:]])


def _occurrences(text: str, value: str, mark: str, places: Sequence[Place]) -> Iterator[Place]:
    """Where a value stands between places."""
    begins = [0, *(place.end for place in places)]
    ends = [*(place.start for place in places), len(text)]
    for begin, end in zip(begins, ends, strict=True):
        at = text.find(value, begin, end)
        while at >= 0:
            yield Place(at, at + len(value), mark)
            at = text.find(value, at + len(value), end)


@dataclass(frozen=True, slots=True)
class Redaction:
    """Puts markers in the place of secrets.

    `key` keeps what is told of a secret to those who share it: the same secret has the same marker under it, and
    nothing of the secret can be computed from its marker, which holds 24 bits of a keyed hash.
    """

    key: bytes = b""
    _hashing: bytes = field(init=False, repr=False, default=b"")

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hashing", hashlib.blake2b(self.key, digest_size=32).digest())

    def text(self, text: str) -> str:
        """The text with a marker for each secret; the text itself where it holds none."""
        places = self.places(text)
        return applied(text, places) if places else text

    def places(self, text: str) -> list[Place]:
        """Where markers stand in the place of secrets, ascending and apart: what `text` applies."""
        found: Sequence[Secret] = find(text)
        if _ESCAPED.search(text) is not None:
            found = _unescaped(text, found)
        return self._places(text, found) if found else []

    def name(self, name: str) -> str:
        """The same for the name of a tool or speaker: short, and kept in many places as it is."""
        return self.text(name) if len(name) >= TELLING else name

    def across(self, texts: Sequence[str]) -> list[str]:
        """Texts that stand one after another, with a marker also for a secret that only they together hold.

        The marker stands in the text that the secret begins in; what of it the following ones hold is gone.
        """
        joined = "".join(texts)
        ends = list(accumulate(map(len, texts)))
        spread = [
            secret for secret in find(joined) if bisect_right(ends, secret.start) != bisect_right(ends, secret.end - 1)
        ]
        if not spread:
            return list(texts)
        told: list[str] = []
        start = 0
        for end in ends:
            pieces: list[str] = []
            at = start
            for secret in spread:
                if secret.end <= start or secret.start >= end:
                    continue
                pieces.append(joined[at : max(at, secret.start)])
                if secret.start >= start:
                    pieces.append(self.marker(joined[secret.start : secret.end], secret.kind))
                at = min(end, secret.end)
            told.append("".join(pieces) + joined[at:end])
            start = end
        return told

    def _places(self, text: str, found: Sequence[Secret]) -> list[Place]:
        places: list[Place] = []
        again: dict[str, str] = {}
        for secret in found:
            value = text[secret.start : secret.end]
            mark = self.marker(value, secret.kind)
            if secret.kind in _BY_NAME and len(value) >= TELLING and len(again) < _REPEATED:
                again[value] = mark
            places.append(Place(secret.start, secret.end, mark))
        # The same value stands for the same secret where no name before it tells so.
        for value, mark in sorted(again.items(), key=lambda one: -len(one[0])):
            places = sorted([*places, *_occurrences(text, value, mark, places)])
        return places

    def content(self, content: bytes) -> bytes:
        """The same for bytes; text in another encoding than UTF-8 is in UTF-8 then.

        In what is no text only what has the form of a known key is replaced: elsewhere it would be chance.
        """
        try:
            text: str | None = content.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            text = readable(content)
        if text is not None:
            changed = self.text(text)
            return content if changed is text else changed.encode("utf-8", "surrogatepass")
        text = content.decode("latin-1")
        found = formed(text)
        return applied(text, self._places(text, found)).encode("latin-1") if found else content

    def marker(self, value: str, kind: str) -> str:
        """What stands in the place of a secret."""
        digest = hashlib.blake2b(value.encode("utf-8", "surrogatepass"), key=self._hashing, digest_size=8)
        return f"[secret:{kind}#{digest.hexdigest()[:_SHOWN]}]"
