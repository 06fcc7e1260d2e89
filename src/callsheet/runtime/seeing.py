"""What one view may see and read: its records along its lineage, by reference, and their content.

A record that is hidden from the view is not there, in what is found and in the texts of errors. Policy is asked first,
storage is read second.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias

from callsheet.assemble.compose import text_of
from callsheet.assemble.delta import Whole
from callsheet.assemble.forms import reference
from callsheet.assemble.standins import WITHHELD
from callsheet.derive.document import ContentKind
from callsheet.derive.reading import read as read_document
from callsheet.derive.redaction import Redaction
from callsheet.derive.tables import tables
from callsheet.derive.text import binary_standin, readable
from callsheet.errors import BodyErased, NotFound
from callsheet.graph.cut import Lineage
from callsheet.graph.enums import Reason
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Boundary, Episode, Message, ToolArtifact, ToolCall
from callsheet.graph.query import NodeQuery
from callsheet.graph.record import Record
from callsheet.graph.values import CallRef, Media, Opaque, Part, Payload, Text
from callsheet.policy.visibility import refusal
from callsheet.recall.serving import Piece, Source
from callsheet.recall.slices import Outlined
from callsheet.runtime.episodes import Compactions
from callsheet.runtime.naming import AROUND, exactly, means, turns_of
from callsheet.runtime.releasing import Reader, opened
from callsheet.runtime.session import Session, View
from callsheet.runtime.stored import own_sheets
from callsheet.runtime.whole_sheets import read_sheet

Admit: TypeAlias = Callable[[Record, Boundary], Reason | None]
"""Why the content of a record that may be seen may not be read at a boundary; None: it may."""

_CANDIDATES = 5
"""References that an error about an ambiguous one names."""

_SCANNED = 20_000
"""Records, the newest that the view may see, among which the beginning of an id is looked for."""

_AT_A_TIME = 512
"""Records read at once on the way back."""

_TELLING = 16_384
"""Characters that tell whether long content is a table with a header."""

_BLOB = re.compile(r"(?:data:)?[A-Za-z0-9+/=_;:,.\r\n-]{256}")

_READ = 4_096
"""Characters of a reference that an error looks at: what is no reference may be a secret in the wrong place."""

_UNMARKED = Redaction()

_FOLLOWED = 8
"""How often the answer of a recall is followed to what it recalled."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sight:
    """What one view may see now, and of that what it may read."""

    session: Session
    view: View
    boundary: Boundary
    lineage: Lineage
    admit: Admit | None = None
    #: Whether secrets are read as they are.
    secrets: bool = False
    #: Calls whose arguments may not be read.
    withheld: frozenset[RecordId] = frozenset()

    @property
    def read(self) -> Callable[[Payload], bytes]:
        """Content as it may be shown: with markers in the place of secrets, unless they may be read."""
        return self.session.read if self.secrets else self.session.redacting

    def told(self, asked: str) -> str:
        """What was asked for, as an answer may tell it again."""
        return asked if self.secrets else self.session.redacting.redaction.text(asked[:_READ])

    def shows(self, record: Record) -> bool:
        """Whether the record exists for this view."""
        if not self.lineage.sees(record.branch, record.position):
            return False
        return refusal(record.header, self.boundary) is None or record.id in self.opened()

    def refused(self, record: Record) -> Reason | None:
        """Why the content of a record that exists for this view may not be read."""
        return self.admit(record, self.boundary) if self.admit is not None else None

    def newest(self, *kinds: str) -> Iterator[Record]:
        """The records of these kinds that exist for this view, newest first, read a few at a time.

        Without any, the messages and artifacts.
        """
        before: int | None = None
        while True:
            query = NodeQuery(
                kinds=kinds or ("message", "artifact"),
                lineage=self.lineage,
                newest=True,
                limit=_AT_A_TIME,
                before=before,
            )
            found = self.session.ledger.nodes(self.session.conversation.key, query)
            for record in reversed(found):
                if self.shows(record):
                    yield record
            if len(found) < _AT_A_TIME:
                return
            before = found[0].position

    def listed(self) -> tuple[RecordId, ...]:
        """The records of the newest sheet of this view: what short references come from."""
        sheet = newest_sheet(self.session, self.view)
        return tuple(dict.fromkeys(selection.record for selection in sheet.selected)) if sheet is not None else ()

    def get(self, id: RecordId) -> Record | None:
        """The record with this id, unless it does not exist for this view."""
        found = self.session.ledger.get(self.session.conversation.key, (id,))
        return found[0] if found and (self.shows(found[0]) or id in self.opened()) else None

    def opened(self) -> frozenset[RecordId]:
        """The records that were released to this view or shared with it, wherever they stand."""
        session, desk = self.session, self.session.desk(self.view)
        desk.opened = opened(session.ledger, session.conversation.key, self.lineage, self.boundary, desk.opened)
        return desk.opened.records


def sight(session: Session, view: View, *, boundary: Boundary | None = None, admit: Admit | None = None) -> Sight:
    """What a view may see as of now. Without a boundary, visibility alone decides, for the view's participant."""
    own = boundary or Boundary(
        conversation=session.conversation.id,
        branch=view.branch,
        participant=view.participant,
        run=view.carries.sub_agent,
        provider="",
        model="",
        budget=0,
        now=session.clock.now(),
    )
    lineage = session.tail(view, fresh=True).lineage
    return Sight(session=session, view=view, boundary=own, lineage=lineage, admit=admit)


def newest_sheet(session: Session, view: View) -> Whole | None:
    """The newest sheet of a view, shown or not, on its branch or those that it inherits from; None: it has none."""
    at_hand = session.desk(view).sheets
    if at_hand:
        return at_hand[-1]
    head = session.ledger.head(session.sheets.key)
    if head is None or not head.position:
        return None
    for segment in reversed(session.tail(view).lineage.segments):
        own = own_sheets(session.ledger, session.sheets.key, segment.branch, view.participant, head.position)
        for record, body in own:
            if body.cut.at(session.conversation.id) <= segment.upto:
                return read_sheet(session.place, record)
    return None


def resolve(seen: Sight, reference: str) -> Record:
    """The message, artifact or episode that a reference means: its id, or a beginning that only one visible id has.

    ``turns 3 to 17`` or ``turn 12``, as the lines of episodes say it, means the reader's episode of these turns.

    The kind's prefix may be left out, so the short forms that requests show are references. An id is one look-up. A
    beginning is looked for among the records of the newest sheet, then, newest first, among the 20,000 newest records
    that may be seen, which takes time in proportion to those. What answers a recall without content of its own means
    what it recalled. Raises `NotFound`.
    """
    wanted = reference.strip(AROUND)
    turns = turns_of(wanted)
    if turns is not None:
        return _of_turns(seen, *turns)
    record = seen.get(RecordId(wanted)) if _storable(wanted) else None
    if record is None:
        record = _listed(seen, wanted) or _beginning(seen, wanted)
    for _ in range(_FOLLOWED):
        body = record.body
        original = body.recalls if isinstance(body, ToolArtifact) and not body.content else None
        found = seen.get(original) if original is not None else None
        if found is None:
            break
        record = found
    if record.header.kind not in ("message", "artifact", "episode"):
        raise _unknown(wanted)
    return record


def _of_turns(seen: Sight, first: int, last: int) -> Record:
    """The episode of the reader that tells of these turns."""
    reader = Reader(seen.boundary.participant, seen.boundary.run)
    key = seen.session.conversation.key
    known = Compactions(ledger=seen.session.ledger, key=key, lineage=seen.lineage, reader=reader)
    found = known.telling(first, last)
    exact = [one for one in found if isinstance(one.body, Episode) and one.body.turns == (first, last)]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if not found:
        raise NotFound(f"no episode tells of turn {first:,}; a query finds references")
    named = ", ".join(reference(one.id) for one in found[:_CANDIDATES])
    others = ", ..." if len(found) > _CANDIDATES else ""
    raise NotFound(f"{len(found)} episodes tell of turns {first:,} to {last:,}: {named}{others}")


def _listed(seen: Sight, wanted: str) -> Record | None:
    """The record of the newest sheet that is meant; None where none is, or several are."""
    found = [id for id in seen.listed() if means(id, wanted)]
    meant = [id for id in found if exactly(id, wanted)] or found
    return seen.get(meant[0]) if len(meant) == 1 else None


def _beginning(seen: Sight, wanted: str) -> Record:
    scanned = islice(seen.newest("message", "artifact", "episode"), _SCANNED)
    found = [record for record in scanned if means(record.id, wanted)]
    known = {record.id for record in found}
    given = [id for id in sorted(seen.opened()) if means(id, wanted) and id not in known]
    found += [record for record in map(seen.get, given) if record is not None]
    meant = [record for record in found if exactly(record.id, wanted)] or found
    if not meant:
        raise _unknown(wanted)
    if len(meant) > 1:
        named = ", ".join(record.id for record in reversed(meant[:_CANDIDATES]))
        others = ", ..." if len(meant) > _CANDIDATES else ""
        raise NotFound(f"{len(meant)} references begin with {_short(wanted)!r}: {named}{others}")
    return meant[0]


def _unknown(wanted: str) -> NotFound:
    return NotFound(f"there is no reference {_short(wanted)!r}; a query finds references")


def _storable(text: str) -> bool:
    return bool(text) and "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _short(text: str) -> str:
    shown = _UNMARKED.text(text[:_READ])
    return shown if len(shown) <= 80 else shown[:80] + "…"


# ---------------------------------------------------------------------------------------------- content


def source(seen: Sight, record: Record) -> Source:
    """Read the content of a record that may be read. Raises `BodyErased`, `Damaged`."""
    body = record.body
    if body is None:
        raise BodyErased(f"the content of {record.id} was erased")
    pieces = tuple(_pieces(seen, body)) if isinstance(body, Message | ToolArtifact) else ()
    if isinstance(body, Episode):
        pieces = (_original(seen, body),)
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
        reference=record.id,
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
        held = record.body if record is not None else None
        if record is None or not isinstance(held, Message | ToolArtifact) or seen.refused(record) is not None:
            continue
        speaker = held.role.value if isinstance(held, Message) else f"result of {held.tool or 'a tool'}"
        shown = (piece.standin if piece.text is None else piece.text for piece in _pieces(seen, held))
        told.append(f"[{reference(id)}] {speaker}: {chr(10).join(shown)}")
    text = "\n".join(told)
    return _Piece(raw=text.encode("utf-8", "surrogatepass"), text=text, recorded_text=True)


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
