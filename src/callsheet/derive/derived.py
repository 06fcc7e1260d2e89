"""What derivation keeps of a record so that assembly need not read its content again: bounded to a few kilobytes."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from callsheet.derive import classify, entities, terms
from callsheet.derive.document import ContentKind, Document, Segment
from callsheet.derive.entities import Entity
from callsheet.derive.gist import gist
from callsheet.derive.origins import origin
from callsheet.derive.reading import read
from callsheet.derive.redaction import Redaction
from callsheet.graph.enums import Freshness, Privacy
from callsheet.graph.index import Index
from callsheet.graph.values import Count, Value

SEGMENTS = 512
"""Entries of a segment table at most; longer content has several segments to an entry."""

_OF_SEGMENT = 8
_FIRST = 4_000
_UNKEYED = Redaction()


class SegmentTable(Value):
    """Where the segments lie and which entities each touches, in columns.

    An entry stands for ``step`` segments in a row, the last one for what is left.
    """

    step: Count = 1
    #: Characters between the end of the entry before and the start of this one.
    gaps: tuple[Count, ...] = ()
    sizes: tuple[Count, ...] = ()
    #: For each entry how many entities it touches, a byte each, at most 8.
    counts: bytes = b""
    #: Their positions in the ``entities`` of the record's index, a byte each.
    ids: bytes = b""

    @property
    def touched(self) -> list[bytes]:
        """For each entry the positions of the entities that it touches."""
        found: list[bytes] = []
        at = 0
        for count in self.counts:
            found.append(self.ids[at : at + count])
            at += count
        return found

    def spans(self) -> list[tuple[int, int]]:
        """Start and end of each entry, in characters of the text."""
        found: list[tuple[int, int]] = []
        end = 0
        for gap, size in zip(self.gaps, self.sizes, strict=True):
            found.append((end + gap, end + gap + size))
            end += gap + size
        return found

    def touching(self, wanted: frozenset[int]) -> frozenset[int]:
        """Indices of the segments in entries that touch one of these entities."""
        return frozenset(
            segment
            for at, ids in enumerate(self.touched)
            if not wanted.isdisjoint(ids)
            for segment in range(at * self.step, (at + 1) * self.step)
        )


class Derived(Value):
    """What is known of a tool result beside its content."""

    kind: ContentKind
    #: What it is counted in, in the plural, and how many there are.
    unit: str = ""
    total: Count = 0
    characters: Count = 0
    gist: str = ""
    #: The content says that what it reports on failed.
    failed: bool = False
    #: The class of the content and of the arguments that the gist shows, without their secrets.
    privacy: Privacy = Privacy.INTERNAL
    #: Whether secrets stood in either: all that is derived holds markers in their place.
    secrets: bool = False
    freshness: Freshness = Freshness.TIME_BOUNDED
    table: SegmentTable = SegmentTable()
    #: Tokens at each level, as the counter that was given counts them.
    raw_tokens: Count = 0
    dense_tokens: Count = 0
    gist_tokens: Count = 0
    #: Which analyser made the terms.
    analyser: str = ""


MORE = "\u2026"
"""Stands behind the entities of a result that holds more than its index lists."""


def index_result(
    content: str | bytes,
    *,
    mime: str = "",
    tool: str,
    arguments: str,
    count: Callable[[str], int],
    failed: bool = False,
    redaction: Redaction = _UNKEYED,
) -> Index:
    """What a tool result is found by, with its packed :class:`Derived`. Never raises for what the content holds.

    ``arguments`` is the JSON of the call; ``failed`` says that the result was recorded as failed, whatever it says.
    Secrets are replaced by the markers of ``redaction`` before anything is derived.
    """
    given = (content, arguments)
    content = redaction.text(content) if isinstance(content, str) else redaction.content(content)
    arguments = redaction.text(arguments)
    document = read(content, mime)
    noted = _Noted()
    table = segment_table(document.segments, noted.passing(entities.mentions(document.text)), noted.places)
    derived = _derived(document, noted.first, table, tool=tool, arguments=arguments, count=count, failed=failed)
    found = origin(tool, document.text, arguments=arguments, mime=mime)
    derived = replace(
        derived,
        privacy=max(derived.privacy, found or derived.privacy, key=classify.STRICTNESS.index),
        secrets=given != (content, arguments),
        gist=redaction.text(derived.gist),
    )
    listed = tuple(noted.positions)
    return Index(
        entities=(*listed, MORE) if len(listed) >= entities.LIMIT else listed,
        terms=terms.counted(document.text),
        derived=msgspec.msgpack.encode(derived),
    )


def index_message(text: str) -> Index:
    """What a message of a person or a model, or the arguments of a call, is found by. It has no levels.

    Its secrets are replaced by their markers before.
    """
    return Index(entities=entities.entities(text), terms=terms.counted(text))


def unpack(packed: bytes) -> Derived | None:
    """What was derived from a record; None where nothing was, or another version made it: then derive it again."""
    if not packed:
        return None
    try:
        return _DECODER.decode(packed)
    except msgspec.MsgspecError:
        return None


def class_in(packed: bytes) -> Privacy:
    """The class of the content, of what was derived from it; the usual one where nothing was."""
    return _CLASSES.decode(packed).privacy if packed else Privacy.INTERNAL


class _Class(msgspec.Struct):
    privacy: Privacy = Privacy.INTERNAL


_CLASSES = msgspec.msgpack.Decoder(_Class)
_DECODER = msgspec.msgpack.Decoder(Derived)


def _derived(
    document: Document,
    found: Sequence[Entity],
    table: SegmentTable,
    *,
    tool: str,
    arguments: str,
    count: Callable[[str], int],
    failed: bool,
) -> Derived:
    text = document.text
    failed = failed or classify.failed(text, document)
    line = gist(document, tool=tool, arguments=arguments, failed=failed, found=found)
    raw = count(text)
    dense = document.dense()
    # The gist shows arguments, so their class counts too.
    classes = (classify.without_secrets(text), classify.without_secrets(arguments))
    privacy = max(classes, key=classify.STRICTNESS.index)
    return Derived(
        kind=document.kind,
        unit=document.unit,
        total=document.total,
        characters=len(text),
        gist=line,
        failed=failed,
        privacy=privacy,
        freshness=classify.freshness(text),
        table=table,
        raw_tokens=raw,
        dense_tokens=raw if dense == text else count(dense),
        gist_tokens=count(line),
        analyser=terms.ANALYSER,
    )


class _Noted:
    """Keeps what matters of mentions that pass by, so that they need not all be held at once."""

    def __init__(self) -> None:
        #: Normal forms in order of first appearance, with their position.
        self.positions: dict[str, int] = {}
        #: The same by what is written; -1 for some of those that are not kept.
        self.places: dict[str, int] = {}
        self.first: list[Entity] = []

    def passing(self, found: Iterable[Entity]) -> Iterator[Entity]:
        """The same mentions, each noted before it is passed on."""
        places = self.places
        for entity in found:
            if len(self.first) < _FIRST:
                self.first.append(entity)
            value = entity.value
            if value not in places:
                place = self._place(value)
                if place >= 0 or len(places) < _FIRST:
                    places[value] = place
            yield entity

    def _place(self, value: str) -> int:
        form = entities.normal(value)
        if len(self.positions) < entities.LIMIT:
            return self.positions.setdefault(form, len(self.positions))
        return self.positions.get(form, -1)


def segment_table(segments: Sequence[Segment], found: Iterable[Entity], known: Mapping[str, int]) -> SegmentTable:
    """The table of these segments, in order, with the entities in them, as written, that ``known`` places."""
    step = max(1, -(-len(segments) // SEGMENTS))
    entries = (
        [(segment.start, segment.end) for segment in segments]
        if step == 1
        else [
            (segments[at].start, segments[min(at + step, len(segments)) - 1].end)
            for at in range(0, len(segments), step)
        ]
    )
    starts = [start for start, _ in entries]
    touched: list[dict[int, None]] = [{} for _ in entries]
    for start, _, value, _ in found:
        position = known.get(value, -1)
        if position < 0:
            continue
        at = bisect_right(starts, start) - 1
        if at >= 0 and start < entries[at][1] and len(touched[at]) < _OF_SEGMENT:
            touched[at][position] = None
    ends = [0, *(end for _, end in entries)]
    return SegmentTable(
        step=step,
        gaps=tuple(start - before for start, before in zip(starts, ends, strict=False)),
        sizes=tuple(end - start for start, end in entries),
        counts=bytes(map(len, touched)),
        ids=b"".join(map(bytes, touched)),
    )
