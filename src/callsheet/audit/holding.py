"""Which rendered blocks of past requests hold the text of records: found before these are erased.

A block that also stands in a request without these records was made from others alone, and stays. Of the rest, a block
holds a record's text where it has a word that nothing else in those requests has, answers its call, makes it, or is a
note with its line; of a text without a word of its own, where it stands there as a whole. In doubt a block goes.
"""

import base64
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from callsheet.assemble.delta import Whole
from callsheet.assemble.standins import NOTE
from callsheet.errors import BodyErased, Damaged
from callsheet.graph.enums import StreamKind
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import (
    Episode,
    Fact,
    Message,
    Milestone,
    ToolArtifact,
    ToolCall,
    ToolMemory,
)
from callsheet.graph.ports import Ledger, Owner
from callsheet.graph.record import Record, Stream
from callsheet.graph.values import CallRef, Media, Payload, Text
from callsheet.ledger.prepare import owner_of
from callsheet.runtime.every_sheet import every_sheet

_AT_A_TIME = 256

_ESCAPED = re.compile(r'\\+(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')
_WORD = re.compile(r"\w+")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_PHRASE = 3
"""Words from which a text is looked for within others; what is shorter must be the whole of one."""


def blocks_holding(ledger: Ledger, conversation: Stream, records: Sequence[Record]) -> tuple[str, ...]:
    """The addresses of the blocks that hold the text of these records of a conversation.

    Looks at every request of the conversation's owner. Takes time in proportion to those and to what stands in them.
    """
    return _Holding(ledger=ledger, conversation=conversation, records=records).addresses()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Trace:
    """What tells that a block holds the text of one record."""

    #: Its words that nothing else in the requests has.
    words: frozenset[str]
    #: Its texts as words in order, where it has no words of its own.
    phrases: tuple[str, ...]
    #: Its texts that hold no word at all, as JSON.
    signs: tuple[str, ...]
    #: The member of a block that names its call, as JSON.
    call: re.Pattern[str] | None


@dataclass(frozen=True, kw_only=True)
class _Holding:
    ledger: Ledger
    conversation: Stream
    records: Sequence[Record]

    @property
    def _owner(self) -> Owner:
        return owner_of(self.conversation)

    def addresses(self) -> tuple[str, ...]:
        listed = dict.fromkeys(one.record for sheet in self._own() for one in sheet.selected)
        related = {record.id for record in self.records}
        related |= {record.body.message for record in self.records if isinstance(record.body, ToolCall)}
        others: list[Record] = []
        gone: set[RecordId] = set()
        for record in self._read(tuple(listed)):
            if record.body is None:
                gone.add(record.id)
            if getattr(record.body, "call", None) in related:
                related.add(record.id)
            if record.id not in related:
                others.append(record)
        inside, noted = self._only_with(related, gone)
        traces = self._traces(others) if inside else ()
        return tuple(
            address for address, content in self._contents(inside) if _holds(content, traces, address in noted)
        )

    # ------------------------------------------------------------------ requests

    def _own(self) -> Iterator[Whole]:
        return self._sheets(self.conversation)

    def _sheets(self, conversation: Stream) -> Iterator[Whole]:
        stream = self.ledger.stream(conversation.tenant, StreamKind.SHEETS, conversation.name)
        return every_sheet(self.ledger, stream.key) if stream is not None else iter(())

    def _elsewhere(self) -> Iterator[str]:
        """The blocks of other conversations' requests in which nothing was erased."""
        for stream in self.ledger.streams(self.conversation.tenant, StreamKind.CONVERSATION):
            if stream.user != self.conversation.user or stream.key == self.conversation.key:
                continue
            listed = dict.fromkeys(one.record for sheet in self._sheets(stream) for one in sheet.selected)
            gone = self.ledger.erased(stream.key, tuple(listed))
            for sheet in self._sheets(stream):
                if gone.isdisjoint(one.record for one in sheet.selected):
                    yield from sheet.blocks

    def _only_with(self, related: Collection[RecordId], gone: Collection[RecordId]) -> tuple[list[str], set[str]]:
        """The blocks of requests with one of these records that stand in no other; those of requests with a note.

        A request with something that was erased before tells nothing: a block may be there for that alone.
        """
        inside: dict[str, None] = {}
        outside: set[str] = set()
        noted: set[str] = set()
        for sheet in self._own():
            held = [one for one in sheet.selected if one.record in related or one.against in related]
            if not held:
                if not any(one.record in gone for one in sheet.selected):
                    outside.update(sheet.blocks)
                continue
            inside.update(dict.fromkeys(sheet.blocks))
            if any(one.note for one in held):
                noted.update(sheet.blocks)
        outside.update(self._elsewhere())
        return [address for address in inside if address not in outside], noted

    def _contents(self, addresses: Iterable[str]) -> Iterator[tuple[str, str]]:
        for address in addresses:
            try:
                (content,) = self.ledger.blocks(self._owner, (address,))
            except Damaged:
                continue  # It is gone already.
            yield address, content.decode("utf-8", "replace")

    # ------------------------------------------------------------------ records

    def _read(self, ids: Sequence[RecordId]) -> Iterator[Record]:
        for start in range(0, len(ids), _AT_A_TIME):
            yield from self.ledger.get(self.conversation.key, ids[start : start + _AT_A_TIME])

    def _traces(self, others: Iterable[Record]) -> tuple[_Trace, ...]:
        texts = {record.id: tuple(self._texts(record)) for record in self.records}
        own = {id: frozenset(word for text in said for word in _words(text)) for id, said in texts.items()}
        shared: set[str] = set()
        mine = frozenset().union(*own.values())
        for record in others:
            for text in self._texts(record):
                shared.update(mine.intersection(_words(text)))
        return tuple(
            _Trace(
                words=own[record.id] - shared,
                phrases=() if own[record.id] - shared else tuple(filter(None, map(_phrase, texts[record.id]))),
                signs=tuple(_sign(text) for text in texts[record.id] if text.strip() and not _words(text)),
                call=_call(record),
            )
            for record in self.records
        )

    def _texts(self, record: Record) -> Iterator[str]:
        body = record.body
        if isinstance(body, ToolCall):
            yield from _spelt(self._text(body.arguments))
        elif isinstance(body, ToolMemory | Episode):
            yield self._text(body.summary)
        elif isinstance(body, Milestone | Fact):
            yield from _spelt(self._text(body.value))
        for part in body.parts if isinstance(body, Message) else body.content if isinstance(body, ToolArtifact) else ():
            if isinstance(part, CallRef):
                continue
            if isinstance(part, Text):
                yield self._text(part.text)
            elif isinstance(part, Media):
                if part.data is not None:
                    yield base64.b64encode(self._bytes(part.data)).decode()
                yield part.url or ""
            else:
                yield from _spelt(self._text(part.raw))

    def _text(self, payload: Payload) -> str:
        return self._bytes(payload).decode("utf-8", "replace")

    def _bytes(self, payload: Payload) -> bytes:
        try:
            return self.ledger.fetch(self._owner, payload)
        except (BodyErased, Damaged):
            return b""


def _holds(content: str, traces: Sequence[_Trace], noted: bool) -> bool:
    if noted and NOTE in content:
        return True
    words = _words(content)
    for trace in traces:
        if (
            not trace.words.isdisjoint(words)
            or any(sign in content for sign in trace.signs)
            or (trace.call is not None and trace.call.search(content))
        ):
            return True
    phrases = [phrase for trace in traces for phrase in trace.phrases]
    return bool(phrases) and _says(content, phrases)


def _says(content: str, phrases: Sequence[str]) -> bool:
    strings = frozenset(map(_phrase, _STRING.findall(content)))
    everything = f" {_phrase(content)} "
    return any(
        phrase in strings or (phrase.count(" ") >= _PHRASE - 1 and f" {phrase} " in everything) for phrase in phrases
    )


def _phrase(text: str) -> str:
    return " ".join(_WORD.findall(_ESCAPED.sub(" ", text).casefold()))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_ESCAPED.sub(" ", text).casefold()))


def _sign(text: str) -> str:
    return msgspec.json.encode(text.strip()).decode()[1:-1]


def _spelt(text: str) -> Iterator[str]:
    """JSON as it was written, and as it is written when it is parsed and written again."""
    yield text
    try:
        yield msgspec.json.encode(msgspec.json.decode(text)).decode()
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return


def _call(record: Record) -> re.Pattern[str] | None:
    body = record.body
    if not isinstance(body, ToolCall | ToolArtifact) or not body.provider_id:
        return None
    member = "id" if isinstance(body, ToolCall) else "tool_(?:call|use)_id"
    named = re.escape(msgspec.json.encode(body.provider_id).decode()[1:-1])
    return re.compile(rf'"{member}":"{named}(?:_\d+)?"')
