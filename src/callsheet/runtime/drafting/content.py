"""From the content of blocks to parts of records: text is counted, and what is large is put into the blob store."""

from dataclasses import dataclass, field

from callsheet.assemble import blocks
from callsheet.assemble.sizes import RECORDED_IN
from callsheet.derive.redaction import Redaction
from callsheet.graph import values
from callsheet.graph.ports import Ledger, Owner
from callsheet.graph.record import StreamKey
from callsheet.runtime.redacting import redaction_of
from callsheet.wire.cleaning import clean, storable
from callsheet.wire.tokens import count


@dataclass(kw_only=True, slots=True)
class Content:
    """What the content of one transaction is kept as."""

    ledger: Ledger
    stream: StreamKey
    owner: Owner
    _counted: dict[str, int] = field(default_factory=dict)
    #: What was counted last.
    _last: str = ""
    _large: dict[str, bytes] = field(default_factory=dict)

    def payload(self, text: str, *, digest: bool = False) -> values.Payload:
        """The text as it is stored: inline, or put into the blob store."""
        return self._bytes(text_bytes(text), digest=digest)

    @property
    def _redaction(self) -> Redaction:
        return redaction_of(self.stream)

    def _named(self, name: str | None) -> str | None:
        """A name as it is kept: it stands in requests, errors and explanations, so a secret in it is a marker."""
        return self._redaction.name(storable(name)) if name is not None else None

    def _part(self, part: blocks.Text | blocks.Reasoning | blocks.Media | blocks.Opaque) -> values.Part:
        if isinstance(part, blocks.Reasoning):
            return values.Reasoning(wire=part.wire, raw=self._bytes(part.raw), o200k=_count_raw(part.raw))
        return self._content(part)

    def _content(self, part: blocks.Content) -> values.Content:
        if isinstance(part, blocks.Text):
            counted = self._count(part.text)  # as it will be shown
            return values.Text(text=self.payload(part.text), o200k=counted, extras=part.extras)
        if isinstance(part, blocks.Opaque):
            return values.Opaque(wire=part.wire, raw=self._bytes(part.raw), o200k=_count_raw(part.raw))
        return values.Media(
            mime=storable(part.mime),
            data=self._bytes(part.data) if part.data is not None else None,
            url=storable_name(part.url),
            width=part.width,
            height=part.height,
            wire=part.wire,
            extras=part.extras,
        )

    def _read(self, payload: values.Payload) -> bytes:
        """The bytes of a payload; those that this transaction brings are at hand, wherever they will lie."""
        if payload.inline is not None:
            return payload.inline
        assert payload.blob is not None
        return self._large.get(payload.blob.address) or self.ledger.fetch(self.owner, payload)

    def _count(self, text: str) -> int:
        """Tokens of a text; of what was counted in this transaction, without counting again."""
        known = self._counted.get(text)
        if known is None:
            # What a result is told as is often much like it.
            cleaned = clean(text)
            known = self._counted[text] = count(cleaned, RECORDED_IN, like=self._last)
            self._last = cleaned
        return known

    def _bytes(self, content: bytes, *, digest: bool = False) -> values.Payload:
        payload = self.ledger.stash(self.owner, content, digest=digest)
        if payload.blob is not None:
            self._large[payload.blob.address] = content
        return payload


def storable_name(name: str | None) -> str | None:
    """`storable` of what may be none."""
    return storable(name) if name is not None else None


def text_bytes(text: str) -> bytes:
    """Text as it is kept: UTF-8, lone surrogates included."""
    return text.encode("utf-8", "surrogatepass")


def _count_raw(raw: bytes) -> int:
    return count(raw.decode("utf-8", "replace"), RECORDED_IN)
