"""Where a history that is sent again stands: the longest beginning of it that is known, and whose it can be."""

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from msgspec.structs import replace

from callsheet.graph.ids import RecordId, StreamId
from callsheet.graph.prefix import Prefix
from callsheet.serve.proxy.hashing import SIZE, Link

Look: TypeAlias = Callable[[Sequence[bytes]], Sequence[Prefix]]
"""Gives what is noted for some marks."""

IsNewest: TypeAlias = Callable[[Prefix], bool]
"""Tells whether nothing was said behind a place on its branch."""

_NEWEST = 16
"""Links that are looked up at once, the newest first: nearly always the history goes on behind one of them."""

_MORE = 512
"""Links that are looked up at once behind them."""

_CUT = 2
"""A result counts as cut when it is shorter than what it was by this factor: one that was changed is about as long."""


_SINCE_CUT = b"\0"


def state_of(ids: bytes, *, since_cut: bool) -> bytes:
    """What is kept with a place: the ids of calls, and whether results before it were cut since they were recorded."""
    return ids + _SINCE_CUT if since_cut else ids


def since_cut(place: Prefix) -> bool:
    """Whether results before a place were cut by its client since they were recorded."""
    return len(place.state) % SIZE == len(_SINCE_CUT)


def _ids(place: Prefix) -> bytes:
    return place.state.removesuffix(_SINCE_CUT) if since_cut(place) else place.state


class Unfound(StrEnum):
    """Why a history is nobody's."""

    #: Nothing of it is known, or nothing that was answered here.
    UNKNOWN = "unknown"
    #: It may be one of several conversations.
    SEVERAL = "several"


@dataclass(frozen=True, kw_only=True, slots=True)
class Anchor:
    """The place behind which a history goes on."""

    place: Prefix
    #: How many of its links stand up to there.
    links: int
    #: Whether results in them were cut since.
    cut: bool = False
    #: The places of the links that are known by what they were before results were cut, under what they are now.
    renewed: tuple[Prefix, ...] = ()
    #: Whether results before it stand there longer than its client sent them last.
    since_cut: bool = False
    #: Whether others have the same history, and only that nobody went on here yet speaks for this one.
    alike: bool = False


def find(
    look: Look,
    links: Sequence[Link],
    within: StreamId | None = None,
    *,
    is_newest: IsNewest | None = None,
    cut: bool = True,
) -> Anchor | Unfound:
    """Where the longest beginning that is known stands.

    Without `within`, it counts only from an answer of ours on. Where that stands in several conversations, it is that
    of which the history has the ids of calls, or else (with `is_newest`) the only one that nobody went on with behind
    what is known; if that is none or several, it may be anybody's, so it is nobody's. `within` is a conversation that
    it belongs to in any case. With `cut`, results that a client has cut since are the same where an answer of ours
    follows them.
    """
    found = _whole(look, links, within, is_newest)
    if found is Unfound.SEVERAL or not cut or (isinstance(found, Anchor) and found.alike):
        # What another was given in the place of what was cut is shown to nobody.
        return found
    known = found if isinstance(found, Anchor) else None
    stream = known.place.stream if known is not None else within
    return _outline(look, links, known.links if known is not None else 0, stream) or found


def _whole(look: Look, links: Sequence[Link], within: StreamId | None, is_newest: IsNewest | None) -> Anchor | Unfound:
    seen: list[tuple[int, list[Prefix]]] = []
    for at, places in _backwards(look, links, 0, lambda link: link.chain.whole):
        if within is not None:
            inside = [place for place in places if place.stream == within]
            if inside:
                return _at(_latest(inside), at)
            continue
        seen.append((at, places))
        streams = _answered(links[at], places)
        cut = any(place.own and since_cut(place) for place in places)
        if len(streams) > 1 and not cut:
            anchor = _untouched(seen, streams, is_newest) if is_newest is not None else None
            return anchor or Unfound.SEVERAL
        if streams and cut:
            # Others may have had other results in the places of those that were cut.
            streams = _answered(links[at], [*places, *_of_outline(look, links[at])])
            if len(streams) > 1:
                return Unfound.SEVERAL
            (only,) = streams
            if all(place.stream != only for place in places):
                return _whole(look, links, only, None)
        for stream in streams:
            for deepest, others in seen:
                inside = [place for place in others if place.stream == stream]
                if inside:
                    return _at(_latest(inside), deepest)
    return Unfound.UNKNOWN


def _answered(link: Link, places: Sequence[Prefix]) -> set[StreamId]:
    """The conversations in which this answer was given here; of several, those that gave its calls the same ids."""
    own = [place for place in places if place.own]
    streams = {place.stream for place in own}
    if len(streams) < 2 or not link.chain.ids:
        return streams
    # Clients may make ids anew: then they speak for nobody, and against nobody.
    return {place.stream for place in own if _ids(place) == link.chain.ids} or streams


def _untouched(
    seen: Sequence[tuple[int, Sequence[Prefix]]], streams: Set[StreamId], is_newest: IsNewest
) -> Anchor | None:
    """The place in the only one of these conversations in which nothing stands behind this history yet."""
    deepest: dict[tuple[StreamId, RecordId], tuple[int, Prefix]] = {}
    for at, places in seen:
        for place in places:
            if place.stream in streams:
                # What is deeper on a branch comes first: what is before it is not its newest.
                deepest.setdefault((place.stream, place.branch), (at, place))
    found = [one for one in deepest.values() if is_newest(one[1])]
    if len({place.stream for _, place in found}) != 1 or any(since_cut(place) for _, place in found):
        return None
    at, place = max(found, key=lambda one: (one[0], one[1].position))
    return Anchor(place=place, links=at + 1, alike=True)


def _at(place: Prefix, link: int) -> Anchor:
    return Anchor(place=place, links=link + 1, since_cut=since_cut(place))


def _of_outline(look: Look, link: Link) -> Sequence[Prefix]:
    return look((link.chain.outline,)) if link.chain.outline is not None else ()


def _outline(look: Look, links: Sequence[Link], known: int, stream: StreamId | None) -> Anchor | None:
    """A longer beginning, known by its outline, of which every result is as it was, or was cut."""
    last = next((at for at in range(len(links) - 1, known - 1, -1) if links[at].model), -1)
    if last < known or not any(link.results for link in links[known : last + 1]):
        return None
    at: dict[int, list[Prefix]] = {}
    answered: int | None = None
    for place, found in _backwards(look, links, known, lambda link: link.chain.outline):
        inside = [one for one in found if stream in (None, one.stream)]
        if inside:
            at[place] = inside
        if answered is None and any(one.own for one in inside):
            answered = place
    if answered is None:
        return None
    streams = _answered(links[answered], at[answered])
    if len(streams) > 1:
        return None
    (home,) = streams
    stands = {place: [one for one in found if one.stream == home] for place, found in at.items()}
    for place in range(known, answered + 1):
        if links[place].results and not _cut(links[place], stands.get(place, [])):
            return None
    deepest = answered
    while deepest + 1 < len(links) and not links[deepest + 1].results and stands.get(deepest + 1):
        deepest += 1
    renewed = tuple(
        _renewed(_latest(stands[place]), links[place]) for place in range(known, deepest + 1) if stands.get(place)
    )
    return Anchor(place=renewed[-1], links=deepest + 1, cut=True, since_cut=True, renewed=renewed)


def _renewed(place: Prefix, link: Link) -> Prefix:
    ids = b"" if link.results else _ids(place)
    return replace(place, mark=link.chain.whole, size=0, state=state_of(ids, since_cut=True))


def _cut(link: Link, places: Sequence[Prefix]) -> bool:
    """Whether results are what stands there, or less of it; on every branch, since any of them may be meant."""
    return bool(places) and all(one.state == link.digest or _CUT * link.size <= one.size for one in places)


def _backwards(
    look: Look, links: Sequence[Link], first: int, marked: Callable[[Link], bytes | None]
) -> Iterator[tuple[int, list[Prefix]]]:
    """What is noted for the marks of links, from the last to the first; those without anything are left out."""
    end, portion = len(links), _NEWEST
    while end > first:
        start = max(first, end - portion)
        wanted = {mark: at for at in range(start, end) if (mark := marked(links[at])) is not None}
        found: dict[int, list[Prefix]] = {}
        for one in look(tuple(wanted)) if wanted else ():
            found.setdefault(wanted[one.mark], []).append(one)
        for at in sorted(found, reverse=True):
            yield at, found[at]
        end, portion = start, _MORE


def _latest(places: Sequence[Prefix]) -> Prefix:
    return max(places, key=lambda place: place.position)
