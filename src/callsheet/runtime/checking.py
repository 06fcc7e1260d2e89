"""Checking memories: do their locators still point at what stood there, and where does it stand now."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from callsheet.assemble.contents import content_payload, text_of
from callsheet.derive import locators
from callsheet.errors import BodyErased, NotFound
from callsheet.graph.changes import LocatorsRepaired
from callsheet.graph.enums import StateField
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import Message, ToolArtifact, ToolMemory
from callsheet.graph.query import StateQuery
from callsheet.graph.record import Record
from callsheet.graph.values import Locator, Text
from callsheet.runtime.drafting import Drafting
from callsheet.runtime.seeing import Sight, sight
from callsheet.runtime.session import Session, View
from callsheet.runtime.stating import Part, Stated, sought, stated, was


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """What checking a memory came to."""

    memory: RecordId
    #: Of its locators: those that still pointed right, those that were found again, and those that were not.
    whole: int
    repaired: int
    lost: int
    #: Attempts at repair over the memory's life.
    attempts: int
    #: Whether the memory no longer speaks for the present.
    stale: bool
    #: Where its values stand now; lost ones as they were.
    locators: tuple[Locator, ...]


def parts_of(session: Session, record: Record) -> tuple[Part, ...]:
    """The bytes of each part of a result or message that locators can point into; none of what was erased."""
    body = record.body
    if isinstance(body, ToolArtifact):
        payloads = [content_payload(part) for part in body.content]
    elif isinstance(body, Message):
        payloads = [part.text if isinstance(part, Text) else None for part in body.parts]
    else:
        return ()
    try:
        return tuple(
            Part(source=record.id, part=at, content=session.read(payload))
            for at, payload in enumerate(payloads)
            if payload is not None
        )
    except BodyErased:
        return ()


def check(session: Session, view: View, memory: RecordId) -> Checked:
    """See `Conversation.check`."""
    seen = sight(session, view)
    record = seen.get(memory)
    if record is None or not isinstance(record.body, ToolMemory):
        raise NotFound(f"there is no tool memory {memory!r} here")
    known, attempts = _current(seen, record.id, record.body)
    stale = _state(seen, StateField.STALE, record.id) is not None
    sources = _Sources(seen)
    broken = [at for at, locator in enumerate(known) if not sources.holds(locator)]
    if not broken or stale:
        return _checked(record.id, known, lost=len(broken), repaired=0, attempts=attempts, stale=stale)
    values = _stated(session, record.body)
    repaired = dict[int, Locator]()
    while len(repaired) < len(broken) and attempts < locators.ATTEMPTS:
        attempts += 1
        for at in broken:
            found = sources.moved(known[at], values, attempts) if at not in repaired else None
            if found is not None:
                repaired[at] = found
    now = tuple(repaired.get(at, locator) for at, locator in enumerate(known))
    lost = len(broken) - len(repaired)
    change = LocatorsRepaired(memory=record.id, locators=now, attempt=attempts, found=not lost)

    def draft(drafting: Drafting) -> None:
        scope = replace(record.header.scope, branch=view.branch)
        drafting.add(change, kind="locators_repaired", scope=scope)

    session.append(view, draft)
    return _checked(record.id, now, lost=lost, repaired=len(repaired), attempts=attempts, stale=bool(lost))


def _checked(
    memory: RecordId, known: tuple[Locator, ...], *, lost: int, repaired: int, attempts: int, stale: bool
) -> Checked:
    return Checked(
        memory=memory,
        whole=len(known) - lost - repaired,
        repaired=repaired,
        lost=lost,
        attempts=attempts,
        stale=stale,
        locators=known,
    )


def _state(seen: Sight, field: StateField, target: RecordId) -> str | None:
    query = StateQuery(field=field, targets=(target,), lineage=seen.lineage)
    rows = seen.session.ledger.states(seen.session.conversation.key, query)
    return rows[0].value if rows else None


def _current(seen: Sight, id: RecordId, body: ToolMemory) -> tuple[tuple[Locator, ...], int]:
    """The locators that hold now, and the attempts so far."""
    newest = _state(seen, StateField.LOCATORS, id)
    found = seen.get(RecordId(newest)) if newest else None
    if found is not None and isinstance(found.body, LocatorsRepaired):
        return found.body.locators, max(found.body.attempt, body.repair_attempts)
    return body.locators, body.repair_attempts


def _stated(session: Session, body: ToolMemory) -> tuple[Stated, ...]:
    """What the memory states; of a memory that holds something else than JSON, what its summary does."""
    payload: object = None
    if body.payload is not None:
        try:
            payload = json.loads(session.read(body.payload))
        except (ValueError, RecursionError):
            payload = None
    return stated(text_of(session.read(body.summary)), payload)


class _Sources:
    """The content that locators point into, each source read once."""

    def __init__(self, seen: Sight) -> None:
        self._seen = seen
        self._parts: dict[RecordId, tuple[Part, ...]] = {}

    def of(self, source: RecordId) -> tuple[Part, ...]:
        if source not in self._parts:
            record = self._seen.get(source)
            self._parts[source] = parts_of(self._seen.session, record) if record is not None else ()
        return self._parts[source]

    def holds(self, locator: Locator) -> bool:
        return any(
            locators.resolve(locator, part.content) is not None
            for part in self.of(locator.source)
            if part.part == locator.part
        )

    def moved(self, locator: Locator, values: Sequence[Stated], attempt: int) -> Locator | None:
        """Where it stands now: first among places of its kind, then as the bytes it was, then in the other parts."""
        known = was(values, locator.digest) if attempt > 1 else None
        for part in self.of(locator.source):
            if (part.part == locator.part) != (attempt < locators.ATTEMPTS):
                continue
            found = sought(replace(locator, part=part.part), part.content, known)
            if found is not None:
                return found
        return None
