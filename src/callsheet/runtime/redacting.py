"""Reading content as it may be shown: secrets are replaced by markers on the way out of the store.

Whatever is read for a request, a recall, a search, a memory or a transcript goes through here, so nothing that is made
of it can hold a secret. What a call executes, and what `Conversation.raw` gives, is read as it was recorded.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from callsheet.derive.redaction import Redaction
from callsheet.graph.enums import Level, Privacy
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ToolArtifact, ToolCall
from callsheet.graph.record import Record, Stream, StreamKey
from callsheet.graph.values import CallRef, Media, Payload, Reasoning, Text
from callsheet.policy.sets import PolicySetDocument

Read: TypeAlias = Callable[[Payload], bytes]

_KEPT = 8_192
"""Payloads of which is kept what came of them."""

_LARGE = 65_536
"""Bytes of content without its secrets that are kept; longer content is looked through again."""


def redaction_of(conversation: Stream | StreamKey) -> Redaction:
    """How secrets of a conversation are marked. Its key is the random id of the conversation.

    So the markers are the same after a restart, and in a copy of the store, and tell nothing across conversations.
    """
    id = conversation.id if isinstance(conversation, Stream) else conversation.stream
    return Redaction(id.encode())


def shows_secrets(policy: PolicySetDocument, provider: str) -> bool:
    """Whether a policy set lets secrets out to a provider as they are."""
    return form_of(policy, provider) is Level.RAW


def form_of(policy: PolicySetDocument, provider: str) -> Level:
    """In which form a policy set gives secrets to a provider."""
    for exception in policy.providers:
        if exception.privacy is Privacy.SECRET and exception.provider == provider:
            return exception.form
    return policy.privacy.secret


@dataclass(kw_only=True, slots=True)
class Redacting:
    """Reads payloads without their secrets, and remembers which had any. Thread-safe."""

    read: Read
    redaction: Redaction
    #: By inline bytes or address: None where nothing was replaced, else the content with markers, if it is short.
    _known: dict[bytes | str, bytes | None] = field(default_factory=dict, repr=False)

    def __call__(self, payload: Payload) -> bytes:
        """The bytes of a payload with markers in the place of secrets."""
        key = _key(payload)
        known = self._known.get(key, _UNKNOWN)
        if known is not None and known is not _UNKNOWN:
            return known
        content = self.read(payload)
        if known is None:
            return content
        changed = self.redaction.content(content)
        if len(self._known) >= _KEPT:
            self._known.clear()
        if changed is content:
            self._known[key] = None
        elif len(changed) <= _LARGE:
            self._known[key] = changed
        return changed

    def marks(self, record: Record, calls: Mapping[RecordId, ToolCall]) -> bool:
        """Whether a record is shown with markers: other text than was counted when it was recorded."""
        return any(self._marks(payload) for payload in _payloads(record, calls))

    def _marks(self, payload: Payload) -> bool:
        shown = self(payload)
        return self._known.get(_key(payload), _UNKNOWN) is not None and shown != self.read(payload)


_UNKNOWN = b"?"


def _key(payload: Payload) -> bytes | str:
    if payload.inline is not None:
        return payload.inline
    return payload.blob.address if payload.blob is not None else b""


def _payloads(record: Record, calls: Mapping[RecordId, ToolCall]) -> list[Payload]:
    body = record.body
    parts = body.parts if isinstance(body, Message) else body.content if isinstance(body, ToolArtifact) else ()
    found: list[Payload] = []
    for part in parts:
        if isinstance(part, CallRef):
            call = calls.get(part.call)
            found += [call.arguments] if call is not None else []
        elif isinstance(part, Text):
            found.append(part.text)
        elif isinstance(part, Media):
            found += [part.data] if part.data is not None else []
        elif isinstance(part, Reasoning):
            found.append(part.raw)
        else:
            found.append(part.raw)
    return found
