"""Which rendered blocks of past requests show memories of a user: found before these are forgotten."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from callsheet.assemble.contents import text_of
from callsheet.assemble.personal import HEAD, about
from callsheet.errors import Damaged
from callsheet.graph.changes import Erased
from callsheet.graph.enums import StreamKind
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Selection, UserMemory
from callsheet.graph.record import Stream
from callsheet.runtime.every_sheet import every_sheet
from callsheet.runtime.personalising.book import Book, Shelf, along, owner_of
from callsheet.runtime.personalising.standing import held
from callsheet.runtime.redacting import redaction_of


def blocks_showing(shelf: Shelf, memories: Sequence[tuple[RecordId, UserMemory]]) -> tuple[str, ...]:
    """The addresses of the blocks that show one of these, in requests of any conversation of the user.

    Where a request lists one and no block of it is seen to show its line, all its notes of memories go.
    """
    found: dict[str, None] = {}
    for conversation in shelf.ledger.streams(shelf.stream.tenant, StreamKind.CONVERSATION):
        if conversation.user == shelf.stream.user:
            found.update(dict.fromkeys(_of_conversation(shelf, conversation, memories)))
    return tuple(found)


def withdraw(shelf: Shelf, book: Book, selections: Iterable[Selection], blocks: Mapping[str, bytes]) -> None:
    """Remove the notes of memories of a request that was just stored, where one was forgotten while it was made.

    `blocks` are those that it stored, by address. Whoever forgets looks for blocks when that is on record; what is
    stored later is looked at here.
    """
    shown = tuple(dict.fromkeys(one.record for one in selections if one.stream is not None))
    head = shelf.ledger.head(shelf.stream.key) if shown else None
    if head is None or head.position == shelf.position:
        return
    now = replace(shelf, lineage=along(head.position, (one.branch for one in shelf.lineage.segments)))
    gone = {*shown} - {one.id for one in held(now, now.get(shown))}
    marked = tuple(address for address, block in blocks.items() if gone and HEAD.encode() in block)
    if marked:
        note = Erased(bodies=(), records=tuple(sorted(gone)), reason="stored late", blocks=marked)
        book.write(lambda page: page.add(note, kind="erased"))
        shelf.ledger.erase_blocks(owner_of(shelf.stream), marked)


def _of_conversation(
    shelf: Shelf, conversation: Stream, memories: Sequence[tuple[RecordId, UserMemory]]
) -> Iterator[str]:
    sheets = shelf.ledger.stream(conversation.tenant, StreamKind.SHEETS, conversation.name)
    redaction = redaction_of(conversation)
    said = {id: about(body, text_of(shelf.read(body.value))) for id, body in memories}
    told = {id: (redaction.text(line), line) for id, line in said.items()}
    looked_at: dict[str, str] = {}
    for sheet in every_sheet(shelf.ledger, sheets.key) if sheets is not None else ():
        stand = {one.record for one in sheet.selected if one.stream is not None} & told.keys()
        if not stand:
            continue
        notes = {address: text for address in sheet.blocks if HEAD in (text := _text(shelf, address, looked_at))}
        for id in stand:
            showing = [address for address, text in notes.items() if any(line in text for line in told[id])]
            yield from showing or notes


def _text(shelf: Shelf, address: str, known: dict[str, str]) -> str:
    """All text of a rendered block; empty where it is gone already."""
    if address not in known:
        try:
            (content,) = shelf.ledger.blocks(owner_of(shelf.stream), (address,))
            known[address] = "\n".join(_strings(msgspec.json.decode(content)))
        except (Damaged, msgspec.DecodeError):
            known[address] = ""
    return known[address]


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        inner: Iterable[object] = value.values() if isinstance(value, dict) else value
        for each in inner:
            yield from _strings(each)
