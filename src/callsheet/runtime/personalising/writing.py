"""Keeping memories of a user: the newer of two on one subject ends the older one; nothing is changed or removed."""

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import replace as replace_fields

from msgspec.structs import replace

from callsheet.derive.classify import STRICTNESS
from callsheet.errors import InvalidOption, NotFound
from callsheet.graph.changes import Conflicted, Pinned, Promoted, Superseded
from callsheet.graph.enums import ConfidenceSource, Privacy
from callsheet.graph.ids import RecordId
from callsheet.graph.nodes import UserMemory
from callsheet.graph.times import Instant
from callsheet.policy.conflict import Standing, precedence
from callsheet.runtime.personalising.book import PROPOSED, Book, Page, branch_for
from callsheet.runtime.personalising.options import MemoryKind, Statement, in_order
from callsheet.runtime.personalising.repeating import repeats, saying, versions
from callsheet.runtime.personalising.resting import MISSING, Rests, as_short, as_strict, rests, still_rests
from callsheet.runtime.personalising.standing import Held, held
from callsheet.runtime.personalising.subject import USER


def remember(book: Book, new: Statement) -> RecordId:
    """Keep what the user, or the program for them, said. See `Runtime.remember`."""

    def draft(page: Page) -> RecordId:
        on = rests(page.shelf, _ids(new))
        if on.unvouched:
            raise InvalidOption("what a tool or a model said can be proposed, not remembered: see propose")
        if new.always and on.tainted:
            raise InvalidOption(_UNVOUCHED)
        beside = [_living(page, id) for id in new.contradicts]
        return _put(page, _body(page, new, on), as_strict(new.privacy, on), always=new.always, beside=beside)

    return book.write(draft)


def propose(book: Book, new: Statement) -> RecordId:
    """Keep what a tool or a model would have kept, for somebody to accept. See `Runtime.propose`."""

    def draft(page: Page) -> RecordId:
        on = rests(page.shelf, _ids(new))
        body = replace(_body(page, new, on), proposed=True, tainted=True)
        return _put(page, body, as_strict(new.privacy, on))

    return book.write(draft)


def update(book: Book, memory: RecordId, new: Statement) -> RecordId:
    """Put another statement in the place of one. See `Runtime.update`."""

    def draft(page: Page) -> RecordId:
        old = _living(page, memory)
        if old.ended is not None:
            raise InvalidOption(f"it was replaced already, by {old.successors[0]}; update that one")
        on = rests(page.shelf, _ids(new))
        if on.unvouched:
            raise InvalidOption("what a tool or a model said can be proposed, not put in a memory's place: see propose")
        carried = _resting_on(new, old.body)
        body = _body(page, carried, on, like=old.body)
        if body.observed < old.body.observed:
            raise InvalidOption("observed is before that of the memory it would replace")
        still = still_rests(page.shelf, _ids(carried))
        privacy = old.privacy if new.privacy is None else as_strict(new.privacy, on, still)
        return _put(page, body, privacy, always=old.pinned and not body.tainted, replacing=old)

    return book.write(draft)


def accept(book: Book, proposal: RecordId, by: str) -> RecordId:
    """Take a proposal on as a memory. See `Runtime.accept`."""

    def draft(page: Page) -> RecordId:
        found = _proposed(page, proposal)
        known = held(page.shelf, page.shelf.get((RecordId(found.became),))) if found.became else []
        if known:
            return known[0].id
        body = replace(found.body, proposed=False, sources=(found.id,))
        id = _put(page, body, found.privacy)
        page.add(Promoted(artifact=found.id, memory=id, by=by), kind="promoted", branch=PROPOSED)
        return id

    return book.write(draft)


def decline(book: Book, proposal: RecordId, by: str) -> RecordId:
    """Say that a proposal becomes no memory. See `Runtime.decline`."""

    def draft(page: Page) -> RecordId:
        found = _proposed(page, proposal)
        if found.became:
            raise InvalidOption("it was accepted already; forget the memory that it became")
        return page.add(Promoted(artifact=found.id, by=by), kind="promoted", branch=PROPOSED)

    return book.write(draft)


def contradict(book: Book, one: RecordId, other: RecordId, reason: str) -> RecordId:
    """Say that two memories contradict each other. See `Runtime.contradict`."""

    def draft(page: Page) -> RecordId:
        first, second = _living(page, one), _living(page, other)
        if first.id == second.id:
            raise InvalidOption("a memory cannot contradict itself")
        return _against(page, first, second, reason)

    return book.write(draft)


def pin(book: Book, memory: RecordId, pinned: bool) -> RecordId:
    """Have a memory shown always, or no more. See `Runtime.pin`."""

    def draft(page: Page) -> RecordId:
        found = _living(page, memory)
        if pinned and found.body.tainted:
            raise InvalidOption(_UNVOUCHED)
        change = Pinned(records=(found.id,), pinned=pinned)
        return page.add(change, kind="pinned", branch=found.record.branch)

    return book.write(draft)


_UNVOUCHED = "it rests on what a tool or a model said; such a memory is shown where it is relevant, not always"


# ---------------------------------------------------------------------------------------------- drafting


def _put(
    page: Page,
    body: UserMemory,
    privacy: Privacy,
    *,
    always: bool = False,
    replacing: Held | None = None,
    beside: Iterable[Held] = (),
) -> RecordId:
    """Draft a memory with what it ends, what ends it and what contradicts it; one that is there already stays.

    What says the same as one that holds was observed once more: it goes on from that one, as private and as much shown.
    Were it left out, what comes late and was observed in between would end the fact for good.
    """
    branch = PROPOSED if body.proposed else branch_for(body.participant)
    apart = {one.id: one for one in beside}
    alike = list(saying(page.shelf, body, branch))
    certain = [one for one in alike if not (one.stale or one.conflicts)]
    known = next((one for one in certain if _is(one, body)), None)
    if known is not None and replacing is None and not apart:
        if always and not known.pinned:
            page.add(Pinned(records=(known.id,), pinned=True), kind="pinned", branch=branch)
        return known.id
    # Without an attribute it is about nothing but what it says.
    about = versions(page.shelf, body, branch) if body.attribute is not None else certain
    others = [] if body.proposed else [one for one in about if one.id not in apart]
    ends = [one for one in others if one.holds(body.observed)]
    goes_on = [one for one in ends if one in alike]
    privacy = max((privacy, *(one.privacy for one in goes_on)), key=STRICTNESS.index)
    always = always or any(one.pinned for one in goes_on)
    id = page.add(body, kind="user_memory", branch=branch, privacy=privacy)
    new = _Standing(id=id, body=body)
    edited = {replacing.id} if replacing is not None else set()
    conflicts = [one for one in ends if one.id not in edited and _stronger(one, new)]
    replaced = dict.fromkeys((*(one.id for one in ends if one not in conflicts), *edited))
    if replaced:
        change = Superseded(current=id, replaced=tuple(replaced), reason="newer", at=body.observed)
        page.add(change, kind="superseded", branch=branch)
    later = sorted((one for one in others if one.body.observed > body.observed), key=lambda one: one.order)
    for one in later:
        if body.valid_until is not None and body.valid_until <= one.body.observed:
            break
        if _stronger(new, _Standing(id=one.id, body=one.body)):
            conflicts.append(one)
            continue
        # Of what came late and was said again later, this one tells since when it held.
        change = Superseded(current=one.id, replaced=(id,), reason="newer", at=one.body.observed)
        page.add(change, kind="superseded", branch=branch)
        break
    for one in (*conflicts, *apart.values()):
        if one.record.branch != branch:
            raise InvalidOption(_APART)
        reason = "said" if one.id in apart else "undecided"
        page.add(Conflicted(one=id, other=one.id, reason=reason), kind="conflicted", branch=branch)
    if always:
        page.add(Pinned(records=(id,), pinned=True), kind="pinned", branch=branch)
    return id


def _is(one: Held, body: UserMemory) -> bool:
    """Whether what says the same is the same: the very observation, or a proposal that nobody has decided on."""
    if body.proposed:
        return one.became is None
    return one.body.observed == body.observed and one.holds(body.observed)


_APART = "they are not for the same readers; what one participant alone may see contradicts nothing that others see"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Standing:
    id: RecordId
    body: UserMemory


def _stronger(older: Held | _Standing, newer: Held | _Standing) -> bool:
    """Whether the older of two is to be believed, by provenance and confidence; then time does not decide (B7)."""
    return precedence(_rank(older), _rank(newer)).replaces == older.id


def _rank(one: Held | _Standing) -> Standing:
    body = one.body
    return Standing(record=one.id, confidence=body.confidence, source=body.confidence_source, tainted=body.tainted)


def _against(page: Page, one: Held, other: Held, reason: str) -> RecordId:
    if one.record.branch != other.record.branch:
        raise InvalidOption(_APART)
    change = Conflicted(one=one.id, other=other.id, reason=reason)
    return page.add(change, kind="conflicted", branch=one.record.branch)


def _body(page: Page, new: Statement, on: Rests, like: UserMemory | None = None) -> UserMemory:
    """The memory that a statement makes; what it does not say is as in the one that it is `like`."""
    observed = new.observed if new.observed is not None else page.at
    valid_until = (
        new.valid_until
        if new.valid_until is not None
        else _to_come(like.valid_until if like is not None else None, observed)
    )
    stale_after = (
        new.stale_after
        if new.stale_after is not None
        else _to_come(like.stale_after if like is not None else None, observed)
    )
    stale = [moment for moment in (stale_after, on.stale_after) if moment is not None]
    in_order(observed, page.at, new.valid_until, new.stale_after)
    kind = new.kind.value if new.kind is not None else like.kind if like is not None else MemoryKind.FACT.value
    entity = new.entity if new.entity is not None else like.entity if like is not None else USER
    freshness = new.freshness if new.freshness is not None else like.freshness if like is not None else None
    return UserMemory(
        kind=kind,
        entity=entity,
        attribute=new.attribute if new.attribute is not None or like is None else like.attribute,
        value=page.stash(new.value),
        source=new.source,
        sources=new.sources,
        confidence=new.confidence if new.confidence is not None else like.confidence if like is not None else 1.0,
        # What was made of other memories is no longer what somebody said.
        confidence_source=ConfidenceSource.RULE if new.sources else ConfidenceSource.EXACT_VALUE,
        observed=observed,
        freshness=as_short(freshness, on),
        stale_after=min(stale, default=None),
        valid_until=valid_until,
        # Other words in its place make it nobody's own: that takes somebody to say it, which is `remember`.
        tainted=on.tainted or (like is not None and like.tainted),
        attributes=new.attributes or (like.attributes if like is not None else ()),
        participant=like.participant if like is not None else new.participant,
    )


def _resting_on(new: Statement, old: UserMemory) -> Statement:
    """The statement on what the one that it replaces rests on, where it names nothing: its words may hold theirs."""
    return replace_fields(new, source=new.source or old.source, sources=new.sources or old.sources)


def _to_come(end: Instant | None, observed: Instant) -> Instant | None:
    """An end that was known before, unless it has passed by then: what was seen after it goes on."""
    return end if end is not None and end > observed else None


def _ids(new: Statement) -> tuple[RecordId, ...]:
    return (*((new.source,) if new.source is not None else ()), *new.sources)


# ---------------------------------------------------------------------------------------------- looking up


def _living(page: Page, id: RecordId) -> Held:
    """A memory that somebody took on, as it was observed last. Raises `NotFound`, `InvalidOption`."""
    found = held(page.shelf, page.shelf.get((id,)))
    if not found:
        raise NotFound(MISSING)
    if found[0].body.proposed:
        raise InvalidOption("it is a proposal; accept it first")
    return repeats(page.shelf, found[0])[-1]


def _proposed(page: Page, id: RecordId) -> Held:
    found = held(page.shelf, page.shelf.get((id,)))
    if not found:
        raise NotFound(MISSING)
    if not found[0].body.proposed:
        raise InvalidOption("it is a memory already, and no proposal")
    return found[0]
