"""The content of a record as it may be read, its parts as text and bytes: policy is asked first, storage second."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from callsheet.assemble.contents import text_of
from callsheet.assemble.forms import reference
from callsheet.assemble.standins import WITHHELD
from callsheet.derive.document import ContentKind
from callsheet.derive.reading import read as read_document
from callsheet.derive.redaction import Redaction
from callsheet.derive.tables import tables
from callsheet.derive.text import binary_standin, readable
from callsheet.errors import BodyErased, NotFound
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Episode, Message, ToolArtifact, ToolCall
from callsheet.graph.record import Record
from callsheet.graph.values import CallRef, Media, Opaque, Part, Text
from callsheet.recall.serving import Piece, Source
from callsheet.recall.slices import Outlined
from callsheet.runtime.admitting import Admitting
from callsheet.runtime.naming import written_turns
from callsheet.runtime.seeing import Sight
from callsheet.runtime.turns import Turns

_TELLING = 16_384
"""Characters that tell whether long content is a table with a header."""

_BLOB = re.compile(r"(?:data:)?[A-Za-z0-9+/=_;:,.\r\n-]{256}")


def source(seen: Sight, record: Record) -> Source:
    """Read the content of a record that may be read. Raises `BodyErased`, `Damaged`."""
    body = record.body
    if body is None:
        raise BodyErased(f"the content of {record.id} was erased")
    pieces = tuple(_pieces(seen, body)) if isinstance(body, Message | ToolArtifact) else ()
    if isinstance(body, Episode):
        pieces = (_original(seen, body),)
    return _source(seen, record.id, pieces)


def turns_source(seen: Sight, first: int, last: int) -> Source:
    """What was said and found in these turns, as far as it may be read, each record with its turn's number.

    Raises `NotFound`, `Damaged`.
    """
    session = seen.session
    turns = Turns(
        ledger=session.ledger, stream=session.conversation.key, lineage=seen.lineage, shows=seen.shows
    ).between(first, last)
    if isinstance(seen.admit, Admitting):
        seen.admit.look([record for _, record in turns])
    told = ((turn, _told(seen, record)) for turn, record in turns)
    text = "\n".join(f"turn {turn} {said}" for turn, said in told if said)
    if not text:
        raise NotFound(f"nothing of {written_turns(first, last)} may be read here")
    whole = _Piece(raw=text.encode("utf-8", "surrogatepass"), text=text, recorded_text=True)
    return _source(seen, RecordId(written_turns(turns[0][0], max(turn for turn, _ in turns))), (whole,))


def _source(seen: Sight, id: RecordId, pieces: tuple["_Piece", ...]) -> Source:
    if len(pieces) > 1 and not seen.secrets:
        pieces = _unspread(pieces, seen.session.redacting.redaction)
    raw = b"".join(piece.raw for piece in pieces)
    alone = pieces[0] if len(pieces) == 1 else None
    if alone is not None and alone.text is None:
        text = None
    else:
        text = "\n".join(piece.standin if piece.text is None else piece.text for piece in pieces)
    mime = alone.mime if alone is not None else ""
    # What was recorded as text is its bytes; a byte order mark or another encoding makes the text another one.
    exact = alone is not None and text is not None and (alone.recorded_text or text.encode() == raw)
    return Source(
        reference=id,
        raw=raw,
        text=text,
        exact=exact,
        mime=mime,
        pieces=_placed(pieces) if not exact and text is not None else (),
        outline=lambda whole: _outline(text if whole else _beginning_of(text), mime),
        told=seen.told,
        tables=lambda: tables(read_document(text, mime)) if text else (),
    )


def _unspread(pieces: tuple["_Piece", ...], redaction: Redaction) -> tuple["_Piece", ...]:
    """The parts without a secret that only they together hold: their bytes are given joined."""
    texts = [text_of(piece.raw) if piece.recorded_text else "" for piece in pieces]
    changed = redaction.across(texts)
    if changed == texts:
        return pieces
    return tuple(
        piece if now == before else replace(piece, raw=now.encode("utf-8", "surrogatepass"), text=now)
        for piece, before, now in zip(pieces, texts, changed, strict=True)
    )


def _placed(pieces: Sequence["_Piece"]) -> tuple[Piece, ...]:
    """Where each part stands in the text and in the content."""
    placed: list[Piece] = []
    at = raw_at = 0
    for piece in pieces:
        shown = piece.standin if piece.text is None else piece.text
        placed.append(
            Piece(
                start=at,
                end=at + len(shown),
                raw_start=raw_at,
                raw_end=raw_at + len(piece.raw),
                exact=piece.recorded_text,
                standin=piece.text is None,
            )
        )
        at += len(shown) + 1
        raw_at += len(piece.raw)
    return tuple(placed)


def _beginning_of(text: str | None) -> str | None:
    """The first lines, enough to tell whether they begin a table."""
    if text is None or len(text) <= _TELLING:
        return text
    return text[: text.rfind("\n", 0, _TELLING) + 1]


def _outline(text: str | None, mime: str) -> Outlined | None:
    document = read_document(text, mime) if text else None
    # What is read as something else than its text, such as a run of base64, has no places in the text.
    return document if document is not None and document.text == text else None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Piece:
    """One part of the content."""

    raw: bytes
    #: None: it is no text.
    text: str | None
    mime: str = ""
    #: What stands for it among other parts.
    standin: str = ""
    #: Whether it was recorded as text; then the text as UTF-8 is what was recorded.
    recorded_text: bool = False


def _pieces(seen: Sight, body: Message | ToolArtifact) -> Iterator[_Piece]:
    read = seen.read
    parts: tuple[Part, ...] = body.parts if isinstance(body, Message) else body.content
    for part in parts:
        if isinstance(part, Text):
            yield _written(read(part.text))
        elif isinstance(part, Opaque):
            raw = read(part.raw)
            yield _Piece(raw=raw, text=text_of(raw), recorded_text=True)
        elif isinstance(part, CallRef):
            call = seen.get(part.call)
            if call is not None and isinstance(call.body, ToolCall):
                shown = text_of(read(call.body.arguments)) if call.id not in seen.withheld else WITHHELD
                yield _Piece(raw=b"", text=f"{call.body.tool}({shown})")
        elif isinstance(part, Media):
            yield _media(part, read(part.data) if part.data is not None else None)


def _original(seen: Sight, body: Episode) -> _Piece:
    """What an episode stands for, as it was said and found: the records of its span that may be read, in order."""
    told: list[str] = []
    for id in body.sources:
        record = seen.get(id)
        said = _told(seen, record) if record is not None else ""
        if said:
            told.append(said)
    text = "\n".join(told)
    return _Piece(raw=text.encode("utf-8", "surrogatepass"), text=text, recorded_text=True)


def _told(seen: Sight, record: Record) -> str:
    """A message or result among others, after its reference and who says it; empty where it may not be read."""
    held = record.body
    if not isinstance(held, Message | ToolArtifact) or seen.refused(record) is not None:
        return ""
    speaker = held.role.value if isinstance(held, Message) else f"result of {held.tool or 'a tool'}"
    shown = (piece.standin if piece.text is None else piece.text for piece in _pieces(seen, held))
    return f"[{reference(record.id)}] {speaker}: {chr(10).join(shown)}"


def _written(raw: bytes) -> _Piece:
    text = text_of(raw)
    # Only what begins like a run of base64 is looked at closer: reading a document takes time.
    if _BLOB.match(text) and read_document(text).kind is ContentKind.BINARY:
        return _Piece(raw=raw, text=None, standin=binary_standin("", len(raw)))
    return _Piece(raw=raw, text=text, recorded_text=True)


def _media(part: Media, raw: bytes | None) -> _Piece:
    if raw is None:
        return _Piece(raw=b"", text=f"({part.mime or 'file'} at {part.url})")
    shown = None if part.mime.startswith(("image/", "audio/", "video/")) else readable(raw)
    return _Piece(raw=raw, text=shown, mime=part.mime, standin=binary_standin(part.mime, len(raw)))
